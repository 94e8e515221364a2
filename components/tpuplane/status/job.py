"""Explains one job: its state, the reasons, the slices that it needs, and the changes that would help. Pure."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from tpuplane.labels import CLASS_LABEL, GKE_POOL_LABEL, SLICE_TOPOLOGY
from tpuplane.quantities import whole_or_part
from tpuplane.status.cases import OF_HOSTS, admits, case_of, judgeable
from tpuplane.status.finding import Found
from tpuplane.status.fitting import PERMANENT
from tpuplane.status.holders import pools_of
from tpuplane.status.job_reasons import job_reasons, missing_priorities, reason_row, service_reasons
from tpuplane.status.kueue_objects import LocalQueue
from tpuplane.status.needs import needs
from tpuplane.status.objects import Pod, PodSpec
from tpuplane.status.queues import NOT_EVALUATED
from tpuplane.status.reasons import alone, in_no_flavor
from tpuplane.status.reasons import helps as helps_of
from tpuplane.status.remedies import remedies
from tpuplane.status.snapshot import Objects
from tpuplane.status.volumes import unbound
from tpuplane.status.waiting import NO_POOL

_CAUSES = ("Kueue", "autoscaler")
"""The sources of reasons that come first: their messages are about the whole job, or about hosts that do not exist."""

# The autoscaler only repeats the scheduler here, and the reason of the hosts is more precise than both.
_UNFIT = re.compile(
    rf"{re.escape(NO_POOL)}|scale-up: (?:(?:, )?\d+ (?:node\(s\) didn't match Pod's node affinity/selector"
    r"|node\(s\) had untolerated taint \{[^}]*\}|Insufficient [\w./-]+))+(?: \(|$)"
)

_NO_QUEUE = re.compile(r"queue does not exist|LocalQueue \S+ (?:doesn't|does not) exist")

Row = Mapping[str, Any]


def explain(objects: Objects, status: Row, found: Found) -> dict[str, Any]:
    """The state of a job as plain values. `status` is `objects.described()`.

    `state` is waiting (for Kueue), pending (pods without a node), failing (containers or hosts), starting, running,
    created (no pods), suspended, succeeded or failed. `reasons` has the messages of each component, `helps` the changes
    that help.
    """
    namespace, name, owners = found.job.namespace, found.job.name, objects.owners
    parts = {found.job.uid, *owners.members(found.job.uid)} - {""}

    def of_group(pod: Pod) -> bool:
        return found.kind == "PodGroup" and (pod.namespace, pod.workload) == (namespace, name)

    pods, ended = (
        [pod for pod in every if pod.uid in parts or owners.job("Pod", pod).uid in parts or of_group(pod)]
        for every in (objects.pods, objects.ended)
    )
    shown = pods or ended
    queued = _queued(status, owners.uids(found.job), shown)
    queue, row = next(iter(queued), ({}, {}))
    waits = row.get("state") == "waiting"
    if waits:  # a pod of a lost host remains for minutes after Kueue has evicted its job
        shown = [pod for pod in shown if not pod.deleted]
    waiting = [pod for pod in pods if not pod.spec.node_name]
    case = case_of(objects, queue.get("name", ""), row, pods)
    first = case.obstacle() if case else None
    down = [reason_row("waiting", "Kueue", objects.stopped["Kueue"])] if waits and "Kueue" in objects.stopped else []
    unjudged = not judgeable(objects) or (waits and not down and case is not None and first is None)
    missing = list(unbound(waiting, objects.details))

    def in_flavor(why: str) -> str:
        return case.in_flavor(why, first) if case and first else why

    said = {**row, "why": in_flavor(row["why"])} if row else row
    barred = list(missing_priorities(objects, row)) if waits else []
    stated = [*down, *barred, *job_reasons(objects, found, said, pods, ended, parts), *service_reasons(found, pods)]
    causes = [reason for reason in stated if reason["source"] in _CAUSES and not _UNFIT.search(reason["message"])]
    volumes = [reason_row("pending", "volume", claim.message) for claim in missing]
    blocked = first.block.reason if first is not None else ""
    hosts = [reason_row(stated[0]["state"], "hosts", first.block.message)] if first and blocked in OF_HOSTS else []
    # If Kueue only says that no flavor matches, the hosts say why.
    vague = waits and blocked == "labels" and not (down or barred) and in_no_flavor(row["why"])
    reasons = [*hosts, *causes, *volumes] if vague else [*causes, *volumes, *hosts]
    reasons += [reason for reason in stated if reason not in causes]
    others = (own for _, own in queued[1:] if _waits(own))
    reasons += [reason_row("", "Kueue", in_flavor(own["why"]), workload=own["workload"]) for own in others]
    if waits and queue["name"] and not queue["active"] and queue["message"]:  # Kueue only says that it is inactive
        reasons.append(reason_row("", "ClusterQueue", queue["message"]))
    if not (state := next((reason["state"] for reason in reasons if reason["state"]), "")):
        state = "running" if all(pod.is_true("Ready") for pod in shown) else "starting"
    open_ = state in ("waiting", "pending", "created", "suspended")
    specs = _specs(objects, [own for _, own in queued], pods) if open_ else []
    needed = needs(specs, objects.nodes, status["nodePools"])
    failed = (pool for need in needed for pool in need["nodePools"] if pool["state"] not in ("", "RUNNING"))
    of_pools = [reason_row("", "GKE", pool["message"]) for pool in failed]
    existing = {"", *(pool["name"] for pool in status["nodePools"])}
    # A pool that does not exist has no hosts, also in an autoscaled flavor of another queue.
    absent = status["gke"] and {spec.node_selector.get(GKE_POOL_LABEL, "") for _, spec, _ in specs} - existing
    stuck = waits and blocked in PERMANENT and not absent
    helps = [
        *(_other_queue(objects, namespace, queue, row) if stuck else ()),
        *_helps(objects, found, row, causes, general=unjudged),
        *(claim.help for claim in missing),
        *(remedies(case) if case and not any(alone(cause["message"]) for cause in causes) else ()),
        *_helps(objects, found, row, [*of_pools, *reasons], general=unjudged),
    ]
    said_so = {reason["message"] for reason in reasons}
    ahead = [workload for workload in queue.get("workloads", ()) if workload["state"] == "waiting"]
    return {
        "context": status["context"],
        "kind": found.kind,
        "namespace": namespace,
        "job": name,
        "part": found.part,
        "owner": next((f"{owner.kind} {owner.name}" for owner in found.job.owners if owner.kind != "CronJob"), ""),
        "state": state,
        "since": row.get("since", ""),
        "queue": queue.get("name", ""),
        "priority": row.get("priorityClass") or row.get("priority", ""),
        "ahead": [f"{each['namespace']}/{each['job']}" for each in ahead[: ahead.index(row) if row in ahead else 0]],
        "pods": len(shown),
        "podsReady": sum(pod.is_true("Ready") for pod in shown),
        "podNames": [pod.name for pod in (*pods, *ended)],
        "nodePools": pools_of(shown, {node.name: node.pool for node in objects.nodes}),
        "reasons": _once([{key: reason[key] for key in ("source", "message")} for reason in reasons]),
        "quotas": list(_quotas(objects, status, queue, row)),
        "needs": needed,
        "helps": list(dict.fromkeys(helps)),
        "unread": list(objects.unread),
        "problems": [*_unhealthy(objects, specs), *(each for each in status["problems"] if each not in said_so)],
    }


def _waits(row: Row) -> bool:
    """Whether Kueue has said why a workload waits."""
    return bool(row["state"] == "waiting" and row["why"] != NOT_EVALUATED)


def _queued(status: Row, uids: Collection[str], pods: Sequence[Pod]) -> list[tuple[Row, Row]]:
    """The queues and rows of the job's workloads: first those that wait for a known reason.

    `uids` are those of the job and of its owner, which can be of an unknown kind that Kueue manages.
    """
    workloads = {(pod.namespace, pod.workload) for pod in pods}
    ours = [
        (queue, row)
        for queue in status["queues"] or ()
        for row in queue["workloads"]
        if (row["uid"] and row["uid"] in uids) or (row["namespace"], row["workload"]) in workloads
    ]
    return sorted(ours, key=lambda own: (own[1]["state"] != "waiting", not _waits(own[1])))


def _specs(objects: Objects, rows: Sequence[Row], pods: Sequence[Pod]) -> list[tuple[int, PodSpec, str]]:
    """Counts, specs and own topologies of the pod sets that wait for Kueue; else of the pods, if they exist."""
    rows = [row for row in rows if row["state"] == "waiting"] or ([] if pods else rows)
    if not rows:
        return [(1, pod.spec, pod.annotations.get(SLICE_TOPOLOGY, "")) for pod in pods]
    workloads = (objects.workload(row["namespace"], row["workload"]) for row in rows)
    sets = [pod_set for workload in workloads if workload for pod_set in workload.pod_sets]
    return [(pod_set.count, pod_set.pod, pod_set.annotations.get(SLICE_TOPOLOGY, "")) for pod_set in sets]


def _unhealthy(objects: Objects, specs: Sequence[tuple[int, PodSpec, str]]) -> Iterator[str]:
    """What GKE says of the compute classes of the job that are not healthy."""
    names = {spec.node_selector.get(CLASS_LABEL) for _, spec, _ in specs}
    for own in objects.details.get("computeClasses", ()):
        if own.name in names and own.condition("Health").status == "False":
            said = (condition.message for condition in own.conditions if condition.status == "True")
            yield f"the compute class {own.name} is not healthy: {' '.join(said)}"


def _quotas(objects: Objects, status: Row, queue: Row, row: Row) -> Iterator[dict[str, Any]]:
    """The quotas of its queue that the job holds or needs, those of the cohort, and the other jobs that hold them."""
    flavors = {*row.get("flavors", ()), *re.findall(r" more free \S+ of ([^\s,;]+)", row.get("why", ""))}
    name = queue.get("cohort")
    cohort = [other for other in status["queues"] or () if other is queue or (name and other["cohort"] == name)]
    of_cohort = [quota for other in cohort for quota in other["quotas"]]
    for quota in (quota for quota in queue.get("quotas", ()) if quota["flavor"] in flavors):
        key = quota["flavor"], quota["resource"]
        same = [other for other in of_cohort if (other["flavor"], other["resource"]) == key]
        held: Counter[str] = Counter()
        for own in (own for other in cohort for own in other["workloads"] if own["uid"] != row["uid"]):
            workload = objects.workload(own["namespace"], own["workload"])
            held[f"{own['namespace']}/{own['job']}"] += workload.holds(*key) if workload else 0
        yield {
            **quota,
            "cohort": queue["cohort"] if len(cohort) > 1 else "",
            "cohortNominal": sum(other["nominal"] for other in same),
            "cohortUsed": sum(other["used"] for other in same),
            "heldBy": [{"job": job, "amount": whole_or_part(amount)} for job, amount in held.items() if amount],
        }


def _once(reasons: Sequence[Row]) -> list[Row]:
    """The reasons, each message once."""
    return list({reason["message"]: reason for reason in reversed(reasons)}.values())[::-1]


def _local_queues(objects: Objects, namespace: str) -> list[LocalQueue]:
    return [each for each in (objects.kueue or {}).get("local_queues", ()) if each.namespace == namespace]


def _other_queue(objects: Objects, namespace: str, queue: Row, row: Row) -> Iterator[str]:
    """The other local queues that can run a job."""
    others = (each for each in _local_queues(objects, namespace) if each.cluster_queue != queue["name"])
    if able := [each.name for each in others if admits(objects, each, row)]:
        yield f"Set the label kueue.x-k8s.io/queue-name to {' or '.join(able)}."


def _helps(objects: Objects, found: Found, row: Row, reasons: Sequence[Row], *, general: bool) -> Iterator[str]:
    namespace = found.job.namespace
    if any(_NO_QUEUE.search(reason["message"]) for reason in reasons):
        local = _local_queues(objects, namespace)
        able = [each.name for each in local if general or admits(objects, each, row)]
        have = f"local queues of {namespace}{'' if general else ' that can run it'}: {', '.join(able)}"
        yield (
            f"Set the label kueue.x-k8s.io/queue-name to an existing queue; {have}."
            if able
            else f"No local queue of {namespace} can run it."
        )
    job = {"kind": found.kind, "namespace": namespace, "name": found.job.name, "workload": row.get("workload", "")}
    for reason in reasons:
        places = {"pod": "POD", "container": "CONTAINER", **job, **reason["places"]}
        yield from helps_of(reason["message"], places, general=general)
