"""A cluster's options: from what the user chose to what Google's API is told."""

from __future__ import annotations

from tpuplane.plan.cluster_model import (
    AuthorizedNetworkPlan,
    ControlPlanePlan,
    KeyPlan,
    MonitoringPlan,
    SecurityPlan,
    StoragePlan,
)
from tpuplane.spec import ClusterSpec
from tpuplane.spec.cluster_options import EncryptionSpec
from tpuplane.spec.option_checks import has_component

SECRETS_KEY = "secrets"
BOOT_DISK_KEY = "boot-disks"

# Everything about workloads and nodes; the control plane's own metrics and DCGM (GPUs) cost extra and are chosen.
_COMPONENTS = (
    "SYSTEM_COMPONENTS",
    "STORAGE",
    "POD",
    "DEPLOYMENT",
    "STATEFULSET",
    "DAEMONSET",
    "HPA",
    "CADVISOR",
    "KUBELET",
    "JOBSET",
)


def control_plane_plan(cluster: ClusterSpec) -> ControlPlanePlan:
    """Who reaches the control plane."""
    plane = cluster.control_plane
    return ControlPlanePlan(
        dns_endpoint=plane.dns_endpoint,
        ip_endpoint=plane.ip_endpoint,
        public_endpoint=plane.public_endpoint,
        master_cidr=plane.master_cidr,
        authorized_networks=tuple(
            AuthorizedNetworkPlan(network.cidr, network.name) for network in plane.authorized_networks
        ),
    )


def security_plan(cluster: ClusterSpec) -> SecurityPlan:
    """How the cluster is guarded."""
    spec = cluster.security
    return SecurityPlan(
        secrets_key=_key(spec.secrets_encryption, SECRETS_KEY),
        boot_disk_key=_key(spec.boot_disk_encryption, BOOT_DISK_KEY),
        posture=spec.posture,
        binary_authorization=spec.binary_authorization,
        anonymous_authentication=spec.anonymous_authentication,
        security_group=spec.security_group,
        secret_manager=spec.secret_manager,
    )


def storage_plan(cluster: ClusterSpec) -> StoragePlan:
    """Which drivers for volumes the cluster has."""
    spec = cluster.storage
    return StoragePlan(spec.persistent_disk, spec.gcs_fuse, spec.filestore, spec.lustre)


def monitoring_plan(cluster: ClusterSpec) -> MonitoringPlan:
    """What is measured and logged: what the user chose, else all that the cluster's version has."""
    spec = cluster.monitoring
    usual = tuple(component for component in _COMPONENTS if has_component(cluster, component))
    return MonitoringPlan(usual if spec.components is None else spec.components, spec.managed_prometheus, spec.logs)


def _key(spec: EncryptionSpec | None, name: str) -> KeyPlan | None:
    if spec is None:
        return None
    return KeyPlan(name=name) if spec.key is None else KeyPlan(brought=spec.key)
