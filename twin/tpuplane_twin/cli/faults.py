"""`stockout` injects stockouts."""

from typing import Annotated, Any

import typer

from tpuplane_twin.cli.console import Json, Name, acting_on, answer, console, errors_as_lines
from tpuplane_twin.cli.show import print_shortages
from tpuplane_twin.daemon.client import TwinClient, TwinError


@errors_as_lines
def stockout(
    zone: Annotated[str | None, typer.Option(help="Zone without capacity.")] = None,
    generation: Annotated[str | None, typer.Option(help="TPU generation without capacity.")] = None,
    capacity: Annotated[
        str | None,
        typer.Option(help="on-demand, spot, flex-start or reservation (full). Default: all except reservation."),
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


def print_stockouts(found: dict[str, Any], *, cleared: bool) -> None:
    """The stockouts, and the pools in back-off."""
    if not found["stockouts"]:
        console.print("no stockouts: there is capacity everywhere")
    print_shortages(found)
    if cleared and found["backoff"]:
        said = "The back-off continues, as on GKE: the autoscaler does not notice new capacity."
        console.print(said, soft_wrap=True)
