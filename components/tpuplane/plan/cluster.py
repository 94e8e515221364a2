"""A cluster and its network as plain frozen values, planned without pools, queues and add-ons.

The names are final, as in Google's API. Resources only copy them.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from tpuplane.plan import cluster_options as options
from tpuplane.plan.addons import AddonPlan
from tpuplane.plan.classes import ComputeClassPlan
from tpuplane.plan.observability import FrontendPlan, ScrapePlan
from tpuplane.plan.pools import Context, NodePoolPlan, system_pool
from tpuplane.plan.queue_model import ManagerPlan, QueuesPlan, WorkerPlan
from tpuplane.plan.storage import CheckpointingPlan, DiskPlan
from tpuplane.spec import ClusterSpec, ControlPlaneSpec
from tpuplane.spec.cluster.cluster import ClusterNetworkSpec, ExistingClusterSpec, ExistingNetworkSpec
from tpuplane.spec.cluster.network_checks import address_needs
from tpuplane.spec.cluster.options import HardeningSpec, MonitoringSpec, StorageSpec
from tpuplane.spec.core.adopted import kept
from tpuplane.spec.core.fields import narrowed
from tpuplane.spec.core.locations import region_of, system_zones
from tpuplane.spec.core.names import proxies_name

DEFAULT_CLASS_LABEL = "cloud.google.com/default-compute-class"  # of a namespace
DEFAULT_CLASS = "default"  # the name that GKE gives the compute class of a whole cluster


@dataclass(frozen=True, slots=True)
class SubnetPlan:
    """One subnetwork of the platform's VPC: the primary range for nodes, the secondary ranges for pods and services."""

    name: str
    region: str
    nodes_cidr: str
    pods_cidr: str
    services_cidr: str
    pods_range: str = "pods"  # name of the secondary range
    services_range: str = "services"
    proxies_cidr: str | None = None  # the range of another subnetwork of the region, for proxies

    @property
    def proxies_name(self) -> str:
        """The name of the subnetwork for proxies."""
        return proxies_name(self.name)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of both subnetworks, or of the only one."""
        return (self.name,) if self.proxies_cidr is None else (self.name, self.proxies_name)


@dataclass(frozen=True, slots=True)
class NetworkPlan:
    """The platform's VPC: one subnetwork per cluster, one NAT per region."""

    name: str
    subnets: tuple[SubnetPlan, ...]
    nats: dict[str, str]  # by region, the name of its Cloud Router and Cloud NAT, for private nodes


@dataclass(frozen=True, slots=True)
class ServiceAccountPlan:
    """The new service account of a cluster's nodes, and all of its roles."""

    account_id: str
    display_name: str
    roles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClusterPlan:
    """One GKE cluster with its pools and the objects created inside it."""

    key: str  # key in the user's file ("us-central1")
    name: str  # GKE cluster name, at most 40 characters
    location: str  # a region (regional control plane) or a zone (zonal)
    region: str
    node_zones: tuple[str, ...]  # zones of the system pool
    release_channel: str
    version: str | None  # None: the version of the release channel
    network: ExistingNetworkSpec | None  # None: it gets a new subnetwork
    pods_range: str  # name of the subnetwork's secondary range
    services_range: str  # as pods_range
    node_addresses: int = field(compare=False)  # in use at full scale: one for each node; no resource has it
    pod_addresses: int = field(compare=False)  # as node_addresses: a block for each node
    control_plane: ControlPlaneSpec
    hardening: HardeningSpec
    storage: StorageSpec
    keys: dict[str, str | None]  # Cloud KMS keys by their use; None: a new key
    monitoring: MonitoringSpec  # with its components, also if the user names none
    gateway_api: str | None
    slice_controller: bool | None
    cost_allocation: bool
    deletion_protection: bool
    ray_operator: bool  # GKE's Ray add-on: KubeRay and the TPU webhook
    resource_labels: dict[str, str]
    system_pool: NodePoolPlan | None  # None in an existing cluster, which has its own pools
    maintenance: options.MaintenancePlan | None  # None: GKE chooses the time
    existing: ExistingClusterSpec | None  # None: a new cluster
    auto_provisioning: options.AutoProvisioningPlan | None  # None: no node auto-provisioning
    imported: bool  # `tpuplane import` has adopted the cluster
    kept: tuple[str, ...]  # properties of an adopted cluster that stay as they are
    existing_account: str | None  # of the nodes; None: a new account or, for the component Cluster, an argument
    subnet: SubnetPlan | None = None  # None in an existing cluster, and in an existing network
    service_account: ServiceAccountPlan | None = None  # a new account for the nodes; None: an existing account
    pools: tuple[NodePoolPlan, ...] = ()  # of the description: with TPUs, then with GPUs
    namespaces: tuple[str, ...] = ()  # without a team
    multi_networking: bool = False  # hosts of pools can have more than one network interface
    compute_classes: tuple[ComputeClassPlan, ...] = ()
    default_compute_class: bool = False  # pods that request no class get the class `default`
    queues: QueuesPlan | None = None  # None: no team uses the cluster
    global_access: bool = False  # other regions of the VPC can reach the private endpoint
    manager: ManagerPlan | None = None  # MultiKueue: dispatches jobs to other clusters
    worker: WorkerPlan | None = None  # MultiKueue: runs the jobs of a manager
    addons: tuple[AddonPlan, ...] = ()  # in the order of their installation
    scrapes: tuple[ScrapePlan, ...] = ()  # collected metrics
    frontend: FrontendPlan | None = None  # for queries of the project's metrics
    checkpointing: tuple[CheckpointingPlan, ...] = ()  # multi-tier checkpointing; empty: its add-on is not sent
    disks: tuple[DiskPlan, ...] = ()  # storage classes for the disks of pods

    @property
    def addon_names(self) -> tuple[str, ...]:
        """The add-ons and their releases, in the order of their installation. The data of `explain` refers to it."""
        return tuple(f"{addon.title} {addon.chart.version}" for addon in self.addons)

    @property
    def class_summaries(self) -> tuple[str, ...]:
        """The compute classes with their priorities. The data of `explain` refers to it."""
        return tuple(f"{own.name} ({', then '.join(map(str, own.priorities))})" for own in self.compute_classes)

    @property
    def namespace_classes(self) -> dict[str, str]:
        """The compute class of pods in a namespace that request no other class."""
        classes = self.compute_classes
        return {namespace: own_class.name for own_class in classes for namespace in own_class.default_namespaces}

    @property
    def own_keys(self) -> tuple[str, ...]:
        """The uses of the new keys."""
        return tuple(use for use, existing in self.keys.items() if existing is None)

    @property
    def workload_policies(self) -> frozenset[str]:
        """The policies that place the hosts of slices."""
        return frozenset(pool.workload_policy for pool in self.pools if pool.workload_policy)

    @property
    def node_pools(self) -> tuple[NodePoolPlan, ...]:
        """All node pools, among them the one for CPU work."""
        return self.pools if self.system_pool is None else (self.system_pool, *self.pools)

    @property
    def tpu_pools(self) -> tuple[NodePoolPlan, ...]:
        """The pools with TPUs."""
        return tuple(pool for pool in self.pools if pool.gpu is None)

    @property
    def gpu_pools(self) -> tuple[NodePoolPlan, ...]:
        """The pools with GPUs."""
        return tuple(pool for pool in self.pools if pool.gpu is not None)

    @property
    def chips(self) -> int:
        """TPU chips at full scale."""
        return sum(pool.accelerators for pool in self.tpu_pools)

    @property
    def gpus(self) -> int:
        """GPUs at full scale."""
        return sum(pool.accelerators for pool in self.gpu_pools)


PROJECT_ACCOUNT = "default"  # GKE's name for the project's default account, which an adopted cluster can have

# The least roles of a GKE node (logs, metrics), and the role to pull images
# (https://cloud.google.com/kubernetes-engine/docs/how-to/hardening-your-cluster).
_NODE_ROLES = ("roles/container.defaultNodeServiceAccount", "roles/artifactregistry.reader")


def cluster_plan(key: str, name: str, cluster: ClusterSpec, context: Context) -> ClusterPlan:
    """The cluster `name` in Google Cloud, with only its system pool."""
    needs, found = address_needs(cluster), cluster.network.existing
    return ClusterPlan(
        key=key,
        name=name,
        location=cluster.location,
        region=region_of(cluster.location),
        node_zones=system_zones(cluster.location),
        release_channel=cluster.release_channel,
        version=cluster.version,
        network=None if cluster.existing else found,
        pods_range=found.pods_range if found else "pods",
        services_range=found.services_range if found else "services",
        node_addresses=needs.nodes,
        pod_addresses=needs.pods,
        control_plane=cluster.control_plane,
        hardening=narrowed(cluster.security, HardeningSpec),
        storage=cluster.storage,
        keys=options.keys_plan(cluster),
        monitoring=options.monitoring(cluster),
        gateway_api=cluster.gateway_api,
        slice_controller=cluster.slice_controller,
        cost_allocation=cluster.cost_allocation,
        deletion_protection=cluster.deletion_protection,
        ray_operator=cluster.addons.ray.mode == "gke-addon",
        resource_labels=dict(context.labels),
        system_pool=None if cluster.existing else system_pool(cluster.system_pool, context),
        maintenance=options.maintenance_plan(cluster.maintenance),
        existing=cluster.existing,
        auto_provisioning=options.auto_provisioning_plan(cluster),
        imported=cluster.adopted is not None,
        kept=kept(cluster.adopted),
        existing_account=cluster.node_service_account or (PROJECT_ACCOUNT if cluster.adopted else None),
    )


def node_account(account_id: str, cluster: str) -> ServiceAccountPlan:
    """The new service account of the nodes of a cluster."""
    return ServiceAccountPlan(account_id, f"Nodes of GKE cluster {cluster}", _NODE_ROLES)


def network_plan(name: str, subnets: Iterable[SubnetPlan]) -> NetworkPlan:
    """The VPC `name` with these subnetworks, and a NAT for each of their regions."""
    found = tuple(subnets)
    return NetworkPlan(name, found, {subnet.region: f"{name}-{subnet.region}" for subnet in found})


def subnet_plan(name: str, region: str, network: ClusterNetworkSpec) -> SubnetPlan | None:
    """The subnetwork of one cluster; None if it uses an existing one."""
    if network.existing is not None:
        return None
    return SubnetPlan(
        name, region, network.nodes_cidr, network.pods_cidr, network.services_cidr, proxies_cidr=network.proxies_cidr
    )
