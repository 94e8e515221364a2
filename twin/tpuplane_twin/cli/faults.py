"""`stockout` and `reclaim`: faults brought about by hand."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich.markup import escape

from tpuplane_twin.cli.console import Json, Name, acting_on, console, errors_as_lines, stderr
from tpuplane_twin.cli.show import print_shortages
from tpuplane_twin.daemon.client import TwinClient, TwinError

_RECLAIM_SECONDS = 900.0  # the operations of the cluster come first, then pods are drained, then nodes come


@errors_as_lines
def stockout(
    zone: Annotated[str | None, typer.Option(help="Zone without capacity.")] = None,
    generation: Annotated[str | None, typer.Option(help="TPU generation that is not to be had there.")] = None,
    capacity: Annotated[
        str | None,
        typer.Option(help="on-demand, spot, flex-start or reservation (full); left out: all but the last."),
    ] = None,
    clear: Annotated[bool, typer.Option("--clear", help="There is capacity again: of what is named, or all.")] = False,
    name: Name = "local",
    as_json: Json = False,
) -> None:
    """Let there be no capacity: new nodes of a generation in a zone fail with GCE_STOCKOUT. Without options: list."""
    client = TwinClient(acting_on(name, quiet=as_json))
    named = {"zone": zone, "generation": generation, "capacity": capacity}
    if clear:
        found = client.request("DELETE", "/twin/stockouts", named)
    elif any(named.values()):
        if not zone or not generation:
            raise TwinError("a stockout is of a generation in a zone; give --zone and --generation")
        found = client.request("POST", "/twin/stockouts", named)
    else:
        found = client.request("GET", "/twin/stockouts")
    if as_json:
        typer.echo(json.dumps(found, indent=2))
    else:
        print_stockouts(found, cleared=clear)


@errors_as_lines
def reclaim(
    pool: Annotated[str, typer.Argument(help="A spot node pool.")],
    cluster: Annotated[str | None, typer.Option(help="Its cluster, where several have a pool of that name.")] = None,
    name: Name = "local",
    as_json: Json = False,
) -> None:
    """Take the hosts of a spot pool back, as Compute Engine does: its pods go, and come again where there is room."""
    client = TwinClient(acting_on(name, quiet=as_json))
    asked = {"pool": pool, "cluster": cluster}
    with (stderr if as_json else console).status(f"the hosts of {escape(pool)} go, and others come where they can"):
        found = client.request("POST", "/twin/reclaim", asked, timeout=_RECLAIM_SECONDS)
    if as_json:
        typer.echo(json.dumps(found, indent=2))
    else:
        console.print(f"the hosts of [bold]{pool}[/bold] are gone")
        if "error" in found:
            console.print(f"and no others came: {escape(found['error'])}")


def print_stockouts(found: dict[str, Any], *, cleared: bool) -> None:
    """What there is no capacity for now, and what the cluster autoscaler makes of it."""
    if not found["stockouts"]:
        console.print("no stockouts: there is capacity everywhere")
    print_shortages(found)
    if cleared and found["backoff"]:
        said = "The back-off continues, as on GKE: the autoscaler does not notice that there is capacity again."
        console.print(said, soft_wrap=True)
