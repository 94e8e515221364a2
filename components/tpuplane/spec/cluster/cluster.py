"""One GKE cluster, as the user writes it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tpuplane.spec.addons.addons import AddonsSpec
from tpuplane.spec.cluster.auto_provisioning import AutoProvisioningSpec
from tpuplane.spec.cluster.maintenance import MaintenanceSpec
from tpuplane.spec.cluster.options import MonitoringSpec, SecuritySpec, StorageSpec
from tpuplane.spec.core.fields import (
    AuthorizedCidr,
    Cidr,
    GkeVersion,
    Labels,
    Name,
    Namespace,
    ResourceName,
    ServiceAccountEmail,
    Spec,
)
from tpuplane.spec.pools.gpu import GpuPoolSpec
from tpuplane.spec.pools.hosts import HostsSpec, NetworkName, SubnetworkName
from tpuplane.spec.pools.tpu import PoolSpec
from tpuplane.tpu import GkeVersion as Version

ReleaseChannel = Literal["RAPID", "REGULAR", "STABLE", "EXTENDED", "UNSPECIFIED"]


class ExistingNetworkSpec(Spec):
    """An existing subnetwork, in the cluster's region; it is never changed or deleted. A change replaces
    the cluster. Its nodes need a way to image registries, which is not made either: Cloud NAT, say."""

    network: NetworkName
    """VPC: its name, or projects/HOST/global/networks/NAME in the host project of a shared VPC."""

    subnetwork: SubnetworkName
    """Subnetwork: its name, or projects/HOST/regions/REGION/subnetworks/NAME."""

    pods_range: ResourceName = "pods"
    """Name of the subnetwork's secondary range for pods. Default pods."""

    services_range: ResourceName = "services"
    """Name of the subnetwork's secondary range for services. Default services."""


class ClusterNetworkSpec(Spec):
    """Address ranges of the cluster in the platform's VPC. The clusters of a platform must not overlap. A change
    of any of them replaces the subnetwork, and with it the cluster; only `nodes_cidr` can grow in place."""

    existing: ExistingNetworkSpec | None = None
    """Use an existing subnetwork, instead of a new one. The size of its ranges is not
    known here, so it is not checked. Default: a subnetwork of the platform's VPC is made."""

    nodes_cidr: Cidr = "10.0.0.0/20"
    """Primary range: one address for each node. Default 10.0.0.0/20 (4,092 nodes). Changed in place to a larger range
    around the old one; any other change replaces the cluster."""

    pods_cidr: Cidr = "10.64.0.0/14"
    """Secondary range for pods: a block for each node, by its pods per node. Default 10.64.0.0/14. A change
    replaces the cluster."""

    services_cidr: Cidr = "10.32.0.0/20"
    """Secondary range for services, one address each; at least a /27. Default 10.32.0.0/20 (4,096 services). A
    change replaces the cluster."""


class AuthorizedNetworkSpec(Spec):
    """Addresses that may reach the control plane."""

    cidr: AuthorizedCidr
    """IPv4 range. The whole internet (0.0.0.0/0) is rejected."""

    name: Annotated[str, Field(min_length=1, max_length=63)]
    """Name that the console shows for the range."""


class ControlPlaneSpec(Spec):
    """Who reaches the control plane. Default: only the VPC, through the private endpoint."""

    dns_endpoint: bool = False
    """Let the control plane be reached by its DNS name too: from anywhere, guarded by IAM instead of by networks. The
    kubeconfig then uses it. Default false. Changed in place."""

    ip_endpoint: bool = True
    """Let the control plane be reached by IP address. Default true; false leaves the DNS endpoint alone. Changed in
    place."""

    public_endpoint: bool = False
    """Give the control plane a public address too; it then needs `authorizedNetworks`. Default false."""

    master_cidr: Cidr | None = None
    """A /28 for the control plane's private endpoint. Default: GKE uses the node subnetwork. A change replaces
    the cluster."""

    authorized_networks: tuple[AuthorizedNetworkSpec, ...] = ()
    """Ranges that may reach the control plane. Default: none beyond the VPC. Changed in place."""


class SystemPoolSpec(Spec):
    """The CPU pool that runs what is not TPU work: DNS, operators, queues."""

    machine_type: str | None = None
    """Machine type without accelerators, a custom one too. Default: e2-standard-4, and n2-standard-4 where the region
    has no E2 (us-central2). A change rolls the nodes."""

    min_nodes: Annotated[int, Field(ge=1)] = 1
    """Fewest nodes in each zone. Default 1. Changed in place."""

    max_nodes: Annotated[int, Field(ge=1, le=1000)] = 3
    """Most nodes in each zone. Default 3. Changed in place."""

    disk_type: str | None = None
    """Boot disk type. Default: pd-balanced, and hyperdisk-balanced where the machine's family takes no other (N4, C4,
    C4A and later). A change rolls the nodes."""

    disk_size_gb: Annotated[int, Field(ge=10, le=65536)] = 100
    """Boot disk size in GB. Default 100. A change rolls the nodes."""


class ExistingClusterSpec(Spec):
    """An existing cluster, in the platform's project and at the cluster's `location`. Pools and objects are
    added to it; it is never created, changed or deleted."""

    name: Name
    """Name of the cluster in Google Cloud. A change replaces everything that was added."""

    dns_endpoint: bool = False
    """Reach its control plane by the DNS endpoint instead of the IP address. Default false. Changed in place."""


class ClusterPlaceSpec(Spec):
    """Where a GKE cluster is, and which GKE runs there: what the rules for its pools and classes ask."""

    location: str
    """A region, such as us-central1 (its control plane survives the loss of a zone), or a zone. A change replaces the
    cluster."""

    release_channel: ReleaseChannel = "REGULAR"
    """How early GKE versions arrive. Default REGULAR. UNSPECIFIED (no channel) is for projects that still have it:
    GKE rejects it for new ones. Changed in place."""

    version: GkeVersion | None = None
    """Lowest version of the control plane, such as "1.34", in quotes: unquoted, 1.30 is the number 1.3. Default: what
    the channel offers. Changed in place."""

    def is_older(self, needed: Version) -> bool:
        """Whether the cluster asks for a version below this one; without a version the channel decides."""
        return self.version is not None and Version.parse(self.version) < needed


class ClusterSettingsSpec(ClusterPlaceSpec):
    """How a GKE cluster is made: where it is, who reaches it, when it changes."""

    control_plane: ControlPlaneSpec = ControlPlaneSpec()
    """Who reaches the control plane."""

    system_pool: SystemPoolSpec = SystemPoolSpec()
    """The CPU pool."""

    addons: AddonsSpec = AddonsSpec()
    """Operators: Kueue, JobSet, KubeRay. Default: GKE's Ray add-on alone."""

    security: SecuritySpec = SecuritySpec()
    """How the cluster is guarded."""

    storage: StorageSpec = StorageSpec()
    """Drivers for volumes."""

    monitoring: MonitoringSpec = MonitoringSpec()
    """What is measured and logged."""

    cost_allocation: bool = True
    """Break the cluster's cost down by namespace and label in the billing export. Default true. Changed in place."""

    maintenance: MaintenanceSpec | None = None
    """When GKE may upgrade the cluster and its nodes. Default: whenever it sees fit. Changed in place."""

    auto_provisioning: AutoProvisioningSpec | None = None
    """Node pools that GKE makes for pods that fit nowhere, within limits. Default: none. Changed in place."""

    deletion_protection: bool = True
    """Reject to delete the cluster until this is set to false. Default true. Changed in place."""

    labels: Labels = Field(default_factory=dict)
    """Google Cloud labels, on top of the platform's. Changed in place."""


class ClusterSpec(ClusterSettingsSpec):
    """One GKE cluster: where it is, who reaches it, and its pools of TPU slices and GPU nodes."""

    existing: ExistingClusterSpec | None = None
    """Add to an existing cluster, instead of making one. `releaseChannel`, `version` and
    `addons.ray.mode` then say what that cluster is; what would shape it is rejected. Default: the cluster is made. A
    change between the two replaces everything in it."""

    node_service_account: ServiceAccountEmail | None = None
    """E-mail address of a service account that exists already, for the nodes to run as; it needs at least
    roles/container.defaultNodeServiceAccount, and roles/artifactregistry.reader to pull images. Default: one is made
    for the cluster, with these two roles. A change replaces the pools."""

    network: ClusterNetworkSpec = ClusterNetworkSpec()
    """Address ranges."""

    namespaces: tuple[Namespace, ...] = ()
    """Kubernetes namespaces to create. Removing one deletes everything in it."""

    pools: dict[Name, PoolSpec] = Field(default_factory=dict)
    """Pools of TPU slices, by name. The name is part of the node pools' names: a new name is a new pool."""

    gpu_pools: dict[Name, GpuPoolSpec] = Field(default_factory=dict)
    """Pools of nodes with GPUs, by name: the node pool's own, which no other pool of the cluster has. A new name is a
    new pool."""

    @property
    def all_pools(self) -> dict[tuple[str, str], HostsSpec]:
        """TPU pools, then GPU pools, by their paths in the cluster: ("pools", "trainer")."""
        tpu = {("pools", name): pool for name, pool in self.pools.items()}
        return {**tpu, **{("gpuPools", name): pool for name, pool in self.gpu_pools.items()}}
