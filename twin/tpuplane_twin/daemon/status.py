"""What a supervisor knows of its twin: processes, clusters and pools as Google's API has them, what is under way.

What stands in a cluster is the cluster's own to say, and is asked by the command line (`cli/clusters.py`): thousands of
nodes would keep the supervisor from its work.
"""

from __future__ import annotations

import contextlib
from typing import Any

import psutil
from tpuplane.tpu import Slice, SliceError, catalogue

from tpuplane_twin.daemon.fleet import context_of
from tpuplane_twin.gcp import Store, snapshot
from tpuplane_twin.gcp.container.names import CLUSTER, POOL
from tpuplane_twin.gcp.pool_view import PoolView
from tpuplane_twin.gcp.status import ClusterStatus, PoolStatus
from tpuplane_twin.machine.processes import ProcessManager

_MIB = 1024**2


def describe(store: Store, processes: ProcessManager) -> dict[str, Any]:
    """The machine-readable status: `processes`, `clusters` (with `nodePools`), `operations`."""
    now = snapshot(store)
    return {
        "processes": [
            {
                "name": process.name,
                "pid": process.pid,
                "restarts": process.restarts,
                "memoryMiB": _memory(process.pid),
                "log": str(process.log),
            }
            for process in processes.status()
        ],
        "clusters": [_cluster(store, cluster) for cluster in now.clusters],
        "operations": [
            {"name": it.name, "operationType": it.kind, "status": it.status, "target": it.target, "since": it.started}
            for it in now.operations
        ],
    }


def _cluster(store: Store, cluster: ClusterStatus) -> dict[str, Any]:
    key = f"projects/{cluster.project}/locations/{cluster.location}/clusters/{cluster.name}"
    stored = store.get(CLUSTER, key) or {}
    return {
        "name": cluster.name,
        "project": cluster.project,
        "location": cluster.location,
        "context": context_of(cluster.project, cluster.location, cluster.name),
        "status": cluster.status,
        "message": cluster.message,
        "version": cluster.version,
        "endpoint": cluster.endpoint,
        "rayOperator": bool(stored.get("addonsConfig", {}).get("rayOperatorConfig", {}).get("enabled")),
        "nodePools": [_pool(pool, store.get(POOL, f"{key}/nodePools/{pool.name}") or {}) for pool in cluster.pools],
    }


def _pool(pool: PoolStatus, stored: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": pool.name,
        "status": pool.status,
        "message": pool.message,
        "machineType": pool.machine_type,
        "slice": _slice(pool),
        "zones": list(pool.zones),
        "capacity": PoolView(stored).capacity,
        "nodes": pool.nodes,
        "chips": pool.chips,
    }


def _slice(pool: PoolStatus) -> str:
    try:
        generation, machine = catalogue().machine(pool.machine_type)
        return str(Slice.of(generation.name, pool.topology or machine.single_host_topology or "", machine.name))
    except (SliceError, KeyError):
        return ""


def _memory(pid: int | None) -> int:
    with contextlib.suppress(psutil.Error):
        return round(psutil.Process(pid).memory_info().rss / _MIB) if pid is not None else 0
    return 0
