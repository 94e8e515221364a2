"""Outcomes of operations that do not succeed: creations without capacity, and faults that a user has injected."""

from tpuplane_twin.clock.times import constant
from tpuplane_twin.gcp.container.names import BEFORE, CLUSTER, POOL
from tpuplane_twin.gcp.container.outcomes import failure
from tpuplane_twin.gcp.container.reconcile import CREATE_POOL, DELETE_CLUSTER, DELETE_POOL, Reconciler
from tpuplane_twin.gcp.container.stockouts import Stockout
from tpuplane_twin.gcp.faults import kinds
from tpuplane_twin.gcp.operations import Commit, Failed, Held
from tpuplane_twin.gcp.schema import Json

_UNSETTLED = ("PROVISIONING", "STOPPING")


class FaultyReconciler(Reconciler):
    """Does the work of `Operations` that may have a fault."""

    async def run(self, work: Json) -> Commit:
        """As `Reconciler.run`. A creation without capacity is tried again."""
        if (fault := work.get("fault")) is not None:
            return await self._fault(work, fault)
        try:
            return await super().run(work)
        except Stockout as error:
            if work["action"] == CREATE_POOL:
                raise Held(str(error), constant("stockout-retries")) from error
            raise

    def fail(self, work: Json, message: str) -> None:
        """As `Reconciler.fail`, or what the fault leaves."""
        if (fault := work.get("fault")) is not None:
            self._leave(work, kinds()[fault["kind"]]["leaves"], message)
        else:
            super().fail(work, message)

    async def _fault(self, work: Json, fault: Json) -> Commit:
        kind, message = kinds()[fault["kind"]], fault["message"]
        if "holds" in kind:
            raise Held(message, kind["holds"], kind.get("state", "RUNNING"))
        leaves, deletes = kind["leaves"], work["action"] in (DELETE_CLUSTER, DELETE_POOL)
        done = await super().run(work) if leaves.startswith("ABSENT" if deletes else "RUNNING") else None

        def commit() -> None:
            if done is not None:
                done()
            self._leave(work, leaves, message)

        raise Failed(message, commit)

    def _leave(self, work: Json, leaves: str, message: str) -> None:
        """Write what exists now: the target of the work, and the pools that were to be created or deleted with it."""
        target = work["target"]
        kind = CLUSTER if target == work["cluster"] else POOL
        if leaves == "ABSENT":
            (self._forget if kind == CLUSTER else self._forget_pool)(target)
            return
        if leaves == "BEFORE":
            before = (self._store.get(POOL, target) or {}).get(BEFORE)
            if before is not None:
                self._store.put(POOL, target, before)
            leaves = "RUNNING"
        fields = {"status": leaves} if leaves == "RUNNING" else failure(leaves, message)
        self._outcomes.change(kind, target, fields)
        for name, pool in self._store.items(POOL, f"{target}/nodePools"):
            if pool["status"] in _UNSETTLED:
                self._outcomes.change(POOL, name, fields)
