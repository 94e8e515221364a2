"""Kueue's queues of a cluster: their jobs, the slices of jobs, and why jobs wait. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tpuplane.labels import GPU, TPU
from tpuplane.quantities import thousandths, whole_or_part
from tpuplane.status.holders import node_pools, pods_by_workload, pools_of
from tpuplane.status.objects import Object, asked, condition, is_true, message
from tpuplane.status.waiting import Placing, in_plain_words, too_large

NO_QUEUE = ""
"""The name for jobs without a queue, or with a queue that does not exist."""

_GROUP = "kueue.x-k8s.io/is-group-workload"


def describe_queues(
    queues: Iterable[Object],
    local_queues: Iterable[Object],
    workloads: Iterable[Object],
    pods: Iterable[Object],
    nodes: Iterable[Object],
    *,
    flavors: Iterable[Object] = (),
    placing: Placing | None = None,
) -> list[dict[str, Any]]:
    """Each cluster queue with its quotas and workloads: running ones first, then in the order of the queue.

    The objects are Kueue's (v1beta1 or v1beta2) and Kubernetes' own. Jobs without an existing queue are last, with the
    name `NO_QUEUE`. `placing` has the reasons for pods of admitted workloads that have no node.
    """
    nodes, queues, placing = list(nodes), list(queues), placing or Placing()
    held, pool_of = pods_by_workload(pods), node_pools(nodes)
    flavor_of = {it["metadata"]["name"]: it for it in flavors}
    offered = {
        it["metadata"]["name"]: [
            flavor_of.get(flavor["name"], {})
            for group in _spec(it).get("resourceGroups", ())
            for flavor in group["flavors"]
        ]
        for it in queues
    }
    queue_of = {
        (_namespace(it), it["metadata"]["name"]): _spec(it).get("clusterQueue", NO_QUEUE) for it in local_queues
    }
    described: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for workload in sorted(workloads, key=_turn):
        if not is_true(workload, "Finished"):
            queue = queue_of.get((_namespace(workload), _spec(workload).get("queueName", "")), NO_QUEUE)
            members = held.get((_namespace(workload), workload["metadata"]["name"]), [])
            row = _workload(workload, pools_of(members, pool_of))
            if row["state"] == "waiting":
                row["why"] = _why(workload, too_large(workload, offered.get(queue, ()), nodes))
            elif not row["cluster"]:
                row["why"] = placing.why(row["namespace"], row["job"], members)
            described[queue].append(row)
    rows = [
        {
            "name": queue["metadata"]["name"],
            "cohort": _spec(queue).get("cohortName") or _spec(queue).get("cohort", ""),
            "active": is_true(queue, "Active"),
            "message": "" if is_true(queue, "Active") else message(queue, "Active"),
            "quotas": list(_quotas(queue)),
            "workloads": described.pop(queue["metadata"]["name"], []),
        }
        for queue in sorted(queues, key=lambda it: str(it["metadata"]["name"]))
    ]
    lost = [workload for rest in described.values() for workload in rest]
    if lost:
        why = "the queue does not exist"
        rows.append({"name": NO_QUEUE, "cohort": "", "active": False, "message": why, "quotas": [], "workloads": lost})
    return rows


def _turn(workload: Object) -> tuple[bool, int, str]:
    """Kueue's order: running workloads by age, waiting ones by priority and age."""
    running = is_true(workload, "Admitted")
    return not running, 0 if running else -_priority(workload), workload["metadata"]["creationTimestamp"]


def _workload(workload: Object, pools: list[str]) -> dict[str, Any]:
    owner = _owner(workload)
    running = is_true(workload, "Admitted")
    of_class = (_spec(workload).get("priorityClassRef") or {}).get("name")
    return {
        "namespace": _namespace(workload),
        "job": owner.get("name", workload["metadata"]["name"]),
        "kind": owner.get("kind", "Workload"),
        "workload": workload["metadata"]["name"],
        "priority": _priority(workload),
        "priorityClass": of_class or _spec(workload).get("priorityClassName", ""),
        "chips": _asked(workload, TPU),
        "gpus": _asked(workload, GPU),
        "cores": _asked(workload, "cpu"),
        "state": "admitted" if running else "waiting",
        "flavors": _flavors(workload),
        "nodePools": pools,
        "cluster": workload.get("status", {}).get("clusterName", ""),  # of MultiKueue: the worker that runs it
        "since": _since(workload, "Admitted" if running else "QuotaReserved"),
        "why": "",
        "message": "" if running else message(workload, "QuotaReserved"),
    }


def _owner(workload: Object) -> Mapping[str, Any]:
    """The job of the workload; a group of pods is its own job."""
    if workload["metadata"].get("annotations", {}).get(_GROUP) == "true":
        return {"kind": "PodGroup"}
    return next(iter(workload["metadata"].get("ownerReferences", ())), {})


def _why(workload: Object, too_large: str) -> str:
    """Why a job waits: the reason for its last eviction, and the reason now."""
    parts = [message(workload, "Evicted")] if is_true(workload, "Evicted") else []
    if is_true(workload, "QuotaReserved"):
        parts += [f"has its quota, and waits for {it}" for it in _checks(workload)] or ["has its quota"]
    else:
        # Kueue's message is the same for a pod that is too large for every host and for hosts in use.
        parts.append(too_large or message(workload, "QuotaReserved") or "not evaluated yet")
    return "; ".join(in_plain_words(part) for part in parts if part)


def _checks(workload: Object) -> Iterator[str]:
    """Admission checks that are not ready, such as a ProvisioningRequest; for MultiKueue the requested clusters."""
    if nominated := workload.get("status", {}).get("nominatedClusterNames"):
        yield f"room in {' or '.join(sorted(nominated))}"
        return
    for check in workload.get("status", {}).get("admissionChecks", ()):
        if check["state"] != "Ready":
            yield f"{check['name']} ({check.get('message') or check['state']})"


def _asked(workload: Object, resource: str) -> int | float:
    """The requests of all pods of a job for a resource; of the admitted pods if Kueue has admitted fewer."""
    admission = workload.get("status", {}).get("admission", {})
    admitted = {it["name"]: it.get("count") for it in admission.get("podSetAssignments", ())}
    sets = _spec(workload).get("podSets", ())
    counts = (admitted.get(it.get("name")) or it.get("count", 1) for it in sets)
    return whole_or_part(sum(count * asked(it["template"], resource) for count, it in zip(counts, sets, strict=True)))


def _flavors(workload: Object) -> list[str]:
    """The flavors whose quota an admitted job holds."""
    assigned = workload.get("status", {}).get("admission", {}).get("podSetAssignments", ())
    return sorted({flavor for it in assigned for flavor in (it.get("flavors") or {}).values()})


def _quotas(queue: Object) -> Iterator[dict[str, Any]]:
    """Quotas by flavor: nominal, used and borrowed.

    Only chips or GPUs of a flavor that has them, because CPUs and memory belong to the same hosts; else cores.
    """
    used = {
        (flavor["name"], resource["name"]): resource
        for flavor in queue.get("status", {}).get("flavorsUsage", ())
        for resource in flavor.get("resources", ())
    }
    for group in _spec(queue).get("resourceGroups", ()):
        for flavor in group["flavors"]:
            own = {it["name"]: it["nominalQuota"] for it in flavor["resources"]}
            rows = {it: _quota(flavor["name"], it, own, used) for it in (TPU, GPU, "cpu")}
            counted = [rows[it] for it in (TPU, GPU) if rows[it]["nominal"] or rows[it]["used"]]
            cpu = rows["cpu"]
            yield from counted or ([cpu] if cpu["nominal"] or cpu["used"] else [])


def _quota(
    flavor: str, resource: str, own: Mapping[str, Any], used: Mapping[tuple[str, str], Mapping[str, Any]]
) -> dict[str, Any]:
    use = used.get((flavor, resource), {})
    amounts = {"nominal": own.get(resource, 0), "used": use.get("total", 0), "borrowed": use.get("borrowed", 0)}
    return {
        "flavor": flavor,
        "resource": resource,
        **{key: whole_or_part(thousandths(value)) for key, value in amounts.items()},
    }


def _priority(workload: Object) -> int:
    return int(_spec(workload).get("priority") or 0)


def _since(item: Object, kind: str) -> str:
    return str(condition(item, kind).get("lastTransitionTime") or item["metadata"]["creationTimestamp"])


def _spec(item: Object) -> Mapping[str, Any]:
    """The spec of the object, which is optional in Kueue's definitions."""
    found: Mapping[str, Any] = item.get("spec", {})
    return found


def _namespace(item: Object) -> str:
    return str(item["metadata"]["namespace"])
