"""Options of a cluster whose plan is more than the description: keys, metrics, maintenance."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from tpuplane.spec import ClusterSpec, MaintenanceSpec
from tpuplane.spec.cluster.maintenance import WEEKDAYS, ExclusionScope
from tpuplane.spec.cluster.option_checks import has_component
from tpuplane.spec.cluster.options import EncryptionSpec, MonitoringSpec


@dataclass(frozen=True, slots=True)
class KeyPlan:
    """A Cloud KMS key. Exactly one of `brought` and `name` is set: one that exists already, or one that is made."""

    brought: str | None = None  # full resource name
    name: str | None = None  # of the key in the cluster's own key ring


@dataclass(frozen=True, slots=True)
class KeysPlan:
    """The Cloud KMS keys of a cluster. None: Google's own."""

    secrets: KeyPlan | None
    boot_disk: KeyPlan | None

    @property
    def made(self) -> tuple[str, ...]:
        """Names of the keys that are made."""
        keys = (self.secrets, self.boot_disk)
        return tuple(key.name for key in keys if key is not None and key.name is not None)


@dataclass(frozen=True, slots=True)
class ExclusionPlan:
    """A time without upgrades. `end` is None where it lasts until the end of the version's support."""

    name: str
    start: str  # RFC 3339, UTC
    end: str | None
    scope: ExclusionScope


@dataclass(frozen=True, slots=True)
class MaintenancePlan:
    """When GKE may maintain a cluster: a first window, how it repeats (RFC 5545), and times in which it may not."""

    start: str  # RFC 3339, UTC
    end: str
    recurrence: str
    exclusions: tuple[ExclusionPlan, ...] = ()


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


# A window repeats for ever from its first opening. That one lies in the past, in a week that never changes, so that
# the plan of a file is the same on every day; 2024-01-01 was a Monday.
_FIRST_MONDAY = datetime(2024, 1, 1, tzinfo=UTC)
_RFC_3339 = "%Y-%m-%dT%H:%M:%SZ"


def maintenance_plan(spec: MaintenanceSpec | None) -> MaintenancePlan | None:
    """The plan of a cluster's maintenance; None where nothing was asked."""
    if spec is None:
        return None
    days = [day for day in WEEKDAYS if day in spec.window.days]
    hour, minute = map(int, spec.window.start.split(":"))
    start = _FIRST_MONDAY + timedelta(days=WEEKDAYS.index(days[0]), hours=hour, minutes=minute)
    exclusions = (
        ExclusionPlan(name, exclusion.start, exclusion.end, exclusion.scope)
        for name, exclusion in spec.exclusions.items()
    )
    return MaintenancePlan(
        start=start.strftime(_RFC_3339),
        end=(start + timedelta(hours=spec.window.hours)).strftime(_RFC_3339),
        recurrence=f"FREQ=WEEKLY;BYDAY={','.join(days)}",
        exclusions=tuple(exclusions),
    )
