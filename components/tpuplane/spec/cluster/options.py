"""The settings of a cluster apart from its pools: security, storage, monitoring, auto-provisioning, checkpointing."""

from typing import Annotated, Literal

from pydantic import Field

from tpuplane.spec.core.changes import Change, InPlace, T, kept_after_removal
from tpuplane.spec.core.fields import KmsKey, Name, SecurityGroup, Spec, Zone

MonitoringComponent = Literal[
    "SYSTEM_COMPONENTS",
    "APISERVER",
    "SCHEDULER",
    "CONTROLLER_MANAGER",
    "STORAGE",
    "HPA",
    "POD",
    "DAEMONSET",
    "DEPLOYMENT",
    "STATEFULSET",
    "CADVISOR",
    "KUBELET",
    "DCGM",
    "JOBSET",
]
LoggingComponent = Literal[
    "SYSTEM_COMPONENTS",
    "WORKLOADS",
    "APISERVER",
    "SCHEDULER",
    "CONTROLLER_MANAGER",
    "KCP_SSHD",
    "KCP_CONNECTION",
    "KCP_HPA",
    "KCP_VPA",
]


class EncryptionSpec(Spec):
    """A Cloud KMS key in the cluster's region."""

    key: KmsKey | None = None
    """An existing key: projects/P/locations/REGION/keyRings/RING/cryptoKeys/KEY. GKE's service agent (for disks:
    Compute Engine's) needs roles/cloudkms.cryptoKeyEncrypterDecrypter on it. Default: create a key for the cluster,
    rotate it every 90 days, and grant the role to the agent."""


class KeysSpec(Spec):
    """Encryption of a cluster, from which the plan makes its Cloud KMS keys."""

    secrets_encryption: Annotated[EncryptionSpec | None, Change(judge="secrets_key", source="secrets_key")] = None
    """Encrypt Kubernetes Secrets in etcd with a Cloud KMS key; `{}` creates one. Default: only Google's own
    encryption."""

    boot_disk_encryption: Annotated[EncryptionSpec | None, Change(judge="boot_disk_key", source="cluster")] = None
    """Encrypt the boot disks of every pool with a Cloud KMS key; `{}` creates one. Default: only Google's own
    encryption."""


class HardeningSpec(Spec):
    """Security settings that the plan holds as they are."""

    posture: InPlace[Literal["BASIC", "DISABLED"]] = "BASIC"
    """Security posture dashboard, which checks the configuration of workloads. Google has ended its vulnerability
    scanning, which is always off. Default BASIC, which is free of charge."""

    binary_authorization: InPlace[Literal["DISABLED", "PROJECT_SINGLETON_POLICY_ENFORCE"]] = "DISABLED"
    """Whether the cluster admits only images that the project's Binary Authorization policy allows. Default
    DISABLED."""

    anonymous_authentication: InPlace[Literal["LIMITED", "ENABLED"]] = "LIMITED"
    """Endpoints of the API server that need no credentials. LIMITED: only health checks. Default LIMITED."""

    security_group: Annotated[
        SecurityGroup | None, kept_after_removal("GKE cannot remove it: the cluster keeps the former value.")
    ] = None
    """Google Group for RBAC: gke-security-groups@DOMAIN. Role bindings can name groups that are members of it. Default:
    none."""

    secret_manager: InPlace[bool] = False
    """Secret Manager add-on, which mounts secrets of Secret Manager as files. Default false."""

    clusterwide_network_policy: InPlace[bool] = False
    """CiliumClusterwideNetworkPolicy: network policies that apply to all namespaces. Default false."""

    fqdn_network_policy: Annotated[bool, Change(on="in-place", off="replaces-cluster", source="cluster")] = False
    """FQDNNetworkPolicy: network policies that allow connections to domain names, such as a registry's. In a
    cluster that had it off, restart the DaemonSet anetd in kube-system afterwards. Default false."""


class SecuritySpec(HardeningSpec, KeysSpec):
    """Security settings. Private nodes, shielded nodes and Workload Identity are always on."""


class StorageSpec(Spec):
    """Storage drivers that GKE installs and manages."""

    persistent_disk: Annotated[bool, Change(judge="persistent_disk", source="provider")] = True
    """Compute Engine persistent disk and Hyperdisk. Default true."""

    gcs_fuse: InPlace[bool] = False
    """Cloud Storage FUSE, which mounts buckets as file systems, for data sets and checkpoints. Default false."""

    filestore: InPlace[bool] = False
    """Filestore: NFS volumes. Default false."""

    lustre: InPlace[bool] = False
    """Managed Lustre, a parallel file system. Google no longer supports the Parallelstore driver. Default false."""


class MonitoringSpec(Spec):
    """Metrics and logs of the cluster in Cloud Monitoring and Cloud Logging."""

    components: InPlace[Annotated[tuple[MonitoringComponent, ...], Field(min_length=1)] | None] = None
    """Components with collected metrics; SYSTEM_COMPONENTS is required. Default: all components of workloads and nodes
    that the cluster's version supports."""

    managed_prometheus: InPlace[bool] = True
    """Google Cloud Managed Service for Prometheus. Default true."""

    logs: InPlace[Annotated[tuple[LoggingComponent, ...], Field(min_length=1)]] = ("SYSTEM_COMPONENTS", "WORKLOADS")
    """Components with collected logs; SYSTEM_COMPONENTS is required. Default SYSTEM_COMPONENTS and WORKLOADS."""


_ForNewPools = Annotated[T, Change("in-place", "Changed in place, for new pools.", source="provider")]
AutoscalingProfile = Literal["BALANCED", "OPTIMIZE_UTILIZATION"]


class AutoProvisioningLimitsSpec(Spec):
    """Maximum size of the whole cluster. GKE counts every node of the cluster, also the nodes of declared pools."""

    cpu: InPlace[Annotated[int, Field(ge=1, le=10**9)]]
    """Maximum vCPUs of the cluster. GKE requires this limit."""

    memory_gb: InPlace[Annotated[int, Field(ge=1, le=10**9)]]
    """Maximum memory of the cluster's nodes, in GB. GKE requires this limit."""

    tpu: InPlace[Annotated[dict[str, Annotated[int, Field(ge=1, le=10**9)]], Field(min_length=1)]]
    """Maximum TPU chips of the cluster, by generation. Pods that request another generation get no node."""


class AutoProvisioningSpec(Spec):
    """Node pools that GKE creates for pods that fit on no existing node, and deletes when they are empty. Each
    multi-host slice is a separate node pool."""

    limits: AutoProvisioningLimitsSpec
    """Maximum size of the cluster."""

    zones: InPlace[tuple[Zone, ...]] = ()
    """Zones for new node pools. Default: the zones of the cluster's region that offer one of the generations."""

    autoscaling_profile: InPlace[AutoscalingProfile] = "BALANCED"
    """Removal of idle nodes in all pools: BALANCED, or OPTIMIZE_UTILIZATION (sooner). Default BALANCED."""

    disk_type: _ForNewPools[Literal["pd-standard", "pd-balanced", "pd-ssd", "hyperdisk-balanced"]] = "pd-balanced"
    """Boot disk type of new node pools. GKE uses hyperdisk-balanced for machines that support no other type. Default
    pd-balanced."""

    disk_size_gb: _ForNewPools[Annotated[int, Field(ge=10, le=65536)]] = 100
    """Boot disk size of new node pools, in GB. Default 100."""

    auto_repair: _ForNewPools[bool] = True
    """Let GKE repair the hosts of new node pools. Default true."""

    auto_upgrade: _ForNewPools[bool] = True
    """Let GKE upgrade the hosts of new node pools. Default true; required in a release channel."""


# GKE's controller makes a driver for each object, and never changes it. So another object takes its place.
_REPLACES = "A change deletes the RAM disks with their checkpoints, and creates others."
_ReplacesDisks = Annotated[T, Change("deletes-work", _REPLACES, source="checkpointing")]
_Pools = Annotated[T, Change(new="creates", removed="deletes-work", named="RAM disk", source="checkpointing")]


class CheckpointingPoolSpec(Spec):
    """The RAM disk on each host of a pool."""

    ram_disk_gb: _ReplacesDisks[Annotated[int, Field(ge=1)]]
    """Size in GB, for about two checkpoints of the host's part of the model. Kubernetes does not reserve it: leave this
    much memory free in the requests of pods."""


class CheckpointingSpec(Spec):
    """Multi-tier checkpointing: jobs write checkpoints to RAM disks. GKE copies them to other hosts, and backs them up
    to a bucket."""

    bucket: _ReplacesDisks[Name]
    """The bucket for backups: a name in `storage.buckets`, with purpose `checkpoints`, in the cluster's region."""

    pools: _Pools[Annotated[dict[Name, CheckpointingPoolSpec], Field(min_length=1)]]
    """TPU pools whose hosts get a RAM disk, by name."""
