# Generated from the spec by `make generate`; do not edit.
"""Arguments of components: the fields of `tpuplane.spec` and `tpuplane.workloads`, as TypedDicts.

They define a plan or a manifest, so all values are plain values that are known before the engine starts.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict


class AuthorizedNetworkArgs(TypedDict):
    """An address range with access to the control plane."""

    cidr: str
    """IPv4 range. Public addresses require `publicEndpoint`. The whole internet (0.0.0.0/0, or several ranges together)
    is rejected."""

    name: NotRequired[str]
    """Display name of the range in the console. Default: none."""


class ControlPlaneArgs(TypedDict):
    """Access to the control plane. Default: from the VPC only, through the private endpoint."""

    dns_endpoint: NotRequired[bool]
    """Also serve the control plane at a DNS name, which is reachable from everywhere and protected by IAM. The
    kubeconfig then uses this name. Default false. Changed in place."""

    ip_endpoint: NotRequired[bool]
    """Serve the control plane at IP addresses. Default true; with false, only the DNS endpoint remains. Changed in
    place."""

    public_endpoint: NotRequired[bool]
    """Also give the control plane a public IP address. Requires `authorizedNetworks`. Default false. Changed in
    place."""

    master_cidr: NotRequired[str]
    """A /28 range of internal addresses for the private endpoint of the control plane. Default: GKE uses the node
    subnetwork. A change to another range replaces the cluster. Without a value, the former range remains."""

    authorized_networks: NotRequired[Sequence[AuthorizedNetworkArgs]]
    """Address ranges with access to the control plane, at most 100 (the limit of clusters with private nodes,
    https://cloud.google.com/kubernetes-engine/docs/how-to/authorized-networks). Default: only the VPC. Changed in
    place."""


class AdoptedSystemPoolArgs(TypedDict):
    """A CPU node pool that the stack has adopted."""

    ignore_changes: NotRequired[Sequence[str]]
    """Properties that stay as they are, as in Pulumi's option `ignoreChanges`, such as nodeConfig.oauthScopes. Default:
    none. Removing a property can replace the resource. Removing addonsConfig.rayOperatorConfigs can delete all
    RayClusters. Adding a property changes no resource."""

    names: NotRequired[Sequence[str]]
    """Name of the GKE node pool. Default: the name that a new node pool gets. A change replaces the pool."""

    zones: NotRequired[Sequence[str]]
    """Zones of its nodes. Default: those of a new pool. Nodes of new zones are added in place. Nodes of removed zones
    are deleted."""


class SystemPoolArgs(TypedDict):
    """The CPU node pool for system workloads: DNS, operators, queues."""

    machine_type: NotRequired[str]
    """Machine type without accelerators; custom machine types are supported. Default: e2-standard-4, or n2-standard-4
    in regions without E2 (us-central2). A change rolls the nodes. A machine family that is not in every zone deletes
    the nodes of the other zones."""

    min_nodes: NotRequired[int]
    """Minimum number of nodes in each zone. Default 1. Changed in place."""

    max_nodes: NotRequired[int]
    """Maximum number of nodes in each zone. Default 3. Changed in place."""

    disk_type: NotRequired[str]
    """Boot disk type. Default: pd-balanced, or hyperdisk-balanced for machine families that support only Hyperdisk (N4,
    C4, C4A and later). A change rolls the nodes."""

    disk_size_gb: NotRequired[int]
    """Boot disk size in GB. Default 100. A change rolls the nodes."""

    adopted: NotRequired[AdoptedSystemPoolArgs]
    """An existing node pool, which `tpuplane import` has adopted. Default: create one. A change to a name replaces the
    node pool."""


class ComputeArgs(TypedDict):
    """CPU and memory."""

    cpu: NotRequired[str]
    """CPUs, such as 500m or "2". Default: that of the add-on. Changed in place."""

    memory: NotRequired[str]
    """Memory, such as 512Mi. Default: that of the add-on. Changed in place."""


class OperatorResourcesArgs(TypedDict):
    """CPU and memory of one replica of an operator. The add-on has a default for each (docs/addons.md)."""

    requests: NotRequired[ComputeArgs]
    """Resource requests."""

    limits: NotRequired[ComputeArgs]
    """Resource limits."""


class RequeuingArgs(TypedDict):
    """Requeuing of workloads whose pods did not become ready in time."""

    backoff_limit_count: NotRequired[int]
    """Number of attempts after which the workload is deactivated. Default: unlimited. Changed in place."""

    backoff_base_seconds: NotRequired[int]
    """Seconds before the first new attempt. The time doubles with each further attempt. Default 60. Changed in
    place."""

    backoff_max_seconds: NotRequired[int]
    """Maximum seconds between two attempts. Default 3600. Changed in place."""


class WaitForPodsReadyArgs(TypedDict):
    """All-or-nothing scheduling: Kueue evicts an admitted workload if its pods do not all become ready in time."""

    timeout: NotRequired[str]
    """Time in which all pods must become ready, more than 0. Default 15m, because GKE creates the nodes of a slice
    first. Changed in place."""

    recovery_timeout: NotRequired[str]
    """Time in which a failed pod must become ready again. Default: the same as `timeout`. Changed in place."""

    block_admission: NotRequired[bool]
    """Admit no other workload until the pods are ready. Default false. Changed in place."""

    requeuing: NotRequired[RequeuingArgs]
    """Requeuing of evicted workloads."""


class KueueArgs(TypedDict):
    """Kueue: queues, quota and topology-aware admission of workloads."""

    replicas: NotRequired[int]
    """Number of replicas; one of them is the leader. With 2 or more, a PodDisruptionBudget keeps one running. Default
    1. Changed in place."""

    resources: NotRequired[OperatorResourcesArgs]
    """CPU and memory of a replica."""

    feature_gates: NotRequired[Mapping[str, bool]]
    """Feature gates, on or off. Default: those of the release. Changed in place."""

    integrations: NotRequired[Sequence[str]]
    """Kinds of workloads that Kueue manages. Default: those of Kubernetes (batch/job, pod, deployment, statefulset) and
    of the cluster's add-ons. Changed in place."""

    manage_jobs_without_queue_name: NotRequired[bool]
    """Also suspend workloads without a queue name, so that quota applies to all work. Default false. Changed in
    place."""

    wait_for_pods_ready: NotRequired[WaitForPodsReadyArgs]
    """All-or-nothing scheduling of a workload's pods. Default: off. Changed in place."""

    metrics: NotRequired[bool]
    """Collect metrics of the quota and usage of each queue. Default true. Changed in place."""

    certificates: NotRequired[str]
    """Certificates of the webhooks: internal (Kueue issues them) or cert-manager (required in the cluster). Default
    internal. Changed in place."""


class JobSetArgs(TypedDict):
    """JobSet: groups of jobs that start and restart together, one job for each slice."""

    replicas: NotRequired[int]
    """Number of replicas; one of them is the leader. With 2 or more, a PodDisruptionBudget keeps one running. Default
    1. Changed in place."""

    resources: NotRequired[OperatorResourcesArgs]
    """CPU and memory of a replica."""


class LeaderWorkerSetArgs(TypedDict):
    """LeaderWorkerSet: groups of pods that serve one model together, one group for each slice."""

    replicas: NotRequired[int]
    """Number of replicas; one of them is the leader. The chart has no PodDisruptionBudget. Default 1. Changed in
    place."""

    resources: NotRequired[OperatorResourcesArgs]
    """CPU and memory of a replica."""


class KueueSliceControllerArgs(TypedDict):
    """Kueue's slice controller: it creates Slices of tpu7x cubes for the jobs that Kueue admits. Needs `kueue`,
    `jobset` and the cluster's `sliceController`. While it does not run, the API server rejects each new Job."""

    image: NotRequired[str]
    """Container image, for a mirror or a digest. Default: tpuongke/kueue-slice-controller:latest, as in GKE's manifest.
    Changed in place."""

    resources: NotRequired[OperatorResourcesArgs]
    """CPU and memory of its only replica."""


class RayArgs(TypedDict):
    """KubeRay: RayCluster, RayJob and RayService."""

    mode: NotRequired[str]
    """Installation: gke-addon (Google's add-on, with the TPU webhook), operator (KubeRay's own chart) or none. Default
    gke-addon. A change from none installs the operator. Any other change deletes all RayClusters."""

    replicas: NotRequired[int]
    """Number of replicas of the operator; one of them is the leader. Only with mode: operator. Default 1. Changed in
    place."""

    resources: NotRequired[OperatorResourcesArgs]
    """CPU and memory of a replica. Only with mode: operator."""

    feature_gates: NotRequired[Mapping[str, bool]]
    """Feature gates, on or off. Only with mode: operator. Default: those of the release. Changed in place."""

    batch_scheduler: NotRequired[str]
    """Gang scheduler for Ray's pods, which must be installed in the cluster: volcano, yunikorn, scheduler-plugins or
    kai-scheduler. Only with mode: operator. Default: the scheduler of Kubernetes. Changed in place."""

    watch_namespaces: NotRequired[Sequence[str]]
    """Namespaces of the Ray clusters that the operator manages. Only with mode: operator. Default: all. Changed in
    place."""

    tpu_webhook: NotRequired[bool]
    """Install the TPU webhook. It sets the position of Ray's pods in a slice (worker ID, host names, topology,
    multislice variables) and keeps a slice on one node pool. cert-manager issues its certificate. Only with mode:
    operator, because Google's add-on includes it. Default true. Switching it on creates its resources. Switching it off
    deletes its resources."""


class CertManagerArgs(TypedDict):
    """cert-manager: certificates for webhooks, from issuers in the cluster."""

    replicas: NotRequired[int]
    """Number of replicas of the controller, the webhook and the injector. With 2 or more, PodDisruptionBudgets keep one
    of each running. Default 1. Changed in place."""

    resources: NotRequired[OperatorResourcesArgs]
    """CPU and memory of a replica of the controller."""


class LaunchAgentArgs(TypedDict):
    """The Launch agent of Weights & Biases. It takes jobs from Launch queues and starts them in teams' namespaces.
    Create its API key as the Secret `wandb-api-key-launch-agent` in the namespace `wandb`, under `password`."""

    queues: Sequence[str]
    """Launch queues of the agent. Changed in place."""

    teams: Sequence[str]
    """Teams in whose namespaces the agent may start jobs. Changed in place."""

    entity: NotRequired[str]
    """Weights & Biases team or user that owns the queues. Default: the owner of the API key. Changed in place."""

    max_jobs: NotRequired[int]
    """Maximum number of jobs that run at the same time. Default 10. Changed in place."""

    base_url: NotRequired[str]
    """Address of the Weights & Biases API. Default https://api.wandb.ai. Changed in place."""

    resources: NotRequired[OperatorResourcesArgs]
    """CPU and memory of its only replica."""


class CustomAddonArgs(TypedDict):
    """An operator that tpuplane does not ship."""

    replicas: NotRequired[int]
    """Number of replicas; one of them is the leader. With 2 or more, a PodDisruptionBudget keeps one running. Default
    1. Changed in place."""

    resources: NotRequired[OperatorResourcesArgs]
    """CPU and memory of a replica."""

    definition: str
    """Definition of the operator: a file of the project, by its path from the folder of Pulumi.yaml
    (addons/trainer.yaml), or the name of an add-on of an installed package. Changed in place."""


class MetricsFrontendArgs(TypedDict):
    """Google's frontend of Managed Service for Prometheus, which answers PromQL queries of Grafana and Ray's dashboard
    inside the cluster. It can read the project's metrics and does not authenticate its clients."""

    replicas: NotRequired[int]
    """Number of replicas. With 2 or more, a PodDisruptionBudget keeps one running. Default 2. Changed in place."""

    image: NotRequired[str]
    """Container image, for a mirror or a digest. Default: Google's, by the tag of its release. Changed in place."""


class MonitoringAddonArgs(TypedDict):
    """Managed Service for Prometheus collects metrics of TPU device plugins, Ray clusters of KubeRay's own operator,
    and Kueue."""

    interval_seconds: NotRequired[int]
    """Collection interval in seconds. Default 30. Changed in place."""

    frontend: NotRequired[MetricsFrontendArgs]
    """Frontend for PromQL queries inside the cluster. Default: not installed. Adding it creates its resources. Removing
    it deletes its resources."""


class AddonsArgs(TypedDict):
    """The operators of a cluster. Each is a Helm release, installed in the order of their dependencies."""

    kueue: NotRequired[KueueArgs]
    """Kueue, from its Helm chart. Default: not installed. Adding it installs the operator. Removing it deletes the
    operator and keeps CRDs and objects."""

    jobset: NotRequired[JobSetArgs]
    """JobSet, from its Helm chart. Default: not installed. Adding it installs the operator. Removing it deletes the
    operator and keeps CRDs and objects."""

    leader_worker_set: NotRequired[LeaderWorkerSetArgs]
    """LeaderWorkerSet, from its Helm chart. Default: not installed. Adding it installs the operator. Removing it
    deletes the operator and keeps CRDs and objects."""

    kueue_slice_controller: NotRequired[KueueSliceControllerArgs]
    """Kueue's slice controller, by GKE's manifest. Default: not installed. Adding it installs the operator. Removing it
    deletes the operator and keeps CRDs and objects."""

    ray: NotRequired[RayArgs]
    """KubeRay. Default: GKE's Ray add-on."""

    cert_manager: NotRequired[CertManagerArgs]
    """cert-manager, from its Helm chart. Default: not installed. Adding it creates its resources. Removing it deletes
    cert-manager, but keeps its CRDs and certificates."""

    launch_agent: NotRequired[LaunchAgentArgs]
    """The Launch agent of Weights & Biases, from its Helm chart. Default: not installed. Adding it creates its
    resources. Removing it deletes its resources."""

    custom: NotRequired[Mapping[str, CustomAddonArgs]]
    """Operators of your own, by their names. A new name installs the operator. A removed name deletes the operator and
    keeps CRDs and objects."""

    monitoring: NotRequired[MonitoringAddonArgs]
    """Prometheus metrics of TPUs, Ray and Kueue. Default: not collected. Adding it starts the collection of metrics.
    Removing it ends the collection. With a frontend, removing it also deletes the frontend."""


class EncryptionArgs(TypedDict):
    """A Cloud KMS key in the cluster's region."""

    key: NotRequired[str]
    """An existing key: projects/P/locations/REGION/keyRings/RING/cryptoKeys/KEY. GKE's service agent (for disks:
    Compute Engine's) needs roles/cloudkms.cryptoKeyEncrypterDecrypter on it. Default: create a key for the cluster,
    rotate it every 90 days, and grant the role to the agent."""


class SecurityArgs(TypedDict):
    """Security settings. Private nodes, shielded nodes and Workload Identity are always on."""

    secrets_encryption: NotRequired[EncryptionArgs]
    """Encrypt Kubernetes Secrets in etcd with a Cloud KMS key; `{}` creates one. Default: only Google's own encryption.
    Added in place. GKE encrypts all Secrets with the key. Changed in place. Keep the old key until GKE has encrypted
    all Secrets again. A key that tpuplane created and that is no longer used is deleted; its versions can be restored
    for 30 days."""

    boot_disk_encryption: NotRequired[EncryptionArgs]
    """Encrypt the boot disks of every pool with a Cloud KMS key; `{}` creates one. Default: only Google's own
    encryption. A change replaces the pools. With node auto-provisioning, a change replaces the cluster."""

    posture: NotRequired[str]
    """Security posture dashboard, which checks the configuration of workloads. Google has ended its vulnerability
    scanning, which is always off. Default BASIC, which is free of charge. Changed in place."""

    binary_authorization: NotRequired[str]
    """Whether the cluster admits only images that the project's Binary Authorization policy allows. Default DISABLED.
    Changed in place."""

    anonymous_authentication: NotRequired[str]
    """Endpoints of the API server that need no credentials. LIMITED: only health checks. Default LIMITED. Changed in
    place."""

    security_group: NotRequired[str]
    """Google Group for RBAC: gke-security-groups@DOMAIN. Role bindings can name groups that are members of it. Default:
    none. Changed in place. GKE cannot remove it: the cluster keeps the former value."""

    secret_manager: NotRequired[bool]
    """Secret Manager add-on, which mounts secrets of Secret Manager as files. Default false. Changed in place."""

    clusterwide_network_policy: NotRequired[bool]
    """CiliumClusterwideNetworkPolicy: network policies that apply to all namespaces. Default false. Changed in
    place."""

    fqdn_network_policy: NotRequired[bool]
    """FQDNNetworkPolicy: network policies that allow connections to domain names, such as a registry's. In a cluster
    that had it off, restart the DaemonSet anetd in kube-system afterwards. Default false. Switched on in place.
    Switching it off replaces the cluster."""


class StorageArgs(TypedDict):
    """Storage drivers that GKE installs and manages."""

    persistent_disk: NotRequired[bool]
    """Compute Engine persistent disk and Hyperdisk. Default true. Switching it off deletes the storage classes of
    `storage.disks` in the cluster, and new pods get no disks. Switching it on creates them. Without `storage.disks`,
    changed in place."""

    gcs_fuse: NotRequired[bool]
    """Cloud Storage FUSE, which mounts buckets as file systems, for data sets and checkpoints. Default false. Changed
    in place."""

    filestore: NotRequired[bool]
    """Filestore: NFS volumes. Default false. Changed in place."""

    lustre: NotRequired[bool]
    """Managed Lustre, a parallel file system. Google no longer supports the Parallelstore driver. Default false.
    Changed in place."""


class MonitoringArgs(TypedDict):
    """Metrics and logs of the cluster in Cloud Monitoring and Cloud Logging."""

    components: NotRequired[Sequence[str]]
    """Components with collected metrics; SYSTEM_COMPONENTS is required. Default: all components of workloads and nodes
    that the cluster's version supports. Changed in place."""

    managed_prometheus: NotRequired[bool]
    """Google Cloud Managed Service for Prometheus. Default true. Changed in place."""

    logs: NotRequired[Sequence[str]]
    """Components with collected logs; SYSTEM_COMPONENTS is required. Default SYSTEM_COMPONENTS and WORKLOADS. Changed
    in place."""


class MaintenanceWindowArgs(TypedDict):
    """The weekly hours in which GKE may upgrade the cluster and its nodes."""

    days: NotRequired[Sequence[str]]
    """Days of the window, from MO to SU. Default: every day. Changed in place."""

    start: str
    """Start time of the window, in UTC and in quotes: "02:00". Changed in place."""

    hours: NotRequired[int]
    """Length of the window in hours. GKE requires at least 4. Default 4. Changed in place."""


class MaintenanceExclusionArgs(TypedDict):
    """A period without upgrades, for example for a long training run."""

    start: str
    """Start of the period: 2026-12-20, or 2026-12-20T08:00:00Z. Changed in place."""

    end: NotRequired[str]
    """End of the period. Not together with `untilEndOfSupport`. Changed in place."""

    until_end_of_support: NotRequired[bool]
    """End the period when the cluster's minor version is no longer supported. Not together with `end`. Default false.
    Changed in place."""

    scope: NotRequired[str]
    """Upgrades that do not take place: NO_UPGRADES (any), NO_MINOR_UPGRADES (minor versions) or
    NO_MINOR_OR_NODE_UPGRADES (minor versions and nodes). Default NO_MINOR_OR_NODE_UPGRADES, so that the control plane
    gets patches and the nodes of a slice remain. Changed in place."""


class MaintenanceArgs(TypedDict):
    """The maintenance window of the cluster and its exclusions."""

    window: MaintenanceWindowArgs
    """The weekly hours in which GKE may upgrade."""

    exclusions: NotRequired[Mapping[str, MaintenanceExclusionArgs]]
    """Periods without upgrades, by name: at most 20, at most 3 of them with scope NO_UPGRADES. Changed in place."""


class AutoProvisioningLimitsArgs(TypedDict):
    """Maximum size of the whole cluster. GKE counts every node of the cluster, also the nodes of declared pools."""

    cpu: int
    """Maximum vCPUs of the cluster. GKE requires this limit. Changed in place."""

    memory_gb: int
    """Maximum memory of the cluster's nodes, in GB. GKE requires this limit. Changed in place."""

    tpu: Mapping[str, int]
    """Maximum TPU chips of the cluster, by generation. Pods that request another generation get no node. Changed in
    place."""


class AutoProvisioningArgs(TypedDict):
    """Node pools that GKE creates for pods that fit on no existing node, and deletes when they are empty. Each
    multi-host slice is a separate node pool."""

    limits: AutoProvisioningLimitsArgs
    """Maximum size of the cluster."""

    zones: NotRequired[Sequence[str]]
    """Zones for new node pools. Default: the zones of the cluster's region that offer one of the generations. Changed
    in place."""

    autoscaling_profile: NotRequired[str]
    """Removal of idle nodes in all pools: BALANCED, or OPTIMIZE_UTILIZATION (sooner). Default BALANCED. Changed in
    place."""

    disk_type: NotRequired[str]
    """Boot disk type of new node pools. GKE uses hyperdisk-balanced for machines that support no other type. Default
    pd-balanced. Changed in place, for new pools."""

    disk_size_gb: NotRequired[int]
    """Boot disk size of new node pools, in GB. Default 100. Changed in place, for new pools."""

    auto_repair: NotRequired[bool]
    """Let GKE repair the hosts of new node pools. Default true. Changed in place, for new pools."""

    auto_upgrade: NotRequired[bool]
    """Let GKE upgrade the hosts of new node pools. Default true; required in a release channel. Changed in place, for
    new pools."""


class PlatformExistingClusterArgs(TypedDict):
    """An existing cluster in the platform's project and at the cluster's `location`. tpuplane adds pools and objects to
    it, and never creates, changes or deletes the cluster."""

    name: str
    """Name of the cluster in Google Cloud. A change replaces everything that tpuplane added."""

    dns_endpoint: NotRequired[bool]
    """Use the DNS endpoint of its control plane instead of the IP address. Default false. Changed in place."""


class AdoptedClusterArgs(TypedDict):
    """A cluster that the stack has adopted. tpuplane creates no service account for its nodes: without
    `nodeServiceAccount`, new pools use the project's default one."""

    ignore_changes: NotRequired[Sequence[str]]
    """Properties that stay as they are, as in Pulumi's option `ignoreChanges`, such as nodeConfig.oauthScopes. Default:
    none. Removing a property can replace the resource. Removing addonsConfig.rayOperatorConfigs can delete all
    RayClusters. Adding a property changes no resource."""

    name: NotRequired[str]
    """Name of the cluster in Google Cloud. Default: `<platform>-<name>`. A change replaces the cluster."""


class ExistingNetworkArgs(TypedDict):
    """An existing subnetwork in the cluster's region. tpuplane never changes or deletes it. The nodes need access to
    image registries, for example by Cloud NAT, which is not created."""

    network: str
    """VPC: its name, or projects/HOST/global/networks/NAME in the host project of a shared VPC."""

    subnetwork: str
    """Subnetwork: its name, or projects/HOST/regions/REGION/subnetworks/NAME."""

    pods_range: NotRequired[str]
    """Name of the subnetwork's secondary range for pods. Default pods."""

    services_range: NotRequired[str]
    """Name of the subnetwork's secondary range for services. Default services."""


class ClusterNetworkArgs(TypedDict):
    """Address ranges of the cluster in the platform's VPC. Ranges of different clusters must not overlap."""

    existing: NotRequired[ExistingNetworkArgs]
    """Use an existing subnetwork. The size of its ranges is not checked. Default: create a subnetwork in the platform's
    VPC. A change replaces the cluster."""

    nodes_cidr: NotRequired[str]
    """Primary range: one address for each node. Default 10.0.0.0/20 (4,092 nodes). Changed in place to a larger range
    that contains the old one. A change to a range that does not contain the old one replaces the cluster."""

    pods_cidr: NotRequired[str]
    """Secondary range for pods: internal addresses, because GKE's default SNAT is on in the clusters of a platform.
    Each node gets a block, whose size depends on its pods per node. Default 10.64.0.0/14. A change replaces the
    cluster."""

    services_cidr: NotRequired[str]
    """Secondary range for Services: one address for each Service, at least a /27. Default 10.32.0.0/20 (4,096
    Services). A change replaces the cluster."""

    proxies_cidr: NotRequired[str]
    """Range of the proxy-only subnetwork of the cluster's region, for regional Gateways such as those of the Inference
    Gateway: at least a /26; Google recommends a /23. Set it in only one cluster of a region: all clusters of the region
    share the range. Default: none. A change deletes the proxy-only subnetwork, which Google rejects while a Gateway
    uses it. Adding it creates its resources."""


class PoolAutoscalingArgs(TypedDict):
    """Minimum and maximum number of slices. GKE adds and removes a multi-host slice as a whole."""

    min_slices: NotRequired[int]
    """Minimum number of slices. GKE keeps them when they are idle. Default 0. Changed in place."""

    max_slices: int
    """Maximum number of slices. A higher number adds slices after the existing ones. A lower number deletes slices. A
    change that deletes no node with work is made in place."""


class ReservationUseArgs(TypedDict):
    """The part of a reservation that a pool uses."""

    name: str
    """Name of one of the platform's reservations."""

    block: NotRequired[str]
    """Block of the reservation. Default: any block."""

    sub_block: NotRequired[str]
    """Sub-block of `block`. Default: any sub-block."""


class FlexStartArgs(TypedDict):
    """Hosts from Dynamic Workload Scheduler, which start when capacity is available and stop after a limited time."""

    max_run_duration: NotRequired[str]
    """Maximum run time of a host, from 10m to 7d. Default 7d. A change replaces the pool."""

    queued: NotRequired[bool]
    """Queued provisioning: GKE creates all hosts together for a ProvisioningRequest, which Kueue makes, or none. TPUs:
    v6e and tpu7x only. Default false. A change replaces the pool."""


class SecondaryBootDiskArgs(TypedDict):
    """A disk with data or container images that each host has when it starts."""

    disk_image: str
    """Source image of the disk: projects/PROJECT/global/images/NAME."""

    mode: NotRequired[str]
    """CONTAINER_IMAGE_CACHE: container images, which need no pull; requires `imageStreaming`. DATA: files for the pods.
    Default CONTAINER_IMAGE_CACHE."""


class ExtraNetworkArgs(TypedDict):
    """An additional network interface of each host, in an existing VPC."""

    network: str
    """VPC of the interface: its name, or its path if another project owns it. The platform's VPC is rejected."""

    subnetwork: str
    """Subnetwork of that VPC in the pool's region: its name or path."""


class AdoptedPoolArgs(TypedDict):
    """Node pools that the stack has adopted."""

    ignore_changes: NotRequired[Sequence[str]]
    """Properties that stay as they are, as in Pulumi's option `ignoreChanges`, such as nodeConfig.oauthScopes. Default:
    none. Removing a property can replace the resource. Removing addonsConfig.rayOperatorConfigs can delete all
    RayClusters. Adding a property changes no resource."""

    names: NotRequired[Sequence[str]]
    """Names of the GKE node pools, in the order of the slices. Default: the names that new node pools get. A change
    replaces the pool."""


class PoolArgs(TypedDict):
    """Slices of one shape. Each multi-host slice is a GKE node pool. Single-host slices are the nodes of one node
    pool."""

    generation: str
    """TPU generation, such as v5e or v6e. A change replaces the pool."""

    topology: str
    """Chips of one slice in each dimension, such as 4x4 or 2x2x2. A change replaces the pool."""

    machine_type: NotRequired[str]
    """Machine type of the hosts. For example, v6e 2x4 is two hosts with four chips each, or one ct6e-standard-8t.
    Default: the generation's multi-host machine type, or the one that supports the topology. A change replaces the
    pool."""

    zone: NotRequired[str]
    """Zone of the hosts. Required if several zones of the cluster's region offer the generation. Default: the cluster's
    zone, or the only zone that offers the generation. A change replaces a multi-host pool. Nodes of single-host slices
    in the former zone are deleted."""

    slices: NotRequired[int]
    """Fixed number of slices. 0 keeps the pool in the file and creates nothing. Not together with `autoscaling`.
    Default 1. A higher number adds slices after the existing ones. A lower number deletes slices. A change that deletes
    no node with work is made in place."""

    autoscaling: NotRequired[PoolAutoscalingArgs]
    """Scale the number of slices with the work. Not together with `slices`. A higher number adds slices after the
    existing ones. A lower number deletes slices. A change that deletes no node with work is made in place."""

    capacity: NotRequired[str]
    """Provisioning model of the hosts: on-demand, spot (cheaper, can be reclaimed at any time), reservation (reserved
    in advance) or flex-start (created when capacity is available, for at most 7 days). A change replaces the pool."""

    reservation: NotRequired[ReservationUseArgs]
    """The reservation of the hosts. Required with capacity: reservation, rejected with any other. A change replaces the
    pool."""

    flex_start: NotRequired[FlexStartArgs]
    """Settings of flex-start hosts. Only with capacity: flex-start. Default: a run time of 7 days, not queued. A change
    replaces the pool."""

    disk_type: NotRequired[str]
    """Boot disk type. Default: the first that the machine type supports (v6e, tpu7x, A3 Ultra and A4 support
    hyperdisk-balanced only). A change rolls the nodes."""

    disk_size_gb: NotRequired[int]
    """Boot disk size in GB. Default 100. A change rolls the nodes."""

    image_streaming: NotRequired[bool]
    """Start containers before their images are loaded completely. Supports images in Artifact Registry. Default false.
    Switching it on rolls the nodes. Switching it off changes only new node pools: an existing one keeps it."""

    network_tags: NotRequired[Sequence[str]]
    """Network tags of the hosts, by which firewall rules select them. Default: none. Changed in place."""

    secondary_boot_disks: NotRequired[Sequence[SecondaryBootDiskArgs]]
    """Disks with data or container images that every host has when it starts. Default: none. A change replaces the
    pool."""

    extra_networks: NotRequired[Sequence[ExtraNetworkArgs]]
    """Additional network interfaces of each host, at most 7. They enable multi-networking in the cluster. Default:
    none. A change replaces the pool."""

    max_pods_per_node: NotRequired[int]
    """Maximum pods on a host. GKE reserves at least twice as many addresses for each host: 64 for 32 pods, 256 for
    GKE's own default of 110. Default 32. A change replaces the pool."""

    auto_repair: NotRequired[bool]
    """Let GKE repair unhealthy hosts. GKE recreates all hosts of a multi-host slice. Default true; with capacity:
    flex-start GKE supports false only. Changed in place."""

    auto_upgrade: NotRequired[bool]
    """Let GKE upgrade the hosts. Default true; required in a release channel. Changed in place."""

    host_maintenance: NotRequired[str]
    """Host maintenance by Compute Engine: AS_NEEDED, or PERIODIC (less frequent, announced). Default: that of the
    machine type or the reservation. A change replaces the pool."""

    compute_class: NotRequired[str]
    """Compute class of the pool: only pods that request the class run on its nodes. A pool that a platform's class
    names in its priorities belongs to that class without this field. Default: none. Changed in place."""

    labels: NotRequired[Mapping[str, str]]
    """Google Cloud labels of the hosts, in addition to the cluster's. Changed in place."""

    node_labels: NotRequired[Mapping[str, str]]
    """Kubernetes labels of the nodes, in addition to those that GKE and tpuplane set. Changed in place."""

    formerly: NotRequired[str]
    """Former name of a renamed pool. GKE cannot rename node pools, so the names of the pool's node pools begin with it.
    Default: none. A change to a name replaces the node pool."""

    adopted: NotRequired[AdoptedPoolArgs]
    """Existing node pools, which `tpuplane import` has adopted. Default: create them. A change to a name replaces the
    node pool."""

    accelerator_topology_mode: NotRequired[str]
    """Connection of the chips of a tpu7x slice: AUTO_CONNECT when its hosts start, or PROVISION_ONLY for dynamic
    slicing later (only for cubes of a block of a reservation). Default: that of Compute Engine. A change replaces the
    pool."""

    sub_slices: NotRequired[Sequence[str]]
    """Topologies of parts of a v5e or v6e slice that jobs can have, such as 4x4 and 2x4 of 8x8. Kueue ignores hosts
    that lack GKE's label for one of these topologies. A change renames the flavor of the pool. Default: whole slices
    only. Changed in place."""


class GpuAutoscalingArgs(TypedDict):
    """Minimum and maximum number of nodes in each zone."""

    min_nodes: NotRequired[int]
    """Minimum number of nodes in each zone. GKE keeps them when they are idle. Default 0. Changed in place."""

    max_nodes: int
    """Maximum number of nodes in each zone. Changed in place."""


class GpuSharingArgs(TypedDict):
    """Several containers share one GPU. Each container requests one `nvidia.com/gpu`, and the node offers a multiple of
    its GPUs."""

    strategy: str
    """TIME_SHARING: containers run in turns. MPS: containers run at the same time, each with a part of the GPU (NVIDIA
    Multi-Process Service). A change replaces the pool."""

    max_clients: int
    """Maximum number of containers on one GPU or one partition, from 2 to 48. A change replaces the pool."""


class GpuPoolArgs(TypedDict):
    """Nodes of one machine type with GPUs: one GKE node pool with the pool's name."""

    capacity: NotRequired[str]
    """Provisioning model of the hosts: on-demand, spot (cheaper, can be reclaimed at any time), reservation (reserved
    in advance) or flex-start (created when capacity is available, for at most 7 days). A change replaces the pool."""

    reservation: NotRequired[ReservationUseArgs]
    """The reservation of the hosts. Required with capacity: reservation, rejected with any other. A change replaces the
    pool."""

    flex_start: NotRequired[FlexStartArgs]
    """Settings of flex-start hosts. Only with capacity: flex-start. Default: a run time of 7 days, not queued. A change
    replaces the pool."""

    disk_type: NotRequired[str]
    """Boot disk type. Default: the first that the machine type supports (v6e, tpu7x, A3 Ultra and A4 support
    hyperdisk-balanced only). A change rolls the nodes."""

    disk_size_gb: NotRequired[int]
    """Boot disk size in GB. Default 100. A change rolls the nodes."""

    image_streaming: NotRequired[bool]
    """Start containers before their images are loaded completely. Supports images in Artifact Registry. Default false.
    Switching it on rolls the nodes. Switching it off changes only new node pools: an existing one keeps it."""

    network_tags: NotRequired[Sequence[str]]
    """Network tags of the hosts, by which firewall rules select them. Default: none. Changed in place."""

    secondary_boot_disks: NotRequired[Sequence[SecondaryBootDiskArgs]]
    """Disks with data or container images that every host has when it starts. Default: none. A change replaces the
    pool."""

    extra_networks: NotRequired[Sequence[ExtraNetworkArgs]]
    """Additional network interfaces of each node, at most 9. They enable multi-networking in the cluster. GPUDirect
    needs 4 on A3 High, 8 on A3 Mega, 9 on A3 Ultra and A4. Default: none. A change replaces the pool."""

    max_pods_per_node: NotRequired[int]
    """Maximum pods on a host. GKE reserves at least twice as many addresses for each host: 64 for 32 pods, 256 for
    GKE's own default of 110. Default 32. A change replaces the pool."""

    auto_repair: NotRequired[bool]
    """Let GKE repair unhealthy hosts. GKE recreates all hosts of a multi-host slice. Default true; with capacity:
    flex-start GKE supports false only. Changed in place."""

    auto_upgrade: NotRequired[bool]
    """Let GKE upgrade the hosts. Default true; required in a release channel. Changed in place."""

    host_maintenance: NotRequired[str]
    """Host maintenance by Compute Engine: AS_NEEDED, or PERIODIC (less frequent, announced). Default: that of the
    machine type or the reservation. A change replaces the pool."""

    compute_class: NotRequired[str]
    """Compute class of the pool: only pods that request the class run on its nodes. A pool that a platform's class
    names in its priorities belongs to that class without this field. Default: none. Changed in place."""

    labels: NotRequired[Mapping[str, str]]
    """Google Cloud labels of the hosts, in addition to the cluster's. Changed in place."""

    node_labels: NotRequired[Mapping[str, str]]
    """Kubernetes labels of the nodes, in addition to those that GKE and tpuplane set. Changed in place."""

    formerly: NotRequired[str]
    """Former name of a renamed pool. GKE cannot rename node pools, so the names of the pool's node pools begin with it.
    Default: none. A change to a name replaces the node pool."""

    adopted: NotRequired[AdoptedPoolArgs]
    """Existing node pools, which `tpuplane import` has adopted. Default: create them. A change to a name replaces the
    node pool."""

    accelerator: NotRequired[str]
    """GPU model, as in GKE's label cloud.google.com/gke-accelerator, such as nvidia-l4 or nvidia-h100-80gb. Default:
    that of `machineType`. A change replaces the pool."""

    gpus: NotRequired[int]
    """GPUs of one node. Default: those of `machineType`, or the fewest of a machine with this accelerator. A change
    replaces the pool."""

    machine_type: NotRequired[str]
    """Machine type of the nodes. Required without `accelerator`. Default: the one with `accelerator` and `gpus`
    (nvidia-l4 with one GPU: g2-standard-12). A change rolls the nodes. Another GPU model or number replaces the
    pool."""

    zones: NotRequired[Sequence[str]]
    """Zones of the nodes. Default: the cluster's zone, or the only zone of its region that offers the machine type.
    Nodes of new zones are added in place. Nodes of removed zones are deleted."""

    nodes: NotRequired[int]
    """Fixed number of nodes in each zone. Not together with `autoscaling`. Default 1. The first node creates the node
    pool. A lower fixed number deletes nodes. A change that deletes no node with work is made in place."""

    autoscaling: NotRequired[GpuAutoscalingArgs]
    """Scale the number of nodes with the work. Not together with `nodes`. The first node creates the node pool. A lower
    fixed number deletes nodes. A change that deletes no node with work is made in place."""

    driver: NotRequired[str]
    """NVIDIA driver that GKE installs: DEFAULT, LATEST, or INSTALLATION_DISABLED (you install the driver). Default
    DEFAULT. A change replaces the pool."""

    sharing: NotRequired[GpuSharingArgs]
    """Share one GPU between several containers. Default: one container for each GPU. A change replaces the pool."""

    partition_size: NotRequired[str]
    """Divide each GPU into partitions of this size (multi-instance GPU), such as 1g.10gb. Each container gets one
    partition. Default: whole GPUs. A change replaces the pool."""

    local_ssds: NotRequired[int]
    """Number of 375 GB Local SSDs for the ephemeral storage of pods. Default: those that the machine type includes;
    none on G2 and A2 High. A change replaces the pool."""

    compact_placement: NotRequired[bool]
    """Place the nodes close to each other, for low latency between them. Only in one zone. Default false. A change
    replaces the pool."""


class CheckpointingPoolArgs(TypedDict):
    """The RAM disk on each host of a pool."""

    ram_disk_gb: int
    """Size in GB, for about two checkpoints of the host's part of the model. Kubernetes does not reserve it: leave this
    much memory free in the requests of pods. A change deletes the RAM disks with their checkpoints, and creates
    others."""


class CheckpointingArgs(TypedDict):
    """Multi-tier checkpointing: jobs write checkpoints to RAM disks. GKE copies them to other hosts, and backs them up
    to a bucket."""

    bucket: str
    """The bucket for backups: a name in `storage.buckets`, with purpose `checkpoints`, in the cluster's region. A
    change deletes the RAM disks with their checkpoints, and creates others."""

    pools: Mapping[str, CheckpointingPoolArgs]
    """TPU pools whose hosts get a RAM disk, by name. A new name creates the RAM disk. A removed name deletes the RAM
    disk."""


class PlatformClusterArgs(TypedDict):
    """One GKE cluster: its settings, and its pools of TPU slices and GPU nodes."""

    location: str
    """A zone, or a region such as us-central1, whose control plane survives the loss of a zone. Pools of a cluster in a
    zone can be in the other zones of its region too. A change replaces the cluster."""

    release_channel: NotRequired[str]
    """GKE release channel. Default REGULAR. GKE rejects UNSPECIFIED (no channel) for new projects. A change to a
    channel with newer versions upgrades the cluster, and GKE recreates its nodes within the maintenance windows. With a
    channel with older versions, the cluster keeps its version until the channel has a newer one. A cluster that joins a
    channel is upgraded, and GKE recreates its nodes within the maintenance windows. With UNSPECIFIED, the cluster keeps
    its version."""

    version: NotRequired[str]
    """Minimum version of the control plane, such as "1.34". Write it in quotes, because YAML reads 1.30 as the number
    1.3. Default: the version of the release channel. A higher version upgrades an older control plane at once, one
    minor version at a time, and GKE recreates the nodes within the maintenance windows. With a lower version or none,
    the cluster keeps its version."""

    control_plane: NotRequired[ControlPlaneArgs]
    """Access to the control plane."""

    system_pool: NotRequired[SystemPoolArgs]
    """The CPU node pool."""

    addons: NotRequired[AddonsArgs]
    """Operators: Kueue, JobSet, KubeRay. Default: only GKE's Ray add-on."""

    security: NotRequired[SecurityArgs]
    """Encryption, admission and other security settings."""

    storage: NotRequired[StorageArgs]
    """Storage drivers."""

    monitoring: NotRequired[MonitoringArgs]
    """Metrics and logs that Google Cloud collects."""

    gateway_api: NotRequired[str]
    """Kubernetes Gateway API, which the Inference Gateway needs: GKE installs its kinds and serves Gateways. Default:
    that of GKE, which is off in Standard clusters. Changed in place. The cluster keeps the former value; write
    CHANNEL_DISABLED to switch it off."""

    slice_controller: NotRequired[bool]
    """GKE's slice controller, which makes slices of the cubes of tpu7x pools with acceleratorTopologyMode
    PROVISION_ONLY. It needs release channel RAPID. Delete all Slices before you switch it off. Default: that of GKE,
    which is off. Changed in place. The cluster keeps the former value; write false to switch it off."""

    cost_allocation: NotRequired[bool]
    """Divide the cluster's cost by namespace and label in the billing export. Default true. Changed in place."""

    maintenance: NotRequired[MaintenanceArgs]
    """Times at which GKE may upgrade the cluster and its nodes. Default: any time. Changed in place."""

    auto_provisioning: NotRequired[AutoProvisioningArgs]
    """Node auto-provisioning: GKE creates node pools for pods that fit on no existing node, within limits. Default:
    none. Changed in place. In a cluster with `bootDiskEncryption`, adding or removing `autoProvisioning` replaces the
    cluster."""

    deletion_protection: NotRequired[bool]
    """Reject the deletion of the cluster with its node pools, and each deletion or replacement of an adopted node pool.
    Default true. Changed in place."""

    labels: NotRequired[Mapping[str, str]]
    """Google Cloud labels, in addition to the platform's. Changed in place."""

    existing: NotRequired[PlatformExistingClusterArgs]
    """Use an existing cluster. `releaseChannel`, `version` and `addons.ray.mode` then describe that cluster, and fields
    that would configure it are rejected. Default: create the cluster. Adding or removing it replaces everything in the
    cluster."""

    adopted: NotRequired[AdoptedClusterArgs]
    """An existing cluster that the stack manages, because `tpuplane import` has adopted it. Without
    `nodeServiceAccount`, its pools use the project's default account. Default: create the cluster. A change to the name
    replaces the cluster."""

    node_service_account: NotRequired[str]
    """E-mail address of an existing service account for the nodes. It needs at least
    roles/container.defaultNodeServiceAccount, and roles/artifactregistry.reader to pull images. Default: create a
    service account with these two roles for the cluster. A change replaces the pools."""

    network: NotRequired[ClusterNetworkArgs]
    """Address ranges."""

    namespaces: NotRequired[Sequence[str]]
    """Kubernetes namespaces to create. A new name creates the namespace. Removing a namespace deletes everything in it.
    A namespace that moves to or from a team keeps its work. Its running jobs keep their quota until they end, and its
    other jobs wait in a local queue of the same name, if the new team has one."""

    pools: NotRequired[Mapping[str, PoolArgs]]
    """Pools of TPU slices, by name. Names of node pools begin with the pool's name. A new name creates the pool. A
    removed name deletes the pool. A pool under another name with `formerly`, or an adopted one, is changed in place."""

    gpu_pools: NotRequired[Mapping[str, GpuPoolArgs]]
    """Pools of GPU nodes, by name, which is also the name of the node pool. It must be unique among the cluster's
    pools. A new name creates the pool. A removed name deletes the pool. A pool under another name with `formerly`, or
    an adopted one, is changed in place."""

    multi_tier_checkpointing: NotRequired[CheckpointingArgs]
    """Checkpoints of slices in RAM disks of their hosts, with backups in a bucket: the add-on, and its object for each
    pool. Needs `storage.gcsFuse` and JobSet. Default: none. Adding it creates its resources. Removing it deletes the
    RAM disks with their checkpoints. The add-on stays on."""


class ReservationArgs(TypedDict):
    """An existing reservation, as `gcloud compute reservations describe` shows it. It reserves TPUs (`generation`,
    `chips`) or GPUs (`accelerator`, `gpus`)."""

    zone: str
    """Zone of the reservation."""

    generation: NotRequired[str]
    """Reserved TPU generation, such as v6e."""

    chips: NotRequired[int]
    """Number of reserved chips: VMs times chips of one VM."""

    accelerator: NotRequired[str]
    """Reserved GPU model, such as nvidia-h100-mega-80gb."""

    gpus: NotRequired[int]
    """Number of reserved GPUs: VMs times GPUs of one VM."""

    project: NotRequired[str]
    """Project that owns and shares the reservation. Default: the platform's project. A change replaces the pools."""

    machine_type: NotRequired[str]
    """Machine type of the reserved VMs. Default: any with these chips or GPUs."""

    maintenance_interval: NotRequired[str]
    """Host maintenance of the reserved VMs: AS_NEEDED or PERIODIC. Default: not compared with the pools. A change
    replaces the pools without `hostMaintenance`."""

    active: NotRequired[bool]
    """Whether the reservation is usable now. Set it to false for a future reservation until its first day. Default
    true."""


class QuotaArgs(TypedDict):
    """TPU chips of one generation, or GPUs of one model, that the project may use at the same time in one region or
    zone."""

    on_demand: NotRequired[int]
    """Quota for on-demand hosts, in chips or GPUs. Default: not declared, not checked."""

    preemptible: NotRequired[int]
    """Google's preemptible quota, for spot and flex-start hosts, in chips or GPUs. Default: not declared, not
    checked."""


class ClassTpuArgs(TypedDict):
    """Slices of one shape."""

    type: str
    """TPU generation, such as v6e, or its name in GKE, such as tpu-v6e-slice."""

    topology: str
    """Chips of one slice in each dimension, such as 4x4 or 2x2x2."""

    count: NotRequired[int]
    """Chips of one host, which a pod requests as google.com/tpu. Default: those of the generation's multi-host machine
    type, or of the one that supports the topology."""


class ClassGpuSharingArgs(TypedDict):
    """Several pods share one GPU."""

    sharing_strategy: NotRequired[str]
    """Sharing strategy. Default: no sharing."""

    max_shared_clients_per_gpu: NotRequired[int]
    """Maximum number of pods on one GPU."""

    gpu_partition_size: NotRequired[str]
    """Size of a partition, such as 1g.5gb. Default: the whole GPU."""


class ClassGpuArgs(TypedDict):
    """GPUs of one model."""

    type: NotRequired[str]
    """GPU model, such as nvidia-l4. Default: that of `machineType`."""

    count: NotRequired[int]
    """GPUs of one node. Default: those of `machineType`."""

    driver_version: NotRequired[str]
    """Driver that GKE installs. Default: default."""

    topology: NotRequired[str]
    """Topology of the GPUs of a slice, such as 1x72. Only for A4X, with `placement`."""

    gpu_sharing: NotRequired[ClassGpuSharingArgs]
    """Sharing of one GPU between several pods. Default: no sharing."""


class ClassNodeRecyclingArgs(TypedDict):
    """Replacement of flex-start nodes before they expire."""

    lead_time_seconds: int
    """Seconds before a node expires at which GKE requests the next one."""


class ClassFlexStartArgs(TypedDict):
    """Nodes from Dynamic Workload Scheduler, which start when capacity is available and expire after at most seven
    days."""

    enabled: NotRequired[bool]
    """Whether the priority uses flex-start. Default true."""

    node_recycling: NotRequired[ClassNodeRecyclingArgs]
    """Replacement of nodes before they expire. Default: none."""


class ClassReservationSubBlockArgs(TypedDict):
    """A sub-block of a reservation's block."""

    name: str
    """Name of the sub-block."""


class ClassReservationBlockArgs(TypedDict):
    """A block of a reservation."""

    name: str
    """Name of the block."""

    reservation_sub_block: NotRequired[ClassReservationSubBlockArgs]
    """Sub-block of the block. Default: any sub-block."""


class ClassReservationArgs(TypedDict):
    """One reservation for nodes."""

    name: str
    """Name of one of the platform's reservations."""

    reservation_block: NotRequired[ClassReservationBlockArgs]
    """Block of the reservation. Default: any block."""

    zones: NotRequired[Sequence[str]]
    """Zones in which the reservation is used. Default: its own zone."""


class ClassReservationsArgs(TypedDict):
    """Reservations for nodes."""

    affinity: NotRequired[str]
    """Specific: the reservations in `specific`; the only value for TPUs. AnyBestEffort: any that fits, otherwise
    on-demand. AnyThenFail: any that fits, otherwise none. None: no reservation. Default Specific."""

    specific: NotRequired[Sequence[ClassReservationArgs]]
    """The reservations. Only with affinity: Specific."""


class ClassLocationArgs(TypedDict):
    """Location of the nodes."""

    zones: NotRequired[Sequence[str]]
    """Zones in the cluster's region. Default: GKE selects."""

    location_policy: NotRequired[str]
    """ANY: the zone with capacity. BALANCED: spread over the zones. Default: GKE selects."""

    zone_types: NotRequired[Sequence[str]]
    """Types of zones instead of zone names. Default: the types of the cluster's zones."""


class ClassPlacementArgs(TypedDict):
    """An existing resource policy for the placement of the nodes."""

    policy_name: str
    """Name of the policy."""


class ClassStorageSecondaryDiskArgs(TypedDict):
    """A disk that every node has when it starts."""

    disk_image_name: str
    """Source image of the disk."""

    project: NotRequired[str]
    """Project of the image. Default: that of the cluster."""

    mode: NotRequired[str]
    """CONTAINER_IMAGE_CACHE: the disk has container images. Default: data."""


class ClassStorageArgs(TypedDict):
    """Disks of the nodes."""

    boot_disk_type: NotRequired[str]
    """Boot disk type. Default: that of the machine type."""

    boot_disk_size: NotRequired[int]
    """Boot disk size in GB. Default: 100, as in GKE."""

    boot_disk_kms_key: NotRequired[str]
    """Cloud KMS key of the boot disk: projects/…/locations/…/keyRings/…/cryptoKeys/…. Default: only Google's own
    encryption."""

    boot_disk_provisioned_iops: NotRequired[int]
    """Provisioned I/O operations per second of a Hyperdisk, together with its throughput."""

    boot_disk_provisioned_throughput: NotRequired[int]
    """Provisioned throughput of a Hyperdisk in MiB/s, together with its operations."""

    boot_disk_storage_pools: NotRequired[Sequence[str]]
    """Storage pools of hyperdisk-balanced boot disks: projects/…/zones/…/storagePools/…."""

    local_ssd_count: NotRequired[int]
    """Number of Local SSDs of one node."""

    secondary_boot_disks: NotRequired[Sequence[ClassStorageSecondaryDiskArgs]]
    """Disks that every node has when it starts. Default: none."""


class ClassTaintArgs(TypedDict):
    """A taint of the nodes."""

    key: str
    """Key of the taint."""

    value: NotRequired[str]
    """Value of the taint. Default: none."""

    effect: str
    """Effect on pods without a matching toleration."""


class ClassMinimumCapacityArgs(TypedDict):
    """Nodes that exist before pods request them."""

    target_node_count: int
    """Number of nodes."""


class ClassPriorityArgs(TypedDict):
    """One node configuration. GKE tries the priorities from the first to the last."""

    nodepools: NotRequired[Sequence[str]]
    """Pools of the cluster, by their names in this file. All node pools of such a pool belong to the class. In an
    existing cluster, also names of existing node pools. Only with `priorityScore` and `allocationStrategy`."""

    tpu: NotRequired[ClassTpuArgs]
    """TPU slices."""

    gpu: NotRequired[ClassGpuArgs]
    """GPUs."""

    machine_family: NotRequired[str]
    """Machine family, such as n2. Not together with `machineType`."""

    machine_type: NotRequired[str]
    """Machine type, such as n2-standard-8."""

    min_cores: NotRequired[int]
    """Minimum vCPUs of a node. Not together with `machineType`."""

    min_memory_gb: NotRequired[int]
    """Minimum memory of a node, in GB. Not together with `machineType`."""

    min_cpu_platform: NotRequired[str]
    """Minimum CPU platform. Default: any."""

    pod_family: NotRequired[str]
    """Pod-based machines and pricing. Only with `autopilot`."""

    spot: NotRequired[bool]
    """Spot VMs: cheaper nodes that can be reclaimed at any time. Default false."""

    flex_start: NotRequired[ClassFlexStartArgs]
    """Flex-start nodes, which start when capacity is available and expire after at most seven days. Default:
    on-demand."""

    max_run_duration_seconds: NotRequired[int]
    """Maximum run time of a node, in seconds, from 30 to 10,368,000 (120 days); with flex-start 600 to 604,800.
    Default: unlimited; 7 days with flex-start."""

    capacity_check_wait_time_seconds: NotRequired[int]
    """Seconds for which GKE tries this priority before the next one. Only with multi-host slices and flex-start; GKE
    ignores it for single TPU hosts."""

    reservations: NotRequired[ClassReservationsArgs]
    """Reservations for the nodes. Default: none."""

    priority_score: NotRequired[int]
    """Priorities with a higher score are tried first. At most three priorities have the same score. Set it on all
    priorities or on none. Default: their order."""

    allocation_strategy: NotRequired[str]
    """Selection between equally suitable machines: lowest-cost, or fleet-efficiency, which saves scarce machines.
    Default: that of the class."""

    location: NotRequired[ClassLocationArgs]
    """Location of the nodes. Default: that of `priorityDefaults`."""

    placement: NotRequired[ClassPlacementArgs]
    """An existing resource policy for the placement of the nodes. Default: GKE creates the policies that slices
    need."""

    storage: NotRequired[ClassStorageArgs]
    """Disks of the nodes."""

    max_pods_per_node: NotRequired[int]
    """Maximum pods on a node. Default: that of the cluster."""

    node_labels: NotRequired[Mapping[str, str]]
    """Kubernetes labels of the nodes."""

    taints: NotRequired[Sequence[ClassTaintArgs]]
    """Taints of the nodes, in addition to that of the class."""

    instance_metadata: NotRequired[Mapping[str, str]]
    """Metadata of the VMs, in addition to that of `nodePoolConfig`."""

    node_system_config: NotRequired[Mapping[str, Any]]
    """Kubelet and Linux settings, with GKE's own names: `kubeletConfig` and `linuxNodeConfig`."""

    accelerator_network_profile: NotRequired[str]
    """Network profile for the accelerators: auto, or the name of an existing profile."""

    gpu_direct: NotRequired[str]
    """GPUDirect technology for communication between GPUs. Requires `acceleratorNetworkProfile`."""

    minimum_capacity: NotRequired[ClassMinimumCapacityArgs]
    """Nodes of this priority that exist before pods request them."""

    enable_nested_virtualization: NotRequired[bool]
    """Allow virtual machines on the nodes. Default: false, as in GKE."""


class ClassPriorityDefaultsArgs(TypedDict):
    """Defaults of all priorities, except priorities with `nodepools`."""

    location: NotRequired[ClassLocationArgs]
    """Location of the nodes."""

    node_system_config: NotRequired[Mapping[str, Any]]
    """Kubelet and Linux settings, with GKE's own names: `kubeletConfig` and `linuxNodeConfig`."""

    enable_nested_virtualization: NotRequired[bool]
    """Allow virtual machines on the nodes. Default: false, as in GKE."""


class ClassShieldedInstanceArgs(TypedDict):
    """Shielded VM options of the nodes."""

    enable_secure_boot: NotRequired[bool]
    """Boot only signed software. Default true; GKE's own default is false."""

    enable_integrity_monitoring: NotRequired[bool]
    """Monitor the integrity of the boot sequence. Default true."""


class ClassAutoCreationArgs(TypedDict):
    """Node pools that GKE creates for the class, and deletes when they are empty."""

    enabled: bool
    """Whether GKE creates node pools."""

    dynamic_boot_disk_size: NotRequired[bool]
    """Let GKE select the boot disk size. Default: false; true with `autopilot`."""

    dynamic_max_pods_per_node: NotRequired[bool]
    """Let GKE select the maximum number of pods per node. Default: false; true with `autopilot`."""

    shielded_instance_config: NotRequired[ClassShieldedInstanceArgs]
    """Shielded VM options of the nodes. Default: all on."""


class ClassCustomImageArgs(TypedDict):
    """A custom node image."""

    image_name: str
    """Name of the image."""

    image_project_id: str
    """Project of the image."""


class ClassSwitchArgs(TypedDict):
    """A feature that is on or off."""

    enabled: bool
    """Whether the feature is on."""


class ClassNodeDrainArgs(TypedDict):
    """Draining of nodes before their deletion."""

    respect_pdb_during_node_pool_deletion: NotRequired[bool]
    """Whether PodDisruptionBudgets apply when a node pool is deleted."""

    grace_termination_duration: NotRequired[str]
    """Time for pods to terminate, in seconds such as 3600s; at most 24 hours."""

    pdb_timeout_duration: NotRequired[str]
    """Time for which PodDisruptionBudgets can delay the deletion, in seconds such as 3600s; at most 7 days."""


class ClassLoggingVariantArgs(TypedDict):
    """The variant of the nodes' logging agent."""

    variant: str
    """MAX_THROUGHPUT collects more logs per second and uses more CPU."""


class ClassLoggingArgs(TypedDict):
    """The logging agent of the nodes."""

    logging_variant_config: ClassLoggingVariantArgs
    """Throughput of the logging agent."""


class ClassSandboxArgs(TypedDict):
    """Isolation of pods from their node."""

    type: str
    """Type of the sandbox."""


class ClassTpuDriverArgs(TypedDict):
    """The TPU driver of the nodes."""

    driver_mode: str
    """How pods request chips: as the resource google.com/tpu, or by resource claims."""


class ClassDraArgs(TypedDict):
    """Dynamic resource allocation."""

    networking: ClassSwitchArgs
    """Network interfaces by resource claims."""


class ClassTaintConfigArgs(TypedDict):
    """Taints that GKE sets."""

    architecture_taint_behavior: str
    """Whether GKE taints Arm nodes."""


class ClassTagArgs(TypedDict):
    """A Resource Manager tag."""

    key: str
    """Key of the tag: tagKeys/… or its path."""

    value: str
    """Value of the tag: tagValues/… or its short name."""


class ClassNodePoolConfigArgs(TypedDict):
    """Configuration of the nodes. New node pools get it, and existing pools must have it."""

    service_account: NotRequired[str]
    """Service account of the nodes. Default: that of the cluster's other nodes."""

    workload_metadata: NotRequired[str]
    """VM metadata that pods can read. Default GKE_METADATA: only their own identity."""

    image_type: NotRequired[str]
    """Node image. Default cos_containerd."""

    custom_image_config: NotRequired[ClassCustomImageArgs]
    """A custom node image, with imageType: custom_containerd."""

    image_streaming: NotRequired[ClassSwitchArgs]
    """Start containers before their images are loaded completely. Default: off."""

    gvnic: NotRequired[ClassSwitchArgs]
    """Google Virtual NIC. Default: that of the machine type; TPU hosts have it."""

    workload_type: NotRequired[str]
    """Purpose of a group of slices: HIGH_AVAILABILITY for serving, which needs most of the slices, or HIGH_THROUGHPUT
    for training, which needs all. HIGH_THROUGHPUT requires `nodePoolGroup`."""

    node_version: NotRequired[str]
    """GKE version of the nodes: latest, - (that of the control plane), or a version that is at most two minor versions
    older than the control plane, and not newer. Default: that of the cluster."""

    auto_repair: NotRequired[bool]
    """Let GKE repair unhealthy nodes. Default: true, as in GKE."""

    auto_upgrade: NotRequired[bool]
    """Let GKE upgrade the nodes. Default: true, as in GKE."""

    maintenance_exclusion: NotRequired[str]
    """UNTIL_END_OF_SUPPORT prevents upgrades while the version is supported. Default: none."""

    node_drain_config: NotRequired[ClassNodeDrainArgs]
    """Draining of nodes before their deletion."""

    ip_type: NotRequired[str]
    """Whether nodes have public IP addresses. Default private."""

    logging_config: NotRequired[ClassLoggingArgs]
    """The logging agent of the nodes."""

    confidential_node_type: NotRequired[str]
    """Encryption of the nodes' memory. Every priority must then name a machine type that supports it. Default: none."""

    sandbox: NotRequired[ClassSandboxArgs]
    """Isolation of pods from their node. Default: none."""

    tpu: NotRequired[ClassTpuDriverArgs]
    """The TPU driver of the nodes. Default: DevicePlugin."""

    dra: NotRequired[ClassDraArgs]
    """Dynamic resource allocation. Default: off."""

    node_labels: NotRequired[Mapping[str, str]]
    """Kubernetes labels of the nodes."""

    taints: NotRequired[Sequence[ClassTaintArgs]]
    """Taints of the nodes, in addition to that of the class."""

    taint_config: NotRequired[ClassTaintConfigArgs]
    """Taints that GKE sets."""

    instance_metadata: NotRequired[Mapping[str, str]]
    """Metadata of the VMs."""

    resource_manager_tags: NotRequired[Sequence[ClassTagArgs]]
    """Resource Manager tags of the VMs."""


class ClassNodePoolGroupArgs(TypedDict):
    """A group of slices that GKE manages together: a collection of v6e slices."""

    name: str
    """Name of the group."""


class ClassActiveMigrationArgs(TypedDict):
    """Migration of running pods to preferred nodes. It terminates the pods and starts them again."""

    optimize_rule_priority: NotRequired[bool]
    """Migrate to a higher priority when it has capacity. Default false."""

    ensure_all_daemon_set_pods_running: NotRequired[bool]
    """Migrate to larger nodes if pods of DaemonSets do not fit. Default false."""


class ClassAutoscalingPolicyArgs(TypedDict):
    """Removal of unneeded nodes."""

    consolidation_delay_minutes: NotRequired[int]
    """Minutes after which an unneeded node is removed. Default: 10, as in GKE."""

    consolidation_threshold: NotRequired[int]
    """A node with a CPU and memory utilization below this percentage is unneeded. Default: 50, as in GKE."""

    gpu_consolidation_threshold: NotRequired[int]
    """A GPU node with a GPU utilization below this percentage is unneeded. Default: the same as
    consolidationThreshold."""


class ClassAllocationDefaultsArgs(TypedDict):
    """Selection between equally suitable machines, by provisioning model."""

    on_demand: NotRequired[str]
    """On-demand nodes. Default: GKE chooses."""

    spot: NotRequired[str]
    """Spot nodes. Default: GKE chooses."""

    flex_start: NotRequired[str]
    """Flex-start nodes. Default: GKE chooses."""


class PlatformComputeClassArgs(TypedDict):
    """A GKE ComputeClass (cloud.google.com/v1). Pods request it with the node selector
    `cloud.google.com/compute-class`. Changes are made in place. They apply to new nodes; `activeMigration` also applies
    them to running pods."""

    clusters: NotRequired[Sequence[str]]
    """Clusters with the class. Default: all clusters. A new cluster gets the class. Removing a cluster deletes the
    class there."""

    default_namespaces: NotRequired[Sequence[str]]
    """Namespaces with this class as the default for their pods. For a whole cluster, name the class `default`. Default:
    none. Changed in place."""

    preset: NotRequired[str]
    """Predefined priorities for slices of `tpu`. cost-optimized: Spot, flex-start, then the reservation.
    reserved-first: the reservation, on-demand, flex-start, then Spot. Provisioning models that the generation does not
    support are omitted. Default: none; write the priorities yourself."""

    tpu: NotRequired[ClassTpuArgs]
    """The slices of a preset. Required with `preset`, rejected without it."""

    reservation: NotRequired[ReservationUseArgs]
    """The reservation of a preset. Required with `preset`, rejected without it."""

    description: NotRequired[str]
    """Purpose of the class. Default: empty, or that of the preset."""

    priorities: NotRequired[Sequence[ClassPriorityArgs]]
    """Node configurations, in order of preference. Required without `preset`."""

    priority_defaults: NotRequired[ClassPriorityDefaultsArgs]
    """Defaults of all priorities."""

    when_unsatisfiable: NotRequired[str]
    """Behavior if no priority has capacity. DoNotScaleUp: pods wait. ScaleUpAnyway: GKE creates nodes of the cluster's
    default machine type, which have no TPUs. Default DoNotScaleUp."""

    node_pool_auto_creation: NotRequired[ClassAutoCreationArgs]
    """Creation of node pools for the class by GKE. Default: off; on with a preset."""

    node_pool_config: NotRequired[ClassNodePoolConfigArgs]
    """Configuration of the nodes. Default: no requirement for existing pools; new pools have the security settings of
    declared pools."""

    node_pool_group: NotRequired[ClassNodePoolGroupArgs]
    """A group of v6e slices that GKE manages together. Default: independent slices."""

    active_migration: NotRequired[ClassActiveMigrationArgs]
    """Migration of running pods to preferred nodes. Default: off, or that of the preset."""

    autoscaling_policy: NotRequired[ClassAutoscalingPolicyArgs]
    """Removal of unneeded nodes. Default: that of the cluster, or of the preset."""

    allocation_strategy_defaults: NotRequired[ClassAllocationDefaultsArgs]
    """Selection between equally suitable machines. Default: GKE selects."""

    minimum_capacity: NotRequired[ClassMinimumCapacityArgs]
    """Nodes that exist before pods request them. Every priority must then name its machine type. Default: none."""

    autopilot: NotRequired[ClassSwitchArgs]
    """Nodes that GKE manages as in Autopilot. Default: off. Cannot be changed afterwards."""


class PoolQuotaArgs(TypedDict):
    """A team's quota in one pool, in slices or in chips. Other teams may borrow the unused part."""

    slices: NotRequired[int]
    """Nominal quota in slices. Exactly one of `slices` and `chips`. Changed in place."""

    chips: NotRequired[int]
    """Nominal quota in chips, as a multiple of the chips of a slice. Changed in place."""

    borrowing_limit: NotRequired[int]
    """Maximum that the team may borrow, in the unit of the quota. Default: no limit. Changed in place."""

    lending_limit: NotRequired[int]
    """Maximum of its unused quota that the team lends, in the unit of the quota. Default: all. Changed in place."""


class GpuQuotaArgs(TypedDict):
    """A team's quota in one GPU pool, in nodes or in GPUs. Other teams may borrow the unused part."""

    nodes: NotRequired[int]
    """Nominal quota in nodes, over all zones. Exactly one of `nodes` and `gpus`. Changed in place."""

    gpus: NotRequired[int]
    """Nominal quota in GPUs, as pods request them. A divided or shared GPU counts once for each container. Changed in
    place."""

    borrowing_limit: NotRequired[int]
    """Maximum that the team may borrow, in the unit of the quota. Default: no limit. Changed in place."""

    lending_limit: NotRequired[int]
    """Maximum of its unused quota that the team lends, in the unit of the quota. Default: all. Changed in place."""


class CpuQuotaArgs(TypedDict):
    """A team's quota in the system pool, for Ray heads, coordinators and other work without chips."""

    cores: NotRequired[int]
    """CPU cores. Default 16. Changed in place."""

    memory_gb: NotRequired[int]
    """Memory in GB of 2^30 bytes, as Compute Engine counts it. Default 64. Changed in place."""

    storage_gb: NotRequired[int]
    """Ephemeral storage in GB. Default 100. Changed in place."""


class TeamClusterArgs(TypedDict):
    """A team's quotas in one cluster."""

    pools: NotRequired[Mapping[str, PoolQuotaArgs]]
    """Quotas in TPU pools of the cluster, by pool. Without one, the team can neither use nor borrow from the pool.
    Default: none. Changed in place."""

    gpu_pools: NotRequired[Mapping[str, GpuQuotaArgs]]
    """Quotas in GPU pools of the cluster, by pool. Without one, the team can neither use nor borrow from the pool.
    Default: none. Changed in place."""

    cpu: NotRequired[CpuQuotaArgs]
    """Quota in the system pool."""


class TeamArgs(TypedDict):
    """A team. It has a cluster queue, and a local queue in each of its namespaces."""

    namespaces: NotRequired[Sequence[str]]
    """The team's namespaces, which are created in each of its clusters. Default: one with the team's name. A new name
    creates the namespace. Removing a namespace deletes everything in it. A namespace that moves to or from a team keeps
    its work. Its running jobs keep their quota until they end, and its other jobs wait in a local queue of the same
    name, if the new team has one."""

    members: NotRequired[Sequence[str]]
    """Members who may run work in the namespaces: group:, user: or serviceAccount: with an e-mail address. Default:
    only the project's administrators. Changed in place."""

    queue: NotRequired[str]
    """Name of the local queue in each namespace. Default `default`: Kueue assigns jobs without a queue name to it. A
    change replaces the queue, and jobs that name the old one wait."""

    weight: NotRequired[float]
    """Share of the borrowable quota relative to the weights of other teams, with queues.fairSharing only. Kueue counts
    it in thousandths, rounded up. Default 1. Changed in place."""

    pod_security: NotRequired[str]
    """Level of the Pod Security Standards for pods of its namespaces. JobSets that xpk and tpu-recipes publish use the
    host's network and need `privileged`. Default `baseline`. Changed in place; running pods remain."""

    clusters: Mapping[str, TeamClusterArgs]
    """The team's quotas, by cluster. A new name creates the team's namespaces and queues in the cluster. A removed name
    deletes the team's namespaces and queues in the cluster with their work. A namespace that the file lists elsewhere
    keeps its work."""


class PreemptionArgs(TypedDict):
    """Preemption rules. Kueue preempts whole jobs, never single slices of a job."""

    within_cluster_queue: NotRequired[str]
    """Work of the same team that a job may preempt. Default LowerPriority. Changed in place."""

    reclaim_within_cohort: NotRequired[str]
    """Jobs with borrowed quota that the owner of the quota may preempt. Default Any: lent chips return at once. Changed
    in place."""

    borrow_within_cohort: NotRequired[str]
    """Work of other teams that a job may preempt to borrow quota. Not together with fairSharing. Default Never. Changed
    in place."""


class PriorityArgs(TypedDict):
    """A WorkloadPriorityClass. A job selects it with the label kueue.x-k8s.io/priority-class."""

    value: int
    """Work with a higher value is admitted first and may preempt work with a lower one. Changed in place, for pending
    and running work: running work with a lower value may be preempted at once."""

    description: NotRequired[str]
    """Purpose of the class, at most 2048 characters. Default: empty. Changed in place."""


class MultiKueueArgs(TypedDict):
    """One queue for several clusters. Teams submit jobs to the manager, and the jobs run in the workers, which have the
    quotas. Each job runs in one worker."""

    manager: str
    """The cluster that accepts the jobs. It has the namespaces and queues of every team, and the sum of the workers'
    quotas. It runs no jobs. A change replaces the queues of both clusters."""

    workers: Sequence[str]
    """The clusters that run the jobs, at most 20. The jobs of a team run in workers with a quota for the team. A new
    worker or another order of the workers is set in place. Removing a worker ends the manager's access to it. Jobs that
    run there continue, and after workerLostTimeout the manager also starts them in another worker: first hold the
    queues of the removed worker (docs/queues.md, Remove a worker). A team without a quota in another worker loses its
    namespaces and queues in the manager with their work."""

    dispatcher: NotRequired[str]
    """AllAtOnce: a job asks all workers at the same time. Incremental: it asks three more workers every five minutes,
    so that it does not preempt work in all of them. Default AllAtOnce. Changed in place; Kueue restarts."""

    worker_lost_timeout: NotRequired[str]
    """Time without contact to a worker after which its jobs are queued again. Default 15m. Changed in place; Kueue
    restarts."""


class QueuesArgs(TypedDict):
    """Settings of all teams' queues in every cluster."""

    strategy: NotRequired[str]
    """StrictFIFO: a job that does not fit blocks newer jobs. BestEffortFIFO: newer jobs that fit are admitted. Default
    BestEffortFIFO. Changed in place."""

    preemption: NotRequired[PreemptionArgs]
    """Preemption rules."""

    fair_sharing: NotRequired[bool]
    """Share borrowable quota by the teams' weights, instead of first come, first served. Default false. Changed in
    place; Kueue restarts."""

    priorities: NotRequired[Mapping[str, PriorityArgs]]
    """Workload priority classes, by name. Default: idle (-100), low (100), normal (500) and high (1000). A new name
    creates the class. A removed name deletes the class."""

    capacity_order: NotRequired[Sequence[str]]
    """Order of the provisioning models that Kueue tries for a job that selects none. Omitted ones follow at the end.
    Default: reservation, on-demand, flex-start and spot. Changed in place."""

    multi_kueue: NotRequired[MultiKueueArgs]
    """One queue for several clusters. Default: each cluster has its own queues and runs the jobs that are submitted to
    it. Adding it creates queues in the manager cluster. Removing it deletes the queues of the manager with their
    work."""


class BucketArgs(TypedDict):
    """A Cloud Storage bucket, private and with uniform access. Deleting the stack never deletes its objects."""

    purpose: str
    """What the bucket is for. It chooses the defaults: `data` and `checkpoints` have a hierarchical namespace, `models`
    keeps old versions of objects, `scratch` deletes objects after 30 days. A change to or from a hierarchical namespace
    deletes the bucket and creates another one. Any other change is made in place."""

    name: NotRequired[str]
    """Name of the bucket, which no other bucket in Google Cloud may have. Default: `<project>-<platform>-<key>`. A
    change deletes the bucket and creates another one. If RAM disks of `multiTierCheckpointing` use the bucket, another
    bucket name replaces them too, and deletes the bucket if tpuplane created it."""

    existing: NotRequired[str]
    """Name of an existing bucket. Only the grants of the teams are created, and no other field applies. Default: the
    bucket is created. Changed in place: the teams get the other bucket. Adding it deletes the bucket that tpuplane
    created. Removing it creates its resources. If RAM disks of `multiTierCheckpointing` use the bucket, another bucket
    name replaces them too, and deletes the bucket if tpuplane created it."""

    location: NotRequired[str]
    """Region of the bucket, one of those of the clusters. Default: the region of all clusters; required if they have
    several. A change deletes the bucket and creates another one."""

    hierarchical_namespace: NotRequired[bool]
    """Folders that are renamed in one atomic operation. Such a bucket has no Object Versioning, and every other bucket
    has it. Default: by purpose. A change to or from a hierarchical namespace deletes the bucket and creates another
    one. Any other change is made in place."""

    storage_class: NotRequired[str]
    """Storage class of new objects. Default: by purpose, STANDARD for all. Changed in place."""

    soft_delete_days: NotRequired[int]
    """Days for which Google keeps deleted objects: 7 to 90, or 0 for none. Default: by purpose, 7 for all. Changed in
    place."""

    delete_after_days: NotRequired[int]
    """Age in days at which objects are deleted, or 0 for never. Default: 30 for `scratch`, else 0. Changed in place."""

    readers: NotRequired[Sequence[str]]
    """Teams whose pods may read objects. Default: none. Changed in place."""

    writers: NotRequired[Sequence[str]]
    """Teams whose pods may read, write and delete objects. Default: none. Changed in place."""

    deletion_protection: NotRequired[bool]
    """Pulumi rejects the deletion of the bucket. The provider rejects it in any case while the bucket has objects.
    Default true. Changed in place."""


class LustreArgs(TypedDict):
    """A Managed Lustre instance in the network of its teams' clusters. Deleting it deletes its files."""

    zone: str
    """Zone of the instance: one with pools of its teams. A change deletes the instance with its files and creates
    another one."""

    capacity_gib: int
    """Capacity in GiB, in the steps of its throughput. It can grow within its range, but not into the next range.
    Changed in place to a larger capacity of the same range. Google rejects any other capacity."""

    throughput: int
    """Throughput in MBps per TiB of capacity: 125, 250, 500 or 1000. A change deletes the instance with its files and
    creates another one."""

    filesystem: NotRequired[str]
    """Name of the filesystem, which no other instance of the platform may have: a node cannot mount two filesystems
    with the same name. Default: the first eight letters and digits of the key. A change deletes the instance with its
    files and creates another one."""

    name: NotRequired[str]
    """Name of the instance in Google Cloud. Default: `<platform>-<key>`. A change deletes the instance with its files
    and creates another one."""

    readers: NotRequired[Sequence[str]]
    """Teams whose pods may read files. Default: none. Changed in place."""

    writers: NotRequired[Sequence[str]]
    """Teams whose pods may read, write and delete files. Default: none. At least one reader or writer is required.
    Changed in place."""

    deletion_protection: NotRequired[bool]
    """Pulumi rejects the deletion of the instance. Default true. Changed in place."""


class FilestoreArgs(TypedDict):
    """A Filestore instance with one share, in the network of its teams' clusters. Deleting it deletes its files."""

    location: str
    """Zone of the instance, or its region for the tier REGIONAL: a place in the region of its teams' clusters. A change
    deletes the instance with its files and creates another one."""

    tier: str
    """Service tier. The throughput of ZONAL and REGIONAL grows with their capacity. REGIONAL survives a lost zone. A
    change deletes the instance with its files and creates another one."""

    capacity_gib: int
    """Capacity in GiB, in the steps of its tier. Changed in place within the range of the tier. Basic tiers only grow.
    Google rejects any other capacity."""

    share: NotRequired[str]
    """Name of the share. Default share. A change deletes the instance with its files and creates another one."""

    name: NotRequired[str]
    """Name of the instance in Google Cloud. Default: `<platform>-<key>`. A change deletes the instance with its files
    and creates another one."""

    readers: NotRequired[Sequence[str]]
    """Teams whose pods may read files. Default: none. Changed in place."""

    writers: NotRequired[Sequence[str]]
    """Teams whose pods may read, write and delete files. Default: none. At least one reader or writer is required.
    Changed in place."""

    deletion_protection: NotRequired[bool]
    """Pulumi rejects the deletion of the instance. Default true. Changed in place."""


class DiskArgs(TypedDict):
    """A storage class in each cluster with the driver. A pod that mounts it gets a disk, deleted with the pod."""

    type: str
    """Type of the disks. v6e and tpu7x support only hyperdisk-balanced, older generations only pd-balanced. A change
    deletes the storage class and creates another one. Existing disks do not change."""

    size_gib: int
    """Size of each disk in GiB. A change applies to jobs that `tpuplane job` prints after it. No resource changes."""

    iops: NotRequired[int]
    """I/O operations per second of each disk, for hyperdisk-balanced: at most 160,000, and 500 for each GiB. Default:
    Compute Engine's, which grows with the size. A change deletes the storage class and creates another one. Existing
    disks do not change."""

    throughput: NotRequired[int]
    """Throughput of each disk in MiB per second, for hyperdisk-balanced: 140 to 2,400, and at most a quarter of `iops`.
    Default: Compute Engine's, which grows with the size. A change deletes the storage class and creates another one.
    Existing disks do not change."""


class PlatformStorageArgs(TypedDict):
    """What holds the platform's data outside of its clusters."""

    buckets: NotRequired[Mapping[str, BucketArgs]]
    """Cloud Storage buckets, by name. Default: none. A new name creates the bucket. A removed name deletes the
    bucket."""

    lustre: NotRequired[Mapping[str, LustreArgs]]
    """Managed Lustre instances, by name. Default: none. A new name creates the instance. A removed name deletes the
    instance with its files."""

    filestore: NotRequired[Mapping[str, FilestoreArgs]]
    """Filestore instances, by name. Default: none. A new name creates the instance. A removed name deletes the instance
    with its files."""

    disks: NotRequired[Mapping[str, DiskArgs]]
    """Disks that pods of jobs can mount, by name. Default: none. A new name creates the storage class. A removed name
    deletes the storage class."""


class SliceDownArgs(TypedDict):
    """An alert: a multi-host slice is unavailable, and its work waits."""

    enabled: NotRequired[bool]
    """Create this alert. Default true. Switching it on creates its resources. Switching it off deletes its
    resources."""

    after_minutes: NotRequired[int]
    """Time in minutes for which the slice must be unavailable. Default 5. Changed in place."""


class IdleChipsArgs(TypedDict):
    """An alert: running chips are idle."""

    enabled: NotRequired[bool]
    """Create this alert. Default true. Switching it on creates its resources. Switching it off deletes its
    resources."""

    after_minutes: NotRequired[int]
    """Time in minutes for which the chips must be idle. Default 60. Changed in place."""

    duty_cycle_percent: NotRequired[int]
    """A chip with a duty cycle below this percentage is idle. Default 5. Changed in place."""


class StarvedQueueArgs(TypedDict):
    """An alert: a queue has pending work and admits none. It needs Kueue and `addons.monitoring` in the cluster."""

    enabled: NotRequired[bool]
    """Create this alert. Default true. Switching it on creates its resources. Switching it off deletes its
    resources."""

    after_minutes: NotRequired[int]
    """Time in minutes in which the queue must admit no work. Default 120. Changed in place."""


class AlertsArgs(TypedDict):
    """Alert policies of Cloud Monitoring for all clusters."""

    slice_down: NotRequired[SliceDownArgs]
    """A slice is unavailable."""

    idle_chips: NotRequired[IdleChipsArgs]
    """Running chips or GPUs are idle."""

    starved_queue: NotRequired[StarvedQueueArgs]
    """Work is pending and none is admitted."""


class ObservabilityArgs(TypedDict):
    """A dashboard, alert policies and a log metric in the platform's project."""

    dashboard: NotRequired[bool]
    """Create a Cloud Monitoring dashboard: TensorCore utilization and HBM bandwidth by slice type, duty cycle and HBM
    usage by model, slices and interruptions by node pool, queues, and libtpu's messages. Default true. Switching it on
    creates its resources. Switching it off deletes its resources."""

    alerts: NotRequired[AlertsArgs]
    """Alert policies."""

    notification_channels: NotRequired[Sequence[str]]
    """Existing notification channels for the alerts, by name, at most 16. Default: none, and only Cloud Monitoring
    shows incidents. Changed in place."""

    libtpu_errors: NotRequired[bool]
    """Count libtpu's error messages in container logs with the log metric `tpuplane/PLATFORM/libtpu_errors`. Default
    true. Switching it on creates its resources. Switching it off deletes its resources."""


class RepositoryArgs(TypedDict):
    """An Artifact Registry repository for container images. The nodes of every cluster can pull from it."""

    location: str
    """Region of a cluster, or a multi-region around one: us, europe or asia. Image streaming needs the same region or
    multi-region. A change deletes the repository with its images and creates another one."""

    remote: NotRequired[str]
    """Registry from which the repository copies each image at its first pull: docker.io, gcr.io, ghcr.io, nvcr.io,
    quay.io or registry.k8s.io. Default: none, and the repository has only images that are pushed to it. A change
    deletes the repository with its images and creates another one."""

    for_addons: NotRequired[bool]
    """Whether add-ons near the location pull their images from `remote` through this repository. A change restarts
    them. Default false: from their publishers. Changed in place."""

    writers: NotRequired[Sequence[str]]
    """Members who may push images: group:, user: or serviceAccount: with an e-mail address. Default: only the project's
    administrators. Changed in place."""

    immutable_tags: NotRequired[bool]
    """Whether a tag always means the same image: it cannot be moved or deleted. Default false. Changed in place."""

    delete_after_days: NotRequired[int]
    """Age in days after which Google deletes a version of an image. Default: never. Changed in place."""

    keep_versions: NotRequired[int]
    """Newest versions of each image that `deleteAfterDays` does not delete. Default: none. Changed in place."""

    cleanup_dry_run: NotRequired[bool]
    """Only log the versions that `deleteAfterDays` would delete. Default false. Changed in place."""

    deletion_protection: NotRequired[bool]
    """Pulumi does not delete the repository with its images. Default true. Changed in place."""


class PlatformArgs(TypedDict):
    """A TPU platform: GKE clusters in one project, on one network."""

    name: str
    """Name of the platform and its VPC. The name of every cluster begins with it. A change replaces everything."""

    project: NotRequired[str]
    """Google Cloud project ID. Default: the stack's `gcp:project`. A change replaces everything."""

    labels: NotRequired[Mapping[str, str]]
    """Google Cloud labels of all resources that support labels. Changed in place."""

    clusters: Mapping[str, PlatformClusterArgs]
    """GKE clusters, by name. The name in GKE is `<platform>-<name>`, 6 to 30 characters in total, because the service
    account of the nodes has the same name. A new name creates the cluster. A removed name deletes the cluster and
    everything in it."""

    reservations: NotRequired[Mapping[str, ReservationArgs]]
    """Compute Engine reservations for pools with capacity: reservation, by their name in Compute Engine. A change
    affects only the checks."""

    quotas: NotRequired[Mapping[str, Mapping[str, QuotaArgs]]]
    """TPU and GPU quota that Google has granted, by region or zone, then by generation or accelerator. The pools at
    full scale must fit into it, with the slices of each `minimumCapacity` of a class's priority. Other nodes that GKE
    creates for compute classes are not counted. Quota that is not declared is not checked. A change affects only the
    checks."""

    classes: NotRequired[Mapping[str, PlatformComputeClassArgs]]
    """Compute classes, by name. A class lists the nodes for its pods, in order of preference. The class `default`
    applies to every pod of a cluster that requests no class. Default: none. Changed in place, for new nodes. A new name
    creates the class. A removed name deletes the class."""

    teams: NotRequired[Mapping[str, TeamArgs]]
    """Teams that share the clusters, by name. Each team gets a queue with its quota. Default: none, and no queue. A new
    name creates the team. A removed name deletes the team's namespaces and queues with their work. A namespace that the
    file lists elsewhere keeps its work."""

    queues: NotRequired[QueuesArgs]
    """Queueing, admission and preemption of the teams' work."""

    storage: NotRequired[PlatformStorageArgs]
    """Buckets and file systems, and the teams that may use them."""

    observability: NotRequired[ObservabilityArgs]
    """Dashboard, alerts and log metrics of the project. Default: none. Adding it creates its resources. Removing it
    deletes its resources."""

    images: NotRequired[Mapping[str, RepositoryArgs]]
    """Artifact Registry repositories for container images, by name. Default: none. A new name creates the repository. A
    removed name deletes the repository with its images."""


class ClusterSettingsArgs(TypedDict):
    """Settings of a GKE cluster: location, access, upgrades."""

    location: str
    """A zone, or a region such as us-central1, whose control plane survives the loss of a zone. Pools of a cluster in a
    zone can be in the other zones of its region too. A change replaces the cluster."""

    release_channel: NotRequired[str]
    """GKE release channel. Default REGULAR. GKE rejects UNSPECIFIED (no channel) for new projects. A change to a
    channel with newer versions upgrades the cluster, and GKE recreates its nodes within the maintenance windows. With a
    channel with older versions, the cluster keeps its version until the channel has a newer one. A cluster that joins a
    channel is upgraded, and GKE recreates its nodes within the maintenance windows. With UNSPECIFIED, the cluster keeps
    its version."""

    version: NotRequired[str]
    """Minimum version of the control plane, such as "1.34". Write it in quotes, because YAML reads 1.30 as the number
    1.3. Default: the version of the release channel. A higher version upgrades an older control plane at once, one
    minor version at a time, and GKE recreates the nodes within the maintenance windows. With a lower version or none,
    the cluster keeps its version."""

    control_plane: NotRequired[ControlPlaneArgs]
    """Access to the control plane."""

    system_pool: NotRequired[SystemPoolArgs]
    """The CPU node pool."""

    addons: NotRequired[AddonsArgs]
    """Operators: Kueue, JobSet, KubeRay. Default: only GKE's Ray add-on."""

    security: NotRequired[SecurityArgs]
    """Encryption, admission and other security settings."""

    storage: NotRequired[StorageArgs]
    """Storage drivers."""

    monitoring: NotRequired[MonitoringArgs]
    """Metrics and logs that Google Cloud collects."""

    gateway_api: NotRequired[str]
    """Kubernetes Gateway API, which the Inference Gateway needs: GKE installs its kinds and serves Gateways. Default:
    that of GKE, which is off in Standard clusters. Changed in place. The cluster keeps the former value; write
    CHANNEL_DISABLED to switch it off."""

    slice_controller: NotRequired[bool]
    """GKE's slice controller, which makes slices of the cubes of tpu7x pools with acceleratorTopologyMode
    PROVISION_ONLY. It needs release channel RAPID. Delete all Slices before you switch it off. Default: that of GKE,
    which is off. Changed in place. The cluster keeps the former value; write false to switch it off."""

    cost_allocation: NotRequired[bool]
    """Divide the cluster's cost by namespace and label in the billing export. Default true. Changed in place."""

    maintenance: NotRequired[MaintenanceArgs]
    """Times at which GKE may upgrade the cluster and its nodes. Default: any time. Changed in place."""

    auto_provisioning: NotRequired[AutoProvisioningArgs]
    """Node auto-provisioning: GKE creates node pools for pods that fit on no existing node, within limits. Default:
    none. Changed in place. In a cluster with `bootDiskEncryption`, adding or removing `autoProvisioning` replaces the
    cluster."""

    deletion_protection: NotRequired[bool]
    """Reject the deletion of the cluster with its node pools, and each deletion or replacement of an adopted node pool.
    Default true. Changed in place."""

    labels: NotRequired[Mapping[str, str]]
    """Google Cloud labels, in addition to the platform's. Changed in place."""


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
    """Chips of one slice in each dimension, such as 4x4."""

    slices: NotRequired[int]
    """Slices at the start. Default 1, at most 100,000; 0 needs `autoscaling`."""

    min_slices: NotRequired[int]
    """Minimum of slices. Default: `slices`."""

    max_slices: NotRequired[int]
    """Maximum of slices. A maximum above the minimum needs `autoscaling`. Default: `slices`."""


class SharedGpuArgs(TypedDict):
    """How pods share a GPU. Use the settings of the node pool."""

    strategy: str
    """TIME_SHARING: containers take turns. MPS: they run together, each with a part of the GPU, and share memory with
    processes of the node (hostIPC)."""

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

    claims: NotRequired[Mapping[str, str]]
    """PersistentVolumeClaims of the namespace for buckets by their folder in head and workers, such as those that a
    platform makes for its teams. Default: none."""

    autoscaling: NotRequired[bool]
    """Let Ray scale each group between its minimum and maximum of slices or pods (autoscaler v2). Not together with
    `queue`. Default false."""

    idle_timeout_seconds: NotRequired[int]
    """Idle time in seconds until Ray removes a slice or pod. Default 300. Only with `autoscaling`."""


class RayJobArgs(TypedDict):
    """A program on its own Ray cluster, which is created and deleted with the job."""

    cluster: RayClusterArgs
    """The cluster. A change replaces the job, except a change to `priorityClass`."""

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
    """Chips of one slice in each dimension, such as 4x4."""

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

    claims: NotRequired[Mapping[str, str]]
    """PersistentVolumeClaims of the namespace for buckets by their folder, such as those that a platform makes for its
    teams. Default: none. A change replaces it."""

    placement: NotRequired[str]
    """How the pods of a slice stay on one node pool: by Kueue's topology, or by JobSet's affinity (`exclusive`) if the
    flavors of the queue have no topology or there is no queue. With `dynamic`, Kueue's slice controller has a slice of
    tpu7x cubes made for them. Default topology. A change replaces it."""

    sub_slice_of: NotRequired[str]
    """Topology of larger slices, such as 8x8, whose pool offers `topology` as a part. Default: whole slices. A change
    replaces it."""

    max_restarts: NotRequired[int]
    """Most restarts of all slices after failures. Default 3. Host maintenance does not count. A change replaces it."""

    restart_on_exit_codes: NotRequired[Sequence[int]]
    """Exit codes of the program, such as 42, after which all slices restart. Any other failure of the program then ends
    it at once. Default: every failure restarts them. A change replaces it."""

    keep_seconds: NotRequired[int]
    """Time until its deletion after its end, in seconds. Default: no deletion. Changed in place while it exists. After
    its deletion and a `refresh`, the next `up` runs it again."""

    deadline_seconds: NotRequired[int]
    """Time limit in seconds, after which it fails. Waiting in a queue does not count, and a restart begins again.
    Default: none. A change replaces it."""

    set_megascale: NotRequired[bool]
    """Set the multislice environment (MEGASCALE_*, TPU_WORKER_*) in the JobSet. Default false: GKE sets it. A change
    replaces it."""
