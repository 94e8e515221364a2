"""`fault`, `stockout` and `quota` inject faults."""

from typing import Annotated, Any

import typer
from tpuplane.data_files import read_data

from tpuplane_twin.cli.console import Json, Name, acting_on, answer, console
from tpuplane_twin.cli.show import print_faults, print_shortages
from tpuplane_twin.daemon.client import TwinClient, TwinError
from tpuplane_twin.gcp.data_files import data


def stockout(
    zone: Annotated[str | None, typer.Option(help="Zone without capacity.")] = None,
    generation: Annotated[str | None, typer.Option(help="TPU generation without capacity.")] = None,
    capacity: Annotated[
        str | None,
        typer.Option(help="on-demand, spot, flex-start or reservation (full). Default: all except reservation."),
    ] = None,
    chips: Annotated[
        int | None,
        typer.Option(min=0, help="Chips that the zone has, including those in use. Default: none for new nodes."),
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
    elif any(named.values()) or chips is not None:
        if not zone or not generation:
            raise TwinError("a stockout needs --zone and --generation")
        found = client.request("POST", "/twin/stockouts", {**named, "chips": chips})
    else:
        found = client.request("GET", "/twin/stockouts")
    answer(found, as_json, lambda: print_stockouts(found, cleared=clear))


def quota(
    region: Annotated[str | None, typer.Option(help="Region of the quota.")] = None,
    generation: Annotated[str | None, typer.Option(help="TPU generation of the quota.")] = None,
    capacity: Annotated[
        str | None,
        typer.Option(help="on-demand, or spot: the preemptible quota, also of flex-start. Default: on-demand."),
    ] = None,
    chips: Annotated[
        int | None,
        typer.Option(min=0, help="Chips that all pools may have together. Without it, the limit is removed."),
    ] = None,
    clear: Annotated[bool, typer.Option("--clear", help="Remove all limits.")] = False,
    name: Name = "local",
    as_json: Json = False,
) -> None:
    """Limit the quota of TPU chips: new hosts beyond it fail with GCE_QUOTA_EXCEEDED. Without options: list.

    The limit applies to each project with a cluster.
    """
    client = TwinClient(acting_on(name, quiet=as_json))
    given = any(value is not None for value in (region, generation, capacity, chips))
    if clear and given:
        raise TwinError("--clear removes all limits; to remove one, name it without --clear and --chips")
    if clear:
        found = client.request("DELETE", "/twin/quotas")
    elif given:
        if not region or not generation:
            raise TwinError("a quota limit needs --region and --generation")
        asked = {"region": region, "generation": generation, "capacity": capacity, "chips": chips}
        found = client.request("POST", "/twin/quotas", asked)
    else:
        found = client.request("GET", "/twin/stockouts")

    def show() -> None:
        if not found["quotas"]:
            console.print("no quota limits")
        print_shortages(found)

    answer(found, as_json, show)


def fault(
    method: Annotated[
        str | None,
        typer.Option(
            help="A method of Google's API, or the end of its name; * matches any text. Example: nodePools.create. "
            "Default: every method on --resource."
        ),
    ] = None,
    resource: Annotated[
        str | None,
        typer.Option(
            help="The name of a resource, or its end; * matches any text. Example: nodePools/trainer-0. "
            "Default: every resource of --method."
        ),
    ] = None,
    kind: Annotated[str | None, typer.Option(help=f"One of {', '.join(data('faults')['kinds'])}.")] = None,
    count: Annotated[str | None, typer.Option(help="Number of requests, or always. Default: 1.")] = None,
    after: Annotated[int | None, typer.Option(help="Number of matching requests before the first fault.")] = None,
    seconds: Annotated[int | None, typer.Option(help="Delay of a slow answer.")] = None,
    message: Annotated[str | None, typer.Option(help="Message of the error, instead of Google's.")] = None,
    clear: Annotated[bool, typer.Option("--clear", help="Remove the named faults, or all.")] = False,
    name: Name = "local",
    as_json: Json = False,
) -> None:
    """Add a fault of Google's API to the next matching requests. Without options: list."""
    client = TwinClient(acting_on(name, quiet=as_json))
    given: dict[str, Any] = {"kind": kind, "method": method, "resource": resource, "count": count, "after": after}
    given |= {"seconds": seconds, "message": message}
    action = "DELETE" if clear else "POST" if any(value is not None for value in given.values()) else "GET"
    found = client.request(action, "/twin/faults", None if action == "GET" else given)
    answer(found, as_json, lambda: print_faults(found))


def disrupt(
    kind: Annotated[
        str | None,
        typer.Argument(help=f"One of {', '.join(read_data('tpuplane_twin.failures', 'disruptions'))}. Default: list."),
    ] = None,
    cluster: Annotated[str | None, typer.Option(help="The cluster. Default: the only one; with --clear, all.")] = None,
    namespace: Annotated[str | None, typer.Option(help="The namespace of an operator, such as kueue-system.")] = None,
    clear: Annotated[bool, typer.Option("--clear", help="Remove all disruptions.")] = False,
    name: Name = "local",
    as_json: Json = False,
) -> None:
    """Kill or stop processes of a control plane or an operator, or raise etcd's NOSPACE alarm. Default: list."""
    client = TwinClient(acting_on(name, quiet=as_json))
    if clear and (kind or namespace):
        raise TwinError("--clear removes all disruptions, with --cluster those of a cluster; name nothing else")
    if not (clear or kind) and (cluster or namespace):
        raise TwinError(f"name a disruption; allowed: {', '.join(read_data('tpuplane_twin.failures', 'disruptions'))}")
    given = {"kind": kind, "cluster": cluster, "namespace": namespace}
    action = "DELETE" if clear else "POST" if kind else "GET"
    found = client.request(action, "/twin/disruptions", given)

    def show() -> None:
        for each in found["disruptions"]:
            console.print(f"[bold]{each['cluster']}[/bold]: {each['disruption']}", soft_wrap=True)
        if not found["disruptions"]:
            console.print("no disruption is active")

    answer(found, as_json, show)


def print_stockouts(found: dict[str, Any], *, cleared: bool) -> None:
    """The stockouts, and the pools in back-off."""
    if not found["stockouts"]:
        console.print("no stockouts")
    print_shortages(found)
    if cleared and found["backoff"]:
        said = "The back-off continues, as on GKE: the autoscaler does not notice new capacity."
        console.print(said, soft_wrap=True)
