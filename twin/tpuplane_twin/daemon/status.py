"""What the supervisor knows of its twin: processes, clusters and pools as Google's API has them, running operations.

The command line adds what the clusters report (`cli/clusters.py`): reading thousands of nodes would keep the supervisor
from its work.
"""

import contextlib
from typing import Any

import psutil
from tpuplane.tpu import Slice, SliceError
from tpuplane.tpu import catalogue as tpus

from tpuplane_twin.gcp.backend import node_counts
from tpuplane_twin.gcp.container.names import CLUSTER, POOL, cluster_of
from tpuplane_twin.gcp.links import CONTAINER
from tpuplane_twin.gcp.operations import OPERATION
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store
from tpuplane_twin.gcp.views import ClusterView, PoolView
from tpuplane_twin.machine.processes import ProcessManager
from tpuplane_twin.tools.catalogue import catalogue

_MIB = 1024**2


def describe(store: Store, processes: ProcessManager) -> dict[str, Any]:
    """The machine-readable status: `processes`, `kubernetes` (the version of every control plane, whichever version
    its cluster has), and the keys of `describe_store`."""
    running = [
        {
            "name": process.name,
            "pid": process.pid,
            "restarts": process.restarts,
            "memoryMiB": _memory(process.pid),
            "log": str(process.log),
        }
        for process in processes.status()
    ]
    (kubernetes,) = catalogue().sources_of(["kube-apiserver"])
    return {"kubernetes": kubernetes.version, "processes": running, **describe_store(store)}


def describe_store(store: Store) -> dict[str, Any]:
    """`clusters` (with `nodePools`) and `operations` of a store, which another process may write."""
    with store.transaction():
        return {
            "clusters": [_cluster(store, key, cluster) for key, cluster in store.items(CLUSTER)],
            "operations": [
                {
                    "name": operation["name"],
                    "operationType": operation["operationType"],
                    "status": operation["status"],
                    "target": operation["targetLink"].removeprefix(CONTAINER),
                    "since": operation["startTime"],
                }
                for operation in store.values(OPERATION)
                if operation["status"] != "DONE"
            ],
        }


def _cluster(store: Store, key: str, stored: Json) -> dict[str, Any]:
    view = ClusterView(stored)
    own = cluster_of(key)
    return {
        "name": own.name,
        "project": own.project,
        "location": own.location,
        "context": own.context,
        "status": view.status,
        "message": view.message,
        "version": view.version,
        "endpoint": view.endpoint,
        "rayOperator": view.ray_operator,
        "nodePools": [_pool(pool) for pool in store.values(POOL, f"{key}/nodePools")],
    }


def _pool(stored: Json) -> dict[str, Any]:
    view = PoolView(stored)
    nodes = sum(node_counts(stored).values())
    chips, shape = 0, ""
    with contextlib.suppress(SliceError):
        generation, machine = tpus().machine(view.machine_type)
        chips = machine.chips
        topology = view.placement_topology or machine.single_host_topology or ""
        shape = str(Slice.of(generation.name, topology, machine.name))
    return {
        "name": view.name,
        "status": view.status,
        "message": view.message,
        "machineType": view.machine_type,
        "slice": shape,
        "zones": view.zones,
        "capacity": view.capacity,
        "nodes": nodes,
        "chips": nodes * chips,
    }


def _memory(pid: int | None) -> int:
    with contextlib.suppress(psutil.Error):
        return round(psutil.Process(pid).memory_info().rss / _MIB) if pid is not None else 0
    return 0
