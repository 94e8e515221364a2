"""Kueue's queues of a cluster: their jobs, the slices of jobs, and why jobs wait. Pure."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from tpuplane.labels import GPU, STOPPED_FOR, TPU
from tpuplane.plan.flavors import CPU_FLAVOR, ELASTIC
from tpuplane.quantities import whole_or_part
from tpuplane.status.fitting import Pods
from tpuplane.status.holders import asked_by, pools_of
from tpuplane.status.kueue_objects import ClusterQueue, Flavor, FlavorQuotas, LocalQueue, Resource, Workload
from tpuplane.status.objects import Node, Pod, Reference
from tpuplane.status.owners import Owners
from tpuplane.status.reasons import flavors_in, in_plain_words
from tpuplane.status.waiting import ENDING, STILL_SUSPENDED, Placing, may_take, too_large

NO_QUEUE = ""
"""The name of the row of jobs whose queue is missing or does not exist."""
NOT_EVALUATED = "not evaluated yet"
"""The reason of a job that Kueue has not tried to admit."""

_Shape = tuple[str, int, tuple[tuple[str | int, ...], ...]]
"""The queue, priority and pod sets of a workload."""


def describe_queues(
    queues: Iterable[ClusterQueue],
    local_queues: Iterable[LocalQueue],
    workloads: Iterable[Workload],
    pods: Iterable[Pod],
    nodes: Sequence[Node],
    *,
    owners: Owners,
    flavors: Iterable[Flavor] = (),
    cohorts: Iterable[ClusterQueue] = (),
    placing: Placing | None = None,
) -> list[dict[str, Any]]:
    """Each cluster queue with its quotas and workloads: running ones first, then in the order of the queue.

    Jobs without an existing queue are last, with the name `NO_QUEUE`. `placing` has the reasons for pods of admitted
    workloads that have no node.
    """
    placing, queues = placing or Placing(), sorted(queues, key=lambda queue: queue.name)
    local_queues = list(local_queues)
    pool_of, flavor_of = {node.name: node.pool for node in nodes}, {flavor.name: flavor for flavor in flavors}
    offered = {
        queue.name: [flavor_of[flavor.name] for flavor in queue.flavors if flavor.name in flavor_of] for queue in queues
    }
    # A user who may not read the queues can see their messages about the CPU flavors.
    quotas: dict[str, set[str]] = defaultdict(set, {CPU_FLAVOR: set(), f"{CPU_FLAVOR}{ELASTIC}": set()})
    for flavor in (flavor for owner in (*queues, *cohorts) for flavor in owner.flavors):
        quotas[flavor.name] |= {resource.name for resource in flavor.resources if resource.nominal_quota}
    queue_of = {(queue.namespace, queue.name): queue.cluster_queue for queue in local_queues}
    groups = {local.cluster_queue: [[flavor.name for flavor in local.reserved]] for local in local_queues}
    groups |= {queue.name: [[flavor.name for flavor in group.flavors] for group in queue.groups] for queue in queues}
    stopped: dict[str, list[LocalQueue]] = defaultdict(list)
    for local in local_queues:
        if local.stop_policy != "None":
            stopped[local.cluster_queue].append(local)
    members: dict[tuple[str, str], list[Pod]] = defaultdict(list)
    for pod in pods:
        members[pod.namespace, pod.workload].append(pod)
    described: dict[str, list[dict[str, Any]]] = defaultdict(list)
    queued = [
        (workload.reserved_in or queue_of.get((workload.namespace, workload.queue), NO_QUEUE), workload)
        for workload in sorted(workloads, key=_turn)
        if not workload.is_true("Finished")
    ]
    evaluated = _evaluated(queued)
    for queue, workload in queued:
        own = members.get((workload.namespace, workload.name), [])
        row = _workload(workload, owners, pools_of(own, pool_of))
        if row["state"] == "waiting":
            # Kueue's message is the same for a pod that is too large for every host and for hosts in use.
            message = too_large(workload, offered.get(queue, ()), nodes) or _message(workload, "QuotaReserved")
            if workload.is_true("Evicted") and message == _message(workload, "Evicted"):
                message = ""  # Kueue repeats it here until it has tried the workload again
            message = message or evaluated.get(_shape(queue, workload), "")
            row["why"] = _why(workload, message, quotas, groups.get(queue, ()), flavor_of)
        elif workload.is_true("Evicted"):  # it keeps its quota until its pods have ended
            said = _drained(workload) or in_plain_words(_message(workload, "Evicted"))
            passive = "it was " if said.startswith("stopped by ") else ""
            subject = "it " if said.startswith(("was ", "lost ", "failed, ")) else passive
            row["why"] = ": ".join(filter(None, (ENDING, subject + said)))
        elif not workload.cluster:
            stuck = STILL_SUSPENDED if owners.suspended(row["uid"]) and not own else ""
            row["why"] = placing.why(owners.members(row["uid"]), own) or stuck
        described[queue].append(row)
    rows = [
        {
            "name": queue.name,
            "cohort": queue.cohort,
            "active": queue.is_true("Active") and not queue.deleted,
            "message": _stopped(queue, stopped[queue.name], described[queue.name], offered[queue.name]),
            "quotas": list(_quotas(queue)),
            "workloads": described.pop(queue.name),
        }
        for queue in queues
    ]
    if lost := [row for rest in described.values() for row in rest]:
        why = "the queue does not exist"
        rows.append({"name": NO_QUEUE, "cohort": "", "active": False, "message": why, "quotas": [], "workloads": lost})
    return rows


def _stopped(
    queue: ClusterQueue,
    local_queues: Iterable[LocalQueue],
    work: Iterable[Mapping[str, Any]],
    flavors: Iterable[Flavor],
) -> str:
    """Why a queue, or one of these local queues of it that are stopped, admits no jobs; and what is being deleted."""
    if queue.deleted:  # Kueue no longer changes its condition
        holders = ", ".join(f"{row['namespace']}/{row['job']}" for row in work if row["flavors"])
        return f"is being deleted, and admits no jobs; waits for the end of jobs with quota: {holders or 'none'}"
    if not queue.is_true("Active") and (message := queue.condition("Active").message):
        return message
    said = [f"LocalQueue {own.namespace}/{own.name} is stopped ({own.stop_policy})" for own in local_queues]
    said += [
        f"the flavor {own.name} is being deleted, and waits until no queue has it" for own in flavors if own.deleted
    ]
    return "; ".join(said)


def _turn(workload: Workload) -> tuple[bool, bool, int, str]:
    """Kueue's order: running workloads by age, waiting ones by priority and age. Deactivated ones are in no queue."""
    running = workload.is_true("Admitted")
    return not running, not workload.active, 0 if running else -workload.priority, workload.created


def _evaluated(queued: Iterable[tuple[str, Workload]]) -> dict[_Shape, str]:
    """Kueue's messages about waiting workloads by their shape.

    Kueue evaluates one of several equal workloads of a queue, and sets no condition of the others. Source:
    handleInadmissibleHash in pkg/cache/queue/cluster_queue.go of Kueue 0.18.
    """
    messages = ((queue, workload, workload.condition("QuotaReserved").message) for queue, workload in queued)
    start = "couldn't assign flavors"  # other messages are about one workload
    return {_shape(queue, workload): message for queue, workload, message in messages if message.startswith(start)}


def _shape(queue: str, workload: Workload) -> _Shape:
    """Equal for workloads that Kueue treats as equal."""
    sets = (
        (own.name, own.count, own.required, own.slice_required, own.slice_size, Pods.of(own.count, own.pod).key)
        for own in workload.pod_sets
    )
    return queue, workload.priority, tuple(sets)


def _workload(workload: Workload, owners: Owners, pools: list[str]) -> dict[str, Any]:
    # The owners of a group of pods are its pods; without another job, the group is the job.
    group = Reference(kind="PodGroup" if workload.owners else "Workload", name=workload.name, uid=workload.uid)
    job = owners.of_workload(workload) or group
    running = workload.is_true("Admitted")
    since = workload.condition("Admitted" if running else "QuotaReserved").last_transition_time
    return {
        "namespace": workload.namespace,
        "job": job.name,
        "kind": job.kind,
        "uid": job.uid,
        "workload": workload.name,
        "priority": workload.priority,
        "priorityClass": workload.priority_class,
        **asked_by(map(workload.asked, (TPU, GPU, "cpu"))),
        "state": "admitted" if running else "waiting",
        "flavors": sorted({flavor for assignment in workload.assigned for flavor in assignment.flavors.values()}),
        "nodePools": pools,
        "cluster": workload.cluster,
        "since": since or workload.created,
        "why": "",
        "message": "" if running else workload.condition("QuotaReserved").message,
    }


def _drained(workload: Workload) -> str:
    pools = workload.annotations.get(STOPPED_FOR, "").replace(",", " ")
    return f"stopped by `tpuplane drain {pools}`" if pools and not workload.active else ""


def _why(
    workload: Workload,
    message: str,
    quotas: Mapping[str, set[str]],
    groups: Iterable[Collection[str]],
    flavors: Mapping[str, Flavor],
) -> str:
    """Why a job waits: the reason for its last eviction, and the reason now.

    `quotas` has the resources by flavor, and `groups` the names of the flavors of its queue by resource group.
    """
    asked = {pods.name: {device for device in (TPU, GPU) if pods.pod.asked(device)} for pods in workload.pod_sets}
    unrelated = {name: {key for key, has in quotas.items() if not own <= has} for name, own in asked.items()}
    parts = [_message(workload, "Evicted")] if workload.is_true("Evicted") else []
    next_try = workload.requeue_at if workload.condition("Requeued").status == "False" else ""
    if not workload.active:
        again = ", and Kueue sets it to false again" if workload.is_true("DeactivationTarget") else ""
        parts.append(_drained(workload) or f"spec.active of its workload is false{again}")
    elif workload.is_true("QuotaReserved"):
        parts += [f"has its quota, and waits for {check}" for check in _checks(workload)] or ["has its quota"]
    else:
        parts.append(message or ("" if next_try else NOT_EVALUATED))
    if next_try:
        parts.append(f"Kueue tries it again at {next_try}")
    of_groups = _untried(workload, message, groups, flavors)
    untried = {name: [own for own in names if own not in unrelated[name]] for name, names in of_groups.items()}
    return "; ".join(dict.fromkeys(in_plain_words(part, unrelated, untried) for part in parts if part))


def _untried(
    workload: Workload, message: str, groups: Iterable[Collection[str]], flavors: Mapping[str, Flavor]
) -> dict[str, list[str]]:
    """The flavors of each pod set that Kueue's message does not name, although the pods may have them.

    Quota of such a flavor was free, and its hosts were not. Kueue tries the flavors after it the next time, and its
    message names only those. Source: LastTriedFlavorIdx in pkg/scheduler/flavorassigner/flavorassigner.go of Kueue.
    """
    specs, groups = {pods.name: pods.pod for pods in workload.pod_sets}, list(groups)
    return {
        name: [
            own
            for group in groups
            if not named.isdisjoint(group)
            for own in group
            if own not in named and (own not in flavors or may_take(flavors[own], specs[name]))
        ]
        for name, named in flavors_in(message).items()
        if name in specs
    }


def _message(workload: Workload, kind: str) -> str:
    """Kueue's message. It remains in a workload that was activated again, until Kueue admits it."""
    said = workload.condition(kind).message
    return said.replace("workload is deactivated", "workload was deactivated") if workload.active else said


def _checks(workload: Workload) -> Iterator[str]:
    """Admission checks that are not ready, such as a ProvisioningRequest; for MultiKueue the requested clusters."""
    if workload.nominated:
        yield f"room in {' or '.join(sorted(workload.nominated))}"
        return
    for check in workload.checks:
        if check.state != "Ready":
            yield f"{check.name} ({check.message or check.state})"


def _quotas(queue: ClusterQueue) -> Iterator[dict[str, Any]]:
    """Quotas by flavor: nominal, used, borrowed from the cohort, and `over`, which jobs keep after a quota was lowered.

    A job that has its quota uses it, also while it waits for an admission check.

    A flavor with chips or GPUs shows only these, because CPUs and memory belong to the same hosts; others show cores.
    """
    used = {(flavor.name, resource.name): resource for flavor in queue.reserved for resource in flavor.resources}
    for flavor in queue.flavors:
        rows = [row for resource in (TPU, GPU, "cpu") if (row := _quota(flavor, resource, used, bool(queue.cohort)))]
        yield from [row for row in rows if row["resource"] != "cpu"] or rows


def _quota(
    flavor: FlavorQuotas, resource: str, used: Mapping[tuple[str, str], Resource], shared: bool
) -> dict[str, Any]:
    """The quota of a resource; empty if there is no quota and no use."""
    own = next((quota for quota in flavor.resources if quota.name == resource), Resource())
    use = used.get((flavor.name, resource), Resource())
    if not own.nominal_quota and not use.total:
        return {}
    # Kueue also calls it borrowed in a queue without a cohort, to which no queue lends.
    above = max(use.total - own.nominal_quota, 0)
    borrowed, over = (use.borrowed, above - use.borrowed) if shared else (0, above)
    amounts = {"nominal": own.nominal_quota, "used": use.total, "borrowed": borrowed, "over": max(over, 0)}
    rounded = {key: whole_or_part(amount) for key, amount in amounts.items()}
    return {"flavor": flavor.name, "resource": resource, **rounded}
