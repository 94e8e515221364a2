"""One GKE cluster, as the user writes it."""

from typing import Annotated, Literal

from pydantic import Field

from tpuplane.spec.addons.addons import AddonsSpec
from tpuplane.spec.cluster.auto_provisioning import AutoProvisioningSpec
from tpuplane.spec.cluster.maintenance import MaintenanceSpec
from tpuplane.spec.cluster.options import MonitoringSpec, SecuritySpec, StorageSpec
from tpuplane.spec.core.adopted import AdoptedClusterSpec, AdoptedPoolSpec
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
    """An existing subnetwork in the cluster's region. tpuplane never changes or deletes it. The nodes need access to
    image registries, for example by Cloud NAT, which is not created. A change replaces the cluster."""

    network: NetworkName
    """VPC: its name, or projects/HOST/global/networks/NAME in the host project of a shared VPC."""

    subnetwork: SubnetworkName
    """Subnetwork: its name, or projects/HOST/regions/REGION/subnetworks/NAME."""

    pods_range: ResourceName = "pods"
    """Name of the subnetwork's secondary range for pods. Default pods."""

    services_range: ResourceName = "services"
    """Name of the subnetwork's secondary range for services. Default services."""


class ClusterNetworkSpec(Spec):
    """Address ranges of the cluster in the platform's VPC. Ranges of different clusters must not overlap. A change
    replaces the subnetwork and the cluster. Only `nodes_cidr` can grow in place."""

    existing: ExistingNetworkSpec | None = None
    """Use an existing subnetwork. The size of its ranges is not checked. Default: create a subnetwork in the platform's
    VPC. A change replaces the cluster."""

    nodes_cidr: Cidr = "10.0.0.0/20"
    """Primary range: one address for each node. Default 10.0.0.0/20 (4,092 nodes). Changed in place to a larger range
    that contains the old one; any other change replaces the cluster."""

    pods_cidr: Cidr = "10.64.0.0/14"
    """Secondary range for pods. Each node gets a block, whose size depends on its pods per node. Default 10.64.0.0/14.
    A change replaces the cluster."""

    services_cidr: Cidr = "10.32.0.0/20"
    """Secondary range for Services: one address for each Service, at least a /27. Default 10.32.0.0/20 (4,096
    Services). A change replaces the cluster."""


class AuthorizedNetworkSpec(Spec):
    """An address range with access to the control plane."""

    cidr: AuthorizedCidr
    """IPv4 range. The whole internet (0.0.0.0/0) is rejected."""

    name: Annotated[str, Field(min_length=1, max_length=63)]
    """Display name of the range in the console."""


class ControlPlaneSpec(Spec):
    """Access to the control plane. Default: from the VPC only, through the private endpoint."""

    dns_endpoint: bool = False
    """Also serve the control plane at a DNS name, which is reachable from everywhere and protected by IAM. The
    kubeconfig then uses this name. Default false. Changed in place."""

    ip_endpoint: bool = True
    """Serve the control plane at IP addresses. Default true; with false, only the DNS endpoint remains. Changed in
    place."""

    public_endpoint: bool = False
    """Also give the control plane a public IP address. Requires `authorizedNetworks`. Default false. Changed in
    place."""

    master_cidr: Cidr | None = None
    """A /28 range for the private endpoint of the control plane. Default: GKE uses the node subnetwork. A change
    to another range replaces the cluster; without a value the former range remains."""

    authorized_networks: tuple[AuthorizedNetworkSpec, ...] = ()
    """Address ranges with access to the control plane. Default: only the VPC. Changed in place."""


class SystemPoolSpec(Spec):
    """The CPU node pool for system workloads: DNS, operators, queues."""

    machine_type: str | None = None
    """Machine type without accelerators; custom machine types are supported. Default: e2-standard-4, or n2-standard-4
    in regions without E2 (us-central2). A change rolls the nodes."""

    min_nodes: Annotated[int, Field(ge=1)] = 1
    """Minimum number of nodes in each zone. Default 1. Changed in place."""

    max_nodes: Annotated[int, Field(ge=1, le=1000)] = 3
    """Maximum number of nodes in each zone. Default 3. Changed in place."""

    disk_type: str | None = None
    """Boot disk type. Default: pd-balanced, or hyperdisk-balanced for machine families that support only Hyperdisk (N4,
    C4, C4A and later). A change rolls the nodes."""

    disk_size_gb: Annotated[int, Field(ge=10, le=65536)] = 100
    """Boot disk size in GB. Default 100. A change rolls the nodes."""

    adopted: AdoptedPoolSpec | None = None
    """An existing node pool, which `tpuplane import` has adopted. Default: create one. A change of a name replaces what
    has it."""


class ExistingClusterSpec(Spec):
    """An existing cluster in the platform's project and at the cluster's `location`. tpuplane adds pools and objects to
    it, and never creates, changes or deletes the cluster."""

    name: Name
    """Name of the cluster in Google Cloud. A change replaces everything that tpuplane added."""

    dns_endpoint: bool = False
    """Use the DNS endpoint of its control plane instead of the IP address. Default false. Changed in place."""


class ClusterPlaceSpec(Spec):
    """Location and GKE version of a cluster. The rules for its pools and classes depend on them."""

    location: str
    """A zone, or a region such as us-central1, whose control plane survives the loss of a zone. A change replaces the
    cluster."""

    release_channel: ReleaseChannel = "REGULAR"
    """GKE release channel. Default REGULAR. GKE rejects UNSPECIFIED (no channel) for new projects. A change to a
    fresher channel upgrades the cluster and recreates its nodes within the maintenance windows; with another channel,
    the version stays until the channel has a newer one."""

    version: GkeVersion | None = None
    """Minimum version of the control plane, such as "1.34". Write it in quotes, because YAML reads 1.30 as the number
    1.3. Default: the version of the release channel. A change to a higher version upgrades the control plane at once,
    and GKE recreates the nodes within the maintenance windows; a lower version changes nothing in GKE."""

    def is_older(self, needed: Version) -> bool:
        """Whether the cluster asks for a version below this one; without a version the channel decides."""
        return self.version is not None and Version.parse(self.version) < needed


class ClusterSettingsSpec(ClusterPlaceSpec):
    """Settings of a GKE cluster: location, access, upgrades."""

    control_plane: ControlPlaneSpec = ControlPlaneSpec()
    """Access to the control plane."""

    system_pool: SystemPoolSpec = SystemPoolSpec()
    """The CPU node pool."""

    addons: AddonsSpec = AddonsSpec()
    """Operators: Kueue, JobSet, KubeRay. Default: only GKE's Ray add-on."""

    security: SecuritySpec = SecuritySpec()
    """Encryption, admission and other security settings."""

    storage: StorageSpec = StorageSpec()
    """Storage drivers."""

    monitoring: MonitoringSpec = MonitoringSpec()
    """Metrics and logs that Google Cloud collects."""

    cost_allocation: bool = True
    """Divide the cluster's cost by namespace and label in the billing export. Default true. Changed in place."""

    maintenance: MaintenanceSpec | None = None
    """Times at which GKE may upgrade the cluster and its nodes. Default: any time. Changed in place."""

    auto_provisioning: AutoProvisioningSpec | None = None
    """Node auto-provisioning: GKE creates node pools for pods that fit on no existing node, within limits. Default:
    none. Changed in place; with `bootDiskEncryption`, adding or removing it replaces the cluster."""

    deletion_protection: bool = True
    """Reject the deletion of the cluster with its node pools, and each deletion or replacement of an adopted node pool.
    Default true. Changed in place."""

    labels: Labels = Field(default_factory=dict)
    """Google Cloud labels, in addition to the platform's. Changed in place."""


class ClusterSpec(ClusterSettingsSpec):
    """One GKE cluster: its settings, and its pools of TPU slices and GPU nodes."""

    existing: ExistingClusterSpec | None = None
    """Use an existing cluster. `releaseChannel`, `version` and `addons.ray.mode` then describe that cluster, and fields
    that would configure it are rejected. Default: create the cluster. A change between an existing and a created
    cluster replaces everything in it."""

    adopted: AdoptedClusterSpec | None = None
    """An existing cluster that the stack manages, because `tpuplane import` has adopted it. Without
    `nodeServiceAccount`, its pools use the project's default account. Default: create the cluster. A change of a name
    replaces what has it."""

    node_service_account: ServiceAccountEmail | None = None
    """E-mail address of an existing service account for the nodes. It needs at least
    roles/container.defaultNodeServiceAccount, and roles/artifactregistry.reader to pull images. Default: create a
    service account with these two roles for the cluster. A change replaces the pools."""

    network: ClusterNetworkSpec = ClusterNetworkSpec()
    """Address ranges."""

    namespaces: tuple[Namespace, ...] = ()
    """Kubernetes namespaces to create. Removing one deletes everything in it."""

    pools: dict[Name, PoolSpec] = Field(default_factory=dict)
    """Pools of TPU slices, by name. Names of node pools begin with the pool's name. A new name creates a new pool; a
    removed name deletes the pool. Changed in place if an adopted pool gets another name."""

    gpu_pools: dict[Name, GpuPoolSpec] = Field(default_factory=dict)
    """Pools of GPU nodes, by name, which is also the name of the node pool. It must be unique among the cluster's
    pools. A new name creates a new pool; a removed name deletes the pool. Changed in place if an adopted pool gets
    another name."""

    def gke_name(self, platform: str, key: str) -> str:
        """Name of the cluster in Google Cloud."""
        known = self.existing or self.adopted
        return (known.name if known else None) or f"{platform}-{key}"

    @property
    def all_pools(self) -> dict[tuple[str, str], HostsSpec]:
        """TPU pools, then GPU pools, by their paths in the cluster: ("pools", "trainer")."""
        tpu = {("pools", name): pool for name, pool in self.pools.items()}
        return {**tpu, **{("gpuPools", name): pool for name, pool in self.gpu_pools.items()}}
