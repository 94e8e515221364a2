"""What a program passes for the options of a cluster: the fields of `tpuplane.spec`'s. See `args`."""

from collections.abc import Sequence
from typing import NotRequired, TypedDict


class EncryptionArgs(TypedDict):
    """A Cloud KMS key of your own, in the cluster's region."""

    key: NotRequired[str]
    """A key that exists already: projects/P/locations/REGION/keyRings/RING/cryptoKeys/KEY. GKE's service agent (for
    disks: Compute Engine's) must have roles/cloudkms.cryptoKeyEncrypterDecrypter on it. Default: a key is made for
    the cluster, rotated every 90 days, and the agent is given the role."""


class SecurityArgs(TypedDict):
    """How the cluster is guarded, beyond what is always so (private nodes, shielded nodes, Workload Identity)."""

    secrets_encryption: NotRequired[EncryptionArgs]
    """Encrypt Kubernetes Secrets in etcd with a key of your own; `{}` makes one. Default: Google's keys alone. Changed
    in place; the old key must live on until GKE has written everything anew."""

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
    """What Cloud Monitoring and Cloud Logging are told of the cluster."""

    components: NotRequired[Sequence[str]]
    """Whose metrics are collected; SYSTEM_COMPONENTS must be among them. Default: everything about workloads and nodes
    that the cluster's version has. Changed in place."""

    managed_prometheus: NotRequired[bool]
    """Google Cloud Managed Service for Prometheus. Default true. Changed in place."""

    logs: NotRequired[Sequence[str]]
    """Whose logs are collected; SYSTEM_COMPONENTS must be among them. Default SYSTEM_COMPONENTS and WORKLOADS. Changed
    in place."""
