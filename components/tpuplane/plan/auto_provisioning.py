"""Node auto-provisioning of a cluster, as it will be asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tpuplane.spec import ClusterSpec
from tpuplane.spec.cluster.auto_provisioning_room import provisioning_zones, tpu_rooms


@dataclass(frozen=True, slots=True)
class TpuLimitPlan:
    """The limit of one TPU type, in chips."""

    resource_type: str  # as Google's API has it: "tpu-v6e-slice"
    generation: str
    maximum: int  # of the whole cluster, declared pools counted in
    up_to: int  # what auto-provisioned pools may have once the declared ones are at full scale


@dataclass(frozen=True, slots=True)
class AutoProvisioningPlan:
    """What GKE may make by itself, and how: the defaults are those of declared pools."""

    cpu: int  # vCPUs of the whole cluster
    memory_gb: int
    tpu: tuple[TpuLimitPlan, ...]
    zones: tuple[str, ...]
    autoscaling_profile: Literal["BALANCED", "OPTIMIZE_UTILIZATION"]
    disk_type: str
    disk_size_gb: int
    auto_repair: bool
    auto_upgrade: bool
    # As for the hosts of a declared slice: there are none to surge to.
    max_surge: int = 0
    max_unavailable: int = 1

    @property
    def up_to(self) -> int:
        """Chips that it may add to those of the declared pools."""
        return sum(limit.up_to for limit in self.tpu)


def auto_provisioning_plan(cluster: ClusterSpec) -> AutoProvisioningPlan | None:
    """The plan of a cluster's auto-provisioning; None where it has none."""
    spec = cluster.auto_provisioning
    if spec is None:
        return None
    return AutoProvisioningPlan(
        cpu=spec.limits.cpu,
        memory_gb=spec.limits.memory_gb,
        tpu=tuple(
            TpuLimitPlan(room.generation.label, room.generation.name, room.maximum, room.chips)
            for room in tpu_rooms(cluster)
        ),
        zones=provisioning_zones(cluster),
        autoscaling_profile=spec.autoscaling_profile,
        disk_type=spec.disk_type,
        disk_size_gb=spec.disk_size_gb,
        auto_repair=spec.auto_repair,
        auto_upgrade=spec.auto_upgrade,
    )
