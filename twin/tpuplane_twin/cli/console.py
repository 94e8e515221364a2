"""Common parts of all commands: the console, `--name` and `--json`, and errors as one line with cause and remedy."""

import errno
import functools
import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, ParamSpec, TypeVar

import typer
from rich.console import Console
from rich.markup import escape

from tpuplane_twin.daemon.client import TwinError
from tpuplane_twin.machine.files import DiskFull
from tpuplane_twin.machine.paths import TWIN, NoHome, TwinNameError, TwinPaths, all_twins
from tpuplane_twin.machine.ports import PortTaken
from tpuplane_twin.tools import ToolError

console = Console(highlight=False)
stderr = Console(stderr=True, highlight=False)


def _twins(incomplete: str) -> list[str]:
    return [name for name in all_twins() if name.startswith(incomplete)]


Name = Annotated[str, typer.Option("--name", "-n", envvar=TWIN, help="The name of the twin.", autocompletion=_twins)]
Json = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

# Errors of a folder that cannot be created or used.
_FOLDER_ERRORS = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST, errno.EISDIR, errno.ENAMETOOLONG)


def acting_on(name: str, *, quiet: bool = False) -> TwinPaths:
    """The paths of the twin that a command acts on, and prints its name on standard error unless `quiet`.

    Raises `TwinNameError`.
    """
    paths = TwinPaths.of(name)
    if not quiet:
        stderr.print(f"twin [bold]{name}[/bold]")
    return paths


def own_command() -> str:
    """The command as the user called it: by name if it is on PATH, else by path."""
    name = Path(sys.argv[0]).name
    return name if shutil.which(name) else sys.argv[0]


def answer(found: object, as_json: bool, show: Callable[[], None]) -> None:
    """Print what a command has found as JSON, or `show` it."""
    if as_json:
        typer.echo(json.dumps(found, indent=2))
    else:
        show()


def errors_as_lines(command: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Print the message of errors that the user can fix, and exit with 1; 130 after Ctrl-C."""

    @functools.wraps(command)
    def wrapped(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        try:
            return command(*args, **kwargs)
        except (TwinError, TwinNameError, NoHome, PortTaken, DiskFull, ToolError) as error:
            raise _ended(str(error)) from error
        except KeyboardInterrupt:
            stderr.print("interrupted; nothing was lost, and the same command can run again")
            raise typer.Exit(130) from None
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                full = error.filename or "the state folder or of the output"
                raise _ended(
                    f"no space left on the disk of {full}; nothing was lost. Free some space and run the command again"
                ) from error
            if error.errno in _FOLDER_ERRORS and error.filename:
                raise _ended(
                    f"{error.filename}: {os.strerror(error.errno).lower()}. Correct that, or set "
                    "TPUPLANE_TWIN_HOME (state) or TPUPLANE_CACHE (tools) to a folder that you can write to"
                ) from error
            raise

    return wrapped


def _ended(message: str) -> typer.Exit:
    stderr.print(f"[bold red]error:[/bold red] {escape(message)}", soft_wrap=True)
    return typer.Exit(1)
