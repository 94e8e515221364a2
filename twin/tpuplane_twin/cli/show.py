"""The output of commands: the twin, its clusters, pools, slices, chips, and next commands."""

import types
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.markup import escape
from rich.table import Column, Table
from tpuplane.quantities import counted

from tpuplane_twin.cli.console import console, own_command
from tpuplane_twin.cli.incidents import incident_line
from tpuplane_twin.machine.paths import name_option


def print_up(name: str, status: Mapping[str, Any]) -> None:
    """The output of `up`."""
    clusters = status["clusters"]
    console.print(
        f"twin [bold]{name}[/bold] is up: Google's API at {status['api']}, "
        + (f"{counted(len(clusters), 'cluster')}" if clusters else "no cluster yet (a program creates them)")
    )
    console.print(f'next: [cyan]eval "$({own_command()} env{name_option(name)})"[/cyan]', soft_wrap=True)


def print_status(status: Mapping[str, Any]) -> None:
    """The output of `status`."""
    what = "" if status["state"] == "failed" else "waits for "
    waiting = f" ({what}{escape(status['waiting'])})" if status["waiting"] else ""
    console.print(
        f"twin [bold]{status['name']}[/bold]: {status['state']}{waiting}, Google's API at {status['api']}, "
        f"Kubernetes {status['kubernetes']}",
        soft_wrap=True,
    )
    processes = Table("process", "pid", "restarts", Column("memory", justify="right"), box=None, pad_edge=False)
    names = {cluster["context"]: cluster["name"] for cluster in status["clusters"]}
    for process in status["processes"]:
        processes.add_row(
            "/".join(names.get(part, part) for part in process["name"].split("/")),
            str(process["pid"] or "[red]down[/red]"),
            str(process["restarts"]),
            f"{process['memoryMiB']} MiB",
        )
    console.print(processes)
    print_pools(status["clusters"])
    print_queues(status["clusters"])
    for cluster in status["clusters"]:
        if cluster["ray"] is not None:
            console.print(f"\nRay in {cluster['name']}: {ray_line(cluster['ray'])}")
        if cluster["unread"]:
            console.print(f"\n{cluster['name']}: {escape(cluster['unread'])}", soft_wrap=True)
    print_shortages(status)
    if status["clockStill"]:
        remedy = f"after a killed one, run `{own_command()} up{name_option(status['name'])}`"
        console.print(f"the clock stands still, as in a rehearsal; {remedy}", soft_wrap=True)
    for incident in status["incidents"]:
        console.print(f"incident: {incident_line(incident)}", soft_wrap=True)
    if status["faults"] or status["faultyOperations"]:
        print_faults(status)
    for operation in status["operations"]:
        console.print(f"running: {operation['operationType']} {operation['target']}")


Workers = Mapping[tuple[str, str], int]
"""The number of a sample's workers by context and node pool."""


def print_pools(clusters: Sequence[Mapping[str, Any]], workers: Workers = types.MappingProxyType({})) -> None:
    """A row for each node pool: slice, chips, ready hosts, and the workers of a sample."""
    every = [pool for cluster in clusters for pool in cluster["nodePools"]]
    for cluster in sorted(clusters, key=lambda cluster: str(cluster["name"])):
        state = "" if cluster["status"] == "RUNNING" else f": {cluster['status']} {escape(cluster['message'])}"
        console.print(f"\n[bold]{cluster['name']}[/bold] in {cluster['location']}{state}", soft_wrap=True)
        table = Table(*_columns(every, workers), box=None, pad_edge=False)
        for pool in sorted(cluster["nodePools"], key=lambda pool: (pool["chips"] > 0, pool["name"])):
            table.add_row(
                pool["name"],
                pool["slice"] or f"[dim]{pool['machineType']}[/dim]",
                str(pool["chips"] or ""),
                f"{_known(pool['nodesReady'])}/{pool['nodes']}",
                pool["capacity"],
                pool["status"] if not pool["message"] else f"{pool['status']}: {escape(pool['message'])}",
                *([str(workers.get((cluster["context"], pool["name"]), ""))] if workers else []),
            )
        console.print(table)
    slices = [pool for pool in every if pool["chips"]]
    if every:
        chips, hosts = (sum(pool[key] for pool in slices) for key in ("chips", "nodes"))
        counts = [pool["nodesReady"] for pool in slices]
        ready = _known(None if None in counts else sum(counts))
        console.print(f"\n{counted(chips, 'chip')}; {ready} of {counted(hosts, 'TPU host')} ready")


def print_queues(clusters: Iterable[Mapping[str, Any]]) -> None:
    """Each cluster's queues, and jobs outside of queues."""
    from tpuplane.cli.render import console as wide_console  # noqa: PLC0415 (slow to import)
    from tpuplane.cli.status_table import outside_table, queue_table  # noqa: PLC0415

    out = wide_console()
    for cluster in sorted(clusters, key=lambda cluster: str(cluster["name"])):
        if cluster["queues"]:
            out.print(f"\n[bold]queues of {cluster['name']}[/bold]")
            out.print(queue_table(cluster["queues"]))
        if cluster["outsideQueues"]:
            out.print(f"\n[bold]outside of queues in {cluster['name']}[/bold]")
            out.print(outside_table(cluster["outsideQueues"]))


def print_shortages(found: Mapping[str, Any]) -> None:
    """Stockouts, quota limits, and pools in back-off."""
    for stockout in found["stockouts"]:
        how = "except by reservation" if stockout["capacity"] == "any" else f"as {stockout['capacity']}"
        most = f"at most {counted(stockout['chips'], 'chip')} of" if "chips" in stockout else "no"
        console.print(f"stockout: {most} [bold]{stockout['generation']}[/bold] in {stockout['zone']} {how}")
    for quota in found["quotas"]:
        where = ", ".join(f"{name} {value}" for name, value in quota.get("dimensions", {}).items())
        metric = f"[bold]{escape(quota['metric'])}[/bold]"
        console.print(
            f"quota: at most {quota['overrideValue']} of {metric} in {quota['project']}, {where}", soft_wrap=True
        )
    for backoff in found["backoff"]:
        left = f"{backoff['seconds'] // 60} min {backoff['seconds'] % 60} s"
        console.print(
            f"back-off: the cluster autoscaler does not scale up [bold]{backoff['pool']}[/bold] of "
            f"{backoff['cluster']} for {left}: {escape(backoff['cause'])}",
            soft_wrap=True,
        )


def print_faults(found: Mapping[str, Any]) -> None:
    """The faults of Google's API that requests will meet, and the operations that have one."""
    if not found["faults"] and not found["faultyOperations"]:
        console.print("no faults")
    for fault in found["faults"]:
        skips = f", after {fault['after']} more matching requests" if fault["after"] else ""
        times = {"always": "always", 1: "once"}.get(fault["count"], f"{fault['count']} times")
        about = f"{escape(fault['method'])} of {escape(fault['resource'])}"
        console.print(f"fault: [bold]{fault['kind']}[/bold], {times}{skips}, for {about}", soft_wrap=True)
    for operation in found["faultyOperations"]:
        about = f"{operation['operation']} on {operation['target']}"
        console.print(f"fault: [bold]{operation['kind']}[/bold] of {about}", soft_wrap=True)


def _known(number: int | None) -> str:
    return "unknown" if number is None else str(number)


def ray_line(ray: Mapping[str, Any]) -> str:
    """The progress of Ray's pods in one line."""
    if not ray["pods"]:
        return "no pods yet; they will be real processes"
    others = [f"{count} {state}" for state, count in ray["others"].items()]
    if ray["restarts"]:
        others.append(counted(ray["restarts"], "restart"))
    detail = f" ({', '.join(others)})" if others else ""
    return f"{ray['ready']} of {ray['pods']} pods ready{detail}"


def _columns(pools: Sequence[Mapping[str, Any]], workers: Workers) -> list[Column]:
    # All clusters have the same widths, as one table.
    widths = {key: max((len(str(pool[key])) for pool in pools), default=0) for key in ("name", "slice", "machineType")}
    return [
        Column("node pool", no_wrap=True, min_width=widths["name"]),
        Column("slice", no_wrap=True, min_width=max(widths["slice"], widths["machineType"])),
        Column("chips", justify="right"),
        Column("ready", justify="right"),
        Column("capacity", min_width=len("reservation")),
        Column("state", min_width=len("PROVISIONING")),
        *([Column("workers", justify="right")] if workers else []),
    ]


def print_rehearsal(name: str, stack: str, result: Mapping[str, Any]) -> None:
    """The output of `rehearse`: the clusters of the stack, and next commands."""
    placement = result["sample"]
    clusters = [cluster for cluster in result["status"]["clusters"] if cluster["context"] in result["contexts"]]
    console.print()
    pools = placement["workersByNodePool"] if placement else {}
    print_pools(clusters, {(placement["context"], pool): count for pool, count in pools.items()})
    if placement:
        where = ", ".join(f"{count} on {pool}" for pool, count in pools.items())
        console.print(f"{placement['manifest']}: workers {where}; head on {placement['headOn']}", soft_wrap=True)
    console.print(f"\ndone in {result['seconds']:.0f} s; next, in this folder:", style="bold")
    commands = [f'eval "$({own_command()} env{name_option(name)})"', f"pulumi preview --stack {stack}"]
    if context := placement["context"] if placement else next(iter(result["contexts"]), None):
        labels = "cloud.google.com/gke-tpu-accelerator,cloud.google.com/gke-tpu-topology,cloud.google.com/gke-nodepool"
        kubectl = f"kubectl --context {context} get"
        commands += [f"{kubectl} nodes -L {labels}", f"{kubectl} pods -o wide"]
    for command in (*commands, "tpuplane-twin status"):
        console.print(f"  [cyan]{command}[/cyan]", soft_wrap=True)
