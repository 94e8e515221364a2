"""A command line that says in one line that its output cannot be written."""

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
