"""Google's long-running operations, one at a time per cluster, resumed after a restart.

An operation and its work are stored in the same transaction as the change that starts them, so a kill loses neither.
Google rejects a second operation on a busy cluster, and clients retry; the twin queues it (PENDING) instead, which is
faster and ends in the same state. While an operation cannot proceed (a stockout, a fault), the twin rejects it, too.
"""

import asyncio
import logging
import time
import uuid
from collections.abc import Callable, Coroutine, Iterable
from datetime import UTC, datetime
from functools import partial
from typing import Any, Protocol, TypeVar

from tpuplane_twin.clock.times import Times
from tpuplane_twin.gcp.backend import BackendError
from tpuplane_twin.gcp.faults import busy
from tpuplane_twin.gcp.links import CONTAINER
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store, StoreError

OPERATION = "operation"
WORK = "work"
"""The kind of the work of operations that have not ended."""
UPGRADE = "twinUpgrade"
"""The field of an upgrade's operation with the versions before and after. Answers leave it out."""

HELD = "held"
"""The kind under which a cluster's operations that cannot proceed are stored. They keep other changes away.

One that `tries` again does not wait for the clock at this moment.
"""

_RETRY_SECONDS = 2.0

log = logging.getLogger(__name__)

Commit = Callable[[], None]
_Result = TypeVar("_Result")


def now() -> str:
    """The current time in Google's format."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class Held(BackendError):
    """The work cannot be done now.

    The operation is in `state` until it has been tried again for `seconds` of GKE. The message is its error then.
    """

    def __init__(self, message: str, seconds: float, state: str = "RUNNING") -> None:
        super().__init__(message)
        self.seconds, self.state = seconds, state


class Failed(BackendError):
    """The work failed, and `commit` writes what it leaves."""

    def __init__(self, message: str, commit: Commit) -> None:
        super().__init__(message)
        self.commit = commit


class Worker(Protocol):
    """Does the work of operations."""

    def lock(self, cluster: str) -> asyncio.Lock:
        """The lock of a cluster, held during every change to it; first come, first served."""

    async def restore(self, cluster: str) -> None:
        """Start what runs for a stored cluster again. Raises BackendError."""

    async def run(self, work: Json) -> Commit:
        """Do the work of an operation. The result writes the outcome, in the transaction that ends the operation.

        Raises BackendError, `Held` or `Failed`.
        """

    def fail(self, work: Json, message: str) -> None:
        """Store the failure of the work with its reason."""


class Operations:
    """The queue of long-running work over a store."""

    def __init__(self, store: Store, worker: Worker, times: Times) -> None:
        self._store = store
        self._worker = worker
        self._times = times
        self.clock = times.clock
        self._tasks: set[asyncio.Task[Any]] = set()
        self._restoring: list[asyncio.Task[str | None]] = []
        self._ends: dict[str, asyncio.Future[str]] = {}

    def begin(self, kind: str, cluster: str, target: str, action: str, notes: Json | None = None) -> Json:
        """Store an operation on `target` (a cluster or a pool of it) and do `action` in the background.

        Called in the transaction of the change; the work starts after its commit. Answers leave `notes` out. Raises
        GKE's error while an operation holds the cluster, which repairs do not respect.
        """
        held = self._store.values(HELD, cluster)
        if held and kind != "AUTO_REPAIR_NODES":
            raise busy(held[0]["operation"])
        parent = "/".join(cluster.split("/")[:4])
        name = f"operation-{time.time_ns() // 1_000_000}-{uuid.uuid4()}"
        key = f"{parent}/operations/{name}"
        location = parent.split("/")[3]
        operation: Json = {
            "name": name,
            "zone": location,
            "location": location,
            "operationType": kind,
            "status": "PENDING",
            "selfLink": CONTAINER + key,
            "targetLink": CONTAINER + target,
            "startTime": now(),
            **(notes or {}),
        }
        self._store.put(OPERATION, key, operation)
        self._store.put(WORK, key, {"cluster": cluster, "target": target, "action": action})
        loop = asyncio.get_running_loop()
        self._ends[key] = loop.create_future()
        loop.call_soon(lambda: self._spawn(self._run(key)))
        return operation

    async def ended(self, operation: Json) -> str:
        """Wait until an operation of this process is DONE. The result is its error, empty if it succeeded."""
        key = operation["selfLink"].removeprefix(CONTAINER)
        future = self._ends.get(key)
        return await asyncio.shield(future) if future is not None else ""

    def recover(self, clusters: Iterable[str]) -> None:
        """After a start: restore all stored clusters, then continue unfinished work."""
        self._restoring = [self._spawn(self._restore(cluster)) for cluster in clusters]
        for key, _ in self._store.items(WORK):
            self._spawn(self._run(key))

    async def recovered(self) -> None:
        """Wait until `recover` has restored the clusters; BackendError names those that failed."""
        failures = [error for error in await asyncio.gather(*self._restoring) if error]
        if failures:
            raise BackendError("; ".join(failures))

    async def stop(self) -> None:
        """Cancel all running work; it stays in the store and continues at the next start."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _spawn(self, work: Coroutine[Any, Any, _Result]) -> asyncio.Task[_Result]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _restore(self, cluster: str) -> str | None:
        """Restore one cluster; the result is the error, if any."""
        async with self._worker.lock(cluster):
            try:
                await self._worker.restore(cluster)
            except (BackendError, StoreError) as error:
                log.error("cannot restore %s: %s", cluster, error)
                return f"{cluster}: {error}"
            return None

    async def _run(self, key: str) -> None:
        """Try until the operation has ended. Other changes to the cluster take place between two attempts."""
        while (work := self._store.get(WORK, key)) is not None:
            async with self._worker.lock(work["cluster"]):
                pause = await self._attempt(key, work)
            await self._times.clock.sleep(pause)

    async def _attempt(self, key: str, work: Json) -> float:
        """Try the work once; the result is the time until the next attempt."""
        held = f"{work['cluster']}/{key}"
        since: float | None = (self._store.get(HELD, held) or {}).get("since")
        if since is None:
            await self._write(lambda: self._update(key, {"status": "RUNNING"}))
        else:
            await self._write(lambda: self._hold(key, held, since, tries=True))
        failure, commit = "", None
        try:
            commit = await self._worker.run(work)
        except Held as error:
            failure, began = str(error), since or self._times.clock()
            left = self._times.real(error.seconds) - (self._times.clock() - began)
            if left > 0:
                await self._write(partial(self._hold, key, held, began, error.state))
                return min(left, self._times.seconds("stockout-retry"))
        except Failed as error:
            failure, commit = str(error), error.commit
        except BackendError as error:
            failure = str(error)
        except Exception as error:
            log.exception("%s %s", work["action"], work["target"])
            failure = f"Internal error: {type(error).__name__}: {error}"
        await self._write(partial(self._end, key, held, commit or partial(self._worker.fail, work, failure), failure))
        return 0

    def _hold(self, key: str, held: str, since: float, state: str = "", *, tries: bool = False) -> None:
        self._store.put(HELD, held, {"operation": key.rpartition("/")[2], "since": since, "tries": tries})
        if state:
            self._update(key, {"status": state})

    async def _write(self, change: Commit) -> None:
        """Write an outcome; on a full disk, wait for space."""
        reported = False
        while True:
            try:
                with self._store.transaction():
                    change()
                return
            except StoreError as error:
                if not reported:
                    log.error("%s; trying again every %.0f s", error, _RETRY_SECONDS)
                    reported = True
                await asyncio.sleep(_RETRY_SECONDS)

    def _update(self, key: str, fields: Json) -> None:
        operation = self._store.get(OPERATION, key)
        if operation is not None:
            self._store.put(OPERATION, key, {**operation, **fields})

    def _end(self, key: str, held: str, commit: Commit, failure: str) -> None:
        commit()
        self._store.delete(HELD, held)
        # Clients read statusMessage; `error` is its newer form.
        failed = {"statusMessage": failure, "error": {"code": 13, "message": failure}} if failure else {}
        self._update(key, {**failed, "status": "DONE", "endTime": now()})
        if key in self._ends:
            self._ends.pop(key).set_result(failure)
        self._store.delete(WORK, key)
        self._store.trim(OPERATION)


def afflict(store: Store, operation: Json, fault: Json) -> None:
    """Give an operation that has just begun a fault, in the same transaction."""
    key = operation["selfLink"].removeprefix(CONTAINER)
    store.put(WORK, key, {**(store.get(WORK, key) or {}), "fault": fault})


def afflicted(store: Store) -> list[Json]:
    """The operations with a fault that have not ended."""
    return [
        {"operation": key.rpartition("/")[2], "target": work["target"], "kind": work["fault"]["kind"]}
        for key, work in store.items(WORK)
        if "fault" in work
    ]


def relieve(store: Store, wanted: Json) -> None:
    """End the faults of running operations that have the fields `wanted`."""
    for key, work in store.items(WORK):
        fault = work.pop("fault", None)
        if fault is not None and wanted.items() <= fault.items():
            store.put(WORK, key, work)


class OperationHandlers:
    """Handlers that change stored objects by operations."""

    def __init__(self, store: Store, operations: Operations) -> None:
        self._store = store
        self._operations = operations
