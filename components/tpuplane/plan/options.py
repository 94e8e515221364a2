"""A cluster's options: keys, and what is measured."""

from __future__ import annotations

from tpuplane.plan.cluster_model import KeyPlan, KeysPlan
from tpuplane.spec import ClusterSpec
from tpuplane.spec.cluster_options import EncryptionSpec, MonitoringSpec
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


def keys_plan(cluster: ClusterSpec) -> KeysPlan:
    """Which keys encrypt what the cluster stores."""
    spec = cluster.security
    return KeysPlan(_key(spec.secrets_encryption, SECRETS_KEY), _key(spec.boot_disk_encryption, BOOT_DISK_KEY))


def monitoring(cluster: ClusterSpec) -> MonitoringSpec:
    """What is measured and logged: what the user chose, else all that the cluster's version has."""
    spec = cluster.monitoring
    if spec.components is not None:
        return spec
    usual = tuple(component for component in _COMPONENTS if has_component(cluster, component))
    return spec.model_copy(update={"components": usual})


def _key(spec: EncryptionSpec | None, name: str) -> KeyPlan | None:
    if spec is None:
        return None
    return KeyPlan(name=name) if spec.key is None else KeyPlan(brought=spec.key)
