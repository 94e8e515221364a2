"""Who holds which slices, who waits, and why: what Kueue knows of a cluster's queues, in a person's words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import aiohttp

from tpuplane_twin.cluster import ClusterError
from tpuplane_twin.cluster.api import Api, Object
from tpuplane_twin.cluster.nodes import POOL_LABEL
from tpuplane_twin.elasticity.quantities import thousandths
from tpuplane_twin.kueue_words import in_plain_words

_TPU = "google.com/tpu"
_WORKLOAD = "kueue.x-k8s.io/workload"
_POD_SET = "kueue.x-k8s.io/podset"


async def read_queues(api: Api) -> list[dict[str, Any]]:
    """The cluster's queues; none where Kueue is not installed or the cluster does not answer."""
    try:
        queues = await api.list("ClusterQueue")
        if not queues:
            return []
        workloads = await api.list("Workload")
        pods = await api.list("Pod", labelSelector=_POD_SET) if any(map(_admitted, workloads)) else []
        nodes = await api.list("Node", labelSelector=POOL_LABEL) if pods else []
        return describe_queues(queues, await api.list("LocalQueue"), workloads, pods, nodes)
    # Refused, too: for a moment after its start the API server has no storage for custom resources (429).
    except (ClusterError, aiohttp.ClientError, OSError):
        return []


def describe_queues(
    queues: Iterable[Object],
    local_queues: Iterable[Object],
    workloads: Iterable[Object],
    pods: Iterable[Object],
    nodes: Iterable[Object],
) -> list[dict[str, Any]]:
    """Each cluster queue with its chips and its workloads, those that run first and then in the order of waiting."""
    pool_of = {node["metadata"]["name"]: node["metadata"]["labels"][POOL_LABEL] for node in nodes}
    held: dict[tuple[str, str], set[str]] = defaultdict(set)
    for pod in pods:
        workload = pod["metadata"].get("annotations", {}).get(_WORKLOAD, "")
        pool = pool_of.get(pod["spec"].get("nodeName", ""))
        if pool is not None:
            held[pod["metadata"]["namespace"], workload].add(pool)
    queue_of = {(_namespace(it), it["metadata"]["name"]): it["spec"]["clusterQueue"] for it in local_queues}
    described: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for workload in sorted(workloads, key=lambda it: (not _admitted(it), it["metadata"]["creationTimestamp"])):
        if not _is(workload, "Finished"):
            place = (_namespace(workload), workload["spec"].get("queueName", ""))
            pools = held[_namespace(workload), workload["metadata"]["name"]]
            described[queue_of.get(place, "")].append(_workload(workload, pools))
    return [
        {
            "name": queue["metadata"]["name"],
            "cohort": queue["spec"].get("cohortName", ""),
            "active": _is(queue, "Active"),
            "message": "" if _is(queue, "Active") else _message(queue, "Active"),
            "chips": _chips(queue),
            "workloads": described[queue["metadata"]["name"]],
        }
        for queue in sorted(queues, key=lambda it: str(it["metadata"]["name"]))
    ]


def _workload(workload: Object, pools: set[str]) -> dict[str, Any]:
    owner: Mapping[str, Any] = next(iter(workload["metadata"].get("ownerReferences", ())), {})
    running = _admitted(workload)
    return {
        "namespace": _namespace(workload),
        "job": owner.get("name", workload["metadata"]["name"]),
        "kind": owner.get("kind", "Workload"),
        "priority": workload["spec"].get("priority", 0),
        "priorityClass": (workload["spec"].get("priorityClassRef") or {}).get("name", ""),
        "chips": _asked(workload),
        "state": "admitted" if running else "waiting",
        "nodePools": sorted(pools),
        "since": _since(workload, "Admitted" if running else "QuotaReserved"),
        "why": "" if running else _why(workload),
        "message": "" if running else _message(workload, "QuotaReserved"),
    }


def _why(workload: Object) -> str:
    """What a waiting job is told: why it was put back, if it ran before, and what it lacks now."""
    parts = [_message(workload, "Evicted")] if _is(workload, "Evicted") else []
    parts.append(_message(workload, "QuotaReserved") or "not looked at yet")
    return "; ".join(in_plain_words(part) for part in parts if part)


def _asked(workload: Object) -> int:
    """Chips of all pods of a job."""
    return sum(
        pods.get("count", 1) * sum(_container_chips(it) for it in pods["template"]["spec"]["containers"])
        for pods in workload["spec"].get("podSets", ())
    )


def _container_chips(container: Object) -> int:
    """A limit alone is a request too; Kubernetes writes that down in pods, and Kueue's workloads come before them."""
    resources = container.get("resources", {})
    asked = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    return thousandths(asked.get(_TPU, 0)) // 1000


def _chips(queue: Object) -> list[dict[str, Any]]:
    """Chips by flavor: the queue's own, what its work uses, and how much of that is borrowed."""
    used = {
        (flavor["name"], resource["name"]): resource
        for flavor in queue.get("status", {}).get("flavorsUsage", ())
        for resource in flavor.get("resources", ())
    }
    rows: list[dict[str, Any]] = []
    for group in queue["spec"].get("resourceGroups", ()):
        for flavor in group["flavors"]:
            own = next((it["nominalQuota"] for it in flavor["resources"] if it["name"] == _TPU), 0)
            use = used.get((flavor["name"], _TPU), {})
            chips = {"nominal": own, "used": use.get("total", 0), "borrowed": use.get("borrowed", 0)}
            row = {key: thousandths(value) // 1000 for key, value in chips.items()}
            if row["nominal"] or row["used"]:
                rows.append({"flavor": flavor["name"], **row})
    return rows


def _admitted(workload: Object) -> bool:
    return _is(workload, "Admitted")


def _is(item: Object, kind: str) -> bool:
    return _condition(item, kind).get("status") == "True"


def _message(item: Object, kind: str) -> str:
    return str(_condition(item, kind).get("message", ""))


def _since(item: Object, kind: str) -> str:
    return str(_condition(item, kind).get("lastTransitionTime") or item["metadata"]["creationTimestamp"])


def _condition(item: Object, kind: str) -> Mapping[str, Any]:
    conditions = item.get("status", {}).get("conditions", ())
    return next((condition for condition in conditions if condition["type"] == kind), {})


def _namespace(item: Object) -> str:
    return str(item["metadata"]["namespace"])
