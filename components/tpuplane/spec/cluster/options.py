"""What a cluster is beyond its pools, as the user writes it: security, storage drivers, monitoring."""

from __future__ import annotations

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
    """A Cloud KMS key of your own, in the cluster's region."""

    key: KmsKey | None = None
    """A key that exists already: projects/P/locations/REGION/keyRings/RING/cryptoKeys/KEY. GKE's service agent (for
    disks: Compute Engine's) must have roles/cloudkms.cryptoKeyEncrypterDecrypter on it. Default: a key is made for the
    cluster, rotated every 90 days, and the agent is given the role."""


class SecuritySpec(Spec):
    """How the cluster is guarded, beyond what is always so (private nodes, shielded nodes, Workload Identity)."""

    secrets_encryption: EncryptionSpec | None = None
    """Encrypt Kubernetes Secrets in etcd with a key of your own; `{}` makes one. Default: Google's keys alone. Changed
    in place; the old key must exist until GKE has written everything again."""

    boot_disk_encryption: EncryptionSpec | None = None
    """Encrypt the boot disks of every pool with a key of your own; `{}` makes one. Default: Google's keys alone.
    A change replaces the pools."""

    posture: Literal["BASIC", "DISABLED"] = "BASIC"
    """Security posture dashboard: checks of workloads' configuration. Default BASIC, which costs nothing. (Google has
    ended its vulnerability scanning, which is always off.) Changed in place."""

    binary_authorization: Literal["DISABLED", "PROJECT_SINGLETON_POLICY_ENFORCE"] = "DISABLED"
    """Admit only images that the project's Binary Authorization policy allows. Default DISABLED. Changed in place."""

    anonymous_authentication: Literal["LIMITED", "ENABLED"] = "LIMITED"
    """Which endpoints of the API server answer without a credential: LIMITED, health checks alone. Default LIMITED.
    Changed in place."""

    security_group: SecurityGroup | None = None
    """Google Group whose member groups may be named in RBAC: gke-security-groups@DOMAIN. Default: none. Changed in
    place, but GKE cannot remove it again."""

    secret_manager: bool = False
    """Secret Manager add-on: mount secrets of Secret Manager as files. Default false. Changed in place."""

    clusterwide_network_policy: bool = False
    """CiliumClusterwideNetworkPolicy: rules for the traffic of every namespace. Default false. Changed in place."""


class StorageSpec(Spec):
    """Drivers for volumes, installed and kept by GKE."""

    persistent_disk: bool = True
    """Persistent Disk and Hyperdisk. Default true. Changed in place."""

    gcs_fuse: bool = False
    """Cloud Storage FUSE: buckets as file systems, for data sets and checkpoints. Default false. Changed in place."""

    filestore: bool = False
    """Filestore: NFS volumes. Default false. Changed in place."""

    lustre: bool = False
    """Managed Lustre: a parallel file system (Google no longer supports the Parallelstore driver). Default false.
    Changed in place."""


class MonitoringSpec(Spec):
    """What Cloud Monitoring and Cloud Logging get of the cluster."""

    components: Annotated[tuple[MonitoringComponent, ...], Field(min_length=1)] | None = None
    """Whose metrics are collected; SYSTEM_COMPONENTS must be among them. Default: everything about workloads and nodes
    that the cluster's version has. Changed in place."""

    managed_prometheus: bool = True
    """Google Cloud Managed Service for Prometheus. Default true. Changed in place."""

    logs: Annotated[tuple[LoggingComponent, ...], Field(min_length=1)] = ("SYSTEM_COMPONENTS", "WORKLOADS")
    """Whose logs are collected; SYSTEM_COMPONENTS must be among them. Default SYSTEM_COMPONENTS and WORKLOADS. Changed
    in place."""
