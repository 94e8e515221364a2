"""The state of one job in a terminal."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.markup import escape
from rich.table import Column, Table

from tpuplane.cli.render import console
from tpuplane.labels import GPU, TPU

_UNITS = {TPU: "chips", GPU: "GPUs", "cpu": "cores"}
_STATES = {
    "waiting": "waits for Kueue",
    "pending": "has pods without a node",
    "failing": "has pods that fail",
    "starting": "starts",
    "running": "runs",
    "created": "has no pods",
    "suspended": "is suspended",
    "succeeded": "has succeeded",
    "failed": "has failed",
}

Row = Mapping[str, Any]


def print_job(job: Row) -> None:
    """Print the result of `explain`."""
    out = console()
    since = f" since {job['since']}" if job["since"] and job["state"] in ("waiting", "running") else ""
    out.print(
        f"[bold]{job['kind']} {escape(job['namespace'])}/{escape(job['job'])}[/bold] {_STATES[job['state']]}{since}\n"
    )
    table = Table(Column(no_wrap=True), Column(), box=None, pad_edge=False, show_header=False)
    for label, text in _rows(job):
        table.add_row(f"[dim]{label}[/dim]", escape(text))
    out.print(table)
    if job["helps"]:
        out.print("\n[bold]what would help[/bold]")
        for text in job["helps"]:
            out.print(f"  - {escape(text)}")


def _rows(job: Row) -> Iterator[tuple[str, str]]:
    if job["part"]:
        yield "part", f"{job['part']} is a part of it"
    if job["pods"]:
        where = f", on {', '.join(job['nodePools'])}" if job["nodePools"] else ""
        yield "pods", f"{job['podsReady']} of {job['pods']} pods are ready{where}"
    for reason in job["reasons"]:
        yield reason["source"], reason["message"]
    if job["queue"]:
        ahead = f"; jobs ahead of it: {job['ahead']}" if job["state"] == "waiting" else ""
        yield "queue", f"{job['queue']}, priority {job['priority']}{ahead}"
    for quota in job["quotas"]:
        yield "quota", _quota(job["queue"], quota)
        if quota["heldBy"]:
            yield "held by", ", ".join(f"{it['job']} ({it['amount']})" for it in quota["heldBy"])
    for need in job["needs"]:
        yield "needs", _need(need)
        for pool in need["nodePools"]:
            holders = f", held by {', '.join(pool['heldBy'])}" if pool["heldBy"] else ", not held"
            yield "", f"{pool['name']}: {pool['hostsReady']} of {pool['hosts']} hosts are ready{holders}"
    if job["unread"]:
        yield "not read", f"you may not read these of all namespaces: {', '.join(job['unread'])}"


def _quota(queue: str, quota: Row) -> str:
    unit = _UNITS[quota["resource"]]
    borrowed = f", {quota['borrowed']} of them borrowed" if quota["borrowed"] else ""
    own = f"{queue} uses {quota['used']} of {quota['nominal']} {unit} of {quota['flavor']}{borrowed}"
    cohort = (
        f"; cohort {quota['cohort']} uses {quota['cohortUsed']} of {quota['cohortNominal']}" if quota["cohort"] else ""
    )
    return own + cohort


def _need(need: Row) -> str:
    pods = "1 pod" if need["pods"] == 1 else f"{need['pods']} pods"
    units = [f"{need[key]} {unit}" for key, unit in (("chips", "chips"), ("gpus", "GPUs")) if need[key]]
    slices = f"{need['slices']} x {need['slice']}" if need["slices"] else need["slice"]
    where = (
        ""
        if need["slice"] or not need["nodeSelector"]
        else "nodes with " + ", ".join(f"{key}={value}" for key, value in need["nodeSelector"].items())
    )
    pools = "" if need["nodePools"] else "no node pool has such nodes now"
    return "; ".join(filter(None, (", ".join((pods, *units)), slices or where, pools)))
