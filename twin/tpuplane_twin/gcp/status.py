"""A snapshot of the API's state for people: clusters, their pools, operations under way."""

from __future__ import annotations

from dataclasses import dataclass

from tpuplane_twin.gcp.backend import node_counts
from tpuplane_twin.gcp.container.names import CLUSTER, POOL
from tpuplane_twin.gcp.links import CONTAINER
from tpuplane_twin.gcp.locations import machine_named
from tpuplane_twin.gcp.operations import OPERATION
from tpuplane_twin.gcp.pool_view import PoolView
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store


@dataclass(frozen=True, slots=True)
class PoolStatus:
    """One node pool. `nodes` is the number it should have, `chips` their TPU chips, `topology` "" outside slices."""

    name: str
    status: str
    message: str
    machine_type: str
    topology: str
    zones: tuple[str, ...]
    nodes: int
    chips: int


@dataclass(frozen=True, slots=True)
class ClusterStatus:
    """One cluster; `endpoint` is empty until its control plane has started."""

    project: str
    location: str
    name: str
    status: str
    message: str
    version: str
    endpoint: str
    pools: tuple[PoolStatus, ...]


@dataclass(frozen=True, slots=True)
class OperationStatus:
    """One operation under way."""

    name: str
    kind: str
    status: str
    target: str
    started: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What the API holds at this moment."""

    clusters: tuple[ClusterStatus, ...]
    operations: tuple[OperationStatus, ...]


def snapshot(store: Store) -> Snapshot:
    """Read the snapshot; the store may be one that another process writes (`Store(path, read_only=True)`)."""
    with store.transaction():
        return Snapshot(
            clusters=tuple(_cluster(store, key) for key, _ in store.items(CLUSTER)),
            operations=tuple(
                OperationStatus(
                    name=found["name"],
                    kind=found["operationType"],
                    status=found["status"],
                    target=found["targetLink"].removeprefix(CONTAINER),
                    started=found["startTime"],
                )
                for found in store.values(OPERATION)
                if found["status"] != "DONE"
            ),
        )


def _cluster(store: Store, key: str) -> ClusterStatus:
    cluster = store.get(CLUSTER, key) or {}
    _, project, _, location, _, name = key.split("/")
    return ClusterStatus(
        project=project,
        location=location,
        name=name,
        status=cluster["status"],
        message=cluster.get("statusMessage", ""),
        version=cluster["currentMasterVersion"],
        endpoint=cluster.get("endpoint", ""),
        pools=tuple(_pool(pool) for pool in store.values(POOL, f"{key}/nodePools")),
    )


def _pool(pool: Json) -> PoolStatus:
    machine = machine_named(pool["config"]["machineType"])
    nodes = sum(node_counts(pool).values())
    return PoolStatus(
        name=pool["name"],
        status=pool["status"],
        message=pool.get("statusMessage", ""),
        machine_type=pool["config"]["machineType"],
        topology=PoolView(pool).placement_topology,
        zones=tuple(pool["locations"]),
        nodes=nodes,
        chips=nodes * machine.tpu[1].chips if machine and machine.tpu else 0,
    )
