"""The commands. Nothing here imports Pulumi, so that they answer at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from tpuplane.cli.render import as_json, mistakes_as_json, show
from tpuplane.plan import plan
from tpuplane.spec import SpecError, StackFileMissing, load_stack

MISTAKE = 1
"""Exit code: the file is wrong."""
USAGE = 2
"""Exit code: the command was called wrongly, for example with a file that is not there."""

app = typer.Typer(name="tpuplane", no_args_is_help=True, add_completion=False, pretty_exceptions_show_locals=False)


@app.callback()
def main() -> None:
    """TPU platforms on GKE, described in one stack file."""


@app.command()
def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A stack file, such as stacks/Pulumi.local.yaml.")],
    as_json_: Annotated[bool, typer.Option("--json", help="Print the plan, or the mistakes, as JSON.")] = False,
) -> None:
    """Say whether a stack file is right, and what it describes. Needs no engine and no cloud.

    Exit code 0: right. 1: wrong, with every mistake on a line of its own. 2: no such file.
    """
    try:
        platform = plan(load_stack(file))
    except SpecError as error:
        if as_json_:
            typer.echo(json.dumps(mistakes_as_json(error), indent=2))
        else:
            typer.echo(error, err=True)
        raise typer.Exit(USAGE if isinstance(error, StackFileMissing) else MISTAKE) from None
    if as_json_:
        typer.echo(json.dumps(as_json(platform), indent=2))
    else:
        show(platform)


@app.command(hidden=True)
def schema() -> None:
    """Print the JSON schema of stack files."""
    from tpuplane.spec.schema import schema_text  # noqa: PLC0415 (only this command needs it)

    typer.echo(schema_text(), nl=False)
