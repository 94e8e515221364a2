"""What a cluster is beyond its pools, as the user writes it: security, storage drivers, monitoring."""

from typing import Annotated, Literal

from pydantic import Field

from tpuplane.spec.core.fields import KmsKey, SecurityGroup, Spec

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
    "SYSTEM_COMPONENTS", "WORKLOADS", "APISERVER", "SCHEDULER", "CONTROLLER_MANAGER", "KCP_SSHD", "KCP_CONNECTION"
]


class EncryptionSpec(Spec):
    """A Cloud KMS key in the cluster's region."""

    key: KmsKey | None = None
    """An existing key: projects/P/locations/REGION/keyRings/RING/cryptoKeys/KEY. GKE's service agent (for disks:
    Compute Engine's) needs roles/cloudkms.cryptoKeyEncrypterDecrypter on it. Default: create a key for the cluster,
    rotate it every 90 days, and grant the role to the agent."""


class KeysSpec(Spec):
    """Encryption of a cluster, from which the plan makes its Cloud KMS keys."""

    secrets_encryption: EncryptionSpec | None = None
    """Encrypt Kubernetes Secrets in etcd with a Cloud KMS key; `{}` creates one. Default: only Google's own encryption.
    Changed in place; keep the old key until GKE has encrypted all Secrets again. Removing a key that tpuplane created
    deletes it."""

    boot_disk_encryption: EncryptionSpec | None = None
    """Encrypt the boot disks of every pool with a Cloud KMS key; `{}` creates one. Default: only Google's own
    encryption. A change replaces the pools, and the cluster if it has node auto-provisioning. Removing a key that
    tpuplane created deletes it."""


class HardeningSpec(Spec):
    """Security settings that the plan holds as they are."""

    posture: Literal["BASIC", "DISABLED"] = "BASIC"
    """Security posture dashboard, which checks the configuration of workloads. Google has ended its vulnerability
    scanning, which is always off. Default BASIC, which is free of charge. Changed in place."""

    binary_authorization: Literal["DISABLED", "PROJECT_SINGLETON_POLICY_ENFORCE"] = "DISABLED"
    """Whether the cluster admits only images that the project's Binary Authorization policy allows. Default DISABLED.
    Changed in place."""

    anonymous_authentication: Literal["LIMITED", "ENABLED"] = "LIMITED"
    """Endpoints of the API server that need no credentials. LIMITED: only health checks. Default LIMITED. Changed in
    place."""

    security_group: SecurityGroup | None = None
    """Google Group for RBAC: gke-security-groups@DOMAIN. Role bindings can name groups that are members of it. Default:
    none. Changed in place, but GKE cannot remove it again."""

    secret_manager: bool = False
    """Secret Manager add-on, which mounts secrets of Secret Manager as files. Default false. Changed in place."""

    clusterwide_network_policy: bool = False
    """CiliumClusterwideNetworkPolicy: network policies that apply to all namespaces. Default false. Changed in
    place."""


class SecuritySpec(HardeningSpec, KeysSpec):
    """Security settings. Private nodes, shielded nodes and Workload Identity are always on."""


class StorageSpec(Spec):
    """Storage drivers that GKE installs and manages."""

    persistent_disk: bool = True
    """Compute Engine persistent disk and Hyperdisk. Default true. Changed in place."""

    gcs_fuse: bool = False
    """Cloud Storage FUSE, which mounts buckets as file systems, for data sets and checkpoints. Default false. Changed
    in place."""

    filestore: bool = False
    """Filestore: NFS volumes. Default false. Changed in place."""

    lustre: bool = False
    """Managed Lustre, a parallel file system. Google no longer supports the Parallelstore driver. Default false.
    Changed in place."""


class MonitoringSpec(Spec):
    """Metrics and logs of the cluster in Cloud Monitoring and Cloud Logging."""

    components: Annotated[tuple[MonitoringComponent, ...], Field(min_length=1)] | None = None
    """Components with collected metrics; SYSTEM_COMPONENTS is required. Default: all components of workloads and nodes
    that the cluster's version supports. Changed in place."""

    managed_prometheus: bool = True
    """Google Cloud Managed Service for Prometheus. Default true. Changed in place."""

    logs: Annotated[tuple[LoggingComponent, ...], Field(min_length=1)] = ("SYSTEM_COMPONENTS", "WORKLOADS")
    """Components with collected logs; SYSTEM_COMPONENTS is required. Default SYSTEM_COMPONENTS and WORKLOADS. Changed
    in place."""
