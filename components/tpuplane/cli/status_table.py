"""Pools, slices, queues and single jobs of a cluster in a terminal. The twin's status uses the same table of queues."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from tpuplane.cli.render import console
from tpuplane.labels import TPU, UNITS
from tpuplane.quantities import counted
from tpuplane.status.job_text import pool_state, quota_text, rows, title
from tpuplane.status.links import links
from tpuplane.status.queues import NO_QUEUE
from tpuplane.status.waiting import ENDING

_SHOWN_PROBLEMS = 3

Row = Mapping[str, Any]
"""A row of `tpuplane.status`."""


def print_clusters(clusters: Sequence[Row], hint: str = "", *, again: bool = False) -> None:
    """Print the results of `NodePools.complete`, the first one with a hint; `again` replaces the former output."""
    out = console()
    if again:
        out.clear()  # has no effect unless the output is a terminal
    for index, cluster in enumerate(clusters):
        if index:
            out.print()
        _print_cluster(out, cluster, "" if index else hint)


def print_links(clusters: Iterable[Row]) -> None:
    """Print the addresses in Google's console, each one in a line that is never broken."""
    for cluster in clusters:
        lines = [f"{link.about}, {link.what}: {link.address}" for link in links(cluster)]
        typer.echo("\n".join(lines or [f"{cluster['context']}: not a cluster in Google Cloud"]))


def _print_cluster(out: Console, cluster: Row, hint: str) -> None:
    out.print(f"[bold]{escape(cluster['context'])}[/bold][dim]{hint}[/dim]")
    pools = cluster["nodePools"]
    if gke := cluster["gke"]:
        channel = f", channel {gke['channel']}" if gke["channel"] else ""
        form = "; {type} of {about} is running (since {since})"
        running = "".join(form.format_map(operation) for operation in gke["operations"])
        state = "" if gke["state"] == "RUNNING" else f"; {gke['state']} {gke['message']}".rstrip()
        out.print(f"[dim]{gke['location']}, version {gke['version']}{channel}{escape(running + state)}[/dim]")
    if not pools:
        out.print("no node pools")
    else:
        out.print(_pool_table(pools))
        slices = [pool for pool in pools if pool["generation"] or pool["chips"]]
        chips, ready, hosts = (sum(pool[key] for pool in slices) for key in ("chips", "hostsReady", "hosts"))
        gpus = sum(pool["gpus"] for pool in pools)
        units = ", ".join([counted(chips, "chip"), *([counted(gpus, "GPU")] if gpus else [])])
        out.print(f"\n{units}; {ready} of {counted(hosts, 'TPU host')} ready")
    declared = f", declared in {cluster['declaredIn']}" if cluster["declaredIn"] else ""
    out.print(f"[dim]node pools read from {escape(cluster['poolsFrom'] + declared)}[/dim]")
    if (queues := cluster["queues"]) is None:
        out.print("\nno queues: Kueue is not installed in this cluster")
    elif not queues:
        out.print("\nno queues: Kueue is installed, but no team has a queue")
    else:
        out.print("\n[bold]queues[/bold]")
        out.print(queue_table(queues))
    if cluster["slices"]:
        out.print("\n[bold]slices[/bold]", slice_table(cluster["slices"]), sep="\n")
    if cluster["outsideQueues"]:
        out.print("\n[bold]outside of queues[/bold]", outside_table(cluster["outsideQueues"]), sep="\n")
    for problem in cluster["problems"]:
        out.print(f"[yellow]problem[/yellow]: {escape(problem)}")


def print_job(job: Row) -> None:
    """Print the result of `tpuplane.status.job.explain`."""
    out = console()
    out.print(f"[bold]{escape(title(job))}[/bold]\n")
    table = Table(Column(no_wrap=True), Column(), box=None, pad_edge=False, show_header=False)
    for label, text in rows(job):
        table.add_row(f"[dim]{label}[/dim]", escape(text))
    out.print(table)
    if job["helps"]:
        out.print("\n[bold]what would help[/bold]")
        for text in job["helps"]:
            out.print(f"  - {escape(text)}")


def queue_table(queues: Sequence[Row]) -> Table:
    """For each queue: its quotas, the slices of its jobs, and why jobs wait."""
    table = Table("queue, job", "priority", Column("asks for", justify="right"), "state", box=None, pad_edge=False)
    for queue in queues:
        name = "no queue" if queue["name"] == NO_QUEUE else escape(queue["name"])
        quotas = ", ".join(map(_quota, queue["quotas"])) or "no quota of its own"
        shown = [queue["message"], *([quotas] if queue["active"] or not queue["message"] else [])]
        table.add_row(f"[bold]{name}[/bold]", "", "", escape("; ".join(filter(None, shown))))
        for work in queue["workloads"]:
            running = f"in {work['cluster']}" if work["cluster"] else _placed(work)
            job, priority = f"  {escape(work['namespace'])}/{escape(work['job'])}", work["priorityClass"]
            state = _waits(work) if work["state"] == "waiting" else running
            table.add_row(job, priority or str(work["priority"]), _asked(work), state)
    return table


def outside_table(jobs: Sequence[Row]) -> Table:
    """Jobs outside of queues: their requests, their node pools, and why they wait."""
    table = Table("job", Column("asks for", justify="right"), "state", box=None, pad_edge=False)
    for job in jobs:
        table.add_row(f"{escape(job['namespace'])}/{escape(job['job'])}", _asked(job), _placed(job))
    return table


def _placed(work: Row) -> str:
    """The node pools of pods, and why other pods have no node."""
    pools = ", ".join(work["nodePools"])
    why = work["why"] and (escape(work["why"]) if work["why"].startswith(ENDING) else _waits(work))
    return "; ".join(filter(None, (pools and f"on {pools}", why))) or "not on a node yet"


def _waits(work: Row) -> str:
    return f"[yellow]waits[/yellow]: {escape(work['why'])}"


def _pool_table(pools: Sequence[Row]) -> Table:
    names = (Column("node pool", no_wrap=True), Column("slice", no_wrap=True))
    numbers = (Column("chips", justify="right"), Column("ready", justify="right"))
    table = Table(*names, *numbers, "capacity", "state", "held by", "", box=None, pad_edge=False)
    for pool in pools:
        problems = [*filter(None, [pool_state(pool)]), *pool["problems"][:_SHOWN_PROBLEMS]]
        if len(pool["problems"]) > _SHOWN_PROBLEMS:
            problems.append(f"and {len(pool['problems']) - _SHOWN_PROBLEMS} more")
        table.add_row(
            pool["name"] or "no node pool",
            pool["slice"] or pool["gpu"] or f"[dim]{pool['machineType']}[/dim]",
            counted(pool["gpus"], "GPU") if pool["gpus"] else str(pool["chips"] or ""),
            f"{pool['hostsReady']}/{pool['hosts']}",
            pool["capacity"],
            pool["state"],
            ", ".join(map(escape, pool["heldBy"])),
            f"[yellow]{escape('; '.join(problems))}[/yellow]" if problems else "",
        )
    return table


def slice_table(slices: Sequence[Row]) -> Table:
    """The slices that GKE's slice controller makes of cubes."""
    table = Table("slice", "topology", "state", "partitions", "job", "", box=None, pad_edge=False)
    for found in slices:
        partitions = ", ".join(partition[:8] for partition in found["partitions"])
        why = f"[yellow]{escape(found['message'])}[/yellow]"
        table.add_row(found["name"], found["topology"], found["state"], partitions, escape(found["job"]), why)
    return table


def _quota(quota: Row) -> str:
    return f"{quota['flavor']} {quota_text(quota, '' if quota['resource'] == TPU else UNITS[quota['resource']])}"


def _asked(work: Row) -> str:
    """Chips or GPUs; cores for a job without either."""
    devices = [counted(work[key], unit) for key, unit in (("chips", "chip"), ("gpus", "GPU")) if work[key]]
    return ", ".join(devices) or (counted(work["cores"], "core") if work["cores"] else "")
