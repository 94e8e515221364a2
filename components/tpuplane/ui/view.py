"""The rows of the page for a cluster. Hosts are runs of equal hosts, so that 12,736 of them take 0.2 MB."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from tpuplane.contexts import gke_cluster
from tpuplane.cost.rates import Rate, gpu_rate, rate
from tpuplane.gpu import gpu_catalogue
from tpuplane.labels import POOL_LABEL, TPU, UNITS
from tpuplane.status.job_text import pool_state, quota_text
from tpuplane.status.links import NAME_START, addresses
from tpuplane.status.objects import Event, Node, Pod
from tpuplane.status.owners import Owners
from tpuplane.status.pools import unready, without_devices
from tpuplane.status.reasons import never
from tpuplane.status.watching import State
from tpuplane.tpu.catalogue import region_of

_EVENTS = 200  # the newest events of a cluster are shown
_PROBLEMS = 5

Row = Mapping[str, Any]


def view(state: State, status: Row) -> dict[str, Any]:
    """A cluster with its slices, queues, works and events. `status` is `state.described()`."""
    of_gke = gke_cluster(state.context)
    found = {
        "context": state.context,
        "name": of_gke.name if of_gke else state.context,
        "place": of_gke.location if of_gke else "",
        "problem": "; ".join(status["problems"][:_PROBLEMS]),
        "unreachable": bool(state.problem) or state.objects is None,
        "gke": status["gke"],
        "poolsFrom": status["poolsFrom"],
        "links": addresses(status),
        "nameStart": NAME_START,
    }
    rows: dict[str, Any] = {"slices": [], "dynamicSlices": [], "queues": [], "works": [], "events": []}
    if (objects := state.objects) is not None:
        queues = status["queues"] or ()
        works = [{**work, "queue": queue["name"]} for queue in queues for work in queue["workloads"]]
        teams = {f"{work['namespace']}/{work['job']}": work["queue"] for work in works}
        known = {(work["namespace"], work["workload"]) for work in works}
        on_nodes, of_works = _placed(objects.pods, objects.owners, teams, known)
        members: dict[str, list[Node]] = defaultdict(list)
        for node in sorted(objects.nodes, key=lambda node: node.name):
            members[node.pool].append(node)
        rows = {
            "slices": [
                {**_slice(pool, nodes := members[pool["name"]], objects.holders, teams), "use": _use(nodes, on_nodes)}
                for pool in status["nodePools"]
            ],
            "dynamicSlices": status["slices"],
            "queues": [{**queue, "workloads": (), "quotas": [*map(_quota, queue["quotas"])]} for queue in queues],
            "works": [_work(work, of_works) for work in (*works, *status["outsideQueues"])],
            "events": _events(objects.events),
        }
    return {**found, **rows}


def _quota(row: Row) -> dict[str, Any]:
    return {**row, "text": quota_text(row, UNITS[row["resource"]])}


def _work(row: Row, placed: Mapping[tuple[str, str], int]) -> dict[str, Any]:
    """A job. It is `stuck` if it waits until someone changes something. `unplaced` are the chips that it waits for."""
    names = {row.get("workload", ""), row["uid"]} - {""}
    unplaced = max(0, row["chips"] - sum(placed.get((row["namespace"], name), 0) for name in names))
    waits = bool(row["why"])
    return {"queue": "", **row, "waits": waits, "stuck": never(row["why"]), "unplaced": unplaced if waits else 0}


def _placed(
    pods: Iterable[Pod], owners: Owners, teams: Mapping[str, str], workloads: Collection[tuple[str, str]]
) -> tuple[Mapping[str, Counter[str]], Counter[tuple[str, str]]]:
    """The requested chips of pods with a node: of each node by team, and of each workload, or job without one."""
    on_nodes: dict[str, Counter[str]] = defaultdict(Counter)
    of_works: Counter[tuple[str, str]] = Counter()
    for pod in pods:
        if pod.spec.node_name and (chips := pod.spec.asked(TPU) // 1000):
            job = owners.job("Pod", pod)
            on_nodes[pod.spec.node_name][_team(f"{pod.namespace}/{job.name}", teams)] += chips
            own = (pod.namespace, pod.workload)
            of_works[own if own in workloads else (pod.namespace, job.uid)] += chips
    return on_nodes, of_works


def _team(job: str, teams: Mapping[str, str]) -> str:
    """The queue of a job, or its namespace."""
    return teams.get(job) or job.partition("/")[0]


def _use(nodes: Iterable[Node], placed: Mapping[str, Counter[str]]) -> dict[str, Any]:
    """The chips of a node pool: held by each team, and the others by whether their host is usable."""
    held: Counter[str] = Counter()
    rest = {"idle": 0, "down": 0}
    for node in nodes:
        own = placed.get(node.name, Counter())
        held.update(own)
        free = node.capacity.get(TPU, 0) // 1000 - own.total()
        rest["idle" if _state(node) == "ready" else "down"] += max(0, free)
    return {"held": held, **rest}


def _slice(
    pool: Row, nodes: Sequence[Node], held: Mapping[str, Collection[str]], teams: Mapping[str, str]
) -> dict[str, Any]:
    """A node pool: its hosts as runs of (number, index in `heldBy` or -1, state), and its price."""
    jobs = pool["heldBy"]
    hosts = [(jobs.index(min(holders)) if (holders := held.get(node.name)) else -1, _state(node)) for node in nodes]
    hosts += [(-1, "missing")] * (pool["hosts"] - len(nodes))
    return {
        **pool,
        "group": (nodes[0].labels.get(POOL_LABEL) if nodes else "") or re.sub(r"-\d+$", "", pool["name"]),
        "heldBy": [{"job": job, "team": _team(job, teams)} for job in jobs],
        "cells": [(len(list(run)), *host) for host, run in groupby(hosts)],
        "problems": pool["problems"][:_PROBLEMS],
        "unusual": pool_state(pool),
        **_price(pool, len(nodes)),
    }


def _state(node: Node) -> str:
    if unready(node) or without_devices(node):
        return "down"
    return "cordoned" if node.unschedulable else "ready"


def _price(pool: Row, hosts: int) -> dict[str, Any]:
    """The list price of the existing chips or GPUs in US dollars per hour; None with a reason if not on record."""
    region = region_of(next(iter(pool["zones"]), ""))
    units = pool["chips"]
    if pool["gpu"] and pool["machineType"] in gpu_catalogue().names:
        machine = gpu_catalogue().machine(pool["machineType"])
        units = machine.gpus * hosts  # also where several containers share a GPU
        found = gpu_rate(machine, region, pool["capacity"], estimate=True)
    elif pool["generation"]:
        found = rate(pool["generation"], region, pool["capacity"], estimate=True)
    else:
        found = Rate(None, reason="its hardware is not in the catalogue" if units or pool["gpus"] else "")
    usd = found.price.usd_per_chip_hour * units if found.price else None
    return {"usdPerHour": usd, "noPrice": found.reason, "estimated": found.stand_in}


def _events(events: Sequence[Event]) -> list[dict[str, Any]]:
    """The newest events. Those with the same reason and message, such as of all pods of a slice, are one."""
    alike: dict[tuple[str, str], list[Event]] = defaultdict(list)
    for event in sorted(events, key=lambda event: event.time, reverse=True):
        alike[event.reason, event.message].append(event)
    return [
        {
            **{key: getattr(event, key) for key in ("time", "type", "reason", "message")},
            "about": f"{event.about.kind} {'/'.join(filter(None, (event.about.namespace, event.about.name)))}"
            + (f" and {len(others)} more" if others else ""),
        }
        for event, *others in list(alike.values())[:_EVENTS]
    ]
