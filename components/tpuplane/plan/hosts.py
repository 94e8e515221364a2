"""What every node pool says of its hosts, whether they have TPUs or GPUs: how they are bought and kept."""

from __future__ import annotations

from typing import TypedDict

from tpuplane.labels import CAPACITY_LABEL, POOL_LABEL
from tpuplane.spec import ExtraNetworkSpec, FlexStartSpec, PlatformSpec, SecondaryBootDiskSpec
from tpuplane.spec.capacity import Capacity, MaintenanceInterval
from tpuplane.spec.hosts import HostsSpec


class HostFields(TypedDict):
    """The fields of a `NodePoolPlan` that come from `HostsSpec` alone."""

    disk_size_gb: int
    capacity: Capacity
    reservation: str | None
    flex_start: FlexStartSpec | None
    host_maintenance: MaintenanceInterval | None
    auto_repair: bool
    auto_upgrade: bool
    max_pods_per_node: int
    image_streaming: bool
    secondary_boot_disks: tuple[SecondaryBootDiskSpec, ...]
    extra_networks: tuple[ExtraNetworkSpec, ...]
    node_labels: dict[str, str]
    resource_labels: dict[str, str]


def host_fields(key: str, pool: HostsSpec, labels: dict[str, str], spec: PlatformSpec) -> HostFields:
    """The plan of a pool's hosts; `labels` are the cluster's."""
    return {
        "disk_size_gb": pool.disk_size_gb,
        "capacity": pool.capacity,
        "reservation": _reservation(pool, spec),
        "flex_start": (pool.flex_start or FlexStartSpec()) if pool.capacity == "flex-start" else None,
        "host_maintenance": _host_maintenance(pool, spec),
        "auto_repair": pool.auto_repair and pool.capacity != "flex-start",
        "auto_upgrade": pool.auto_upgrade,
        "max_pods_per_node": pool.max_pods_per_node,
        "image_streaming": pool.image_streaming,
        "secondary_boot_disks": pool.secondary_boot_disks,
        "extra_networks": pool.extra_networks,
        "node_labels": {**pool.node_labels, POOL_LABEL: key, CAPACITY_LABEL: pool.capacity},
        "resource_labels": {**labels, **pool.labels, POOL_LABEL: key},
    }


def _reservation(pool: HostsSpec, spec: PlatformSpec) -> str | None:
    """The reservation as Google's API names it: alone, or by its path where it is shared or the pool wants a block."""
    use = pool.reservation
    if use is None:
        return None
    owner = spec.reservations[use.name].project or spec.project
    if owner == spec.project and use.block is None:
        return use.name
    path = f"projects/{owner}/reservations/{use.name}"
    if use.block is not None:
        path += f"/reservationBlocks/{use.block}"
    if use.sub_block is not None:
        path += f"/reservationSubBlocks/{use.sub_block}"
    return path


def _host_maintenance(pool: HostsSpec, spec: PlatformSpec) -> MaintenanceInterval | None:
    """The pool's own, else that of its reservation: Compute Engine gives no reserved host that differs in it."""
    if pool.host_maintenance is not None or pool.reservation is None:
        return pool.host_maintenance
    return spec.reservations[pool.reservation.name].maintenance_interval
