"""What the page shows of a cluster, as small entries by key, so that only changed ones are sent. Pure."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from tpuplane.cost.rates import Rate, gpu_rate, rate
from tpuplane.gpu import gpu_catalogue
from tpuplane.labels import GKE_POOL_LABEL, POOL_LABEL
from tpuplane.status.holders import jobs_by_node
from tpuplane.status.objects import Object, is_true
from tpuplane.status.watching import State
from tpuplane.tpu.catalogue import region_of

EVENTS = 200
"""The number of events of a cluster that the page shows, the newest ones."""

Row = Mapping[str, Any]


def view(state: State, status: Row) -> dict[str, Any]:
    """The entries of a cluster: `cluster`, `slice`, `queue`, `work` and `event`, each with its context in the key.

    `status` is `state.objects.described()`, or empty if the cluster was never read.
    """
    context, objects = state.context, state.objects
    # gcloud names the contexts of clusters gke_PROJECT_LOCATION_NAME.
    of_gke = re.fullmatch(r"gke_[^_]+_(?P<place>[^_]+)_(?P<name>[^_]+)", context)
    found: dict[str, Any] = {
        f"cluster/{context}": {
            **(of_gke.groupdict() if of_gke else {"name": context, "place": ""}),
            "problem": state.problem,
            "kueue": status.get("queues") is not None,
        }
    }
    if objects is not None:
        works = [*_queued(status), *status["outsideQueues"]]
        teams = {f"{it['namespace']}/{it['job']}": it["queue"] for it in works if it.get("queue")}
        held = jobs_by_node(objects.pods)
        members: dict[str, list[Object]] = defaultdict(list)
        for node in sorted(objects.nodes, key=lambda it: str(it["metadata"]["name"])):
            members[node["metadata"].get("labels", {}).get(GKE_POOL_LABEL, "")].append(node)
        found |= {
            f"slice/{context}/{it['name']}": _slice(it, members[it["name"]], held, teams) for it in status["nodePools"]
        }
        found |= {f"queue/{context}/{it['name']}": _without(it, "workloads") for it in status["queues"] or ()}
        found |= {
            f"work/{context}/{it['namespace']}/{it['job']}": {**it, "order": at, "waits": bool(it["why"])}
            for at, it in enumerate(works)
        }
        found |= {f"event/{context}/{it['reason']} {it['message']}": it for it in _events(objects.events)}
    return {key: {"context": context, **it} for key, it in found.items()}


def _queued(status: Row) -> Iterator[dict[str, Any]]:
    for queue in status["queues"] or ():
        for it in queue["workloads"]:
            yield {**_without(it, "message", "flavors"), "queue": queue["name"]}


def _slice(
    pool: Row, nodes: Sequence[Object], held: Mapping[str, Sequence[str]], teams: Mapping[str, str]
) -> dict[str, Any]:
    """A node pool: its hosts as runs of (number, index in `holders` or -1, state), and its price."""
    labels = nodes[0]["metadata"].get("labels", {})
    jobs = list(dict.fromkeys(job for node in nodes for job in held.get(node["metadata"]["name"], ())))
    hosts = [
        (jobs.index(of[0]) if (of := held.get(node["metadata"]["name"])) else -1, _state(node)) for node in nodes
    ] + [(-1, "missing")] * (pool["hosts"] - len(nodes))
    return {
        **_without(pool, "heldBy", "problems"),
        "group": labels.get(POOL_LABEL) or re.sub(r"-\d+$", "", pool["name"]),
        "holders": [{"job": job, "team": teams.get(job, "")} for job in jobs],
        "cells": [(len(list(run)), *host) for host, run in groupby(hosts)],
        "problems": pool["problems"][:5],
        **_price(pool),
    }


def _state(node: Object) -> str:
    if not is_true(node, "Ready"):
        return "down"
    return "cordoned" if node["spec"].get("unschedulable") else "ready"


def _price(pool: Row) -> dict[str, Any]:
    """The list price of the pool's chips or GPUs in US dollars per hour; None with a reason if it is not on record."""
    region = region_of(next(iter(pool["zones"]), ""))
    units = pool["chips"]
    if pool["gpu"] and pool["machineType"] in gpu_catalogue().names:
        machine = gpu_catalogue().machine(pool["machineType"])
        units = machine.gpus * pool["hosts"]  # also where several containers share a GPU
        found = gpu_rate(machine, region, pool["capacity"], estimate=True)
    elif pool["generation"]:
        found = rate(pool["generation"], region, pool["capacity"], estimate=True)
    else:
        found = Rate(None, reason="its hardware is not in the catalogue" if units or pool["gpus"] else "")
    usd = found.price.usd_per_chip_hour * units if found.price else None
    return {"usdPerHour": usd, "noPrice": found.reason, "estimated": found.stand_in}


def _events(events: Sequence[Object]) -> list[dict[str, Any]]:
    """The newest events. Those with the same reason and message, such as of all pods of a slice, are one."""
    alike: dict[tuple[str, str], list[Object]] = defaultdict(list)
    for event in sorted(events, key=_time):
        alike[event.get("reason", ""), event.get("message", "")].append(event)
    found = []
    for (reason, message), same in alike.items():
        about = same[-1]["involvedObject"]
        name = "/".join(filter(None, (about.get("namespace"), about.get("name"))))
        others = f" and {len(same) - 1} more" if len(same) > 1 else ""
        row = {"time": _time(same[-1]), "type": same[-1].get("type", ""), "reason": reason, "message": message}
        found.append({**row, "about": f"{about.get('kind')} {name}{others}"})
    return sorted(found, key=lambda it: str(it["time"]))[-EVENTS:]


def _time(event: Object) -> str:
    times = (event.get("lastTimestamp"), event.get("eventTime"), event["metadata"].get("creationTimestamp"))
    return str(next(filter(None, times), ""))


def _without(row: Row, *names: str) -> dict[str, Any]:
    return {key: it for key, it in row.items() if key not in names}
