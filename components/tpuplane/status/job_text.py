"""The state of one job as text, for a terminal and for a page. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tpuplane.data_files import read_data
from tpuplane.labels import UNITS
from tpuplane.quantities import are, counted

_STATES: dict[str, str] = read_data("tpuplane.status", "jobs")["states"]

Row = Mapping[str, Any]


def title(job: Row) -> str:
    """The first line of the text about the result of `explain`."""
    since = f" (since {job['since']})" if job["since"] and job["state"] in ("waiting", "running") else ""
    return f"{job['kind']} {job['namespace']}/{job['job']} {_STATES[job['state']]}{since}"


def rows(job: Row) -> Iterator[tuple[str, str]]:
    """The details of the job, each as a label and a text."""
    if job["part"]:
        yield "part", f"{job['part']} is a part of it"
    if job["owner"]:
        yield "owner", f"{job['owner']}, which is not read: its kind is unknown here, or it does not exist"
    if job["pods"]:
        where = f", on {', '.join(job['nodePools'])}" if job["nodePools"] else ""
        yield "pods", f"{job['podsReady']} of {are(job['pods'], 'pod')} ready{where}"
    yield from ((reason["source"], reason["message"]) for reason in job["reasons"])
    if job["queue"]:
        ahead = f"; jobs ahead of it: {_ahead(job['ahead'])}" if job["state"] == "waiting" else ""
        yield "queue", f"{job['queue']}, priority {job['priority']}{ahead}"
    for quota in job["quotas"]:
        yield "quota", _quota(job["queue"], quota)
        if quota["heldBy"]:
            yield "held by", ", ".join(f"{holder['job']} ({holder['amount']})" for holder in quota["heldBy"])
    for need in job["needs"]:
        yield "needs", _need(need)
        for pool in need["nodePools"]:
            holders = f", held by {', '.join(pool['heldBy'])}" if pool["heldBy"] else ", not held"
            said = "".join(f"; {text}" for text in (pool_state(pool), _first(pool["problems"])) if text)
            yield "", f"{pool['name']}: {pool['hostsReady']} of {are(pool['hosts'], 'host')} ready{holders}{said}"
    if job["unread"]:
        yield "not read", f"you have no permission to list these in all namespaces: {', '.join(job['unread'])}"
    yield from (("problem", problem) for problem in job["problems"])


def pool_state(pool: Row) -> str:
    """The state of a node pool with its start and message; "" if the pool runs as declared, or nothing is known."""
    unusual = pool["state"] not in ("", "RUNNING")
    since = f"since {pool['since']}" if unusual and pool["since"] else ""
    undeclared = "not declared" if pool["declared"] is False else ""
    state = " ".join(filter(None, (pool["state"] if unusual else "", since)))
    return "; ".join(filter(None, (": ".join(filter(None, (state, pool["message"]))), undeclared)))


def _ahead(jobs: Sequence[str]) -> str:
    """The number of the jobs, and the first three: Kueue tries those first."""
    more = ", …" if len(jobs) > 3 else ""
    return f"{len(jobs)} ({', '.join(jobs[:3])}{more})" if jobs else "0"


def _first(problems: Sequence[str]) -> str:
    """The first problem of a node pool, such as a cordon, and the number of others."""
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{problems[0]}{more}" if problems else ""


def quota_text(quota: Row, unit: str, place: str = "") -> str:
    """How much of a quota is used. `unit` is a noun, or "", and `place` names the owner of the quota."""
    borrowed = f", {quota['borrowed']} borrowed" if quota["borrowed"] else ""
    over = f", {quota['over']} over its lowered quota until jobs end" if quota["over"] else ""
    number = quota["nominal"] or quota["used"]
    amount = f"{counted(number, unit) if unit else number}{place}"
    used = f"{quota['used']} of {amount}" if quota["nominal"] else f"{amount} without its own quota"
    return f"{used}{borrowed}{over}"


def _quota(queue: str, quota: Row) -> str:
    place = f" of {quota['flavor']}"
    own = f"{queue} uses {quota_text(quota, UNITS[quota['resource']], place)}"
    cohort = f"; cohort {quota['cohort']} uses {quota['cohortUsed']} of {quota['cohortNominal']}"
    return own + (cohort if quota["cohort"] else "")


def _need(need: Row) -> str:
    pods = counted(need["pods"], "pod")
    chips = f", {counted(need['chips'], 'chip')}" if need["chips"] else ""
    slices = f"{need['slices']} x {need['slice']}" if need["slices"] else need["slice"]
    where = slices or ", ".join(f"{key}={value}" for key, value in need["nodeSelector"].items())
    pools = "" if need["nodePools"] else "no node pool has nodes for such pods now"
    return "; ".join(filter(None, (pods + chips, where, pools)))
