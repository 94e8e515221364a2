"""One job: its state, what holds it, the slices that it needs, and what would help. Pure."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from tpuplane.status.cases import OF_HOSTS, case_of, judgeable
from tpuplane.status.containers import troubles
from tpuplane.status.finding import Found
from tpuplane.status.holders import pools_of
from tpuplane.status.needs import needs
from tpuplane.status.objects import Job, Pod, PodSpec
from tpuplane.status.reading import Objects
from tpuplane.status.reasons import alone
from tpuplane.status.reasons import helps as helps_of
from tpuplane.status.remedies import remedies
from tpuplane.status.volumes import unbound
from tpuplane.status.waiting import NO_POOL

_ENDED = {"Complete": "succeeded", "Completed": "succeeded", "Succeeded": "succeeded", "Failed": "failed"}

_CAUSES = ("Kueue", "autoscaler")
"""The sources of reasons that come first: their messages are about the whole job, or about hosts that do not exist."""

# The autoscaler only repeats what no pool has, as the scheduler does; the reason of the hosts names it.
_UNFIT = re.compile(
    rf"{re.escape(NO_POOL)}|scale-up: (?:(?:, )?\d+ (?:node\(s\) didn't match Pod's node affinity/selector"
    r"|node\(s\) had untolerated taint \{[^}]*\}|Insufficient [\w./-]+))+(?: \(|$)"
)

Row = Mapping[str, Any]


def explain(objects: Objects, status: Row, found: Found) -> dict[str, Any]:
    """The state of a job as plain values. `status` is `objects.described()`.

    `state` is waiting (for Kueue), pending (pods without a node), failing (containers), starting, running, created (no
    pods), suspended, succeeded or failed. `reasons` are the messages of each component, `helps` what would help.
    """
    namespace, name, owners = found.job.namespace, found.job.name, objects.owners
    parts = {found.job.uid, *owners.members(found.job.uid)} - {""}
    pods = [it for it in objects.pods if it.uid in parts or owners.job("Pod", it).uid in parts]
    queue, row = _queued(status, found.job, pods)
    waiting = [it for it in pods if not it.spec.node_name]
    case = case_of(objects, queue.get("name", ""), row, waiting)
    first = case.found() if case else None
    unjudged = not judgeable(objects) or (row.get("state") == "waiting" and case is not None and first is None)
    missing = list(unbound(waiting, objects.details))
    said = list(_reasons(objects, found, row, pods, parts))
    causes = [it for it in said if it["source"] in _CAUSES and not _UNFIT.search(it["message"])]
    judged = [_reason("pending", "volume", it.message) for it in missing]
    if first is not None and first.block.reason in OF_HOSTS:
        judged.append(_reason(said[0]["state"], "hosts", first.block.message))
    reasons = [*causes, *judged, *(it for it in said if it not in causes)]
    helps = [
        *_helps(objects, found, causes, general=unjudged),
        *(it.help for it in missing),
        *(remedies(case) if case and not any(alone(it["message"]) for it in causes) else ()),
        *_helps(objects, found, reasons, general=unjudged),
    ]
    state = next((it["state"] for it in reasons), "")
    if not state:
        state = "running" if all(it.is_true("Ready") for it in pods) else "starting"
    open_ = state in ("waiting", "pending", "created", "suspended")
    needed = needs(_specs(objects, namespace, row, pods), objects.nodes, status["nodePools"]) if open_ else []
    ahead = [it for it in queue.get("workloads", ()) if it["state"] == "waiting"]
    return {
        "context": status["context"],
        "kind": found.kind,
        "namespace": namespace,
        "job": name,
        "part": found.part,
        "owner": next((f"{it.kind} {it.name}" for it in found.job.owners), ""),
        "state": state,
        "since": row.get("since", ""),
        "queue": queue.get("name", ""),
        "priority": row.get("priorityClass") or row.get("priority", ""),
        "ahead": ahead.index(row) if row in ahead else 0,
        "pods": len(pods),
        "podsReady": sum(it.is_true("Ready") for it in pods),
        "podNames": [it.name for it in pods],
        "nodePools": pools_of(pods, {it.name: it.pool for it in objects.nodes}),
        "reasons": _once([{key: it[key] for key in ("source", "message")} for it in reasons]),
        "quotas": list(_quotas(status, queue, row)),
        "needs": needed,
        "helps": list(dict.fromkeys(helps)),
        "unread": list(objects.unread),
        "problems": status["problems"],
    }


def _queued(status: Row, job: Job, pods: Sequence[Pod]) -> tuple[Row, Row]:
    """The queue and the row of the job's workload, of a waiting one if it has several; empty without a workload."""
    workloads = {(it.namespace, it.workload) for it in pods}
    ours = [
        (queue, row)
        for queue in status["queues"] or ()
        for row in queue["workloads"]
        if (job.uid and row["uid"] == job.uid) or (row["namespace"], row["workload"]) in workloads
    ]
    return min(ours, key=lambda it: it[1]["state"] != "waiting", default=({}, {}))


def _reasons(
    objects: Objects, found: Found, row: Row, pods: Sequence[Pod], parts: Collection[str]
) -> Iterator[dict[str, Any]]:
    """Messages in the order in which they matter; the first `state` is that of the job."""
    placing = objects.placing
    ended, message = _ended(found.job)
    if ended:
        yield _reason(ended, found.kind, message)
    elif row.get("state") == "waiting":
        yield _reason("waiting", "Kueue", row["why"])
    elif row.get("cluster"):
        yield _reason("running", "Kueue", f"it runs in the worker cluster {row['cluster']}")
    elif not pods:
        if found.job.suspend:
            yield _reason("suspended", found.kind, "it is suspended, and Kueue does not manage it")
        else:
            yield _reason("created", "controller", placing.not_created(parts, pods) or "it has no pods yet")
    else:
        count, scheduler, autoscaler = placing.unplaced(pods)
        if count:
            yield _reason("pending", "scheduler", ": ".join(filter(None, (count, scheduler))))
            yield from (_reason("pending", "autoscaler", it) for it in autoscaler)
        if said := placing.not_created(parts, pods):
            yield _reason("pending", "controller", said)
    if ended != "succeeded":
        for it in troubles(pods, objects.events):
            yield _reason("failing", "kubelet", it.text, pod=it.pod, container=it.container)


def _reason(state: str, source: str, message: str, **places: str) -> dict[str, Any]:
    return {"state": state, "source": source, "message": message, "places": places}


def _ended(job: Job) -> tuple[str, str]:
    """Whether the job succeeded or failed, with its message."""
    for kind, state in _ENDED.items():
        if job.is_true(kind):
            said = job.condition(kind)
            return state, f"{said.reason or kind}: {said.message}".removesuffix(": ")
    return _ENDED.get(job.phase, ""), ": ".join(filter(None, (job.reason, job.message))) or job.phase


def _specs(objects: Objects, namespace: str, row: Row, pods: Sequence[Pod]) -> list[tuple[int, PodSpec]]:
    """The specs of its pods; before they exist, of the pod sets of its workload."""
    if pods:
        return [(1, it.spec) for it in pods]
    workload = objects.workload(namespace, row.get("workload", ""))
    return [(it.count, it.pod) for it in workload.pod_sets] if workload else []


def _quotas(status: Row, queue: Row, row: Row) -> Iterator[dict[str, Any]]:
    """The quotas that the job holds or needs: of its queue, of the cohort, and who holds them."""
    flavors = {*row.get("flavors", ()), *re.findall(r" more free \S+ of ([^\s,;]+)", row.get("why", ""))}
    cohort = [
        it for it in status["queues"] or () if it is queue or (it["cohort"] and it["cohort"] == queue.get("cohort"))
    ]
    for quota in (it for it in queue.get("quotas", ()) if it["flavor"] in flavors):
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


def _once(reasons: Sequence[Row]) -> list[Row]:
    """The reasons without those whose message is there already."""
    return list({it["message"]: it for it in reversed(reasons)}.values())[::-1]


def _helps(objects: Objects, found: Found, reasons: Sequence[Row], *, general: bool) -> Iterator[str]:
    namespace = found.job.namespace
    if any("LocalQueue" in it["message"] or "queue does not exist" in it["message"] for it in reasons):
        names = [it.name for it in (objects.kueue or {}).get("local_queues", ()) if it.namespace == namespace]
        have = f"local queues of {namespace}: {', '.join(names) or 'none'}"
        yield f"Set the label kueue.x-k8s.io/queue-name to an existing queue; {have}."
    places = {
        "pod": "POD",
        "container": "CONTAINER",
        "kind": found.kind,
        "namespace": namespace,
        "name": found.job.name,
    }
    for reason in reasons:
        yield from helps_of(reason["message"], {**places, **reason["places"]}, general=general)
