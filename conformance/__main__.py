"""`python -m conformance run|compare`: see docs/conformance.md."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from tpuplane.cli.exit_codes import USAGE, ended
from tpuplane.spec import SpecError

from conformance.compare import Result, differences
from conformance.recorder import Recorder
from conformance.suite import SUITE, Run, choose

app = typer.Typer(add_completion=False)


@app.command("run")
def run(
    project: Annotated[str, typer.Option(help="Project of Google Cloud, or of the twin.")],
    zone: Annotated[str, typer.Option(help="Zone of the cluster and its slices.")],
    output: Annotated[Path, typer.Option(help="File of the result.")],
    capacity: Annotated[str, typer.Option(help="spot or on-demand.")] = "spot",
    minutes: Annotated[int, typer.Option(help="Time limit; then everything is deleted.")] = SUITE["minutes"],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Create the smallest platform, change it in each way, delete it, and write what was recorded."""
    try:
        platform, steps, usd = choose(project, zone, capacity)
    except SpecError as error:
        raise ended(error, USAGE) from None
    _require_writable(output)
    hardware = f"{platform['clusters']['main']['pools']['single']['generation']} ({capacity})"
    typer.echo(
        f"creates in {project}, {zone}: a VPC, a cluster, a system node, 2 hosts of one chip and 2 of a slice 2x4 of "
        f"{hardware}\ncosts about ${usd:.2f} an hour, ${usd * minutes / 60:.2f} in the limit of {minutes} min; then "
        "everything is deleted, which can take longer"
    )
    if not yes:
        typer.confirm("create it?", abort=True)
    suite = Run(platform, Recorder(project, os.environ), lambda line: typer.echo(line, err=True), minutes)
    began, failure = datetime.now(UTC).isoformat(timespec="seconds"), ""
    try:
        suite.run(steps)
    except (Exception, KeyboardInterrupt) as error:
        failure = (str(error) or type(error).__name__).replace(project, "PROJECT")
    target = "twin" if "TPUPLANE_TWIN" in os.environ else "Google Cloud"
    head = {"target": target, "began": began, "zone": zone, "hardware": hardware, "failure": failure}
    output.write_text(json.dumps({**head, **suite.result, "requests": suite.recorder.requests}, indent=1) + "\n")
    typer.echo(f"{output}: {len(suite.recorder.requests)} requests{'; failed: ' + failure if failure else ''}")
    raise typer.Exit(bool(failure))


@app.command("compare")
def compare(google: Path, twin: Path) -> None:
    """Print the differences between two results as a table."""
    typer.echo(differences(_result(google), _result(twin)))


def _require_writable(output: Path) -> None:
    """End the command if the file cannot be written: otherwise the result of a paid run would be lost."""
    existed = output.exists()
    try:
        output.open("a").close()
    except OSError as error:
        message = f"--output: {output} cannot be written: {error.strerror}; name a file in an existing folder"
        raise ended(message, USAGE) from None
    if not existed:
        output.unlink()


def _result(file: Path) -> Result:
    """The result of a run that has not failed: a failed one lacks steps, and would have fewer differences."""
    try:
        result: Result = json.loads(file.read_text(encoding="utf-8"))
        failure = {key: result[key] for key in ("failure", "steps", "nodes", "requests")}["failure"]
    except OSError as error:
        raise ended(f"{file} cannot be read: {error.strerror}; name the result of a run", USAGE) from None
    except (ValueError, LookupError, TypeError):
        raise ended(f"{file} is not the result of a run; write one with `python -m conformance run`", USAGE) from None
    if failure:
        raise ended(f"{file}: this run failed ({failure}); compare results of runs that did not fail", USAGE)
    return result


if __name__ == "__main__":
    app()
