"""One GKE cluster in the description."""

from typing import Annotated, Literal

from pydantic import Field

from tpuplane.spec.addons.addons import AddonsSpec
from tpuplane.spec.cluster.maintenance import MaintenanceSpec
from tpuplane.spec.cluster.options import (
    AutoProvisioningSpec,
    CheckpointingSpec,
    MonitoringSpec,
    SecuritySpec,
    StorageSpec,
)
from tpuplane.spec.core import changes, fields
from tpuplane.spec.core.adopted import AdoptedClusterSpec, AdoptedNames, AdoptedSystemPoolSpec
from tpuplane.spec.core.changes import Change, InPlace, Namespaces, ReplacesCluster, ReplacesPools, RollsNodes, T
from tpuplane.spec.pools.gpu import GpuPoolSpec
from tpuplane.spec.pools.hosts import HostsSpec, NetworkName, SubnetworkName
from tpuplane.spec.pools.tpu import PoolSpec
from tpuplane.tpu import GkeVersion as Version
from tpuplane.tpu import catalogue

_Pools = Annotated[T, Change(new="creates", removed="deletes-nodes", judge="pool", named="pool", source="node_pool")]
_PROXIES = "A change deletes the proxy-only subnetwork, which Google rejects while a Gateway uses it."
MOST_NETWORKS = 100  # with access to the control plane
ReleaseChannel = Literal["RAPID", "REGULAR", "STABLE", "EXTENDED", "UNSPECIFIED"]


class ExistingNetworkSpec(fields.Spec):
    """An existing subnetwork in the cluster's region. tpuplane never changes or deletes it. The nodes need access to
    image registries, for example by Cloud NAT, which is not created."""

    network: NetworkName
    """VPC: its name, or projects/HOST/global/networks/NAME in the host project of a shared VPC."""

    subnetwork: SubnetworkName
    """Subnetwork: its name, or projects/HOST/regions/REGION/subnetworks/NAME."""

    pods_range: fields.ResourceName = "pods"
    """Name of the subnetwork's secondary range for pods. Default pods."""

    services_range: fields.ResourceName = "services"
    """Name of the subnetwork's secondary range for services. Default services."""


class ClusterNetworkSpec(fields.Spec):
    """Address ranges of the cluster in the platform's VPC. Ranges of different clusters must not overlap."""

    existing: ReplacesCluster[ExistingNetworkSpec | None] = None
    """Use an existing subnetwork. The size of its ranges is not checked. Default: create a subnetwork in the platform's
    VPC."""

    nodes_cidr: Annotated[fields.Cidr, Change(judge="larger_range", source="subnetwork")] = "10.0.0.0/20"
    """Primary range: one address for each node. Default 10.0.0.0/20 (4,092 nodes)."""

    pods_cidr: ReplacesCluster[fields.Cidr] = "10.64.0.0/14"
    """Secondary range for pods: internal addresses, because GKE's default SNAT is on in the clusters of a platform.
    Each node gets a block, whose size depends on its pods per node. Default 10.64.0.0/14."""

    services_cidr: ReplacesCluster[fields.Cidr] = "10.32.0.0/20"
    """Secondary range for Services: one address for each Service, at least a /27. Default 10.32.0.0/20 (4,096
    Services)."""

    proxies_cidr: Annotated[fields.Cidr | None, Change("deletes", _PROXIES, new="creates", source="proxies")] = None
    """Range of the proxy-only subnetwork of the cluster's region, for regional Gateways such as those of the Inference
    Gateway: at least a /26; Google recommends a /23. Set it in only one cluster of a region: all clusters of the
    region share the range. Default: none."""


class AuthorizedNetworkSpec(fields.Spec):
    """An address range with access to the control plane."""

    cidr: fields.AuthorizedCidr
    """IPv4 range. Public addresses require `publicEndpoint`. The whole internet (0.0.0.0/0, or several ranges
    together) is rejected."""

    name: Annotated[str, Field(min_length=1, max_length=63)] | None = None
    """Display name of the range in the console. Default: none."""


class ControlPlaneSpec(fields.Spec):
    """Access to the control plane. Default: from the VPC only, through the private endpoint."""

    dns_endpoint: InPlace[bool] = False
    """Also serve the control plane at a DNS name, which is reachable from everywhere and protected by IAM. The
    kubeconfig then uses this name. Default false."""

    ip_endpoint: InPlace[bool] = True
    """Serve the control plane at IP addresses. Default true; with false, only the DNS endpoint remains."""

    public_endpoint: InPlace[bool] = False
    """Also give the control plane a public IP address. Requires `authorizedNetworks`. Default false."""

    master_cidr: Annotated[fields.Cidr | None, Change(judge="control_plane_range", source="cluster")] = None
    """A /28 range of internal addresses for the private endpoint of the control plane. Default: GKE uses the node
    subnetwork."""

    authorized_networks: InPlace[Annotated[tuple[AuthorizedNetworkSpec, ...], Field(max_length=MOST_NETWORKS)]] = ()
    """Address ranges with access to the control plane, at most 100 (the limit of clusters with private nodes,
    https://cloud.google.com/kubernetes-engine/docs/how-to/authorized-networks). Default: only the VPC."""


class SystemPoolSpec(fields.Spec):
    """The CPU node pool for system workloads: DNS, operators, queues."""

    machine_type: Annotated[str | None, Change(judge="system_machine", source="rolling")] = None
    """Machine type without accelerators; custom machine types are supported. Default: e2-standard-4, or n2-standard-4
    in regions without E2 (us-central2)."""

    min_nodes: InPlace[Annotated[int, Field(ge=1)]] = 1
    """Minimum number of nodes in each zone. Default 1."""

    max_nodes: InPlace[Annotated[int, Field(ge=1, le=1000)]] = 3
    """Maximum number of nodes in each zone. Default 3."""

    disk_type: RollsNodes[str | None] = None
    """Boot disk type. Default: pd-balanced, or hyperdisk-balanced for machine families that support only Hyperdisk (N4,
    C4, C4A and later)."""

    disk_size_gb: RollsNodes[Annotated[int, Field(ge=10, le=65536)]] = 100
    """Boot disk size in GB. Default 100."""

    adopted: AdoptedNames[AdoptedSystemPoolSpec | None] = None
    """An existing node pool, which `tpuplane import` has adopted. Default: create one."""


class ExistingClusterSpec(fields.Spec):
    """An existing cluster in the platform's project and at the cluster's `location`. tpuplane adds pools and objects to
    it, and never creates, changes or deletes the cluster."""

    name: Annotated[
        fields.Name, Change("replaces-cluster", "A change replaces everything that tpuplane added.", source="cluster")
    ]
    """Name of the cluster in Google Cloud."""

    dns_endpoint: InPlace[bool] = False
    """Use the DNS endpoint of its control plane instead of the IP address. Default false."""


class ClusterPlaceSpec(fields.Spec):
    """Location and GKE version of a cluster. The rules for its pools and classes depend on them."""

    location: ReplacesCluster[str]
    """A zone, or a region such as us-central1, whose control plane survives the loss of a zone. Pools of a cluster in a
    zone can be in the other zones of its region too."""

    release_channel: Annotated[ReleaseChannel, Change(judge="channel", source="channels")] = "REGULAR"
    """GKE release channel. Default REGULAR. GKE rejects UNSPECIFIED (no channel) for new projects."""

    version: Annotated[fields.GkeVersion | None, Change(judge="version", source="upgrades")] = None
    """Minimum version of the control plane, such as "1.34". Write it in quotes, because YAML reads 1.30 as the number
    1.3. Default: the version of the release channel."""

    def is_older(self, needed: Version) -> bool:
        """Whether the cluster's version is below this one. Without a version, the release channel decides."""
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

    gateway_api: Annotated[
        Literal["CHANNEL_STANDARD", "CHANNEL_DISABLED"] | None,
        changes.kept_after_removal("The cluster keeps the former value; write CHANNEL_DISABLED to switch it off."),
    ] = None
    """Kubernetes Gateway API, which the Inference Gateway needs: GKE installs its kinds and serves Gateways. Default:
    that of GKE, which is off in Standard clusters."""

    slice_controller: Annotated[
        bool | None, changes.kept_after_removal("The cluster keeps the former value; write false to switch it off.")
    ] = None
    """GKE's slice controller, which makes slices of the cubes of tpu7x pools with acceleratorTopologyMode
    PROVISION_ONLY. It needs release channel RAPID. Delete all Slices before you switch it off. Default: that of GKE,
    which is off."""

    cost_allocation: InPlace[bool] = True
    """Divide the cluster's cost by namespace and label in the billing export. Default true."""

    maintenance: InPlace[MaintenanceSpec | None] = None
    """Times at which GKE may upgrade the cluster and its nodes. Default: any time."""

    auto_provisioning: Annotated[AutoProvisioningSpec | None, Change(judge="provisioning", source="cluster")] = None
    """Node auto-provisioning: GKE creates node pools for pods that fit on no existing node, within limits. Default:
    none."""

    deletion_protection: InPlace[bool] = True
    """Reject the deletion of the cluster with its node pools, and each deletion or replacement of an adopted node pool.
    Default true."""

    labels: InPlace[fields.Labels] = Field(default_factory=dict)
    """Google Cloud labels, in addition to the platform's."""


class ClusterSpec(ClusterSettingsSpec):
    """One GKE cluster: its settings, and its pools of TPU slices and GPU nodes."""

    existing: Annotated[
        ExistingClusterSpec | None,
        Change("replaces-cluster", "Adding or removing it replaces everything in the cluster.", source="cluster"),
    ] = None
    """Use an existing cluster. `releaseChannel`, `version` and `addons.ray.mode` then describe that cluster, and fields
    that would configure it are rejected. Default: create the cluster."""

    adopted: Annotated[AdoptedClusterSpec | None, Change(judge="cluster_name", source="adopted")] = None
    """An existing cluster that the stack manages, because `tpuplane import` has adopted it. Without
    `nodeServiceAccount`, its pools use the project's default account. Default: create the cluster."""

    node_service_account: ReplacesPools[fields.ServiceAccountEmail | None] = None
    """E-mail address of an existing service account for the nodes. It needs at least
    roles/container.defaultNodeServiceAccount, and roles/artifactregistry.reader to pull images. Default: create a
    service account with these two roles for the cluster."""

    network: ClusterNetworkSpec = ClusterNetworkSpec()
    """Address ranges."""

    namespaces: Namespaces[tuple[fields.Namespace, ...]] = ()
    """Kubernetes namespaces to create."""

    pools: _Pools[dict[fields.Name, PoolSpec]] = Field(default_factory=dict)
    """Pools of TPU slices, by name. Names of node pools begin with the pool's name."""

    gpu_pools: _Pools[dict[fields.Name, GpuPoolSpec]] = Field(default_factory=dict)
    """Pools of GPU nodes, by name, which is also the name of the node pool. It must be unique among the cluster's
    pools."""

    multi_tier_checkpointing: Annotated[
        CheckpointingSpec | None,
        Change(
            new="creates",
            removed="deletes-work",
            source="checkpointing",
            says={"removed": "Removing it deletes the RAM disks with their checkpoints. The add-on stays on."},
        ),
    ] = None
    """Checkpoints of slices in RAM disks of their hosts, with backups in a bucket: the add-on, and its object for each
    pool. Needs `storage.gcsFuse` and JobSet. Default: none."""

    @property
    def is_offered(self) -> bool:
        """Whether GKE offers the version. An existing cluster has one."""
        exists = self.existing is not None or self.adopted is not None
        return exists or not self.is_older(Version.minimum(catalogue().oldest_version))

    def gke_name(self, platform: str, key: str) -> str:
        """Name of the cluster in Google Cloud."""
        known = self.existing or self.adopted
        return (known.name if known else None) or f"{platform}-{key}"

    @property
    def collects_queues(self) -> bool:
        """Whether Cloud Monitoring gets Kueue's metrics."""
        return self.addons.monitoring is not None and self.addons.kueue is not None

    @property
    def all_pools(self) -> dict[tuple[str, str], HostsSpec]:
        """TPU pools, then GPU pools, by their paths in the cluster: ("pools", "trainer")."""
        tpu = {("pools", name): pool for name, pool in self.pools.items()}
        return {**tpu, **{("gpuPools", name): pool for name, pool in self.gpu_pools.items()}}
