"""The settings of a cluster apart from its pools: security, storage drivers, monitoring."""

from typing import Annotated, Literal

from pydantic import Field

from tpuplane.spec.core.changes import Change, InPlace
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
        SecurityGroup | None,
        Change(
            "in-place",
            removed="in-place",
            source="provider",
            says={"removed": "GKE cannot remove it: the cluster keeps the former value."},
        ),
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
