"""`stockout` and `reclaim` inject faults."""

from typing import Annotated, Any

import typer
from rich.markup import escape

from tpuplane_twin.cli.console import Json, Name, acting_on, answer, console, errors_as_lines, stderr
from tpuplane_twin.cli.show import print_shortages
from tpuplane_twin.daemon.client import TwinClient, TwinError

_RECLAIM_SECONDS = 900.0  # for running operations, the drain of pods, and new nodes


@errors_as_lines
def stockout(
    zone: Annotated[str | None, typer.Option(help="Zone without capacity.")] = None,
    generation: Annotated[str | None, typer.Option(help="TPU generation without capacity.")] = None,
    capacity: Annotated[
        str | None,
        typer.Option(help="on-demand, spot, flex-start or reservation (full). Default: all but reservation."),
    ] = None,
    clear: Annotated[bool, typer.Option("--clear", help="Remove the named stockouts, or all.")] = False,
    name: Name = "local",
    as_json: Json = False,
) -> None:
    """Add a stockout: new nodes of a generation in a zone fail with GCE_STOCKOUT. Without options: list."""
    client = TwinClient(acting_on(name, quiet=as_json))
    named = {"zone": zone, "generation": generation, "capacity": capacity}
    if clear:
        found = client.request("DELETE", "/twin/stockouts", named)
    elif any(named.values()):
        if not zone or not generation:
            raise TwinError("a stockout needs --zone and --generation")
        found = client.request("POST", "/twin/stockouts", named)
    else:
        found = client.request("GET", "/twin/stockouts")
    answer(found, as_json, lambda: print_stockouts(found, cleared=clear))


@errors_as_lines
def reclaim(
    pool: Annotated[str, typer.Argument(help="A spot node pool.")],
    cluster: Annotated[str | None, typer.Option(help="Its cluster, if several have a pool of that name.")] = None,
    name: Name = "local",
    as_json: Json = False,
) -> None:
    """Reclaim the hosts of a spot pool, as Compute Engine does: pods are deleted, and created again where they fit."""
    client = TwinClient(acting_on(name, quiet=as_json))
    asked = {"pool": pool, "cluster": cluster}
    with (stderr if as_json else console).status(f"reclaiming the hosts of {escape(pool)}"):
        found = client.request("POST", "/twin/reclaim", asked, timeout=_RECLAIM_SECONDS)

    def show() -> None:
        console.print(f"the hosts of [bold]{pool}[/bold] are deleted")
        if "error" in found:
            console.print(f"no new hosts: {escape(found['error'])}")

    answer(found, as_json, show)


def print_stockouts(found: dict[str, Any], *, cleared: bool) -> None:
    """The stockouts, and the pools in back-off."""
    if not found["stockouts"]:
        console.print("no stockouts: there is capacity everywhere")
    print_shortages(found)
    if cleared and found["backoff"]:
        said = "The back-off continues, as on GKE: the autoscaler does not notice new capacity."
        console.print(said, soft_wrap=True)
