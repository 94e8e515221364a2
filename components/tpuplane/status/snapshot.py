"""The objects of a cluster at one time, and what they describe: node pools, queues and jobs."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

from tpuplane.labels import OPERATORS
from tpuplane.status.asking import DETAILS, EVENTS, JOB_KINDS, KUEUE_KINDS, SUSPENDED
from tpuplane.status.detail_objects import DynamicSlice
from tpuplane.status.holders import jobs_by_node, outside_queues
from tpuplane.status.kueue_objects import Workload
from tpuplane.status.objects import Event, Item, Job, Node, Pod, Unreadable
from tpuplane.status.owners import Owners
from tpuplane.status.pools import describe_pools
from tpuplane.status.queues import describe_queues
from tpuplane.status.waiting import Placing, without_workload

OF_CLUSTER = frozenset({"nodes", "queues", "flavors", "cohorts", *(DETAILS.keys() - {"claims"})})
"""Lists of objects without a namespace."""


@dataclass(frozen=True)
class Objects:
    """The objects of a cluster; `kueue` is None if Kueue is not installed."""

    context: str
    server: str
    nodes: list[Node]
    pods: list[Pod]
    jobs: dict[str, list[Job]]
    """Jobs and their parts by kind."""
    kueue: dict[str, list[Any]] | None
    events: list[Event]
    left_out: list[str]
    """Messages about objects that cannot be read, one for all objects of a kind with the same reason."""
    unread: Sequence[str] = ()
    """The lists that the user may not read, or may read only of one namespace."""
    details: Mapping[str, list[Any]] = field(default_factory=dict)
    """The lists that only the explanation of one job needs."""
    ended: Sequence[Pod] = ()
    """Pods of the job's namespace that have failed. They hold nothing."""

    @classmethod
    def of(
        cls, context: str, server: str, lists: Mapping[str, Sequence[Item | Unreadable]], unread: Sequence[str] = ()
    ) -> Self:
        """The objects in the lists of `Ask.sources`."""
        good: dict[str, list[Any]] = {
            name: [item for item in items if isinstance(item, Item)] for name, items in lists.items()
        }
        kueue = None
        if "workloads" in good:
            known = good["workloads"]
            unknown = (workload for kind in SUSPENDED for workload in without_workload(kind, good.get(kind, ()), known))
            kueue = {**{name: good.get(name, []) for name in KUEUE_KINDS}, "workloads": [*known, *unknown]}
        events = [event for name in EVENTS for event in good.get(name, ())]
        alike: dict[tuple[str, str], list[Unreadable]] = defaultdict(list)
        unreadable = (item for items in lists.values() for item in items if isinstance(item, Unreadable))
        for item in unreadable:
            alike[item.kind, item.why].append(item)
        left_out = [f"{first}{f' (and {len(more)} more)' if more else ''}" for first, *more in alike.values()]
        jobs = {kind: good[kind] for kind in JOB_KINDS if kind in good}
        details = {name: good[name] for name in DETAILS if name in good and name not in OF_CLUSTER.intersection(unread)}
        return cls(context, server, good["nodes"], good["pods"], jobs, kueue, events, left_out, unread, details)

    def described(self) -> dict[str, Any]:
        """Node pools, queues (None without Kueue), and jobs outside of queues, as plain values."""
        queues = None
        if (known := self.kueue) is not None:
            queues = describe_queues(
                **known, pods=self.pods, nodes=self.nodes, placing=self.placing, owners=self.owners
            )
        return {
            "context": self.context,
            "server": self.server,
            "gke": None,
            "poolsFrom": "the nodes of the cluster",
            "declaredIn": "",
            "nodePools": describe_pools(self.nodes, self.holders),
            "queues": queues,
            "slices": [self._slice(found) for found in self.details.get("slices", ())],
            "outsideQueues": outside_queues(
                self.pods, self.nodes, self.placing, self.owners, (self.kueue or {}).get("workloads", ())
            ),
            "problems": [*self.left_out, *self.stopped.values()],
        }

    @cached_property
    def stopped(self) -> Mapping[str, str]:
        """A message about each operator without a ready pod; none if not all pods were read."""
        if {"Deployment", "ReplicaSet", "pods"}.intersection(self.unread):
            return {}
        found = [each for each in self.jobs.get("Deployment", ()) if each.name in OPERATORS]
        near = {each.namespace for each in found}
        pods = [(self.owners.job("Pod", pod).uid, pod) for pod in self.pods if pod.namespace in near]
        ready = {uid for uid, pod in pods if pod.is_true("Ready")}
        started = {
            uid: f"; its pod started at {pod.running_since}, and Kubernetes waits until it is ready"
            for uid, pod in pods
            if pod.running_since
        }
        running = {OPERATORS[each.name] for each in found if each.uid in ready}
        return {
            operator: f"{operator} does not run: no pod of the Deployment {each.namespace}/{each.name} is ready"
            f"{started.get(each.uid, '')}"
            for each in found
            if (operator := OPERATORS[each.name]) not in running
        }

    def _slice(self, found: DynamicSlice) -> dict[str, Any]:
        """A Slice with its state, and the job for which Kueue's slice controller created it."""
        ready, workload = found.condition("Ready"), self.workload(*found.workload)
        job = f"{workload.namespace}/{workload.owner.name}" if workload else ""
        row = {"name": found.name, "topology": found.topology, "partitions": found.partitions, "job": job}
        return {**row, "state": ready.reason, "message": "" if ready.status == "True" else ready.message}

    def workload(self, namespace: str, name: str) -> Workload | None:
        """The workload with this name; None if there is none."""
        return self._workloads.get((namespace, name))

    @cached_property
    def _workloads(self) -> Mapping[tuple[str, str], Workload]:
        return {(workload.namespace, workload.name): workload for workload in (self.kueue or {}).get("workloads", ())}

    @cached_property
    def owners(self) -> Owners:
        """The job of each object."""
        return Owners({"Pod": [*self.pods, *self.ended], **self.jobs})

    @cached_property
    def holders(self) -> Mapping[str, Collection[str]]:
        """The jobs with chips or GPUs of each node."""
        return jobs_by_node(self.pods, self.owners)

    @cached_property
    def placing(self) -> Placing:
        """The events about pods and jobs."""
        return Placing(self.events)
