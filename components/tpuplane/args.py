# Generated from the spec by `make generate`; do not edit.
"""Arguments of components: the fields of `tpuplane.spec` and `tpuplane.workloads`, as TypedDicts.

They define a plan or a manifest, so all values are plain values that are known before the engine starts.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict


class AuthorizedNetworkArgs(TypedDict):
    """Addresses that may reach the control plane."""

    cidr: str
    """IPv4 range. The whole internet (0.0.0.0/0) is rejected."""

    name: str
    """Name that the console shows for the range."""


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


class ComputeArgs(TypedDict):
    """CPU and memory."""

    cpu: NotRequired[str]
    """CPUs, such as 500m or "2". Default: the add-on's own. Changed in place."""

    memory: NotRequired[str]
    """Memory, such as 512Mi. Default: the add-on's own. Changed in place."""


class OperatorResourcesArgs(TypedDict):
    """What one replica of an operator gets. What is left out is the add-on's default (docs/addons.md)."""

    requests: NotRequired[ComputeArgs]
    """What is set aside for it."""

    limits: NotRequired[ComputeArgs]
    """What it may use at most."""


class RequeuingArgs(TypedDict):
    """When a workload is tried again whose pods did not become ready."""

    backoff_limit_count: NotRequired[int]
    """How often it is tried again before it is deactivated. Default: without end. Changed in place."""

    backoff_base_seconds: NotRequired[int]
    """Seconds before the first new try; each further one waits twice as long. Default 60. Changed in place."""

    backoff_max_seconds: NotRequired[int]
    """Most seconds between two tries. Default 3600. Changed in place."""


class WaitForPodsReadyArgs(TypedDict):
    """All or nothing: an admitted workload whose pods do not all become ready in time gives its quota back."""

    timeout: NotRequired[str]
    """How long its pods may take to become ready, more than 0. Default 15m: a slice's nodes have to come first. Changed
    in place."""

    recovery_timeout: NotRequired[str]
    """How long a pod that was ready once may be missing. Default: as `timeout`. Changed in place."""

    block_admission: NotRequired[bool]
    """Admit nothing else meanwhile. Default false. Changed in place."""

    requeuing: NotRequired[RequeuingArgs]
    """When it is tried again."""


class KueueArgs(TypedDict):
    """Kueue: queues, quota and topology-aware admission of workloads."""

    replicas: NotRequired[int]
    """Replicas, of which one is the leader. From 2 on a disruption budget keeps one of them. Default 1. Changed in
    place."""

    resources: NotRequired[OperatorResourcesArgs]
    """CPU and memory of a replica."""

    feature_gates: NotRequired[Mapping[str, bool]]
    """Feature gates of the release, on or off. Default: the release's own. Changed in place."""

    integrations: NotRequired[Sequence[str]]
    """Kinds that Kueue manages. Default: Kubernetes' own (batch/job, pod, deployment, statefulset) and those of the
    cluster's add-ons. Changed in place."""

    manage_jobs_without_queue_name: NotRequired[bool]
    """Hold workloads that name no queue too, so that quota holds for all. Default false. Changed in place."""

    wait_for_pods_ready: NotRequired[WaitForPodsReadyArgs]
    """All-or-nothing start of a workload's pods. Default: off. Changed in place."""

    metrics: NotRequired[bool]
    """Metrics of quota and usage of each queue. Default true. Changed in place."""

    certificates: NotRequired[str]
    """Who makes the webhook's certificates: internal (Kueue itself) or cert-manager (which the cluster must have).
    Default internal. Changed in place."""


class JobSetArgs(TypedDict):
    """JobSet: groups of jobs, one for each slice, that start and restart together."""

    replicas: NotRequired[int]
    """Replicas, of which one is the leader. From 2 on a disruption budget keeps one of them. Default 1. Changed in
    place."""

    resources: NotRequired[OperatorResourcesArgs]
    """CPU and memory of a replica."""


class RayArgs(TypedDict):
    """KubeRay: RayCluster, RayJob and RayService."""

    mode: NotRequired[str]
    """Who runs it: gke-addon (Google, with the webhook that sets pods' place in a slice), operator (KubeRay's own
    chart) or none. Default gke-addon. A change keeps no RayCluster."""

    replicas: NotRequired[int]
    """Replicas of the operator, of which one is the leader. Only with mode: operator. Default 1. Changed in place."""

    resources: NotRequired[OperatorResourcesArgs]
    """CPU and memory of a replica. Only with mode: operator."""

    feature_gates: NotRequired[Mapping[str, bool]]
    """Feature gates of the release, on or off. Only with mode: operator. Default: the release's own. Changed in
    place."""

    batch_scheduler: NotRequired[str]
    """Scheduler that places Ray's pods as a gang: volcano, yunikorn, scheduler-plugins or kai-scheduler, which the
    cluster must have. Only with mode: operator. Default: Kubernetes' own. Changed in place."""

    watch_namespaces: NotRequired[Sequence[str]]
    """Namespaces whose Ray clusters it runs. Only with mode: operator. Default: all. Changed in place."""

    tpu_webhook: NotRequired[bool]
    """Install the webhook that sets the place of Ray's pods in a slice (worker id, host names, topology, what
    multislice needs) and keeps a slice on one node pool. It has its certificate from cert-manager. Only with mode:
    operator; Google's add-on has it. Default true. Changed in place."""


class CertManagerArgs(TypedDict):
    """cert-manager: certificates for webhooks, from issuers in the cluster."""

    replicas: NotRequired[int]
    """Replicas of its controller, its webhook and its injector. From 2 on a disruption budget keeps one of each.
    Default 1. Changed in place."""

    resources: NotRequired[OperatorResourcesArgs]
    """CPU and memory of a replica of its controller."""


class LaunchAgentArgs(TypedDict):
    """W&B's Launch agent: takes jobs from Launch queues of Weights & Biases and starts them in teams' namespaces. Its
    API key is a Secret that no program makes: `wandb-api-key-launch-agent` in `wandb`, under `password`."""

    queues: Sequence[str]
    """Launch queues that it takes jobs from. Changed in place."""

    teams: Sequence[str]
    """Teams in whose namespaces it may start jobs, and nowhere else. Changed in place."""

    entity: NotRequired[str]
    """W&B's team or user that the queues are of. Default: whose the API key is. Changed in place."""

    max_jobs: NotRequired[int]
    """Most jobs that it runs at a time. Default 10. Changed in place."""

    base_url: NotRequired[str]
    """W&B's API. Default https://api.wandb.ai. Changed in place."""

    resources: NotRequired[OperatorResourcesArgs]
    """CPU and memory of its only replica."""


class MetricsFrontendArgs(TypedDict):
    """Answers PromQL queries inside the cluster, for Grafana and Ray's dashboard: Google's frontend of Managed Service
    for Prometheus. It may read the project's metrics, and does not authenticate its readers."""

    replicas: NotRequired[int]
    """Replicas. From 2 on a disruption budget keeps one of them. Default 2. Changed in place."""

    image: NotRequired[str]
    """Its image, for a mirror or a digest. Default: Google's, by the tag of its release. Changed in place."""


class MonitoringAddonArgs(TypedDict):
    """Managed Service for Prometheus collects what TPU device plugins, KubeRay's own Ray clusters and Kueue measure."""

    interval_seconds: NotRequired[int]
    """Seconds between two collections. Default 30. Changed in place."""

    frontend: NotRequired[MetricsFrontendArgs]
    """Answers queries inside the cluster. Default: not installed."""


class AddonsArgs(TypedDict):
    """The operators of a cluster. Each is installed by its own release, in the order that they need."""

    kueue: NotRequired[KueueArgs]
    """Kueue, by its chart. Default: not installed. Removing it deletes the operator and keeps CRDs and objects."""

    jobset: NotRequired[JobSetArgs]
    """JobSet, by its chart. Default: not installed. Removing it deletes the operator and keeps CRDs and objects."""

    ray: NotRequired[RayArgs]
    """KubeRay. Default: GKE's Ray add-on."""

    cert_manager: NotRequired[CertManagerArgs]
    """cert-manager, by its chart. Default: not installed. Removing it deletes it and keeps CRDs and certificates."""

    launch_agent: NotRequired[LaunchAgentArgs]
    """W&B's Launch agent, by its chart. Default: not installed."""

    monitoring: NotRequired[MonitoringAddonArgs]
    """Prometheus metrics of TPUs, Ray and Kueue. Default: not collected. Changed in place."""


class EncryptionArgs(TypedDict):
    """A Cloud KMS key of your own, in the cluster's region."""

    key: NotRequired[str]
    """A key that exists already: projects/P/locations/REGION/keyRings/RING/cryptoKeys/KEY. GKE's service agent (for
    disks: Compute Engine's) must have roles/cloudkms.cryptoKeyEncrypterDecrypter on it. Default: a key is made for the
    cluster, rotated every 90 days, and the agent is given the role."""


class SecurityArgs(TypedDict):
    """How the cluster is guarded, beyond what is always so (private nodes, shielded nodes, Workload Identity)."""

    secrets_encryption: NotRequired[EncryptionArgs]
    """Encrypt Kubernetes Secrets in etcd with a key of your own; `{}` makes one. Default: Google's keys alone. Changed
    in place; the old key must exist until GKE has written everything again."""

    boot_disk_encryption: NotRequired[EncryptionArgs]
    """Encrypt the boot disks of every pool with a key of your own; `{}` makes one. Default: Google's keys alone. A
    change replaces the pools."""

    posture: NotRequired[str]
    """Security posture dashboard: checks of workloads' configuration. Default BASIC, which costs nothing. (Google has
    ended its vulnerability scanning, which is always off.) Changed in place."""

    binary_authorization: NotRequired[str]
    """Admit only images that the project's Binary Authorization policy allows. Default DISABLED. Changed in place."""

    anonymous_authentication: NotRequired[str]
    """Which endpoints of the API server answer without a credential: LIMITED, health checks alone. Default LIMITED.
    Changed in place."""

    security_group: NotRequired[str]
    """Google Group whose member groups may be named in RBAC: gke-security-groups@DOMAIN. Default: none. Changed in
    place, but GKE cannot remove it again."""

    secret_manager: NotRequired[bool]
    """Secret Manager add-on: mount secrets of Secret Manager as files. Default false. Changed in place."""

    clusterwide_network_policy: NotRequired[bool]
    """CiliumClusterwideNetworkPolicy: rules for the traffic of every namespace. Default false. Changed in place."""


class StorageArgs(TypedDict):
    """Drivers for volumes, installed and kept by GKE."""

    persistent_disk: NotRequired[bool]
    """Persistent Disk and Hyperdisk. Default true. Changed in place."""

    gcs_fuse: NotRequired[bool]
    """Cloud Storage FUSE: buckets as file systems, for data sets and checkpoints. Default false. Changed in place."""

    filestore: NotRequired[bool]
    """Filestore: NFS volumes. Default false. Changed in place."""

    lustre: NotRequired[bool]
    """Managed Lustre: a parallel file system (Google no longer supports the Parallelstore driver). Default false.
    Changed in place."""


class MonitoringArgs(TypedDict):
    """What Cloud Monitoring and Cloud Logging get of the cluster."""

    components: NotRequired[Sequence[str]]
    """Whose metrics are collected; SYSTEM_COMPONENTS must be among them. Default: everything about workloads and nodes
    that the cluster's version has. Changed in place."""

    managed_prometheus: NotRequired[bool]
    """Google Cloud Managed Service for Prometheus. Default true. Changed in place."""

    logs: NotRequired[Sequence[str]]
    """Whose logs are collected; SYSTEM_COMPONENTS must be among them. Default SYSTEM_COMPONENTS and WORKLOADS. Changed
    in place."""


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
    """Times in which GKE may not, by name; 20 at most, 3 of them with scope NO_UPGRADES. Changed in place."""


class AutoProvisioningLimitsArgs(TypedDict):
    """How large the whole cluster may grow. GKE counts every node of the cluster, those of declared pools too."""

    cpu: int
    """Most vCPUs of the cluster. GKE wants it, and `memoryGb`. Changed in place."""

    memory_gb: int
    """Most memory of the cluster's nodes in GB. Changed in place."""

    tpu: Mapping[str, int]
    """Most TPU chips of the cluster, by generation. Pods that ask for another generation get no node. Changed in
    place."""


class AutoProvisioningArgs(TypedDict):
    """Node pools that GKE makes for pods that fit nowhere, and deletes when they are empty. Each multi-host slice is a
    pool of its own."""

    limits: AutoProvisioningLimitsArgs
    """How large the cluster may grow."""

    zones: NotRequired[Sequence[str]]
    """Zones in which pools may be made. Default: those of the cluster's region that offer one of the generations.
    Changed in place."""

    autoscaling_profile: NotRequired[str]
    """How soon idle nodes of all pools are removed: BALANCED, or OPTIMIZE_UTILIZATION (sooner). Default BALANCED.
    Changed in place."""

    disk_type: NotRequired[str]
    """Boot disk type of the pools that are made; GKE takes hyperdisk-balanced where a machine has no other. Default
    pd-balanced. Changed in place, for new pools."""

    disk_size_gb: NotRequired[int]
    """Boot disk size of the pools that are made, in GB. Default 100. Changed in place, for new pools."""

    auto_repair: NotRequired[bool]
    """Let GKE repair the hosts of the pools that are made. Default true. Changed in place, for new pools."""

    auto_upgrade: NotRequired[bool]
    """Let GKE upgrade the hosts of the pools that are made. Default true; a cluster in a release channel allows nothing
    else. Changed in place, for new pools."""


class PlatformExistingClusterArgs(TypedDict):
    """An existing cluster, in the platform's project and at the cluster's `location`. Pools and objects are added to
    it; it is never created, changed or deleted."""

    name: str
    """Name of the cluster in Google Cloud. A change replaces everything that was added."""

    dns_endpoint: NotRequired[bool]
    """Reach its control plane by the DNS endpoint instead of the IP address. Default false. Changed in place."""


class ExistingNetworkArgs(TypedDict):
    """An existing subnetwork, in the cluster's region; it is never changed or deleted. A change replaces the cluster.
    Its nodes need a way to image registries, which is not made either: Cloud NAT, say."""

    network: str
    """VPC: its name, or projects/HOST/global/networks/NAME in the host project of a shared VPC."""

    subnetwork: str
    """Subnetwork: its name, or projects/HOST/regions/REGION/subnetworks/NAME."""

    pods_range: NotRequired[str]
    """Name of the subnetwork's secondary range for pods. Default pods."""

    services_range: NotRequired[str]
    """Name of the subnetwork's secondary range for services. Default services."""


class ClusterNetworkArgs(TypedDict):
    """Address ranges of the cluster in the platform's VPC. The clusters of a platform must not overlap. A change of any
    of them replaces the subnetwork, and with it the cluster; only `nodes_cidr` can grow in place."""

    existing: NotRequired[ExistingNetworkArgs]
    """Use an existing subnetwork, instead of a new one. The size of its ranges is not known here, so it is not checked.
    Default: a subnetwork of the platform's VPC is made."""

    nodes_cidr: NotRequired[str]
    """Primary range: one address for each node. Default 10.0.0.0/20 (4,092 nodes). Changed in place to a larger range
    around the old one; any other change replaces the cluster."""

    pods_cidr: NotRequired[str]
    """Secondary range for pods: a block for each node, by its pods per node. Default 10.64.0.0/14. A change replaces
    the cluster."""

    services_cidr: NotRequired[str]
    """Secondary range for services, one address each; at least a /27. Default 10.32.0.0/20 (4,096 services). A change
    replaces the cluster."""


class PoolAutoscalingArgs(TypedDict):
    """How far a pool scales. A multi-host slice is added and removed as a whole: 0 hosts or all of them."""

    min_slices: NotRequired[int]
    """Slices that are kept running without work. Default 0. Changed in place."""

    max_slices: int
    """Slices at full scale. Multi-host: each is a node pool of its own, which is added or deleted."""


class ReservationUseArgs(TypedDict):
    """Where in the platform's reservations the hosts of a pool come from. A change replaces the pool."""

    name: str
    """Name of one of the platform's reservations."""

    block: NotRequired[str]
    """Block of the reservation. Default: anywhere in it."""

    sub_block: NotRequired[str]
    """Sub-block of `block`. Default: anywhere in the block."""


class FlexStartArgs(TypedDict):
    """Hosts of the Dynamic Workload Scheduler: they start when there is capacity, and end after a time."""

    max_run_duration: NotRequired[str]
    """How long a host runs at most, from 10m to 7d. Default 7d, the longest. A change replaces the pool."""

    queued: NotRequired[bool]
    """Queued provisioning: hosts come only for a ProvisioningRequest (Kueue makes them), all or none. Default false; of
    TPUs v6e and tpu7x only. A change replaces the pool."""


class SecondaryBootDiskArgs(TypedDict):
    """A disk with data or container images that each host has from its first second. A change replaces the pool."""

    disk_image: str
    """Image that the disk is made from: projects/PROJECT/global/images/NAME."""

    mode: NotRequired[str]
    """CONTAINER_IMAGE_CACHE: container images, used without a pull; needs `imageStreaming`. DATA: files for the pods.
    Default CONTAINER_IMAGE_CACHE."""


class ExtraNetworkArgs(TypedDict):
    """A further network interface of each host, in a VPC that exists already. A change replaces the pool."""

    network: str
    """VPC of the interface: its name, or its path where another project owns it. Not the platform's own."""

    subnetwork: str
    """Subnetwork of that VPC in the pool's region: its name or path."""


class PoolArgs(TypedDict):
    """Slices of one shape. Multi-host: a GKE node pool for each slice; single-host: one pool, a node for each slice."""

    generation: str
    """TPU generation, such as v5e or v6e. A change replaces the pool."""

    topology: str
    """Chips of one slice along each axis, such as 4x4 or 2x2x2. A change replaces the pool."""

    machine_type: NotRequired[str]
    """Machine type of the hosts; v6e 2x4, for one, is two hosts of four chips or one ct6e-standard-8t. Default: the
    generation's multi-host machine, else the one that has the topology. A change replaces the pool."""

    zone: NotRequired[str]
    """Zone of the hosts. Required where several zones of the cluster's region offer the generation. Default: the
    cluster's zone, or the only one that does. A change replaces a multi-host pool."""

    slices: NotRequired[int]
    """Number of slices, fixed; 0 keeps the pool described and makes nothing. Default 1. Not together with
    `autoscaling`. A change adds or removes the last slices only."""

    autoscaling: NotRequired[PoolAutoscalingArgs]
    """Scale with the work instead of a fixed number of slices. Not together with `slices`."""

    capacity: NotRequired[str]
    """How the hosts are bought: on-demand, spot (cheaper, may be reclaimed at any time), reservation (bought ahead) or
    flex-start (waited for, and gone after days). A change replaces the pool."""

    reservation: NotRequired[ReservationUseArgs]
    """The reservation that the hosts come from. Required with capacity: reservation, and only then."""

    flex_start: NotRequired[FlexStartArgs]
    """How flex-start hosts come and go. Only with capacity: flex-start. Default: they run for 7 days, not queued."""

    disk_type: NotRequired[str]
    """Boot disk type. Default: the first that the machine takes (v6e, tpu7x, A3 Ultra and A4 take hyperdisk-balanced
    only). A change rolls the hosts."""

    disk_size_gb: NotRequired[int]
    """Boot disk size in GB. Default 100. A change rolls the hosts."""

    image_streaming: NotRequired[bool]
    """Start containers while their images still load; for images in Artifact Registry. Default false. A change rolls
    the hosts."""

    secondary_boot_disks: NotRequired[Sequence[SecondaryBootDiskArgs]]
    """Disks with data or container images that every host starts with. Default: none. A change replaces the pool."""

    extra_networks: NotRequired[Sequence[ExtraNetworkArgs]]
    """Further network interfaces of each host, 7 at most; switches multi-networking of the cluster on. Default: none. A
    change replaces the pool."""

    max_pods_per_node: NotRequired[int]
    """Pods per host. GKE reserves at least twice as many addresses for each: 64 for 32 pods, 256 for its own default of
    110. Default 32. A change replaces the pool."""

    auto_repair: NotRequired[bool]
    """Let GKE repair unhealthy hosts (multi-host: the whole slice is recreated). Default true; false with capacity:
    flex-start, where GKE allows nothing else. Changed in place."""

    auto_upgrade: NotRequired[bool]
    """Let GKE upgrade the hosts. Default true; a cluster in a release channel allows nothing else. Changed in place."""

    host_maintenance: NotRequired[str]
    """When Compute Engine maintains the hosts: AS_NEEDED, or PERIODIC (rarer, announced). Default: the machine's own,
    or the reservation's. A change replaces the pool."""

    compute_class: NotRequired[str]
    """Compute class that the pool belongs to: only pods that ask for the class run on it. A class that names the pool
    in its priorities has it anyway. Default: none. Changed in place."""

    labels: NotRequired[Mapping[str, str]]
    """Google Cloud labels of the hosts, on top of the cluster's. Changed in place."""

    node_labels: NotRequired[Mapping[str, str]]
    """Kubernetes labels of the nodes, in addition to those that GKE and tpuplane set. Changed in place."""

    accelerator_topology_mode: NotRequired[str]
    """Whether the chips of a tpu7x slice are joined as its hosts come (AUTO_CONNECT) or later, by dynamic slicing
    (PROVISION_ONLY; cubes of a reservation only). Default: Compute Engine's own. A change replaces the pool."""


class GpuAutoscalingArgs(TypedDict):
    """How far a pool scales, in nodes of each of its zones."""

    min_nodes: NotRequired[int]
    """Nodes that are kept running without work, in each zone. Default 0. Changed in place."""

    max_nodes: int
    """Nodes at full scale, in each zone. Changed in place."""


class GpuSharingArgs(TypedDict):
    """Several containers on one GPU: each asks for one `nvidia.com/gpu`, and the node offers as many more."""

    strategy: str
    """TIME_SHARING: containers take turns. MPS: they run together, each with its part of the GPU (NVIDIA's
    Multi-Process Service). A change replaces the pool."""

    max_clients: int
    """Containers on one GPU, or on one partition of it, from 2 to 48. A change replaces the pool."""


class GpuPoolArgs(TypedDict):
    """Nodes of one machine type with GPUs: one GKE node pool, called like the pool."""

    capacity: NotRequired[str]
    """How the hosts are bought: on-demand, spot (cheaper, may be reclaimed at any time), reservation (bought ahead) or
    flex-start (waited for, and gone after days). A change replaces the pool."""

    reservation: NotRequired[ReservationUseArgs]
    """The reservation that the hosts come from. Required with capacity: reservation, and only then."""

    flex_start: NotRequired[FlexStartArgs]
    """How flex-start hosts come and go. Only with capacity: flex-start. Default: they run for 7 days, not queued."""

    disk_type: NotRequired[str]
    """Boot disk type. Default: the first that the machine takes (v6e, tpu7x, A3 Ultra and A4 take hyperdisk-balanced
    only). A change rolls the hosts."""

    disk_size_gb: NotRequired[int]
    """Boot disk size in GB. Default 100. A change rolls the hosts."""

    image_streaming: NotRequired[bool]
    """Start containers while their images still load; for images in Artifact Registry. Default false. A change rolls
    the hosts."""

    secondary_boot_disks: NotRequired[Sequence[SecondaryBootDiskArgs]]
    """Disks with data or container images that every host starts with. Default: none. A change replaces the pool."""

    extra_networks: NotRequired[Sequence[ExtraNetworkArgs]]
    """Further network interfaces of each node, such as GPUDirect needs (4 on A3 High, 8 on A3 Mega, 9 on A3 Ultra and
    A4); switches multi-networking of the cluster on. Default: none. A change replaces the pool."""

    max_pods_per_node: NotRequired[int]
    """Pods per host. GKE reserves at least twice as many addresses for each: 64 for 32 pods, 256 for its own default of
    110. Default 32. A change replaces the pool."""

    auto_repair: NotRequired[bool]
    """Let GKE repair unhealthy hosts (multi-host: the whole slice is recreated). Default true; false with capacity:
    flex-start, where GKE allows nothing else. Changed in place."""

    auto_upgrade: NotRequired[bool]
    """Let GKE upgrade the hosts. Default true; a cluster in a release channel allows nothing else. Changed in place."""

    host_maintenance: NotRequired[str]
    """When Compute Engine maintains the hosts: AS_NEEDED, or PERIODIC (rarer, announced). Default: the machine's own,
    or the reservation's. A change replaces the pool."""

    compute_class: NotRequired[str]
    """Compute class that the pool belongs to: only pods that ask for the class run on it. A class that names the pool
    in its priorities has it anyway. Default: none. Changed in place."""

    labels: NotRequired[Mapping[str, str]]
    """Google Cloud labels of the hosts, on top of the cluster's. Changed in place."""

    node_labels: NotRequired[Mapping[str, str]]
    """Kubernetes labels of the nodes, in addition to those that GKE and tpuplane set. Changed in place."""

    accelerator: NotRequired[str]
    """GPU, as GKE's label cloud.google.com/gke-accelerator has it, such as nvidia-l4 or nvidia-h100-80gb. Default: that
    of `machineType`. A change replaces the pool."""

    gpus: NotRequired[int]
    """GPUs of one node. Default: those of `machineType`, else the fewest that a machine with this accelerator has. A
    change replaces the pool."""

    machine_type: NotRequired[str]
    """Machine type of the nodes. Default: the one with `accelerator` and `gpus` (nvidia-l4 with one GPU:
    g2-standard-12). Required where no accelerator is named. A change rolls the nodes, and replaces the pool where the
    GPUs change."""

    zones: NotRequired[Sequence[str]]
    """Zones of the nodes. Default: the cluster's zone, or the only zone of its region that is known to offer the
    machine. Changed in place."""

    nodes: NotRequired[int]
    """Number of nodes in each zone, fixed. Default 1. Not together with `autoscaling`. Changed in place."""

    autoscaling: NotRequired[GpuAutoscalingArgs]
    """Scale with the work instead of a fixed number of nodes. Not together with `nodes`."""

    driver: NotRequired[str]
    """NVIDIA driver that GKE installs: DEFAULT, LATEST, or INSTALLATION_DISABLED (install one yourself). Default
    DEFAULT. A change replaces the pool."""

    sharing: NotRequired[GpuSharingArgs]
    """Let several containers use one GPU. Default: one container each."""

    partition_size: NotRequired[str]
    """Divide each GPU into partitions of this size (multi-instance GPU), such as 1g.10gb: a container gets one of them.
    Default: whole GPUs. A change replaces the pool."""

    local_ssds: NotRequired[int]
    """Local SSDs of 375 GB for the pods' ephemeral storage. Default: those that come with the machine; none on G2 and
    A2 High. A change replaces the pool."""

    compact_placement: NotRequired[bool]
    """Put the nodes close together, for traffic between them; one zone only. Default false. A change replaces the
    pool."""


class PlatformClusterArgs(TypedDict):
    """One GKE cluster: where it is, who reaches it, and its pools of TPU slices and GPU nodes."""

    location: str
    """A region, such as us-central1 (its control plane survives the loss of a zone), or a zone. A change replaces the
    cluster."""

    release_channel: NotRequired[str]
    """How early GKE versions arrive. Default REGULAR. UNSPECIFIED (no channel) is for projects that still have it: GKE
    rejects it for new ones. Changed in place."""

    version: NotRequired[str]
    """Lowest version of the control plane, such as "1.34", in quotes: unquoted, 1.30 is the number 1.3. Default: what
    the channel offers. Changed in place."""

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
    """Reject to delete the cluster until this is set to false. Default true. Changed in place."""

    labels: NotRequired[Mapping[str, str]]
    """Google Cloud labels, on top of the platform's. Changed in place."""

    existing: NotRequired[PlatformExistingClusterArgs]
    """Add to an existing cluster, instead of making one. `releaseChannel`, `version` and `addons.ray.mode` then say
    what that cluster is; what would shape it is rejected. Default: the cluster is made. A change between the two
    replaces everything in it."""

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


class ReservationArgs(TypedDict):
    """A reservation that Google has granted: what `gcloud compute reservations describe` shows. It holds TPUs
    (`generation`, `chips`) or GPUs (`accelerator`, `gpus`)."""

    zone: str
    """Zone of the reservation."""

    generation: NotRequired[str]
    """TPU generation that is reserved, such as v6e."""

    chips: NotRequired[int]
    """Chips that are reserved: the number of VMs times their chips."""

    accelerator: NotRequired[str]
    """GPU that is reserved, such as nvidia-h100-mega-80gb."""

    gpus: NotRequired[int]
    """GPUs that are reserved: the number of VMs times their GPUs."""

    project: NotRequired[str]
    """Project that owns it and shares it with this one. Default: the platform's own. A change replaces the pools."""

    machine_type: NotRequired[str]
    """Machine type of the reserved VMs. Default: any with these chips or GPUs."""

    maintenance_interval: NotRequired[str]
    """Host maintenance of the reserved VMs: AS_NEEDED or PERIODIC. Default: not compared with the pools."""

    active: NotRequired[bool]
    """Whether it can be used already. A reservation for the future is false until its first day. Default true."""


class QuotaArgs(TypedDict):
    """TPU chips of one generation, or GPUs of one model, that the project may use at a time in one region or zone."""

    on_demand: NotRequired[int]
    """Chips or GPUs of on-demand hosts. Default: not declared, not checked."""

    preemptible: NotRequired[int]
    """Chips or GPUs of spot and flex-start hosts: Google's preemptible quota. Default: not declared, not checked."""


class ClassTpuArgs(TypedDict):
    """Slices of one shape."""

    type: str
    """TPU generation, such as v6e, or GKE's name of it, such as tpu-v6e-slice."""

    topology: str
    """Chips of one slice along each axis, such as 4x4 or 2x2x2."""

    count: NotRequired[int]
    """Chips of one host, which is what a pod asks for as google.com/tpu. Default: those of the generation's multi-host
    machine, else of the one that has the topology."""


class ClassGpuSharingArgs(TypedDict):
    """Several pods on one GPU."""

    sharing_strategy: NotRequired[str]
    """How they share it. Default: not at all."""

    max_shared_clients_per_gpu: NotRequired[int]
    """Pods on one GPU at most."""

    gpu_partition_size: NotRequired[str]
    """Size of a partition, such as 1g.5gb. Default: the whole GPU."""


class ClassGpuArgs(TypedDict):
    """GPUs of one kind."""

    type: NotRequired[str]
    """Accelerator, such as nvidia-l4."""

    count: NotRequired[int]
    """GPUs of one node."""

    driver_version: NotRequired[str]
    """Which driver GKE installs. Default: default."""

    topology: NotRequired[str]
    """Arrangement of the GPUs of a slice, such as 1x72. A4X only, with `placement`."""

    gpu_sharing: NotRequired[ClassGpuSharingArgs]
    """Several pods on one GPU. Default: one."""


class ClassNodeRecyclingArgs(TypedDict):
    """Replacing flex-start nodes before their time is over."""

    lead_time_seconds: int
    """How long before a node is removed GKE looks for the next one, in seconds."""


class ClassFlexStartArgs(TypedDict):
    """Nodes of the Dynamic Workload Scheduler: waited for, and gone after days."""

    enabled: NotRequired[bool]
    """Whether nodes are bought so. Default true."""

    node_recycling: NotRequired[ClassNodeRecyclingArgs]
    """Replacing nodes before their time is over. Default: they are not replaced."""


class ClassReservationSubBlockArgs(TypedDict):
    """A sub-block of a reservation's block."""

    name: str
    """Its name."""


class ClassReservationBlockArgs(TypedDict):
    """A block of a reservation."""

    name: str
    """Its name."""

    reservation_sub_block: NotRequired[ClassReservationSubBlockArgs]
    """Sub-block of it. Default: anywhere in the block."""


class ClassReservationArgs(TypedDict):
    """One reservation that nodes may come from."""

    name: str
    """Name of one of the platform's reservations."""

    reservation_block: NotRequired[ClassReservationBlockArgs]
    """Block of it. Default: anywhere in it."""

    zones: NotRequired[Sequence[str]]
    """Zones in which it is drawn on. Default: its own."""


class ClassReservationsArgs(TypedDict):
    """Reservations that nodes come from."""

    affinity: NotRequired[str]
    """Specific: those of `specific`, the only way for TPUs. AnyBestEffort: any that fits, else on-demand. AnyThenFail:
    any that fits, else nothing. None: never. Default Specific."""

    specific: NotRequired[Sequence[ClassReservationArgs]]
    """The reservations, with affinity Specific."""


class ClassLocationArgs(TypedDict):
    """Where nodes are made."""

    zones: NotRequired[Sequence[str]]
    """Zones, of the cluster's region. Default: GKE chooses."""

    location_policy: NotRequired[str]
    """ANY takes the zone with capacity, BALANCED spreads over the zones. Default: GKE chooses."""

    zone_types: NotRequired[Sequence[str]]
    """Kinds of zones instead of their names. Default: those of the cluster."""


class ClassPlacementArgs(TypedDict):
    """A resource policy of your own that places the nodes."""

    policy_name: str
    """Its name."""


class ClassStorageSecondaryDiskArgs(TypedDict):
    """A disk that every node starts with."""

    disk_image_name: str
    """Disk image."""

    project: NotRequired[str]
    """Project of the image. Default: the cluster's."""

    mode: NotRequired[str]
    """CONTAINER_IMAGE_CACHE: it holds container images. Default: data."""


class ClassStorageArgs(TypedDict):
    """Disks of the nodes."""

    boot_disk_type: NotRequired[str]
    """Boot disk type. Default: the machine's own."""

    boot_disk_size: NotRequired[int]
    """Boot disk size in GB. Default: GKE's, 100."""

    boot_disk_kms_key: NotRequired[str]
    """Key of the boot disk: projects/…/locations/…/keyRings/…/cryptoKeys/…. Default: Google's own."""

    boot_disk_provisioned_iops: NotRequired[int]
    """I/O operations per second of a hyperdisk, together with its throughput."""

    boot_disk_provisioned_throughput: NotRequired[int]
    """Throughput of a hyperdisk in MiB/s, together with its operations."""

    boot_disk_storage_pools: NotRequired[Sequence[str]]
    """Storage pools of hyperdisk-balanced boot disks: projects/…/zones/…/storagePools/…."""

    local_ssd_count: NotRequired[int]
    """Local SSDs of one node."""

    secondary_boot_disks: NotRequired[Sequence[ClassStorageSecondaryDiskArgs]]
    """Disks that every node starts with. Default: none."""


class ClassTaintArgs(TypedDict):
    """A taint of the nodes."""

    key: str
    """Its key."""

    value: NotRequired[str]
    """Its value. Default: none."""

    effect: str
    """What it does to pods that do not tolerate it."""


class ClassMinimumCapacityArgs(TypedDict):
    """Nodes that are there before any pod asks for them."""

    target_node_count: int
    """How many."""


class ClassPriorityArgs(TypedDict):
    """One way to get nodes. GKE tries the priorities from the first to the last."""

    nodepools: NotRequired[Sequence[str]]
    """Pools of the cluster, by their name in this description; each means all of its node pools, which then belong to
    the class. In an existing cluster also node pools of its own. Only with `priorityScore` and `allocationStrategy`."""

    tpu: NotRequired[ClassTpuArgs]
    """TPU slices."""

    gpu: NotRequired[ClassGpuArgs]
    """GPUs."""

    machine_family: NotRequired[str]
    """Machine family, such as n2. Not together with `machineType`."""

    machine_type: NotRequired[str]
    """Machine type, such as n2-standard-8."""

    min_cores: NotRequired[int]
    """Fewest vCPUs of a node. Not together with `machineType`."""

    min_memory_gb: NotRequired[int]
    """Least memory of a node, in GB. Not together with `machineType`."""

    min_cpu_platform: NotRequired[str]
    """Oldest CPU platform. Default: any."""

    pod_family: NotRequired[str]
    """Pod-based machines and prices. Only with `autopilot`."""

    spot: NotRequired[bool]
    """Cheaper nodes that may be reclaimed at any time. Default false."""

    flex_start: NotRequired[ClassFlexStartArgs]
    """Nodes that are waited for and go after days. Default: on-demand."""

    max_run_duration_seconds: NotRequired[int]
    """How long a node runs at most, in seconds; with flex-start 600 to 604,800. Default: unlimited, with flex-start 7
    days."""

    capacity_check_wait_time_seconds: NotRequired[int]
    """How long this priority is tried before the next, in seconds. Only with flex-start and multi-host slices."""

    reservations: NotRequired[ClassReservationsArgs]
    """Reservations that nodes come from. Default: none."""

    priority_score: NotRequired[int]
    """Higher is tried first; up to three priorities may have one score. On all priorities or on none. Default: their
    order."""

    allocation_strategy: NotRequired[str]
    """What is chosen among equals: the cheapest, or what spares scarce machines. Default: the class's."""

    location: NotRequired[ClassLocationArgs]
    """Where nodes are made. Default: the class's `priorityDefaults`."""

    placement: NotRequired[ClassPlacementArgs]
    """A resource policy of your own that places the nodes. Default: GKE makes what slices need."""

    storage: NotRequired[ClassStorageArgs]
    """Disks of the nodes."""

    max_pods_per_node: NotRequired[int]
    """Pods per node. Default: the cluster's."""

    node_labels: NotRequired[Mapping[str, str]]
    """Kubernetes labels of the nodes."""

    taints: NotRequired[Sequence[ClassTaintArgs]]
    """Taints of the nodes, in addition to the class's own."""

    instance_metadata: NotRequired[Mapping[str, str]]
    """Metadata of the VMs; on top of those of `nodePoolConfig`."""

    node_system_config: NotRequired[Mapping[str, Any]]
    """Kubelet and Linux settings, in GKE's own names: `kubeletConfig` and `linuxNodeConfig`."""

    accelerator_network_profile: NotRequired[str]
    """Networks between accelerators: auto, or a profile of your own."""

    gpu_direct: NotRequired[str]
    """How GPUs reach each other. Needs `acceleratorNetworkProfile`."""

    minimum_capacity: NotRequired[ClassMinimumCapacityArgs]
    """Nodes of this priority that are there before any pod asks for them."""

    enable_nested_virtualization: NotRequired[bool]
    """Whether virtual machines may run on the nodes. Default: GKE's, false."""


class ClassPriorityDefaultsArgs(TypedDict):
    """What holds for every priority that does not say otherwise; not for those that name node pools."""

    location: NotRequired[ClassLocationArgs]
    """Where nodes are made."""

    node_system_config: NotRequired[Mapping[str, Any]]
    """Kubelet and Linux settings, in GKE's own names: `kubeletConfig` and `linuxNodeConfig`."""

    enable_nested_virtualization: NotRequired[bool]
    """Whether virtual machines may run on the nodes. Default: GKE's, false."""


class ClassShieldedInstanceArgs(TypedDict):
    """Protection of the nodes against a changed boot chain."""

    enable_secure_boot: NotRequired[bool]
    """Start signed software only. Default true, unlike GKE's."""

    enable_integrity_monitoring: NotRequired[bool]
    """Watch the boot for changes. Default true."""


class ClassAutoCreationArgs(TypedDict):
    """Node pools that GKE makes for the class, and deletes when they are empty."""

    enabled: bool
    """Whether GKE makes node pools."""

    dynamic_boot_disk_size: NotRequired[bool]
    """Let GKE choose the boot disk's size. Default: false, with `autopilot` true."""

    dynamic_max_pods_per_node: NotRequired[bool]
    """Let GKE choose the number of pods per node. Default: false, with `autopilot` true."""

    shielded_instance_config: NotRequired[ClassShieldedInstanceArgs]
    """Protection of the nodes against a changed boot chain. Default: all of it."""


class ClassCustomImageArgs(TypedDict):
    """A node image of your own."""

    image_name: str
    """The image."""

    image_project_id: str
    """Its project."""


class ClassSwitchArgs(TypedDict):
    """Something that is on or off."""

    enabled: bool
    """Whether it is on."""


class ClassNodeDrainArgs(TypedDict):
    """How nodes are emptied before they go."""

    respect_pdb_during_node_pool_deletion: NotRequired[bool]
    """Whether disruption budgets hold when a node pool is deleted."""

    grace_termination_duration: NotRequired[str]
    """How long pods may take to end, in seconds such as 3600s; 24 hours at most."""

    pdb_timeout_duration: NotRequired[str]
    """How long disruption budgets are waited for, in seconds such as 3600s; 7 days at most."""


class ClassLoggingVariantArgs(TypedDict):
    """How fast logs are taken from the nodes."""

    variant: str
    """MAX_THROUGHPUT takes more, and costs CPU."""


class ClassLoggingArgs(TypedDict):
    """The nodes' logging agent."""

    logging_variant_config: ClassLoggingVariantArgs
    """How fast logs are taken."""


class ClassSandboxArgs(TypedDict):
    """A wall between pods and their node."""

    type: str
    """Which."""


class ClassTpuDriverArgs(TypedDict):
    """The TPU driver of the nodes."""

    driver_mode: str
    """How pods get chips: as google.com/tpu, or by claims."""


class ClassDraArgs(TypedDict):
    """Dynamic resource allocation."""

    networking: ClassSwitchArgs
    """Network interfaces by claims."""


class ClassTaintConfigArgs(TypedDict):
    """Taints that GKE itself sets."""

    architecture_taint_behavior: str
    """Whether Arm nodes are tainted."""


class ClassTagArgs(TypedDict):
    """A Resource Manager tag."""

    key: str
    """Its key: tagKeys/… or its path."""

    value: str
    """Its value: tagValues/… or its short name."""


class ClassNodePoolConfigArgs(TypedDict):
    """What the nodes have: pools that GKE makes are made so, and existing pools count only if they are so."""

    service_account: NotRequired[str]
    """Service account that the nodes run as. Default: the one that the cluster's other nodes run as."""

    workload_metadata: NotRequired[str]
    """What pods see of the VM's metadata. Default GKE_METADATA: their own identity only."""

    image_type: NotRequired[str]
    """Node image. Default cos_containerd."""

    custom_image_config: NotRequired[ClassCustomImageArgs]
    """A node image of your own, with imageType: custom_containerd."""

    image_streaming: NotRequired[ClassSwitchArgs]
    """Start containers while their images still load. Default: off."""

    gvnic: NotRequired[ClassSwitchArgs]
    """Google's virtual network interface. Default: the machine's own choice; TPU hosts have it."""

    workload_type: NotRequired[str]
    """What a group of slices is for: serving, which needs most of them, or training, which needs all. HIGH_THROUGHPUT
    only with `nodePoolGroup`."""

    node_version: NotRequired[str]
    """GKE version of the nodes. Default: the cluster's."""

    auto_repair: NotRequired[bool]
    """Let GKE repair unhealthy nodes. Default: GKE's, true."""

    auto_upgrade: NotRequired[bool]
    """Let GKE upgrade the nodes. Default: GKE's, true."""

    maintenance_exclusion: NotRequired[str]
    """UNTIL_END_OF_SUPPORT holds upgrades back for as long as the version is supported. Default: none."""

    node_drain_config: NotRequired[ClassNodeDrainArgs]
    """How nodes are emptied before they go."""

    ip_type: NotRequired[str]
    """Whether nodes have public addresses. Default private."""

    logging_config: NotRequired[ClassLoggingArgs]
    """The nodes' logging agent."""

    confidential_node_type: NotRequired[str]
    """Encryption of the nodes' memory. Every priority then names a machine that has it. Default: none."""

    sandbox: NotRequired[ClassSandboxArgs]
    """A wall between pods and their node. Default: none."""

    tpu: NotRequired[ClassTpuDriverArgs]
    """The TPU driver of the nodes. Default: DevicePlugin."""

    dra: NotRequired[ClassDraArgs]
    """Dynamic resource allocation. Default: off."""

    node_labels: NotRequired[Mapping[str, str]]
    """Kubernetes labels of the nodes."""

    taints: NotRequired[Sequence[ClassTaintArgs]]
    """Taints of the nodes, in addition to the class's own."""

    taint_config: NotRequired[ClassTaintConfigArgs]
    """Taints that GKE itself sets."""

    instance_metadata: NotRequired[Mapping[str, str]]
    """Metadata of the VMs."""

    resource_manager_tags: NotRequired[Sequence[ClassTagArgs]]
    """Resource Manager tags of the VMs."""


class ClassNodePoolGroupArgs(TypedDict):
    """A group of slices that are kept together: a collection of v6e slices."""

    name: str
    """Name of the group."""


class ClassActiveMigrationArgs(TypedDict):
    """Moving running pods to better nodes. A move ends them and starts them again."""

    optimize_rule_priority: NotRequired[bool]
    """Move to a higher priority as soon as it has capacity. Default false."""

    ensure_all_daemon_set_pods_running: NotRequired[bool]
    """Move to larger nodes where pods of daemon sets do not fit. Default false."""


class ClassAutoscalingPolicyArgs(TypedDict):
    """When nodes are removed."""

    consolidation_delay_minutes: NotRequired[int]
    """How long a node is unneeded before it is removed, in minutes. Default: GKE's, 10."""

    consolidation_threshold: NotRequired[int]
    """Use of CPU and memory in percent below which a node counts as unneeded. Default: GKE's, 50."""

    gpu_consolidation_threshold: NotRequired[int]
    """Use of GPUs in percent below which a GPU node counts as unneeded. Default: as consolidationThreshold."""


class ClassAllocationDefaultsArgs(TypedDict):
    """What is chosen among equal machines, by the way they are bought."""

    on_demand: NotRequired[str]
    """On-demand nodes. Default: GKE chooses."""

    spot: NotRequired[str]
    """Spot nodes. Default: GKE chooses."""

    flex_start: NotRequired[str]
    """Flex-start nodes. Default: GKE chooses."""


class PlatformComputeClassArgs(TypedDict):
    """A GKE ComputeClass (cloud.google.com/v1). Pods ask for it with the node selector
    `cloud.google.com/compute-class`. Changes are made in place: GKE makes new nodes by them, and leaves running ones
    alone unless `activeMigration` says otherwise."""

    clusters: NotRequired[Sequence[str]]
    """Clusters that have the class. Default: every one."""

    default_namespaces: NotRequired[Sequence[str]]
    """Namespaces whose pods get this class unless they ask for another. For a whole cluster, call the class `default`.
    Default: none."""

    preset: NotRequired[str]
    """Ready-made priorities for slices of `tpu`. cost-optimized: Spot, flex-start, then the reservation.
    reserved-first: the reservation, on-demand, flex-start, then Spot. A way in which the generation cannot be bought is
    left out. Default: you write the priorities."""

    tpu: NotRequired[ClassTpuArgs]
    """The slices of a preset. Required with `preset`, and only then."""

    reservation: NotRequired[ReservationUseArgs]
    """The reservation of a preset. Required with `preset`, and only then."""

    description: NotRequired[str]
    """When to use the class. Default: nothing, or the preset's."""

    priorities: NotRequired[Sequence[ClassPriorityArgs]]
    """Ways to get nodes, the preferred one first. Required without `preset`."""

    priority_defaults: NotRequired[ClassPriorityDefaultsArgs]
    """What holds for every priority that does not say otherwise."""

    when_unsatisfiable: NotRequired[str]
    """What happens when no priority has capacity: pods wait (DoNotScaleUp), or GKE makes nodes of the cluster's default
    machines, which have no TPUs (ScaleUpAnyway). Default DoNotScaleUp."""

    node_pool_auto_creation: NotRequired[ClassAutoCreationArgs]
    """Node pools that GKE makes for the class. Default: none, with a preset they are made."""

    node_pool_config: NotRequired[ClassNodePoolConfigArgs]
    """What the nodes have. Default: none is asked of existing pools; pools that GKE makes are as safe as declared
    ones."""

    node_pool_group: NotRequired[ClassNodePoolGroupArgs]
    """A group of v6e slices that are kept together. Default: slices are on their own."""

    active_migration: NotRequired[ClassActiveMigrationArgs]
    """Moving running pods to better nodes. Default: they stay, with a preset as it says."""

    autoscaling_policy: NotRequired[ClassAutoscalingPolicyArgs]
    """When nodes are removed. Default: the cluster's, with a preset as it says."""

    allocation_strategy_defaults: NotRequired[ClassAllocationDefaultsArgs]
    """What is chosen among equal machines. Default: GKE chooses."""

    minimum_capacity: NotRequired[ClassMinimumCapacityArgs]
    """Nodes that are there before any pod asks for them. Every priority then names its machine. Default: none."""

    autopilot: NotRequired[ClassSwitchArgs]
    """Nodes that GKE manages as in Autopilot. Cannot be changed afterwards. Default: off."""


class PoolQuotaArgs(TypedDict):
    """A team's part of one pool, in slices or in chips. What one team leaves idle the others may borrow."""

    slices: NotRequired[int]
    """Slices that are the team's own. Exactly one of `slices` and `chips`. Changed in place."""

    chips: NotRequired[int]
    """The same in chips; whole slices only. Changed in place."""

    borrowing_limit: NotRequired[int]
    """Most that the team may borrow beyond its own, in the unit of the quota. Default: no limit. Changed in place."""

    lending_limit: NotRequired[int]
    """Most of its own that the team lends while idle, in the unit of the quota. Default: all. Changed in place."""


class GpuQuotaArgs(TypedDict):
    """A team's part of one GPU pool, in nodes or in GPUs. What one team leaves idle the others may borrow."""

    nodes: NotRequired[int]
    """Nodes, over all zones, that are the team's own. Exactly one of `nodes` and `gpus`. Changed in place."""

    gpus: NotRequired[int]
    """The same in GPUs as pods ask for them: a GPU that is divided or shared counts for each container. Changed in
    place."""

    borrowing_limit: NotRequired[int]
    """Most that the team may borrow beyond its own, in the unit of the quota. Default: no limit. Changed in place."""

    lending_limit: NotRequired[int]
    """Most of its own that the team lends while idle, in the unit of the quota. Default: all. Changed in place."""


class CpuQuotaArgs(TypedDict):
    """A team's part of the system pool: room for Ray heads, coordinators and other work without chips."""

    cores: NotRequired[int]
    """CPU cores. Default 16. Changed in place."""

    memory_gb: NotRequired[int]
    """Memory in GB of 2^30 bytes, as Compute Engine counts. Default 64. Changed in place."""

    storage_gb: NotRequired[int]
    """Ephemeral storage in GB. Default 100. Changed in place."""


class TeamClusterArgs(TypedDict):
    """What a team has in one cluster."""

    pools: NotRequired[Mapping[str, PoolQuotaArgs]]
    """Quota in pools of that cluster, by the pool's name. Default: none of its own, and none to borrow."""

    gpu_pools: NotRequired[Mapping[str, GpuQuotaArgs]]
    """Quota in GPU pools of that cluster, by the pool's name. Default: none of its own, and none to borrow."""

    cpu: NotRequired[CpuQuotaArgs]
    """Quota in the system pool."""


class TeamArgs(TypedDict):
    """A team: a cluster queue and, in each of its namespaces, a local queue. A new name is a new queue."""

    namespaces: NotRequired[Sequence[str]]
    """The team's namespaces, made in each of its clusters. Default: one, called like the team. Removing one deletes
    everything in it."""

    members: NotRequired[Sequence[str]]
    """Who may run work in them: group:, user: or serviceAccount: with an e-mail address. Default: only the project's
    administrators. Changed in place."""

    queue: NotRequired[str]
    """Name of the local queue in each namespace. Default `default`, which Kueue gives to every job that names none. A
    change replaces the queue, and jobs that name the old one wait."""

    weight: NotRequired[float]
    """Part of what teams may borrow, relative to the other teams' weights; with queues.fairSharing only. Kueue gets it
    in thousandths, rounded up. Default 1. Changed in place."""

    pod_security: NotRequired[str]
    """Level of the Pod Security Standards that pods of its namespaces must keep to. Default `baseline`, which TPU work
    keeps to; JobSets as xpk and tpu-recipes publish them want the host's network, and with it `privileged`. Changed in
    place; pods that run stay."""

    clusters: Mapping[str, TeamClusterArgs]
    """What the team has, by cluster."""


class PreemptionArgs(TypedDict):
    """Whose work ends for whom. A job is preempted whole, never a part of its slices."""

    within_cluster_queue: NotRequired[str]
    """Of the same team. Default LowerPriority. Changed in place."""

    reclaim_within_cohort: NotRequired[str]
    """Of teams that borrowed what the owner now wants back. Default Any: lent chips come back at once. Changed in
    place."""

    borrow_within_cohort: NotRequired[str]
    """Of other teams, to borrow. Default Never; not together with fairSharing. Changed in place."""


class PriorityArgs(TypedDict):
    """A WorkloadPriorityClass: jobs name it in the label kueue.x-k8s.io/priority-class."""

    value: int
    """Higher is admitted first, and may preempt lower. Changed in place, for work that waits and work that runs:
    running work that is now lower may be preempted at once."""

    description: NotRequired[str]
    """What it is for, in at most 2048 characters, as Kueue has it. Default: nothing. Changed in place."""


class MultiKueueArgs(TypedDict):
    """One queue over several clusters. Teams submit to the manager; the work runs in the workers, where the quotas are.
    Every job runs as a whole in one of them."""

    manager: str
    """The cluster that takes the jobs. It has every team's namespaces and queues, whose quotas are the sum of the
    workers', and runs none of the work. A change replaces the queues of both."""

    workers: Sequence[str]
    """The clusters that run the jobs, at most 20. A team's jobs go to those in which it has a quota. Changed in
    place."""

    dispatcher: NotRequired[str]
    """Whether a job asks all workers at once, or three more every five minutes, so that it does not preempt in all of
    them. Default AllAtOnce. Changed in place; Kueue restarts."""

    worker_lost_timeout: NotRequired[str]
    """How long the jobs of a worker that does not answer count as running there, before they are queued again. Default
    15m. Changed in place; Kueue restarts."""


class QueuesArgs(TypedDict):
    """What holds for the queues of all teams, in every cluster."""

    strategy: NotRequired[str]
    """Whether a job that does not fit holds back younger ones that would (StrictFIFO). Default BestEffortFIFO. Changed
    in place."""

    preemption: NotRequired[PreemptionArgs]
    """Whose work ends for whom."""

    fair_sharing: NotRequired[bool]
    """Let teams borrow by their weights instead of first come, first served. Default false. Changed in place; Kueue
    restarts."""

    priorities: NotRequired[Mapping[str, PriorityArgs]]
    """Workload priority classes, by name. Default: idle (-100), low (100), normal (500) and high (1000). A new name is
    a new class."""

    capacity_order: NotRequired[Sequence[str]]
    """In which capacity a job that does not say is tried first; those left out come last. Default: reservation,
    on-demand, flex-start and spot. Changed in place."""

    multi_kueue: NotRequired[MultiKueueArgs]
    """One queue over several clusters. Default: each cluster has its own queues, and jobs run where they are
    submitted."""


class SliceDownArgs(TypedDict):
    """An alert: a multi-host slice is not available, so that what runs on it waits."""

    enabled: NotRequired[bool]
    """Whether there is such an alert. Default true. Changed in place."""

    after_minutes: NotRequired[int]
    """How long the slice must be down. Default 5. Changed in place."""


class IdleChipsArgs(TypedDict):
    """An alert: chips are paid for and do nothing."""

    enabled: NotRequired[bool]
    """Whether there is such an alert. Default true. Changed in place."""

    after_minutes: NotRequired[int]
    """How long the chips must be idle. Default 60. Changed in place."""

    duty_cycle_percent: NotRequired[int]
    """A chip that is busy for less of its time is idle. Default 5. Changed in place."""


class StarvedQueueArgs(TypedDict):
    """An alert: work waits in a queue and none is admitted. Of clusters with Kueue and `addons.monitoring`."""

    enabled: NotRequired[bool]
    """Whether there is such an alert. Default true. Changed in place."""

    after_minutes: NotRequired[int]
    """How long the queue must admit nothing. Default 120. Changed in place."""


class AlertsArgs(TypedDict):
    """Alert policies of Cloud Monitoring, over all clusters."""

    slice_down: NotRequired[SliceDownArgs]
    """A slice is not available."""

    idle_chips: NotRequired[IdleChipsArgs]
    """Chips are paid for and do nothing."""

    starved_queue: NotRequired[StarvedQueueArgs]
    """Work waits and none is admitted."""


class ObservabilityArgs(TypedDict):
    """A dashboard, alert policies and a metric of log entries in the platform's project."""

    dashboard: NotRequired[bool]
    """A Cloud Monitoring dashboard: TensorCore utilisation, duty cycle, HBM and its bandwidth by kind of slice; slices
    and interruptions by node pool; queues; libtpu's messages. Default true. Changed in place."""

    alerts: NotRequired[AlertsArgs]
    """Alert policies."""

    notification_channels: NotRequired[Sequence[str]]
    """Channels that the alerts notify, by their names; they exist already. Default: none, and incidents are seen in
    Cloud Monitoring only. Changed in place."""

    libtpu_errors: NotRequired[bool]
    """Count libtpu's error messages in the containers' logs, as the log metric `tpuplane/PLATFORM/libtpu_errors`.
    Default true. Changed in place."""


class PlatformArgs(TypedDict):
    """A TPU platform: GKE clusters of one project on one network."""

    name: str
    """Name of the platform and its VPC, and the front of every cluster's name. A change replaces everything."""

    project: NotRequired[str]
    """Google Cloud project id. Default: the stack's `gcp:project`. A change replaces everything."""

    labels: NotRequired[Mapping[str, str]]
    """Google Cloud labels of everything that can carry them. Changed in place."""

    clusters: Mapping[str, PlatformClusterArgs]
    """GKE clusters, by name. GKE sees `<platform>-<name>`, 6 to 30 characters in all, because the nodes' service
    account has that name too. A new name is a new cluster, with ranges that the old one does not have."""

    reservations: NotRequired[Mapping[str, ReservationArgs]]
    """Reservations that pools with capacity: reservation draw on, by the name that Compute Engine knows them by."""

    quotas: NotRequired[Mapping[str, Mapping[str, QuotaArgs]]]
    """TPU and GPU quota that Google has granted, by region or zone, then by generation or accelerator. The pools are
    held to it at full scale; what is not declared is not checked."""

    classes: NotRequired[Mapping[str, PlatformComputeClassArgs]]
    """Compute classes, by name: which nodes pods get, in order of preference. The class called `default` is for every
    pod of a cluster that asks for none. Default: none. A new name is a new class."""

    teams: NotRequired[Mapping[str, TeamArgs]]
    """Teams that share the clusters, by name: each gets a queue with its quota. Default: none, and no queue."""

    queues: NotRequired[QueuesArgs]
    """How the teams' work waits, is admitted and is preempted."""

    observability: NotRequired[ObservabilityArgs]
    """Dashboard, alerts and log metrics of the project. Default: none. Changed in place."""


class ClusterSettingsArgs(TypedDict):
    """How a GKE cluster is made: where it is, who reaches it, when it changes."""

    location: str
    """A region, such as us-central1 (its control plane survives the loss of a zone), or a zone. A change replaces the
    cluster."""

    release_channel: NotRequired[str]
    """How early GKE versions arrive. Default REGULAR. UNSPECIFIED (no channel) is for projects that still have it: GKE
    rejects it for new ones. Changed in place."""

    version: NotRequired[str]
    """Lowest version of the control plane, such as "1.34", in quotes: unquoted, 1.30 is the number 1.3. Default: what
    the channel offers. Changed in place."""

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
    """Reject to delete the cluster until this is set to false. Default true. Changed in place."""

    labels: NotRequired[Mapping[str, str]]
    """Google Cloud labels, on top of the platform's. Changed in place."""


class PrometheusHeadersArgs(TypedDict):
    """A key of a Secret in the Ray cluster's namespace."""

    secret: str
    """Name of an existing Secret. Its contents are not part of the program's state."""

    key: NotRequired[str]
    """Key with the headers as a JSON object. Default headers."""


class DashboardArgs(TypedDict):
    """Charts in Ray's dashboard, from an existing Grafana and an existing Prometheus."""

    grafana_host: str
    """Address of Grafana for the head."""

    grafana_iframe_host: NotRequired[str]
    """Address of Grafana for browsers. Default: `grafanaHost`."""

    grafana_org_id: NotRequired[int]
    """Grafana's organization. Default 1."""

    prometheus_host: NotRequired[str]
    """Address of Prometheus for the head. Default: the frontend of the add-on `monitoring`."""

    prometheus_name: NotRequired[str]
    """Name of Grafana's data source. Default Prometheus."""

    prometheus_headers: NotRequired[PrometheusHeadersArgs]
    """Headers for requests to Prometheus, from a Secret. Default: none."""


class HeadArgs(TypedDict):
    """The Ray head. It needs no chips, so it runs on any node without a taint. In a queue it runs on the system pool,
    or in an existing cluster on any Linux node. If the team has used its CPU quota, Kueue assigns CPUs of TPU or GPU
    hosts with quota of the team."""

    image: NotRequired[str]
    """Container image. Default: the image of the first worker group."""

    cpu: NotRequired[int]
    """CPUs. Default 2, which fits the default machine type of the system pool (e2-standard-4)."""

    memory_gb: NotRequired[int]
    """Memory in GB of 2^30 bytes. Default 8."""

    dashboard: NotRequired[DashboardArgs]
    """Charts in Ray's dashboard. Default: none."""


class WorkerGroupArgs(TypedDict):
    """A Ray worker group of slices with the same shape. Each slice is a replica, added and removed as a whole."""

    machine_type: NotRequired[str]
    """Machine type of the hosts. Default: the same as for a pool."""

    image: str
    """Container image."""

    capacity: NotRequired[str]
    """Run only on hosts with this capacity. Default: on all hosts. `reservation` needs the name of the reservation.
    With `on-demand`, a multi-host Ray slice can still run on reserved hosts, unless a queue prevents it, because GKE's
    TPU webhook overwrites the affinity of its pods."""

    reservation: NotRequired[str]
    """Run only on hosts of this reservation. Only with capacity: reservation."""

    compute_class: NotRequired[str]
    """Run on nodes of this compute class. Default: on pools with the labels of the hosts. Not together with
    `capacity`."""

    cpu: NotRequired[int]
    """CPUs of each pod. Default: 80% of its part of the host."""

    memory_gb: NotRequired[int]
    """Memory of each pod, in GB of 2^30 bytes. Default: 80% of its part of the host."""

    env: NotRequired[Mapping[str, str]]
    """Environment of the container. GKE sets variables such as TPU_WORKER_ID, which give a pod its place in a slice."""

    generation: str
    """TPU generation, such as v6e."""

    topology: str
    """Chips of one slice along each axis, such as 4x4."""

    slices: NotRequired[int]
    """Slices at the start. Default 1, at most 100,000; 0 needs `autoscaling`."""

    min_slices: NotRequired[int]
    """Minimum of slices. Default: `slices`."""

    max_slices: NotRequired[int]
    """Maximum of slices. A maximum above the minimum needs `autoscaling`. Default: `slices`."""


class SharedGpuArgs(TypedDict):
    """How pods share a GPU. Use the settings of the node pool."""

    strategy: str
    """TIME_SHARING: containers take turns. MPS: they run together, each with a part of the GPU."""

    max_clients: int
    """Containers on one GPU, or on one partition of it, from 2 to 48."""


class GpuWorkerGroupArgs(TypedDict):
    """A Ray worker group on GPU nodes: equal pods, each with all GPUs of a node or with a part of one GPU."""

    machine_type: NotRequired[str]
    """Machine type of the hosts. Default: the same as for a pool."""

    image: str
    """Container image."""

    capacity: NotRequired[str]
    """Run only on hosts with this capacity. Default: on all hosts. `reservation` needs the name of the reservation.
    With `on-demand`, a multi-host Ray slice can still run on reserved hosts, unless a queue prevents it, because GKE's
    TPU webhook overwrites the affinity of its pods."""

    reservation: NotRequired[str]
    """Run only on hosts of this reservation. Only with capacity: reservation."""

    compute_class: NotRequired[str]
    """Run on nodes of this compute class. Default: on pools with the labels of the hosts. Not together with
    `capacity`."""

    cpu: NotRequired[int]
    """CPUs of each pod. Default: 80% of its part of the host."""

    memory_gb: NotRequired[int]
    """Memory of each pod, in GB of 2^30 bytes. Default: 80% of its part of the host."""

    env: NotRequired[Mapping[str, str]]
    """Environment of the container. GKE sets variables such as TPU_WORKER_ID, which give a pod its place in a slice."""

    accelerator: NotRequired[str]
    """GPU, as in GKE's label cloud.google.com/gke-accelerator, such as nvidia-l4. Default: the GPU of `machineType`."""

    gpus: NotRequired[int]
    """GPUs of one node. Default: those of `machineType`, else the smallest machine type with this accelerator."""

    sharing: NotRequired[SharedGpuArgs]
    """Run on GPUs with this sharing. Default: on GPUs without sharing."""

    partition_size: NotRequired[str]
    """Run on partitions of this size (multi-instance GPU), such as 1g.10gb. Default: on whole GPUs."""

    replicas: NotRequired[int]
    """Pods at the start. Default 1, at most 100,000; 0 needs `autoscaling`."""

    min_replicas: NotRequired[int]
    """Minimum of pods. Default: `replicas`."""

    max_replicas: NotRequired[int]
    """Maximum of pods. A maximum above the minimum needs `autoscaling`. Default: `replicas`."""


class RayClusterArgs(TypedDict):
    """A Ray cluster on slices, GPU nodes or both. If a field does not describe its change, a change replaces a RayJob,
    starts a second cluster of a RayService, and applies to new pods of a RayCluster, or in a queue to all pods."""

    namespace: str
    """Namespace of the cluster. A change replaces it."""

    ray_version: NotRequired[str]
    """Version of Ray, if the tag of the image does not contain it. Default: not set."""

    queue: NotRequired[str]
    """Local queue that admits head and slices together. Default: the default queue of the namespace. A change replaces
    a RayJob, is rejected by Kueue for a running RayCluster, and applies to the next cluster of a RayService."""

    priority_class: NotRequired[str]
    """Workload priority class. Default: none. Changed in place from one class to another for a RayJob or RayCluster.
    Kueue rejects a first class for a running workload, and always rejects the removal of the class. For a RayService it
    applies to the next cluster."""

    head: NotRequired[HeadArgs]
    """The head."""

    workers: NotRequired[Mapping[str, WorkerGroupArgs]]
    """Worker groups on slices, by name."""

    gpu_workers: NotRequired[Mapping[str, GpuWorkerGroupArgs]]
    """Worker groups on GPU nodes, by name."""

    config_maps: NotRequired[Mapping[str, str]]
    """ConfigMaps of the namespace by their folder in head and workers, for programs and settings. Default: none."""

    buckets: NotRequired[Mapping[str, str]]
    """Cloud Storage buckets by their folder in head and workers, for data and checkpoints. The cluster needs `storage:
    {gcsFuse: true}`. The default service account of the namespace needs write permission. Default: none."""

    autoscaling: NotRequired[bool]
    """Let Ray scale each group between its minimum and maximum of slices or pods (autoscaler v2). Not together with
    `queue`. Default false."""

    idle_timeout_seconds: NotRequired[int]
    """Idle time in seconds until Ray removes a slice or pod. Default 300. Only with `autoscaling`."""


class RayJobArgs(TypedDict):
    """A program on its own Ray cluster, which is created and deleted with the job."""

    cluster: RayClusterArgs
    """The cluster. A change replaces the job, except a change of `priorityClass`."""

    entrypoint: str
    """Command that runs on the head, such as `python train.py`. A change replaces the job."""

    runtime_env: NotRequired[str]
    """Ray's runtime environment, a mapping in YAML. Default: none. A change replaces the job."""

    deadline_seconds: NotRequired[int]
    """Time limit in seconds. Default: none. A change replaces the job."""

    retries: NotRequired[int]
    """Most retries, each on a new cluster. Default 0. A change replaces the job."""

    keep_seconds: NotRequired[int]
    """Time in seconds that the cluster is kept after the end, for its logs. Default 60, because idle chips cost money.
    Changed in place."""


class RayServiceArgs(TypedDict):
    """A Ray Serve application that is always available, also during upgrades."""

    cluster: RayClusterArgs
    """The cluster. A change that KubeRay cannot make in place starts a second cluster before it deletes the first.
    Other numbers of slices or pods apply to the next cluster."""

    serve_config: str
    """Ray Serve's configuration (`applications: …`), a mapping in YAML. Changed in place."""


class MultisliceArgs(TypedDict):
    """A program on one or more slices of one shape."""

    machine_type: NotRequired[str]
    """Machine type of the hosts. Default: the same as for a pool."""

    image: str
    """Container image."""

    capacity: NotRequired[str]
    """Run only on hosts with this capacity. Default: on all hosts. `reservation` needs the name of the reservation.
    With `on-demand`, a multi-host Ray slice can still run on reserved hosts, unless a queue prevents it, because GKE's
    TPU webhook overwrites the affinity of its pods."""

    reservation: NotRequired[str]
    """Run only on hosts of this reservation. Only with capacity: reservation."""

    compute_class: NotRequired[str]
    """Run on nodes of this compute class. Default: on pools with the labels of the hosts. Not together with
    `capacity`."""

    cpu: NotRequired[int]
    """CPUs of each pod. Default: 80% of its part of the host."""

    memory_gb: NotRequired[int]
    """Memory of each pod, in GB of 2^30 bytes. Default: 80% of its part of the host."""

    env: NotRequired[Mapping[str, str]]
    """Environment of the container. GKE sets variables such as TPU_WORKER_ID, which give a pod its place in a slice."""

    generation: str
    """TPU generation, such as v6e."""

    topology: str
    """Chips of one slice along each axis, such as 4x4."""

    namespace: str
    """Namespace of the workload. A change replaces it."""

    slices: NotRequired[int]
    """Slices, at most 100,000. Several slices are joined over the data-centre network. Default 1. A change replaces
    it."""

    command: Sequence[str]
    """Command of every host. A change replaces it."""

    queue: NotRequired[str]
    """Local queue that admits it. Default: the default queue of the namespace. A change replaces it."""

    priority_class: NotRequired[str]
    """Workload priority class. Default: none. Changed in place from one class to another. Kueue rejects a first class
    for a running workload, and always rejects the removal of the class."""

    placement: NotRequired[str]
    """How the pods of a slice stay on one node pool: by Kueue's topology, or by JobSet's affinity (`exclusive`) if the
    flavors of the queue have no topology or there is no queue. Default topology. A change replaces it."""

    max_restarts: NotRequired[int]
    """Most restarts of all slices after failures. Default 3. Host maintenance does not count. A change replaces it."""

    keep_seconds: NotRequired[int]
    """Time until its deletion after its end, in seconds. Default: no deletion. Changed in place while it exists. After
    its deletion and a `refresh`, the next `up` runs it again."""

    set_megascale: NotRequired[bool]
    """Set the multislice environment (MEGASCALE_*, TPU_WORKER_*) in the JobSet. Default false: GKE sets it. A change
    replaces it."""
