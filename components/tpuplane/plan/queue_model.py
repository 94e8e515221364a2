"""What Kueue gets, as plain frozen values: the objects of one cluster, with the names they will have."""

from dataclasses import dataclass
from typing import Literal

from tpuplane.labels import GPU
from tpuplane.quantities import canonical
from tpuplane.spec.pools.hosts import Capacity
from tpuplane.spec.queues.queues import PreemptionSpec, PrioritySpec
from tpuplane.spec.queues.teams import PodSecurity

_IN_GIB = ("memory", "ephemeral-storage")  # Compute Engine's GB are 2^30 bytes


@dataclass(frozen=True, slots=True)
class TopologyPlan:
    """Node labels from the widest domain to the host: a job is kept within one domain where it asks for that."""

    name: str
    levels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProvisioningPlan:
    """A ProvisioningRequestConfig: what Kueue asks the cluster autoscaler for before it admits work."""

    managed_resources: tuple[str, ...]  # pods that ask for one of them are in the request
    max_run_seconds: int  # how long the nodes are had at most


@dataclass(frozen=True, slots=True)
class CheckUsePlan:
    """An admission check of a queue, for work that got one of these flavors; without any, for all of its work.

    It is what must hold, besides free quota, before work is admitted.
    """

    check: str
    flavors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FlavorPlan:
    """A ResourceFlavor: slices or GPU nodes of one shape and capacity, or the system pool's CPUs."""

    name: str
    node_labels: dict[str, str]
    tolerated_taints: tuple[str, ...]  # keys; Kueue lets admitted pods tolerate them
    topology: str | None  # name of a TopologyPlan; None where nodes come for pods
    capacity: Capacity
    pools: tuple[str, ...]  # keys in the user's file
    slices: int  # at full scale: slices, or nodes with GPUs; 0 for CPUs
    per_slice: dict[str, int]  # resources of one slice or node: chips or GPUs, cores, GB of memory and storage
    provisioning: ProvisioningPlan | None = None  # exactly where its nodes come by ProvisioningRequest only: its check

    @property
    def parts(self) -> int:
        """The smallest parts that a slice or a node is shared out in: a slice is one, a node has its GPUs."""
        return self.per_slice.get(GPU, 1)

    def amount(self, resource: str, parts: int) -> int:
        """What so many parts have of a resource."""
        return parts * self.per_slice.get(resource, 0) // self.parts


@dataclass(frozen=True, slots=True)
class ResourceQuotaPlan:
    """What a queue has of one resource of one flavor: chips, GPUs, cores, GiB of memory and storage."""

    resource: str
    nominal: int
    borrowing_limit: int | None = None  # None: no limit
    lending_limit: int | None = None  # None: everything

    def quantity(self, amount: int) -> str:
        """So much of the resource, as a Kubernetes quantity."""
        return canonical(f"{amount}Gi" if self.resource in _IN_GIB else amount)


@dataclass(frozen=True, slots=True)
class FlavorQuotaPlan:
    """What a queue has of one flavor."""

    flavor: str
    resources: tuple[ResourceQuotaPlan, ...]


@dataclass(frozen=True, slots=True)
class NamespacePlan:
    """Where a team's jobs run."""

    name: str
    compute_class: str | None = None  # what its pods get unless they ask for another
    pod_security: PodSecurity = "baseline"  # what they must keep to


@dataclass(frozen=True, slots=True)
class MemberPlan:
    """A user or group that may run work in a team's namespaces."""

    kind: Literal["Group", "User"]
    name: str


@dataclass(frozen=True, slots=True)
class LauncherPlan:
    """An agent that starts jobs for a team, from a namespace of its own."""

    namespace: str
    account: str  # Kubernetes service account
    secret: str  # what it copies for the jobs


@dataclass(frozen=True, slots=True)
class ClusterQueuePlan:
    """A team's quota in one cluster: of flavors that all have a topology, or of flavors that all have none.

    Kueue gives a job that names no topology no flavor with one, unless all flavors of its queue have one.
    """

    name: str
    team: str
    flavors: tuple[FlavorQuotaPlan, ...]  # in the order in which they are tried
    weight: float | None  # share of what is borrowed; None without fair sharing
    namespaces: tuple[str, ...]
    checks: tuple[CheckUsePlan, ...] = ()
    workers: tuple[str, ...] = ()  # clusters, as Google Cloud calls them, that its jobs go on to; empty: they run here


@dataclass(frozen=True, slots=True)
class TeamPlan:
    """One team in one cluster: its namespaces, the local queues in each of them, and who may work there."""

    name: str
    namespaces: tuple[NamespacePlan, ...]
    local_queues: dict[str, str]  # the cluster queue by the local queue's name
    members: tuple[MemberPlan, ...]
    launcher: LauncherPlan | None = None


@dataclass(frozen=True, slots=True)
class QueuesPlan:
    """Everything that Kueue gets in one cluster. Objects are deleted in the reverse of the order of these fields."""

    topologies: tuple[TopologyPlan, ...]
    flavors: tuple[FlavorPlan, ...]
    priorities: dict[str, PrioritySpec]  # WorkloadPriorityClasses, by name
    cohort: str
    shared: tuple[FlavorQuotaPlan, ...]  # what no team owns, and all may borrow
    cluster_queues: tuple[ClusterQueuePlan, ...]
    teams: tuple[TeamPlan, ...]
    covered: tuple[str, ...]  # resources, in the order of every FlavorQuotaPlan
    strategy: str
    preemption: PreemptionSpec
    fair_sharing: bool


@dataclass(frozen=True, slots=True)
class ManagerPlan:
    """The cluster that takes the jobs and hands them on."""

    name: str  # in Google Cloud
    namespace: str  # Kueue's own
    workers: dict[str, str]  # names in Google Cloud, which Kueue knows them by, by their keys in the user's file
    dispatcher: str  # Kueue's name of the way in which workers are asked
    worker_lost_timeout: str


@dataclass(frozen=True, slots=True)
class WorkerPlan:
    """What the manager may do in a cluster that runs jobs: watch these kinds, and make them in these namespaces."""

    namespace: str  # Kueue's own
    kinds: tuple[tuple[str, str], ...]  # of jobs that are handed on: API group (empty for the core's) and resource
    namespaces: tuple[str, ...]
