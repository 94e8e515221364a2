"""One job: its state, what holds it, the slices that it needs, and what would help. Pure."""

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tpuplane.data_files import read_data
from tpuplane.status.containers import troubles
from tpuplane.status.finding import Found
from tpuplane.status.holders import job_of, node_pools, pools_of
from tpuplane.status.needs import needs
from tpuplane.status.objects import Object, condition, is_true
from tpuplane.status.reading import Objects
from tpuplane.status.waiting import Placing

_ENDED = {"Complete": "succeeded", "Completed": "succeeded", "Succeeded": "succeeded", "Failed": "failed"}

Row = Mapping[str, Any]


def explain(objects: Objects, status: Row, found: Found) -> dict[str, Any]:
    """The state of a job as plain values. `status` is `objects.described()`.

    `state` is waiting (for Kueue), pending (pods without a node), failing (containers), starting, running, created (no
    pods), suspended, succeeded or failed. `reasons` are the messages of each component, `helps` what would help.
    """
    namespace, name = found.namespace, found.name
    pods = [it for it in objects.pods if it["metadata"]["namespace"] == namespace and job_of(it) == name]
    queue, row = _queued(status, namespace, name, pods)
    reasons = list(_reasons(objects, found, row, pods))
    state = next((it["state"] for it in reasons), "") or _progress(pods)
    open_ = state in ("waiting", "pending", "created", "suspended")
    needed = needs(_templates(objects, namespace, row, pods), objects.nodes, status["nodePools"]) if open_ else []
    return {
        "context": status["context"],
        "kind": found.kind,
        "namespace": namespace,
        "job": name,
        "part": found.part,
        "state": state,
        "since": row.get("since", ""),
        "queue": queue.get("name", ""),
        "priority": row.get("priorityClass") or row.get("priority", ""),
        "ahead": _ahead(queue, row),
        "pods": len(pods),
        "podsReady": sum(is_true(it, "Ready") for it in pods),
        "nodePools": pools_of(pods, node_pools(objects.nodes)),
        "reasons": [{key: it[key] for key in ("source", "message")} for it in reasons],
        "quotas": list(_quotas(status, queue, row)),
        "needs": needed,
        "helps": list(dict.fromkeys(_helps(objects, found, reasons, needed, row))),
        "unread": list(objects.unread),
    }


def _queued(status: Row, namespace: str, name: str, pods: Sequence[Object]) -> tuple[Row, Row]:
    """The queue and the row of the job's workload, of a waiting one if it has several; empty without a workload."""
    parts = {name, *(it["metadata"]["name"] for it in pods)}
    ours = [
        (queue, row)
        for queue in status["queues"] or ()
        for row in queue["workloads"]
        if row["namespace"] == namespace and row["job"] in parts
    ]
    return min(ours, key=lambda it: it[1]["state"] != "waiting", default=({}, {}))


def _reasons(objects: Objects, found: Found, row: Row, pods: Sequence[Object]) -> Iterator[dict[str, Any]]:
    """Messages in the order in which they matter; the first `state` is that of the job."""

    def reason(state: str, source: str, message: str, **places: str) -> dict[str, Any]:
        return {"state": state, "source": source, "message": message, "places": places}

    ended, message = _ended(found.job)
    if ended:
        yield reason(ended, found.kind, message)
    elif row.get("state") == "waiting":
        yield reason("waiting", "Kueue", row["why"])
    elif row.get("cluster"):
        yield reason("running", "Kueue", f"it runs in the worker cluster {row['cluster']}")
    elif not pods:
        if found.job.get("spec", {}).get("suspend"):
            yield reason("suspended", found.kind, "it is suspended, and Kueue does not manage it")
        else:
            said = Placing(objects.events).why(found.namespace, found.name, pods)
            yield reason("created", "controller", said or "it has no pods yet")
    else:
        count, scheduler, autoscaler = Placing(objects.events).unplaced(pods)
        if count:
            yield reason("pending", "scheduler", ": ".join(filter(None, (count, scheduler))))
            yield from (reason("pending", "autoscaler", it) for it in autoscaler)
    if ended != "succeeded":
        for it in troubles(pods, objects.events):
            yield reason("failing", "kubelet", it.text, pod=it.pod, container=it.container)


def _ended(job: Object) -> tuple[str, str]:
    """Whether the job succeeded or failed, with its message."""
    status = job.get("status", {})
    for kind, state in _ENDED.items():
        if is_true(job, kind):
            said = condition(job, kind)
            return state, f"{said.get('reason', kind)}: {said.get('message', '')}".removesuffix(": ")
    phase = str(status.get("jobDeploymentStatus") or status.get("phase") or "")
    text = ": ".join(filter(None, (status.get("reason"), status.get("message")))) or phase
    return _ENDED.get(phase, ""), text


def _progress(pods: Sequence[Object]) -> str:
    return "running" if all(is_true(it, "Ready") for it in pods) else "starting"


def _templates(objects: Objects, namespace: str, row: Row, pods: Sequence[Object]) -> list[tuple[int, Object]]:
    """Its pods; before they exist, the pod sets of its workload."""
    if pods:
        return [(1, it) for it in pods]
    return [
        (it.get("count", 1), it["template"])
        for workload in (objects.kueue or {}).get("workloads", ())
        if (workload["metadata"]["namespace"], workload["metadata"]["name"]) == (namespace, row.get("workload"))
        for it in workload.get("spec", {}).get("podSets", ())
    ]


def _ahead(queue: Row, row: Row) -> int:
    """The number of waiting jobs before it in its queue."""
    waiting = [it for it in queue.get("workloads", ()) if it["state"] == "waiting"]
    return waiting.index(row) if row in waiting else 0


def _quotas(status: Row, queue: Row, row: Row) -> Iterator[dict[str, Any]]:
    """The quotas that the job asks for or holds: of its queue, of the cohort, and who holds them."""
    named = [
        it
        for it in queue.get("quotas", ())
        if it["flavor"] in row["flavors"] or f" more free chips of {it['flavor']}" in row["why"]
    ]
    cohort = [
        it for it in status["queues"] or () if it is queue or (it["cohort"] and it["cohort"] == queue.get("cohort"))
    ]
    for quota in named:
        key = quota["flavor"], quota["resource"]
        same = [it for other in cohort for it in other["quotas"] if (it["flavor"], it["resource"]) == key]
        yield {
            **quota,
            "cohort": queue["cohort"] if len(cohort) > 1 else "",
            "cohortNominal": sum(it["nominal"] for it in same),
            "cohortUsed": sum(it["used"] for it in same),
            "heldBy": [
                {"job": f"{it['namespace']}/{it['job']}", "amount": it["chips"] or it["gpus"] or it["cores"]}
                for other in cohort
                for it in other["workloads"]
                if quota["flavor"] in it["flavors"] and it is not row
            ],
        }


def _helps(objects: Objects, found: Found, reasons: Sequence[Row], needed: Sequence[Row], row: Row) -> Iterator[str]:
    for it in (it for need in needed for it in need["missing"]):
        have = ", ".join(it["nodesHave"]) or "no value"
        yield f"No node has {it['label']}={it['value']}; nodes have {have}. Correct the node selector, or add a pool."
    if any("LocalQueue" in it["message"] or "queue does not exist" in it["message"] for it in reasons):
        queues = [it["metadata"] for it in (objects.kueue or {}).get("local_queues", ())]
        names = ", ".join(it["name"] for it in queues if it["namespace"] == found.namespace)
        have = f"local queues of {found.namespace}: {names or 'none'}"
        yield f"Set the label kueue.x-k8s.io/queue-name to an existing queue; {have}."
    places = {"pod": "POD", "container": "CONTAINER", "kind": found.kind, "namespace": found.namespace}
    for reason in reasons:
        for pattern, text in _texts():
            if match := pattern.search(reason["message"]):
                yield text.format_map({**places, "name": found.name, **reason["places"], **match.groupdict()})


@functools.cache
def _texts() -> list[tuple[re.Pattern[str], str]]:
    return [(re.compile(it["pattern"]), it["help"]) for it in read_data("tpuplane.status", "helps")]
