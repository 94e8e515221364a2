"""Reading of a stack file by the commands: mistakes end the command."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from tpuplane.cli.exit_codes import MISTAKE, USAGE, ended
from tpuplane.cli.render import mistakes_as_json
from tpuplane.spec import PlatformSpec, SpecError, StackFileMissing, load_stack


def loaded(file: Path, as_json_: bool) -> PlatformSpec:
    """The description in a stack file. Ends the command if it has mistakes."""
    with mistakes_end_it(as_json_):
        return load_stack(file)


def only_stack() -> Path:
    """The stack file of the folder `stacks`. Ends the command unless there is exactly one."""
    if len(found := sorted(Path("stacks").glob("Pulumi.*.yaml"))) == 1:
        return found[0]
    cause = "--stack: is required, unless stacks/ has exactly one stack file; stack files in stacks/: "
    raise ended(cause + (", ".join(map(str, found)) or "none"), USAGE)


@contextmanager
def mistakes_end_it(as_json_: bool) -> Iterator[None]:
    """Print the mistakes of a stack file that is read within, and end the command."""
    try:
        yield
    except SpecError as error:
        if as_json_:
            typer.echo(json.dumps(mistakes_as_json(error), indent=2))
        else:
            typer.echo(error, err=True)
        raise typer.Exit(USAGE if isinstance(error, StackFileMissing) else MISTAKE) from None
