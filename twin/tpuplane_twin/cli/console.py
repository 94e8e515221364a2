"""One console, and one way for mistakes to look: a line that says cause and remedy, never a traceback."""

from __future__ import annotations

import errno
import functools
import os
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import typer
from rich.console import Console
from rich.markup import escape

from tpuplane_twin.client import TwinError
from tpuplane_twin.files import DiskFull
from tpuplane_twin.paths import TwinNameError
from tpuplane_twin.ports import NoPortFree, PortTaken
from tpuplane_twin.tools import ToolError

console = Console(highlight=False)
stderr = Console(stderr=True, highlight=False)

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

# What a file system answers where a folder cannot be made or used.
_REFUSALS = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST, errno.EISDIR, errno.ENAMETOOLONG)


def errors_as_lines(command: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Print the errors that a user can act on as their message and exit with 1; 130 after Ctrl-C."""

    @functools.wraps(command)
    def wrapped(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        try:
            return command(*args, **kwargs)
        except (TwinError, TwinNameError, PortTaken, NoPortFree, DiskFull, ToolError) as error:
            raise _ended(str(error)) from error
        except KeyboardInterrupt:
            stderr.print("interrupted; nothing is lost: run the same command again to go on")
            raise typer.Exit(130) from None
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise _ended(
                    f"no space left on the disk of {error.filename or 'the state folder'}; nothing was lost. "
                    "Free some space and run the command again"
                ) from error
            if error.errno in _REFUSALS and error.filename:
                raise _ended(
                    f"{error.filename}: {os.strerror(error.errno).lower()}. Mend that, or set TPUPLANE_TWIN_HOME "
                    "(state) or TPUPLANE_CACHE (tools) to a folder that you can write to"
                ) from error
            raise

    return wrapped


def _ended(message: str) -> typer.Exit:
    stderr.print(f"[bold red]error:[/bold red] {escape(message)}", soft_wrap=True)
    return typer.Exit(1)
