"""What will exist, as plain frozen values: the output of `tpuplane.plan.plan`, the input of every resource class.

Names here are final (the names Google's API will see); nothing downstream derives or decides.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from tpuplane.gpu import GpuMachine
from tpuplane.plan.addon_model import AddonPlan
from tpuplane.plan.auto_provisioning import AutoProvisioningPlan
from tpuplane.plan.class_model import ComputeClassPlan
from tpuplane.plan.cluster_model import KeysPlan, MaintenancePlan
from tpuplane.plan.multi_kueue_model import ManagerPlan, WorkerPlan
from tpuplane.plan.network import NetworkPlan, SubnetPlan
from tpuplane.plan.observability_model import ObservabilityPlan
from tpuplane.plan.queue_model import QueuesPlan
from tpuplane.spec import ControlPlaneSpec, ExistingClusterSpec, ExtraNetworkSpec, FlexStartSpec, SecondaryBootDiskSpec
from tpuplane.spec.capacity import Capacity, MaintenanceInterval
from tpuplane.spec.cluster_options import MonitoringSpec, SecuritySpec, StorageSpec
from tpuplane.spec.clusters import ExistingNetworkSpec
from tpuplane.spec.gpu_pools import GpuDriver, GpuSharingStrategy
from tpuplane.tpu import Slice

# Label, and key of the taint, of the nodes of a compute class.
DEFAULT_CLASS_LABEL = "cloud.google.com/default-compute-class"  # of a namespace
DEFAULT_CLASS = "default"  # the name that GKE gives the compute class of a whole cluster


@dataclass(frozen=True, slots=True)
class ServiceAccountPlan:
    """The service account that is made for a cluster's nodes, and the only roles it gets."""

    account_id: str
    display_name: str
    roles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AutoscalingPlan:
    """Per-zone node limits. For a multi-host slice min is 0 or the slice's hosts and max is the slice's hosts."""

    min_nodes: int
    max_nodes: int
    location_policy: Literal["ANY", "BALANCED"] = "ANY"


@dataclass(frozen=True, slots=True)
class UpgradePlan:
    """Surge upgrade settings, in nodes."""

    max_surge: int
    max_unavailable: int


@dataclass(frozen=True, slots=True)
class GpuPlan:
    """The GPUs of a pool's nodes: which, with what driver, and how containers share them."""

    machine: GpuMachine
    driver: GpuDriver
    sharing: GpuSharingStrategy | None = None
    max_clients: int | None = None  # containers on one GPU or partition; exactly with `sharing`
    partition_size: str | None = None

    @property
    def per_node(self) -> int:
        """What a node offers as `nvidia.com/gpu`."""
        return self.machine.offers(self.partition_size, self.max_clients)


@dataclass(frozen=True, slots=True)
class NodePoolPlan:
    """One GKE node pool.

    A multi-host TPU pool is exactly one slice; a single-host TPU pool holds `node_count` one-host slices; a GPU pool
    has `gpu`; the system pool has neither. Exactly one of `node_count` and `autoscaling` is set, in nodes of each
    zone. `replace_on` names the inputs whose change must replace the pool although the provider would update it in
    place (or do nothing at all).
    """

    name: str  # GKE node pool name, at most 40 characters, stable when the count changes
    pool: str  # key in the user's file ("trainer"); "system" for the system pool
    index: int  # slice number within `pool`; 0 for single-host and system pools
    zones: tuple[str, ...]  # node_locations
    machine_type: str
    disk_type: str
    disk_size_gb: int
    capacity: Capacity
    reservation: str | None = None  # name or path in Google's form; exactly with capacity "reservation"
    flex_start: FlexStartSpec | None = None  # exactly with capacity "flex-start"
    host_maintenance: MaintenanceInterval | None = None  # None: the machine's own
    slice: Slice | None = None
    gpu: GpuPlan | None = None
    local_ssds: int | None = None  # None: whatever the machine comes with
    compact: bool = False  # nodes close together, without a TPU topology
    node_count: int | None = None
    autoscaling: AutoscalingPlan | None = None
    placement_topology: str | None = None  # placement_policy.tpu_topology; None where no placement is wanted
    workload_policy: str | None = None  # name of the compute resource policy (tpu7x multi-host), else None
    accelerator_topology_mode: str | None = None  # of that policy; None: Compute Engine's own
    upgrade: UpgradePlan = UpgradePlan(max_surge=1, max_unavailable=0)
    auto_repair: bool = True
    auto_upgrade: bool = True
    max_pods_per_node: int | None = None
    image_streaming: bool = False
    secondary_boot_disks: tuple[SecondaryBootDiskSpec, ...] = ()
    extra_networks: tuple[ExtraNetworkSpec, ...] = ()
    compute_class: str | None = None  # the class that alone may use the nodes; None: any pod that tolerates TPUs
    node_labels: dict[str, str] = field(default_factory=dict)  # ours only; GKE adds its own TPU labels
    resource_labels: dict[str, str] = field(default_factory=dict)
    replace_on: tuple[str, ...] = ()

    @property
    def dynamic_slicing(self) -> bool:
        """Whether its chips are a cube that is joined with others only when a slice is made."""
        return self.accelerator_topology_mode == "PROVISION_ONLY"

    @property
    def min_nodes(self) -> int:
        """Nodes that are always there, in each zone."""
        return self.autoscaling.min_nodes if self.autoscaling is not None else self.max_nodes

    @property
    def max_nodes(self) -> int:
        """Nodes at full scale, in each zone."""
        if self.autoscaling is not None:
            return self.autoscaling.max_nodes
        return self.node_count or 0


@dataclass(frozen=True, slots=True)
class ClusterPlan:
    """One GKE cluster with its pools and the objects created inside it."""

    key: str  # key in the user's file ("us-central1")
    name: str  # GKE cluster name, at most 40 characters
    location: str  # a region (regional control plane) or a zone (zonal)
    region: str
    node_zones: tuple[str, ...]  # where the system pool's nodes may live
    release_channel: str
    min_master_version: str | None
    network: ExistingNetworkSpec | None  # None: its subnetwork is made
    pods_range: str  # name of the subnetwork's secondary range
    services_range: str  # as pods_range
    node_addresses: int  # taken of the subnet's primary range at full scale, one for each node
    pod_addresses: int  # taken of its pods' range at full scale, a block for each node
    control_plane: ControlPlaneSpec
    security: SecuritySpec
    keys: KeysPlan
    storage: StorageSpec
    monitoring: MonitoringSpec  # with its components, also where the user names none
    cost_allocation: bool
    node_service_account: str | None  # address of an account that exists already
    ray_operator: bool  # GKE's Ray add-on: KubeRay and the TPU webhook
    deletion_protection: bool
    resource_labels: dict[str, str]
    system_pool: NodePoolPlan | None  # None in an existing cluster, which has pools of its own
    maintenance: MaintenancePlan | None  # None: whenever GKE sees fit
    existing: ExistingClusterSpec | None  # None: the cluster is made
    auto_provisioning: AutoProvisioningPlan | None  # None: GKE makes no pools of its own
    subnet: SubnetPlan | None = None  # None in an existing cluster, and in an existing network
    service_account: ServiceAccountPlan | None = None  # made for the nodes; exactly without an existing account
    tpu_pools: tuple[NodePoolPlan, ...] = ()
    gpu_pools: tuple[NodePoolPlan, ...] = ()
    namespaces: tuple[str, ...] = ()  # those of no team
    compute_classes: tuple[ComputeClassPlan, ...] = ()
    queues: QueuesPlan | None = None  # None: no team has anything here
    global_access: bool = False  # the private endpoint answers other regions of the VPC, too
    manager: ManagerPlan | None = None  # MultiKueue: hands jobs on to other clusters
    worker: WorkerPlan | None = None  # MultiKueue: runs what a manager hands on
    addons: tuple[AddonPlan, ...] = ()  # what the platform installs itself, in that order

    @property
    def node_account(self) -> str:
        """Address of the nodes' account where it exists already; empty where it is made."""
        return self.node_service_account or ""

    def addon(self, key: str) -> AddonPlan | None:
        """The add-on called `key` in the user's file; None where the platform does not install it."""
        return next((addon for addon in self.addons if addon.key == key), None)

    @property
    def addon_names(self) -> tuple[str, ...]:
        """The add-ons and their releases, in the order of their installation."""
        return tuple(f"{addon.title} {addon.chart.version}" for addon in self.addons)

    @property
    def default_compute_class(self) -> bool:
        """Whether pods that ask for no compute class get the one called `default`."""
        return any(it.name == DEFAULT_CLASS for it in self.compute_classes)

    @property
    def class_words(self) -> tuple[str, ...]:
        """The compute classes, each with its ways to get nodes."""
        return tuple(f"{it.name} ({', then '.join(map(str, it.priorities))})" for it in self.compute_classes)

    @property
    def namespace_classes(self) -> dict[str, str]:
        """The compute class that pods of a namespace get unless they ask for another."""
        return {namespace: it.name for it in self.compute_classes for namespace in it.default_namespaces}

    @property
    def multi_networking(self) -> bool:
        """Whether a pool's hosts have more than one network interface."""
        return any(pool.extra_networks for pool in self.pools)

    @property
    def pools(self) -> tuple[NodePoolPlan, ...]:
        """Every pool that the user described: TPU pools, then GPU pools."""
        return self.tpu_pools + self.gpu_pools


@dataclass(frozen=True, slots=True)
class PlatformPlan:
    """Everything one stack creates, in one project."""

    name: str
    project: str
    network: NetworkPlan
    clusters: tuple[ClusterPlan, ...]
    observability: ObservabilityPlan

    @property
    def chips(self) -> int:
        """TPU chips at full scale, over all clusters."""
        return sum(
            pool.slice.machine.chips * pool.max_nodes
            for cluster in self.clusters
            for pool in cluster.tpu_pools
            if pool.slice is not None
        )

    @property
    def gpus(self) -> int:
        """GPUs at full scale, over all clusters."""
        return sum(
            pool.gpu.machine.gpus * pool.max_nodes * len(pool.zones)
            for cluster in self.clusters
            for pool in cluster.gpu_pools
            if pool.gpu is not None
        )
