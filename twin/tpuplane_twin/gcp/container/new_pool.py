"""A node pool from a request to what is stored: completed as GKE does it, and checked."""

from __future__ import annotations

from tpuplane_twin.gcp.backend import CUBE
from tpuplane_twin.gcp.container import pool_rules
from tpuplane_twin.gcp.container.accounts import check_boot_disk_key, check_service_account
from tpuplane_twin.gcp.container.pool_context import PoolContext
from tpuplane_twin.gcp.container.pool_defaults import complete_pool, complete_slice
from tpuplane_twin.gcp.container.ranges import pool_range
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store


def new_pool(store: Store, cluster_key: str, cluster: Json, asked: Json) -> Json:
    """The pool that `asked` makes in a cluster, which may not be stored yet; rejects what GKE rejects."""
    pool = complete_pool(asked, cluster, cluster["location"])
    context = PoolContext.within(store, cluster_key, cluster, pool)
    check_service_account(store, context.project, pool)
    check_boot_disk_key(store, context.project, cluster["location"], pool)
    complete_slice(context)
    pool_rules.check(context)
    pool_range(store, cluster, pool)
    if (context.workload_policy or {}).get("acceleratorTopologyMode") == "PROVISION_ONLY":
        pool[CUBE] = True
    return pool
