"""What a program passes to `Platform`: the fields of `tpuplane.spec`, as TypedDicts.

Pulumi's component analyzer reads these to offer the component to other languages, and understands nothing richer.
Values are checked by the spec, which has the same fields, the same optional ones and the same descriptions (a test
compares the two). Everything here shapes the plan, so everything is a plain value, known before the engine starts.
"""

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

from tpuplane.gke.gpu_pool_args import GpuPoolArgs
from tpuplane.gke.pool_args import PoolArgs, ReservationArgs
from tpuplane.platform.addon_args import AddonsArgs
from tpuplane.platform.auto_provisioning_args import AutoProvisioningArgs
from tpuplane.platform.class_args import PlatformComputeClassArgs
from tpuplane.platform.observability_args import ObservabilityArgs
from tpuplane.platform.option_args import MonitoringArgs, SecurityArgs, StorageArgs
from tpuplane.platform.team_args import QueuesArgs, TeamArgs


class ExistingNetworkArgs(TypedDict):
    """A subnetwork that is there already, in the cluster's region; it is never changed or deleted. A change replaces
    the cluster. Its nodes need a way to image registries, which is not made either: Cloud NAT, say."""

    network: str
    """VPC: its name, or projects/HOST/global/networks/NAME in the host project of a shared VPC."""

    subnetwork: str
    """Subnetwork: its name, or projects/HOST/regions/REGION/subnetworks/NAME."""

    pods_range: NotRequired[str]
    """Name of the subnetwork's secondary range for pods. Default pods."""

    services_range: NotRequired[str]
    """Name of the subnetwork's secondary range for services. Default services."""


class ClusterNetworkArgs(TypedDict):
    """Address ranges of the cluster in the platform's VPC. The clusters of a platform must not overlap. A change of
    any of them replaces the subnetwork, and with it the cluster; only `nodes_cidr` can grow in place."""

    existing: NotRequired[ExistingNetworkArgs]
    """Use a subnetwork that somebody else made, instead of ranges of one that is made. How large its ranges are is not
    known here, so it is not checked. Default: a subnetwork of the platform's VPC is made."""

    nodes_cidr: NotRequired[str]
    """Primary range: one address for each node. Default 10.0.0.0/20 (4,092 nodes)."""

    pods_cidr: NotRequired[str]
    """Secondary range for pods: a block for each node, by its pods per node. Default 10.64.0.0/14."""

    services_cidr: NotRequired[str]
    """Secondary range for services, one address each; at least a /27. Default 10.32.0.0/20 (4,096 services)."""


class AuthorizedNetworkArgs(TypedDict):
    """Addresses that may reach the control plane."""

    cidr: str
    """IPv4 range. The whole internet (0.0.0.0/0) is refused."""

    name: str
    """What the range is, as the console shows it."""


class ControlPlaneArgs(TypedDict):
    """Who reaches the control plane. Default: only the VPC, through the private endpoint."""

    dns_endpoint: NotRequired[bool]
    """Let the control plane be reached by its DNS name too: from anywhere, guarded by IAM instead of by networks. The
    kubeconfig then uses it. Default false. Changed in place."""

    ip_endpoint: NotRequired[bool]
    """Let the control plane be reached by IP address. Default true; false leaves the DNS endpoint alone. Changed in
    place."""

    public_endpoint: NotRequired[bool]
    """Give the control plane a public address too; it then needs `authorizedNetworks`. Default false."""

    master_cidr: NotRequired[str]
    """A /28 for the control plane's private endpoint. Default: GKE uses the node subnetwork. A change replaces the
    cluster."""

    authorized_networks: NotRequired[Sequence[AuthorizedNetworkArgs]]
    """Ranges that may reach the control plane. Default: none beyond the VPC. Changed in place."""


class SystemPoolArgs(TypedDict):
    """The CPU pool that runs what is not TPU work: DNS, operators, queues."""

    machine_type: NotRequired[str]
    """Machine type without accelerators, a custom one too. Default: e2-standard-4, and n2-standard-4 where the region
    has no E2 (us-central2). A change rolls the nodes."""

    min_nodes: NotRequired[int]
    """Fewest nodes in each zone. Default 1. Changed in place."""

    max_nodes: NotRequired[int]
    """Most nodes in each zone. Default 3. Changed in place."""

    disk_type: NotRequired[str]
    """Boot disk type. Default: pd-balanced, and hyperdisk-balanced where the machine's family takes no other (N4, C4,
    C4A and later). A change rolls the nodes."""

    disk_size_gb: NotRequired[int]
    """Boot disk size in GB. Default 100. A change rolls the nodes."""


class MaintenanceWindowArgs(TypedDict):
    """The hours of a week in which GKE may upgrade the cluster and its nodes."""

    days: NotRequired[Sequence[str]]
    """Days on which the window opens, from MO to SU. Default: every day. Changed in place."""

    start: str
    """Time of day at which it opens, in UTC and in quotes: "02:00". Changed in place."""

    hours: NotRequired[int]
    """How long it stays open. GKE counts nothing below 4 hours. Default 4. Changed in place."""


class MaintenanceExclusionArgs(TypedDict):
    """A time in which GKE leaves versions alone, for a long run or a busy season."""

    start: str
    """From when: 2026-12-20, or 2026-12-20T08:00:00Z. Changed in place."""

    end: NotRequired[str]
    """Until when. Left out with `untilEndOfSupport`. Changed in place."""

    until_end_of_support: NotRequired[bool]
    """Until the cluster's minor version is no longer supported, instead of `end`. Default false. Changed in place."""

    scope: NotRequired[str]
    """What is held back: NO_UPGRADES, NO_MINOR_UPGRADES or NO_MINOR_OR_NODE_UPGRADES. Default
    NO_MINOR_OR_NODE_UPGRADES: the control plane gets patches, the nodes of a slice stay. Changed in place."""


class MaintenanceArgs(TypedDict):
    """When GKE may maintain the cluster."""

    window: MaintenanceWindowArgs
    """The hours in which GKE may."""

    exclusions: NotRequired[Mapping[str, MaintenanceExclusionArgs]]
    """Times in which GKE may not, by name; 20 at most. Changed in place."""


class PlatformExistingClusterArgs(TypedDict):
    """A cluster that is there already, in the platform's project and at the cluster's `location`. Pools and objects are
    added to it; it is never created, changed or deleted."""

    name: str
    """Name of the cluster in Google Cloud. A change replaces everything that was added."""

    dns_endpoint: NotRequired[bool]
    """Reach its control plane by the DNS endpoint instead of the IP address. Default false. Changed in place."""


class ClusterSettings(TypedDict):
    """How a GKE cluster is made: where it is, who reaches it, when it changes."""

    location: str
    """A region, such as us-central1 (its control plane survives the loss of a zone), or a zone. A change replaces
    the cluster."""

    release_channel: NotRequired[str]
    """How early GKE versions arrive. Default REGULAR. UNSPECIFIED (no channel) is for projects that still have it:
    GKE refuses it to new ones. Changed in place."""

    version: NotRequired[str]
    """Lowest version of the control plane, such as "1.34" (in quotes). Default: what the channel offers. Changed in
    place."""

    control_plane: NotRequired[ControlPlaneArgs]
    """Who reaches the control plane."""

    system_pool: NotRequired[SystemPoolArgs]
    """The CPU pool."""

    addons: NotRequired[AddonsArgs]
    """Operators: Kueue, JobSet, KubeRay. Default: GKE's Ray add-on alone."""

    security: NotRequired[SecurityArgs]
    """How the cluster is guarded."""

    storage: NotRequired[StorageArgs]
    """Drivers for volumes."""

    monitoring: NotRequired[MonitoringArgs]
    """What is measured and logged."""

    cost_allocation: NotRequired[bool]
    """Break the cluster's cost down by namespace and label in the billing export. Default true. Changed in place."""

    maintenance: NotRequired[MaintenanceArgs]
    """When GKE may upgrade the cluster and its nodes. Default: whenever it sees fit. Changed in place."""

    auto_provisioning: NotRequired[AutoProvisioningArgs]
    """Node pools that GKE makes for pods that fit nowhere, within limits. Default: none. Changed in place."""

    deletion_protection: NotRequired[bool]
    """Refuse to delete the cluster until this is set to false. Default true. Changed in place."""

    labels: NotRequired[Mapping[str, str]]
    """Google Cloud labels, on top of the platform's. Changed in place."""


class PlatformClusterArgs(ClusterSettings):
    """One GKE cluster: where it is, who reaches it, and its pools of TPU slices and GPU nodes."""

    existing: NotRequired[PlatformExistingClusterArgs]
    """Add to a cluster that somebody else made, instead of making one. `releaseChannel`, `version` and
    `addons.ray.mode` then say what that cluster is; what would shape it is refused. Default: the cluster is made. A
    change between the two replaces everything in it."""

    node_service_account: NotRequired[str]
    """E-mail address of a service account that exists already, for the nodes to run as; it needs at least
    roles/container.defaultNodeServiceAccount, and roles/artifactregistry.reader to pull images. Default: one is made
    for the cluster, with these two roles. A change replaces the pools."""

    network: NotRequired[ClusterNetworkArgs]
    """Address ranges."""

    namespaces: NotRequired[Sequence[str]]
    """Kubernetes namespaces to create. Removing one deletes everything in it."""

    pools: NotRequired[Mapping[str, PoolArgs]]
    """Pools of TPU slices, by name. The name is part of the node pools' names: a new name is a new pool."""

    gpu_pools: NotRequired[Mapping[str, GpuPoolArgs]]
    """Pools of nodes with GPUs, by name: the node pool's own, which no other pool of the cluster has. A new name is a
    new pool."""


class QuotaArgs(TypedDict):
    """TPU chips of one generation, or GPUs of one model, that the project may use at a time in one region or
    zone."""

    on_demand: NotRequired[int]
    """Chips or GPUs of on-demand hosts. Default: not declared, not checked."""

    preemptible: NotRequired[int]
    """Chips or GPUs of spot and flex-start hosts: Google's preemptible quota. Default: not declared, not
    checked."""


class PlatformArgs(TypedDict):
    """A TPU platform: GKE clusters of one project on one network."""

    name: str
    """Name of the platform and its VPC, and the front of every cluster's name. A change replaces everything."""

    project: NotRequired[str]
    """Google Cloud project id. Default: the stack's `gcp:project`. A change replaces everything."""

    labels: NotRequired[Mapping[str, str]]
    """Google Cloud labels of everything that can carry them. Changed in place."""

    clusters: Mapping[str, PlatformClusterArgs]
    """GKE clusters, by name; GKE sees `<platform>-<name>`. A new name is a new cluster."""

    reservations: NotRequired[Mapping[str, ReservationArgs]]
    """Reservations that pools with capacity: reservation draw on, by the name that Compute Engine knows them by."""

    quotas: NotRequired[Mapping[str, Mapping[str, QuotaArgs]]]
    """TPU and GPU quota that Google has granted, by region or zone, then by generation or accelerator. The pools
    are held to it at full scale; what is not declared is not checked."""

    classes: NotRequired[Mapping[str, PlatformComputeClassArgs]]
    """Compute classes, by name: which nodes pods get, in order of preference. The class called `default` is for every
    pod of a cluster that asks for none. Default: none. A new name is a new class."""

    teams: NotRequired[Mapping[str, TeamArgs]]
    """Teams that share the clusters, by name: each gets a queue with its quota. Default: none, and no queue."""

    queues: NotRequired[QueuesArgs]
    """How the teams' work waits, is admitted and is preempted."""

    observability: NotRequired[ObservabilityArgs]
    """Dashboard, alerts and log metrics of the project. Default: none. Changed in place."""
