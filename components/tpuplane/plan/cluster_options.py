"""Options of a cluster that the plan does not only copy: keys, metrics, maintenance, auto-provisioning."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from tpuplane.spec import ClusterSpec
from tpuplane.spec.cluster.auto_provisioning_checks import provisioning_zones, tpu_rooms
from tpuplane.spec.cluster.maintenance import WEEKDAYS, MaintenanceExclusionSpec, MaintenanceSpec
from tpuplane.spec.cluster.option_checks import has_component
from tpuplane.spec.cluster.options import AutoscalingProfile, MonitoringSpec
from tpuplane.spec.core.rules import spec_data


@dataclass(frozen=True, slots=True)
class MaintenancePlan:
    """The maintenance policy of a cluster: the first window, its recurrence (RFC 5545), and exclusions."""

    start: str  # RFC 3339, UTC
    end: str
    recurrence: str
    exclusions: Mapping[str, MaintenanceExclusionSpec]  # by name


SECRETS_KEY = "secrets"
BOOT_DISK_KEY = "boot-disks"


def keys_plan(cluster: ClusterSpec) -> dict[str, str | None]:
    """The cluster's Cloud KMS keys by their use: the full resource name of an existing key; None for a new key."""
    spec = cluster.security
    uses = {SECRETS_KEY: spec.secrets_encryption, BOOT_DISK_KEY: spec.boot_disk_encryption}
    return {use: encryption.key for use, encryption in uses.items() if encryption is not None}


def monitoring(cluster: ClusterSpec) -> MonitoringSpec:
    """The components with metrics and logs: the user's choice, else all components of the cluster's version."""
    spec = cluster.monitoring
    if spec.components is not None:
        return spec
    usual = (component for component in spec_data("observability")["components"] if has_component(cluster, component))
    return spec.model_copy(update={"components": tuple(usual)})


# A window recurs without an end. The first one is in a fixed week in the past, so that the plan of a file is the same
# on every day. 2024-01-01 was a Monday.
_FIRST_MONDAY = datetime(2024, 1, 1, tzinfo=UTC)
_RFC_3339 = "%Y-%m-%dT%H:%M:%SZ"


def maintenance_plan(spec: MaintenanceSpec | None) -> MaintenancePlan | None:
    """The maintenance policy of a cluster; None if the description has none."""
    if spec is None:
        return None
    days = [day for day in WEEKDAYS if day in spec.window.days]
    hour, minute = map(int, spec.window.start.split(":"))
    start = _FIRST_MONDAY + timedelta(days=WEEKDAYS.index(days[0]), hours=hour, minutes=minute)
    return MaintenancePlan(
        start=start.strftime(_RFC_3339),
        end=(start + timedelta(hours=spec.window.hours)).strftime(_RFC_3339),
        recurrence=f"FREQ=WEEKLY;BYDAY={','.join(days)}",
        exclusions=spec.exclusions,
    )


@dataclass(frozen=True, slots=True)
class TpuLimitPlan:
    """The limit of one TPU type, in chips."""

    resource_type: str  # as Google's API has it: "tpu-v6e-slice"
    generation: str
    maximum: int  # of the whole cluster, including declared pools
    up_to: int  # of auto-provisioned pools when the declared pools are at full scale


@dataclass(frozen=True, slots=True)
class AutoProvisioningPlan:
    """The limits of node auto-provisioning, and the settings of its nodes, with the defaults of declared pools."""

    cpu: int  # vCPUs of the whole cluster
    memory_gb: int
    tpu: tuple[TpuLimitPlan, ...]
    zones: tuple[str, ...]
    autoscaling_profile: AutoscalingProfile
    disk_type: str
    disk_size_gb: int
    auto_repair: bool
    auto_upgrade: bool
    # As for the hosts of a declared slice, which have no additional host for a surge.
    max_surge: int = 0
    max_unavailable: int = 1


def auto_provisioning_plan(cluster: ClusterSpec) -> AutoProvisioningPlan | None:
    """The plan of a cluster's auto-provisioning; None if it is off."""
    if (spec := cluster.auto_provisioning) is None:
        return None
    rooms = ((room.generation, room) for room in tpu_rooms(cluster))
    return AutoProvisioningPlan(
        cpu=spec.limits.cpu,
        memory_gb=spec.limits.memory_gb,
        tpu=tuple(TpuLimitPlan(own.label, own.name, room.maximum, room.chips) for own, room in rooms),
        zones=provisioning_zones(cluster),
        autoscaling_profile=spec.autoscaling_profile,
        disk_type=spec.disk_type,
        disk_size_gb=spec.disk_size_gb,
        auto_repair=spec.auto_repair,
        auto_upgrade=spec.auto_upgrade,
    )
