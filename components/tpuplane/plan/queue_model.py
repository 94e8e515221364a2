"""Kueue's objects of one cluster with their names, as plain frozen values."""

from dataclasses import dataclass
from typing import Literal

from tpuplane.labels import GPU
from tpuplane.quantities import canonical
from tpuplane.spec.pools.hosts import Capacity
from tpuplane.spec.queues.queues import PreemptionSpec, PrioritySpec
from tpuplane.spec.queues.teams import PodSecurity

Kinds = tuple[tuple[str, str], ...]
"""Kinds of jobs: API group, which is empty for core kinds, and resource."""
_IN_GIB = ("memory", "ephemeral-storage")  # Compute Engine's GB are 2^30 bytes


def _smaller(resource: str) -> tuple[int, str]:
    """The smallest part of a core or a GiB that a quota counts: how many there are, and the unit."""
    return (1024, "Mi") if resource in _IN_GIB else (1000, "m")


@dataclass(frozen=True, slots=True)
class TopologyPlan:
    """Node labels from the widest domain to the host. A job can request to be within one domain."""

    name: str
    levels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProvisioningPlan:
    """A ProvisioningRequestConfig: the request of Kueue to the cluster autoscaler before it admits a job."""

    managed_resources: tuple[str, ...]  # pods that request one of them are in the request
    max_run_seconds: int  # of the nodes


@dataclass(frozen=True, slots=True)
class CheckUsePlan:
    """An admission check of a queue for jobs with one of these flavors, or for all jobs if there are none.

    Kueue admits a job only if there is free quota and the check is ready.
    """

    check: str
    flavors: tuple[str, ...] = ()


SLICE_CHECK = "dynamic-slices"
"""The admission check of jobs on cubes: Kueue's slice controller makes their slices before they start."""


@dataclass(frozen=True, slots=True)
class FlavorPlan:
    """A ResourceFlavor: slices or GPU nodes of one shape and capacity, or the system pool's CPUs."""

    name: str
    node_labels: dict[str, str]
    tolerated_taints: tuple[str, ...]  # keys; Kueue lets admitted pods tolerate them
    topology: str | None  # name of a TopologyPlan; None if nodes are added for pods
    capacity: Capacity
    pools: tuple[str, ...]  # keys in the user's file
    slices: int  # at full scale: slices, or nodes with GPUs; 0 for CPUs
    per_slice: dict[str, int]  # resources of one slice or node: chips or GPUs, cores, GB of memory and storage
    provisioning: ProvisioningPlan | None = None  # only if a ProvisioningRequest adds its nodes

    sub_slices: tuple[str, ...] = ()  # topologies of parts of a slice that jobs can have, largest first

    @property
    def parts(self) -> int:
        """The parts of a slice or node with their own quota: a slice is one part, a node has its GPUs."""
        return self.per_slice.get(GPU, 1)

    def amount(self, resource: str, parts: float) -> float:
        """The amount of a resource in this number of parts, rounded down: all quotas together are in the nodes.

        It is whole, unless a part, such as a shared GPU, has less than one core or GiB.
        """
        each = self.per_slice.get(resource, 0)
        total = parts * each
        if total % self.parts == 0 or each >= self.parts:
            return total // self.parts
        factor, _ = _smaller(resource)
        return total * factor // self.parts / factor


@dataclass(frozen=True, slots=True)
class ResourceQuotaPlan:
    """The quota of a queue for one resource of one flavor: chips, GPUs, cores, GiB of memory and storage."""

    resource: str
    nominal: float
    borrowing_limit: float | None = None  # None: no limit
    lending_limit: float | None = None  # None: everything

    def quantity(self, amount: float) -> str:
        """The amount as a Kubernetes quantity."""
        factor, unit = _smaller(self.resource)
        return canonical(f"{round(amount * factor)}{unit}")


@dataclass(frozen=True, slots=True)
class FlavorQuotaPlan:
    """The quota of a queue for one flavor."""

    flavor: str
    resources: tuple[ResourceQuotaPlan, ...]


@dataclass(frozen=True, slots=True)
class ClaimPlan:
    """A bucket or file system in a namespace: a PersistentVolumeClaim, and the PersistentVolume that only it has."""

    name: str
    volume: str  # name of the PersistentVolume, of which the whole cluster has one
    handle: str  # names the bucket or instance for the driver
    driver: str
    size: str  # which Kubernetes requires, and the driver ignores
    mode: str  # access mode
    storage_class: str  # GKE's profile; "": none
    options: tuple[str, ...]  # of the mount
    attributes: dict[str, str]  # of the volume
    kind: Literal["bucket", "lustre", "filestore"] = "bucket"  # the address of an instance is a further attribute
    zone: str = ""  # of an instance that only pods in its zone should mount
    address_depends_on: str = ""  # another value replaces the instance, whose address is then another, too
    read_only: bool = False  # for the driver, in addition to the access mode


@dataclass(frozen=True, slots=True)
class NamespacePlan:
    """A namespace for a team's jobs."""

    name: str
    compute_class: str | None = None  # the default of its pods
    pod_security: PodSecurity = "baseline"
    claims: tuple[ClaimPlan, ...] = ()


@dataclass(frozen=True, slots=True)
class MemberPlan:
    """A user or group that can run jobs in a team's namespaces."""

    kind: Literal["Group", "User"]
    name: str


@dataclass(frozen=True, slots=True)
class LauncherPlan:
    """An agent that starts jobs for a team, from a namespace of its own."""

    namespace: str
    account: str  # Kubernetes service account
    secret: str  # that it copies for the jobs


@dataclass(frozen=True, slots=True)
class ClusterQueuePlan:
    """A team's quota in one cluster: of flavors that all have a topology, or of flavors that all have none.

    Kueue gives a job without a requested topology a flavor with a topology only if all flavors of its queue have one.
    """

    name: str
    team: str
    flavors: tuple[FlavorQuotaPlan, ...]  # in the order in which they are tried
    weight: float | None  # of the queue for borrowed quota; None without fair sharing
    namespaces: tuple[str, ...]
    checks: tuple[CheckUsePlan, ...] = ()
    workers: tuple[str, ...] = ()  # names in Google Cloud of the clusters that run its jobs; empty: this cluster


@dataclass(frozen=True, slots=True)
class TeamPlan:
    """One team in one cluster: its namespaces, the local queues in each of them, and its members."""

    name: str
    namespaces: tuple[NamespacePlan, ...]
    local_queues: dict[str, str]  # the cluster queue by the local queue's name
    members: tuple[MemberPlan, ...]
    launcher: LauncherPlan | None = None


@dataclass(frozen=True, slots=True)
class QueuesPlan:
    """All objects of Kueue in one cluster. They are deleted in the reverse order of these fields."""

    topologies: tuple[TopologyPlan, ...]
    flavors: tuple[FlavorPlan, ...]
    priorities: dict[str, PrioritySpec]  # WorkloadPriorityClasses, by name
    cohort: str
    shared: tuple[FlavorQuotaPlan, ...]  # quota that no team owns and every team can borrow
    cluster_queues: tuple[ClusterQueuePlan, ...]
    teams: tuple[TeamPlan, ...]
    covered: tuple[str, ...]  # resources, in the order of every FlavorQuotaPlan
    strategy: str
    preemption: PreemptionSpec
    fair_sharing: bool
    kinds: Kinds  # of own operators, which members can create

    @property
    def has_slice_check(self) -> bool:
        """Whether jobs on cubes wait for their slices."""
        return any(use.check == SLICE_CHECK for queue in self.cluster_queues for use in queue.checks)


@dataclass(frozen=True, slots=True)
class ManagerPlan:
    """The cluster that accepts jobs and dispatches them to workers."""

    name: str  # in Google Cloud
    namespace: str  # of Kueue
    workers: dict[str, str]  # names in Google Cloud and in Kueue, by their keys in the user's file
    dispatcher: str  # Kueue's name of it
    worker_lost_timeout: str


@dataclass(frozen=True, slots=True)
class WorkerPlan:
    """The permissions of the manager in a worker: to watch these kinds, and to create them in these namespaces."""

    namespace: str  # of Kueue
    kinds: Kinds  # of dispatched jobs
    namespaces: tuple[str, ...]
