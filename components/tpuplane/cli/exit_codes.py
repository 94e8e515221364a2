"""The exit codes of the commands."""

import typer

MISTAKE = 1
"""The file has mistakes, or the requested object does not exist."""
USAGE = 2
"""Wrong arguments, for example a file that does not exist."""
UNREACHABLE = 3
"""No connection to Google or a cluster, no credentials or no permission."""
INCOMPLETE = 5
"""Something is not adopted, or the next `pulumi up` changes something."""
FAILED_ON = 4
"""A change is of a class that the caller does not allow."""
INTERRUPTED = 130
"""Ended by Ctrl-C before the work was done."""


def ended(message: object, code: int) -> typer.Exit:
    """Print the message, and return the exit to raise."""
    typer.echo(message, err=True)
    return typer.Exit(code)
