"""What the command lines have in common: an output that cannot be written, and the option --version."""

import errno
import os
import sys
from typing import Any

import typer

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Program(typer.Typer):
    """A command line. If its output is closed or the disk is full, it ends with one line and exit code 1."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command, and write all of its output."""
        if sys.stdout is None:
            print("error: the output cannot be written: standard output is closed", file=sys.stderr)
            raise SystemExit(1)
        try:
            try:
                return super().__call__(*args, **kwargs)
            finally:
                sys.stdout.flush()
        except OSError as error:
            if error.errno not in _FULL:
                raise
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Python writes the rest once more when it exits
            print(f"error: the output cannot be written: {error.strerror}", file=sys.stderr)
            raise SystemExit(1) from None


def version_option(tool: str, package: str | None = None) -> Any:
    """The option that prints the version of the package, which is called as the tool by default, and exits."""

    def show(asked: bool) -> None:
        if asked:
            from importlib.metadata import version  # noqa: PLC0415 (only this option needs it)

            typer.echo(f"{tool} {version(package or tool)}")
            raise typer.Exit

    return typer.Option("--version", callback=show, is_eager=True, help="Show the version and exit.")
