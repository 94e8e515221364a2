"""What runs on a cluster now: chips, and the state of each job of a rehearsal. Pure."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from tpuplane.cost.rates import rate
from tpuplane.labels import TPU
from tpuplane.status.holders import has_devices
from tpuplane.status.objects import Node, Pod
from tpuplane.status.pools import slice_of, without_devices
from tpuplane.status.snapshot import Objects
from tpuplane.tpu import Slice
from tpuplane.tpu.catalogue import region_of

from tpuplane_twin.cluster.nodes import FAULT
from tpuplane_twin.rehearsal.trace import TraceJob

ENDS = "pod-complete.stage.kwok.x-k8s.io/delay", "0s"
"""The annotation of a pod that is to succeed, and its value."""
_LEADS_SECONDS = 10.0

Key = tuple[str, str]
"""Namespace and name of a job."""


@dataclass(frozen=True, slots=True)
class JobNow:
    """A job now."""

    pods: frozenset[str] = frozenset()
    """The uids of all pods, if all of them are Ready."""
    nodes: tuple[Node, ...] = ()
    """The nodes of these pods."""
    all_nodes: Sequence[Node] = ()
    """The nodes of its cluster."""
    ended: str = ""
    """succeeded or failed; empty while it has not ended."""


class Chips(NamedTuple):
    """The chips of the clusters."""

    usable: int
    lost: int
    dollars: float
    unpriced: int
    idle: Mapping[Slice, int]
    """Idle whole slices of each shape."""


def jobs_now(objects: Objects, jobs: Iterable[TraceJob]) -> dict[Key, JobNow]:
    """The jobs that exist on the cluster."""
    pods: dict[Key, list[Pod]] = defaultdict(list)
    for pod in objects.pods:
        pods[pod.namespace, objects.owners.job("Pod", pod).name].append(pod)
    known = {(item.namespace, item.name): item for item in objects.jobs.get("JobSet", ())}
    nodes = {node.name: node for node in objects.nodes}
    found: dict[Key, JobNow] = {}
    for job in jobs:
        key = job.team, job.name
        if (item := known.get(key)) is None:
            continue
        ready = [pod for pod in pods[key] if pod.is_true("Ready") and not pod.deleted]
        whole = len(ready) == job.slices * job.shape.hosts
        found[key] = JobNow(
            frozenset(pod.uid for pod in ready) if whole else frozenset(),
            tuple(nodes[pod.spec.node_name] for pod in ready if pod.spec.node_name in nodes) if whole else (),
            objects.nodes,
            "succeeded" if item.is_true("Completed") else "failed" if item.is_true("Failed") else "",
        )
    return found


def interruption(before: Iterable[Node], nodes: Iterable[Node]) -> str:
    """Why a job no longer runs on the nodes `before`, as the present nodes of its cluster show."""
    now = {node.name: node for node in nodes}
    lost = [node for node in before if node.name not in now or not now[node.name].is_true("Ready")]
    replaced = [node for node in lost if node.name not in now]  # an upgrade creates nodes of other names
    upgraded = any(old.pool == new.pool and old.kubelet != new.kubelet for old in replaced for new in now.values())
    return "preempted" if not lost else "node upgrade" if upgraded else "host lost"


def unsettled(objects: Objects, jobs: Collection[TraceJob]) -> str:
    """What controllers have not finished yet; empty if nothing is known. Waiting for chips or for time is finished."""
    ready = {node.name: node.is_true("Ready") for node in objects.nodes}
    for pod in filter(has_devices, objects.pods):
        # Pods on lost hosts are evicted, and then wait for the host; those on deleted nodes are collected.
        ends = ENDS in pod.annotations.items() and FAULT not in pod.annotations
        finished = {
            True: pod.is_true("Ready") and not pod.deleted and not ends,
            False: bool(pod.deleted),
            None: not pod.spec.node_name,
        }
        if not finished[ready.get(pod.spec.node_name)]:
            return f"the pod {pod.namespace}/{pod.name}"
    workloads = (objects.kueue or {}).get("workloads", ())
    # A status has a workload with the job's own uid where Kueue has not created one yet.
    made_by = ((owner.uid, workload) for workload in workloads for owner in workload.owners)
    owned = {uid: workload for uid, workload in made_by if workload.uid != uid}
    made = defaultdict[str, int](int)
    for pod in objects.pods:
        made[objects.owners.job("Pod", pod).uid] += 1
    known = {(job.team, job.name): job for job in jobs}
    for item in objects.jobs.get("JobSet", ()):
        if item.is_true("Completed") or item.is_true("Failed"):
            continue
        workload, job = owned.get(item.uid), known.get((item.namespace, item.name))
        waits = workload is not None and not workload.is_true("QuotaReserved")
        admitted = workload is not None and workload.is_true("Admitted")
        unqueued = workload is None and job is not None and bool(job.compute_class)
        complete = job is None or made[item.uid] >= job.slices * job.shape.hosts
        if not waits and not ((admitted or unqueued) and complete):
            return f"the JobSet {item.namespace}/{item.name}"
    return ""


def led(objects: Objects, leases: Iterable[Mapping[str, Any]], now: datetime) -> str:
    """The operator that runs without leading yet, or that has just begun to; empty if there is none.

    A new pod of an operator waits for the lease of the former one, and then reads every object before it acts.
    """
    ready: dict[str, set[str]] = defaultdict(set)
    for pod in objects.pods:
        if pod.is_true("Ready") and not pod.deleted:
            ready[pod.namespace].add(pod.name)
    for lease in leases:
        namespace, spec = lease["metadata"]["namespace"], lease["spec"]
        if namespace.startswith("kube-") or not ready[namespace]:
            continue
        since = datetime.fromisoformat(spec["acquireTime"])
        leads = spec.get("holderIdentity", "").partition("_")[0] in ready[namespace]
        if not leads or (now - since).total_seconds() < _LEADS_SECONDS:
            return f"the operator of {namespace}"
    return ""


def overlooked(clusters: Sequence[Objects], jobs: Collection[TraceJob]) -> set[Key]:
    """The jobs that wait although enough slices of their shape are idle."""
    idle = idle_slices(clusters)
    found = {key: job for objects in clusters for key, job in jobs_now(objects, jobs).items()}
    waiting = {key for key, job in found.items() if not job.pods and not job.ended}
    fitting = {(job.team, job.name) for job in jobs if idle.get(job.shape, 0) >= job.slices}
    return waiting & fitting


def chips(clusters: Sequence[Objects]) -> Chips:
    """The chips of all clusters."""
    usable = lost = unpriced = 0
    dollars = 0.0
    for objects in clusters:
        for node in objects.nodes:
            count = node.capacity.get(TPU, 0) // 1000
            usable += count if _usable(node) else 0
            lost += 0 if _usable(node) else count
        for pool in objects.described()["nodePools"]:
            price = _price(pool)
            dollars += (price or 0.0) * pool["chips"]
            unpriced += pool["chips"] if price is None else 0
    return Chips(usable, lost, dollars, unpriced, idle_slices(clusters))


def idle_slices(clusters: Iterable[Objects]) -> Mapping[Slice, int]:
    """The idle whole slices of each shape."""
    idle: dict[Slice, int] = defaultdict(int)
    for objects in clusters:
        for members in _by_slice(objects.nodes):
            shape = slice_of(members[0].labels)
            free = all(_usable(node) and not objects.holders.get(node.name) for node in members)
            if shape is not None and len(members) == shape.hosts and free:
                idle[shape] += 1
    return idle


def _usable(node: Node) -> bool:
    """Whether pods can use its chips. A host that returns from an incident is Ready before it offers them."""
    return node.is_true("Ready") and not without_devices(node)


def _price(pool: Mapping[str, Any]) -> float | None:
    """The dollars of a chip in an hour; None if no price is on record."""
    if not pool["generation"]:
        return None
    region = region_of(next(iter(pool["zones"]), ""))
    found = rate(pool["generation"], region, pool["capacity"], estimate=True).price
    return found.usd_per_chip_hour if found else None


def _by_slice(nodes: Iterable[Node]) -> Iterable[Sequence[Node]]:
    """The nodes of each slice: a multi-host pool, or one host."""
    slices: dict[str, list[Node]] = defaultdict(list)
    for node in nodes:
        if node.capacity.get(TPU):
            shape = slice_of(node.labels)
            slices[node.pool if shape and shape.multi_host else node.name].append(node)
    return slices.values()
