"""`fail`, `maintain`, `recover`, `reclaim` and `upgrade`: what happens to the hosts of a data centre."""

from typing import Annotated, Any, Literal

import typer
from rich.markup import escape

from tpuplane_twin.cli.console import Json, Name, acting_on, answer, console, stderr
from tpuplane_twin.daemon.client import TwinClient

_LONG_SECONDS = 900.0  # for running operations, the drain of pods, and new nodes

What = Annotated[Literal["host", "slice"], typer.Argument(help="One host, or all hosts of its pool.")]
Host = Annotated[str, typer.Argument(help="A host: the name of a node, or POOL/NUMBER. With slice also a node pool.")]
Cluster = Annotated[str | None, typer.Option(help="Its cluster (NAME or LOCATION/NAME), if several have that pool.")]


def fail(what: What, host: Host, cluster: Cluster = None, name: Name = "local", as_json: Json = False) -> None:
    """Stop hosts without notice. Auto-repair creates them, or their slice, again after 10 minutes of GKE's time."""
    _begin("host-error", what, host, cluster, name, as_json)


def maintain(
    host: Annotated[str, typer.Argument(help="A host: the name of a node, or POOL/NUMBER.")],
    notice: Annotated[
        str | None,
        typer.Option(
            "--in",
            metavar="TIME",
            help="Announce the maintenance this long before it begins, in GKE's time, such as 30m (30 s on the twin). "
            "Default: now.",
        ),
    ] = None,
    cluster: Cluster = None,
    name: Name = "local",
    as_json: Json = False,
) -> None:
    """Maintain a host: its pods end within their grace period, and it returns later. It interrupts its whole slice.

    The label cloud.google.com/perform-maintenance=true on a node starts an announced maintenance at once.
    """
    _begin("maintenance", "host", host, cluster, name, as_json, notice)


def recover(what: What, host: Host, cluster: Cluster = None, name: Name = "local", as_json: Json = False) -> None:
    """End the incident of hosts: they run again, as after a restart by Compute Engine."""
    _begin("recovery", what, host, cluster, name, as_json)


def reclaim(
    pool: Annotated[str, typer.Argument(help="A node pool with spot or reserved hosts.")],
    cluster: Cluster = None,
    name: Name = "local",
    as_json: Json = False,
) -> None:
    """Reclaim the hosts of a pool: pods end after their notice, and GKE creates new hosts if it can.

    Compute Engine reclaims spot hosts, and those of a calendar reservation at its end.
    """
    client = TwinClient(acting_on(name, quiet=as_json))
    asked = {"pool": pool, "cluster": cluster}
    with (stderr if as_json else console).status(f"reclaiming the hosts of {escape(pool)}"):
        found = client.request("POST", "/twin/reclaim", asked, timeout=_LONG_SECONDS)

    def show() -> None:
        again = "are deleted and created again, those of an autoscaled pool up to its minimum"
        failed = f"the reclaim of [bold]{pool}[/bold] has failed: {escape(found.get('error', ''))}"
        console.print(failed if "error" in found else f"the hosts of [bold]{pool}[/bold] {again}", soft_wrap=True)

    answer(found, as_json, show)


def upgrade(
    cluster: Annotated[str, typer.Argument(help="A cluster: NAME or LOCATION/NAME.")],
    version: Annotated[
        str | None, typer.Option(help="A GKE version. Default: the default version of the release channel.")
    ] = None,
    now: Annotated[bool, typer.Option("--now", help="Ignore the maintenance window.")] = False,
    name: Name = "local",
    as_json: Json = False,
) -> None:
    """Upgrade a cluster as GKE does automatically: the control plane, then each pool with auto-upgrade."""
    client = TwinClient(acting_on(name, quiet=as_json))
    asked = {"cluster": cluster, "version": version, "now": now}
    with (stderr if as_json else console).status(f"upgrading {escape(cluster)}"):
        found = client.request("POST", "/twin/upgrade", asked, timeout=_LONG_SECONDS)

    def show() -> None:
        for kind in ("upgraded", "held"):
            for line in found[kind]:
                console.print(f"{kind}: {escape(line)}", soft_wrap=True)
        if "error" in found:
            console.print(f"failed: {escape(found['error'])}", soft_wrap=True)
        if not any(found.values()):
            console.print("nothing to upgrade")

    answer(found, as_json, show)


def _begin(
    kind: str, scope: str, target: str, cluster: str | None, name: str, as_json: bool, notice: str | None = None
) -> None:
    asked = {"kind": kind, "scope": scope, "target": target, "cluster": cluster, "notice": notice}
    client = TwinClient(acting_on(name, quiet=as_json))
    found = client.request("POST", "/twin/incidents", asked)
    answer(found, as_json, lambda: console.print(incident_line(found), soft_wrap=True))


def incident_line(incident: dict[str, Any]) -> str:
    """An incident in one line."""
    hosts = incident["hosts"]
    which = hosts[0] if len(hosts) == 1 else f"{len(hosts)} hosts"
    left = f"; its next step follows in {incident['seconds']} s" if incident["seconds"] else ""
    where = f"[bold]{incident['pool']}[/bold] in {incident['cluster']}"
    return f"{incident['kind']}: {which} of {where}{left}"
