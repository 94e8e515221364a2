"""The work of GKE's operations: apply the stored state to the backend, then store the outcome.

The API accepts changes while the backend works. So an object that was read before an `await` is never written back: it
is read again, and only the fields of the outcome change.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from weakref import WeakValueDictionary

from tpuplane_twin.gcp.backend import GRANTED, NODES, BackendError, ClusterBackend, Endpoint, Numbers, node_numbers
from tpuplane_twin.gcp.container import pool_rules, ranges
from tpuplane_twin.gcp.container.answers import linked, pool_answer, reachable
from tpuplane_twin.gcp.container.names import BEFORE, CLUSTER, POOL, parent_cluster
from tpuplane_twin.gcp.container.outcomes import Outcomes, failure
from tpuplane_twin.gcp.container.stockouts import check_capacity, check_quota
from tpuplane_twin.gcp.operations import WORK, Commit
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store
from tpuplane_twin.gcp.views import PoolView

log = logging.getLogger(__name__)

CREATE_CLUSTER = "create-cluster"
UPDATE_CLUSTER = "update-cluster"
ROTATE = "rotate-credentials"
DELETE_CLUSTER = "delete-cluster"
CREATE_POOL = "create-pool"
UPDATE_POOL = "update-pool"
DELETE_POOL = "delete-pool"
REPAIR_POOL = "repair-pool"

# Status after a failure, by action. A pool that could not be created remains in ERROR, for clients to find.
_FAILED_STATUS = {
    UPDATE_CLUSTER: "DEGRADED",
    ROTATE: "DEGRADED",
    DELETE_CLUSTER: "ERROR",
    CREATE_POOL: "ERROR",
    UPDATE_POOL: "RUNNING_WITH_ERROR",
    DELETE_POOL: "RUNNING_WITH_ERROR",
    REPAIR_POOL: "RUNNING_WITH_ERROR",
}
_SETTLED_CLUSTER = ("RUNNING", "RECONCILING", "DEGRADED")
_SETTLED_POOL = ("RUNNING", "RECONCILING", "RUNNING_WITH_ERROR")
_REPLACING = "RECONCILING"
SCALABLE = ("RUNNING", "RUNNING_WITH_ERROR")
"""The statuses in which a pool can be resized: no operation changes it."""


class Reconciler:
    """Does the work of `Operations`."""

    def __init__(self, store: Store, backend: ClusterBackend) -> None:
        self._store = store
        self._backend = backend
        self._outcomes = Outcomes(store)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def lock(self, cluster: str) -> asyncio.Lock:
        """The lock of a cluster, held during every change to it; first come, first served."""
        return self._locks.setdefault(cluster, asyncio.Lock())

    async def run(self, work: Json) -> Commit:
        """Apply the target to the backend. The result writes the outcome, in the transaction that ends the operation.

        Raises BackendError.
        """
        action, target = work["action"], work["target"]
        if action == CREATE_CLUSTER:
            return await self._create_cluster(target)
        if action == DELETE_CLUSTER:
            return await self._delete_cluster(target)
        cluster = self._cluster(work["cluster"])
        if action == UPDATE_CLUSTER:
            await self._backend.update_cluster(linked(work["cluster"], cluster))
            return lambda: self._outcomes.settle(CLUSTER, target)
        if action == ROTATE:
            endpoint = await self._backend.create_cluster(linked(target, cluster))
            return lambda: self._serve(target, endpoint)
        return await self._run_pool(work["cluster"], cluster, target, action)

    async def _run_pool(self, key: str, cluster: Json, target: str, action: str) -> Commit:
        pool = self._store.get(POOL, target)
        if pool is None:
            raise BackendError(f"Node pool {target} does not exist any more.")
        if action == DELETE_POOL:
            await self._backend.delete_node_pool(linked(key, cluster), pool_answer(target, pool))
            return lambda: self._forget_pool(target)
        if action == CREATE_POOL:
            await self._apply_pool(cluster, target, pool, node_numbers(pool))
        elif pool["status"] == "ERROR":  # for good: the change is stored, and no host comes
            return lambda: None
        elif action == REPAIR_POOL:
            await self._repair_pool(linked(key, cluster), target, pool)
        else:
            check_quota(self._store, target, pool, _added(node_numbers(pool.get(BEFORE, pool)), node_numbers(pool)))
            await self._apply_pool(cluster, target, pool, {})
        return lambda: self._settle_pool(target, pool)

    def _settle_pool(self, key: str, applied: Json) -> None:
        """RUNNING; or RECONCILING, while another change to the pool waits. A rollback of that one is to this one."""
        if sum(work["target"] == key for work in self._store.values(WORK)) > 1:
            before = {name: value for name, value in applied.items() if name != BEFORE}
            self._outcomes.mark(POOL, key, {"status": _REPLACING, BEFORE: before})
        else:
            self._outcomes.settle(POOL, key)

    def fail(self, work: Json, message: str) -> None:
        """Store the failure with its reason.

        A cluster that could not be created is deleted, where GKE keeps it in ERROR: the cause is this machine (a full
        disk, a port), and the same request must succeed after the repair.
        """
        if work["action"] == CREATE_CLUSTER:
            self._forget(work["target"])
            return
        kind = CLUSTER if work["target"] == work["cluster"] else POOL
        fields = failure(_FAILED_STATUS[work["action"]], message)
        if work["action"] in (DELETE_CLUSTER, DELETE_POOL):
            self._outcomes.change(kind, work["target"], fields)
        else:
            self._outcomes.mark(kind, work["target"], fields)

    async def restore(self, cluster: str) -> None:
        """Start the control plane of a stored cluster again, then apply its pools.

        If the control plane fails, the cluster is DEGRADED; a pool that fails is RUNNING_WITH_ERROR, without effect on
        other pools. Both are RUNNING again when they succeed.
        """
        stored = self._store.get(CLUSTER, cluster)
        if stored is None or stored["status"] not in _SETTLED_CLUSTER:
            return
        try:
            endpoint = await self._backend.create_cluster(linked(cluster, stored))
            running = reachable(self._store.get(CLUSTER, cluster) or stored, endpoint)
            self._store.put(CLUSTER, cluster, running)
        except Exception as error:
            self._outcomes.mark(CLUSTER, cluster, {"status": "DEGRADED", "statusMessage": str(error)})
            if isinstance(error, BackendError):
                raise
            raise _unexpected(error) from error
        for key, pool in self._store.items(POOL, f"{cluster}/nodePools"):
            if pool["status"] in _SETTLED_POOL:
                await self._restore_pool(cluster, running, key, pool)
        self._outcomes.settle_from(CLUSTER, cluster, "DEGRADED")

    async def _restore_pool(self, cluster: str, running: Json, key: str, pool: Json) -> None:
        try:
            await self._backend.apply_node_pool(linked(cluster, running), pool_answer(key, pool))
        except Exception as error:
            log.exception("cannot restore %s", key)
            self._outcomes.mark(POOL, key, {"status": "RUNNING_WITH_ERROR", "statusMessage": str(error)})
        else:
            self._outcomes.settle_from(POOL, key, "RUNNING_WITH_ERROR")

    async def resize(self, key: str, seen: Numbers, wanted: Numbers) -> bool:
        """Give an autoscaled pool the nodes `wanted`, without an operation, as GKE's cluster autoscaler does.

        False if the pool's nodes are no longer `seen`. Raises BackendError if it fails; the pool keeps its nodes.
        """
        async with self._scalable(key) as (cluster, pool):
            if not PoolView(pool).autoscaled or node_numbers(pool) != seen:
                return False
            self._store.put(POOL, key, {**pool, NODES: wanted})
            try:
                await self._apply_pool(cluster, key, {**pool, NODES: wanted}, _added(seen, wanted))
            except BackendError:
                latest = self._store.get(POOL, key)
                if latest is not None and latest.get(NODES) == wanted:
                    self._store.put(POOL, key, {**latest, NODES: seen})
                    with contextlib.suppress(BackendError):
                        await self._apply_pool(cluster, key, {**latest, NODES: seen}, {})
                raise
            return True

    async def replace(self, key: str, missing: Numbers) -> None:
        """Create the `missing` nodes of the pool again, unless an operation changes the pool. Raises BackendError."""
        async with self._scalable(key) as (cluster, pool):
            if pool:
                await self._apply_pool(cluster, key, pool, missing)
                self._outcomes.settle_from(POOL, key, "RUNNING_WITH_ERROR")

    async def reclaim(self, key: str) -> None:
        """Delete the pool's nodes, as Compute Engine reclaims spot hosts; GKE then creates new ones.

        An autoscaled pool is then at its minimum. Raises BackendError if there are no new nodes; the old ones are
        deleted in any case. A multi-host pool is then in ERROR for good, as users of Spot slices see it.
        """
        # After a kill, the hosts of a pool are reclaimed that an earlier attempt has marked.
        async with self._scalable(key, _REPLACING) as (cluster, pool):
            if not pool:
                raise BackendError(f"Node pool {key} is not running, or an operation changes it.")
            if pool["status"] != _REPLACING and not any(node_numbers(pool).values()):
                raise BackendError(f"Node pool {key} has no hosts.")
            self._outcomes.mark(POOL, key, {"status": _REPLACING})
            await self._backend.delete_node_pool(linked(parent_cluster(key), cluster), pool_answer(key, pool))
            latest = self._store.get(POOL, key) or {}
            if latest.get("status", "STOPPING") == "STOPPING":
                return
            if PoolView(latest).autoscaled:
                latest[NODES] = {zone: [] for zone in latest["locations"]}
                self._store.put(POOL, key, latest)
            try:
                await self._apply_pool(cluster, key, latest, node_numbers(latest))
            except BackendError as error:
                slice_ = bool(PoolView(latest).placement_topology)
                self._outcomes.mark(POOL, key, failure("ERROR" if slice_ else "RUNNING_WITH_ERROR", str(error)))
                raise
            self._outcomes.settle(POOL, key)

    @contextlib.asynccontextmanager
    async def _scalable(self, key: str, *more: str) -> AsyncIterator[tuple[Json, Json]]:
        """The cluster and the pool, after the running operations of the cluster.

        Both are empty if an operation changes one of them, or it does not exist. A pool may also have the statuses
        `more`.
        """
        async with self.lock(parent_cluster(key)):
            cluster, pool = self._store.get(CLUSTER, parent_cluster(key)) or {}, self._store.get(POOL, key) or {}
            settled = cluster.get("status") in _SETTLED_CLUSTER and pool.get("status") in (*SCALABLE, *more)
            yield (cluster, pool) if settled else ({}, {})

    async def _create_cluster(self, key: str) -> Commit:
        cluster = self._store.get(CLUSTER, key) or {}
        pools = self._store.items(POOL, f"{key}/nodePools")
        try:
            endpoint = await self._backend.create_cluster(linked(key, cluster))
            for name, pool in pools:
                await self._apply_pool(reachable(cluster, endpoint), name, pool, node_numbers(pool))
        except Exception:
            # The cluster will be deleted from the store, so its control plane must stop now.
            with contextlib.suppress(Exception):
                await self._backend.delete_cluster(linked(key, cluster))
            raise

        def commit() -> None:
            self._serve(key, endpoint)
            for name, _ in pools:
                self._outcomes.settle(POOL, name)

        return commit

    async def _delete_cluster(self, key: str) -> Commit:
        cluster = self._store.get(CLUSTER, key)
        # None if its creation failed while the deletion was queued.
        if cluster is not None:
            await self._backend.delete_cluster(linked(key, cluster))

        return lambda: self._forget(key)

    def _forget(self, key: str) -> None:
        """Delete a cluster from the store, with its pools and the ranges that GKE created for it."""
        for name, _ in self._store.items(POOL, f"{key}/nodePools"):
            self._forget_pool(name)
        cluster = self._store.get(CLUSTER, key)
        if cluster is not None:
            ranges.give_back(self._store, cluster)
        self._store.delete(CLUSTER, key)

    def _forget_pool(self, key: str) -> None:
        cluster, pool = self._store.get(CLUSTER, parent_cluster(key)), self._store.get(POOL, key)
        if cluster is not None and pool is not None:
            ranges.give_back_pool(self._store, cluster, pool)
        self._store.delete(POOL, key)

    async def _repair_pool(self, cluster: Json, key: str, pool: Json) -> None:
        answer = pool_answer(key, pool)
        broken = await self._backend.broken(cluster, answer)
        check_capacity(self._store, key, pool, broken)
        await self._backend.repair_node_pool(cluster, answer, broken)

    async def _apply_pool(self, cluster: Json, key: str, pool: Json, comes: Numbers) -> None:
        """Apply the pool; `comes` are the new nodes, for which Compute Engine needs capacity.

        Raises BackendError for every failure.
        """
        rejection = pool_rules.rejected_by_compute_engine(self._store, parent_cluster(key), pool)
        if rejection is not None:
            raise BackendError(rejection)
        check_capacity(self._store, key, pool, comes)
        if pool["status"] == "PROVISIONING":
            self._outcomes.mark(POOL, key, {"status": "PROVISIONING", GRANTED: True})
        try:
            await self._backend.apply_node_pool(linked(parent_cluster(key), cluster), pool_answer(key, pool))
        except BackendError:
            raise
        except Exception as error:
            raise _unexpected(error) from error

    def _cluster(self, key: str) -> Json:
        """The cluster; BackendError if its creation failed while the work was queued."""
        cluster = self._store.get(CLUSTER, key)
        if cluster is None or cluster["status"] == "ERROR":
            raise BackendError(f"Cluster {key} is not running: {(cluster or {}).get('statusMessage', 'it is deleted')}")
        return cluster

    def _serve(self, key: str, endpoint: Endpoint) -> None:
        """Store the endpoint of a cluster that is running."""
        self._store.put(CLUSTER, key, reachable(self._cluster(key), endpoint))
        self._outcomes.settle(CLUSTER, key)


def _added(seen: Numbers, wanted: Numbers) -> Numbers:
    """The nodes in `wanted` that are not in `seen`."""
    return {zone: [node for node in nodes if node not in seen.get(zone, ())] for zone, nodes in wanted.items()}


def _unexpected(error: Exception) -> BackendError:
    """An unexpected failure as callers expect it; called in its `except`."""
    log.exception("unexpected failure")
    return BackendError(f"Internal error: {type(error).__name__}: {error}")
