"""`python -m conformance run|compare`: see docs/conformance.md."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from tpuplane.spec import SpecError

from conformance.compare import differences
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
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from None
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
    typer.echo(differences(*(json.loads(file.read_text(encoding="utf-8")) for file in (google, twin))))


if __name__ == "__main__":
    app()
