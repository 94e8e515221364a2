"""Incidents of hosts: each is stored with its next step, so that it continues when the twin is started again."""

import asyncio
import contextlib
import logging
import uuid
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cache, partial
from http import HTTPStatus
from itertools import chain
from typing import Any

from tpuplane.data_files import formatted, read_data

from tpuplane_twin.clock.times import Times, constant
from tpuplane_twin.cluster.api import Api, ApiError, ClusterError
from tpuplane_twin.failures.hosts import Hosts
from tpuplane_twin.gcp.backend import BackendError
from tpuplane_twin.gcp.container.names import POOL, parent_cluster
from tpuplane_twin.gcp.container.reconcile import Reconciler
from tpuplane_twin.gcp.errors import invalid
from tpuplane_twin.gcp.operations import now
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store

INCIDENT = "incident"
_START = "cloud.google.com/perform-maintenance"
_LOOK_SECONDS = 0.5
_RECOVERY, _RECLAIM = "recovery", "preemption"
_WAITING = ("wait", "end-pods")
"""The steps that wait for the clock."""
_kinds = cache(partial(read_data, "tpuplane_twin.failures", "incidents"))

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Target:
    """The hosts of an incident: nodes of one pool."""

    pool: str
    nodes: list[str]


class Incidents:
    """The incidents of one twin. Steps and times are data: `incidents.yaml` and `times.yaml`."""

    def __init__(
        self, store: Store, client: Callable[[str], Api | None], pools: Reconciler, times: Times | None = None
    ) -> None:
        """`client` returns the client of the cluster of that resource name, None while it does not run."""
        self._store = store
        self._client = client
        self._pools = pools
        self._times = times or Times()
        self._now = self._times.clock
        self._tasks: dict[str, asyncio.Task[str]] = {}
        self._acting = 0

    @property
    def acting(self) -> bool:
        """Whether one of them begins or acts at this moment. While it waits for the clock, it does not."""
        return self._acting > 0

    @contextlib.contextmanager
    def acts(self) -> Iterator[None]:
        """What is done here does not wait for the clock."""
        self._acting += 1
        try:
            yield
        finally:
            self._acting -= 1

    def begin(self, kind: str, target: Target, notice: float | None = None) -> Json:
        """Store an incident and run it in the background. `notice` announces it: seconds of GKE until its first step.

        The hosts are those of `target`. Another incident goes on without them, or ends if it has no others. A recovery
        of one host ends a maintenance or a reclaim of all its hosts: they are interrupted together. A second
        reclaim of the same hosts returns the first.
        """
        if kind == _RECLAIM:
            for _, other in self._store.items(INCIDENT):
                same = (other["kind"], other["pool"]) == (kind, target.pool)
                if same and (_deletes(other) or set(target.nodes) <= set(other["nodes"])):
                    return other
        others = [(key, other) for key, other in self._store.items(INCIDENT) if _meet(other, target)]
        if any(_deletes(other) for _, other in others):
            name = target.pool.rpartition("/")[2]  # half of it cannot be undone
            raise invalid(f"Compute Engine is deleting the hosts of {name}; wait until new ones are there")
        if kind == _RECOVERY:
            joined = (other["nodes"] for _, other in others if whole(other["kind"]))
            target = Target(target.pool, sorted({*target.nodes, *chain.from_iterable(joined)}))
        for key, other in others:
            self._end(key)
            if left := [node for node in other["nodes"] if node not in target.nodes]:
                self._store.put(INCIDENT, key, {**other, "nodes": left})
                self._launch(key)
        key = uuid.uuid4().hex[:8]
        incident: Json = {"id": key, "kind": kind, **asdict(target), "since": now(), "step": 0}
        if notice is not None:
            incident["starts"] = self._now() + self._times.real(notice)
        self._store.put(INCIDENT, key, incident)
        self._launch(key)
        return incident

    async def ended(self, incident: Json) -> str:
        """Wait until the incident has ended. The result is why it failed, empty if it did not."""
        while (task := self._tasks.get(incident["id"])) is not None:
            await asyncio.wait([task])
            if self._tasks.get(incident["id"]) is task:  # else it goes on with the hosts that are left
                return task.result()
        return "another incident of these hosts replaced it"

    def resume(self) -> None:
        """Continue the stored incidents."""
        for key, _ in self._store.items(INCIDENT):
            self._launch(key)

    def report(self) -> list[Json]:
        """The running incidents, as `described`."""
        return [self.described(found) for found in self._store.values(INCIDENT)]

    def described(self, incident: Json) -> Json:
        """An incident for users: kind, cluster, pool, hosts, its beginning, seconds until its next step."""
        due = incident.get("due") or incident.get("starts")
        return {
            "kind": _kinds()[incident["kind"]]["title"],
            "cluster": parent_cluster(incident["pool"]).rpartition("/")[2],
            "pool": incident["pool"].rpartition("/")[2],
            "hosts": incident["nodes"],
            "since": incident["since"],
            "seconds": max(0, round(due - self._now())) if due else 0,
        }

    async def stop(self) -> None:
        """Stop all; they continue at the next start."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    def _launch(self, key: str) -> None:
        self._tasks[key] = asyncio.create_task(self._run(key))

    def _end(self, key: str) -> None:
        self._store.delete(INCIDENT, key)
        if (task := self._tasks.pop(key, None)) is not None:
            task.cancel()

    async def _run(self, key: str) -> str:
        incident = self._store.get(INCIDENT, key) or {}
        failure = ""
        try:
            await self._announce(incident)
            steps = _kinds()[incident["kind"]]["steps"]
            for number in range(incident["step"], len(steps)):
                ((verb, argument),) = steps[number].items()
                await self._until_done(incident, verb, argument)
                incident = {**incident, "step": number + 1}
                incident.pop("due", None)
                self._store.put(INCIDENT, key, incident)
        except (BackendError, ClusterError) as error:
            failure = str(error)
            log.warning("%s of %s: %s", incident["kind"], incident["pool"], error)
        self._store.delete(INCIDENT, key)
        return failure

    async def _announce(self, incident: Json) -> None:
        """Label the hosts, and wait for the time, or for the user who starts the maintenance earlier."""
        if "starts" not in incident or incident["step"]:
            return
        hosts = self._hosts(incident)
        labels = formatted(_kinds()[incident["kind"]].get("announce", {}), {"start": round(incident["starts"])})
        await self._until_done(incident, "mark", {"labels": labels})
        asked = asyncio.Event()
        looking = asyncio.create_task(_look(hosts, asked)) if hosts is not None else None
        try:  # the time is due also while the labels are read
            await self._now.wait(asked, incident["starts"])
        finally:
            if looking is not None:
                looking.cancel()

    async def _until_done(self, incident: Json, verb: str, argument: Any) -> None:
        """Do a step, again while the API server restarts or cannot write, as a kubelet does. Raises other errors."""
        with contextlib.nullcontext() if verb in _WAITING else self.acts():
            while True:
                try:
                    return await self._do(incident, verb, argument)
                except ClusterError as error:
                    if verb == "reclaim" or (
                        isinstance(error, ApiError) and error.status < HTTPStatus.INTERNAL_SERVER_ERROR
                    ):
                        raise
                    log.warning("%s of %s: %s; trying again", incident["kind"], incident["pool"], error)
                await asyncio.sleep(_LOOK_SECONDS)

    async def _do(self, incident: Json, verb: str, argument: Any) -> None:
        if verb == "wait":
            incident.setdefault("due", self._now() + self._times.seconds(argument))
            self._store.put(INCIDENT, incident["id"], incident)
            await self._now.sleep(incident["due"] - self._now())
            return
        if verb == "reclaim":
            await self._pools.reclaim(incident["pool"])
            return
        hosts = self._hosts(incident)
        if hosts is None:
            return
        match verb:
            case "mark":
                await hosts.mark(**argument)
            case "condition":
                await hosts.condition(**argument)
            case "freeze":
                await hosts.freeze()
            case "end-pods":
                await hosts.end_pods(constant(argument), self.acts)
            case "return":
                await hosts.come_back()
            case "chips":
                await hosts.chips()

    def _hosts(self, incident: Json) -> Hosts | None:
        client = self._client(parent_cluster(incident["pool"]))
        if client is None or self._store.get(POOL, incident["pool"]) is None:
            return None
        return Hosts(client, incident["nodes"], incident["kind"], self._times)


async def _look(hosts: Hosts, asked: asyncio.Event) -> None:
    """Look until a user has asked for the maintenance."""
    while not asked.is_set():
        await asyncio.sleep(_LOOK_SECONDS)
        with contextlib.suppress(ClusterError):
            if await hosts.asked_to_start(_START):
                asked.set()


def _deletes(incident: Json) -> bool:
    """Whether Compute Engine deletes its hosts at its present step."""
    return "reclaim" in _kinds()[incident["kind"]]["steps"][incident["step"]]


def _meet(incident: Json, target: Target) -> bool:
    """Whether the incident is one of these hosts."""
    return incident["pool"] == target.pool and not set(target.nodes).isdisjoint(incident["nodes"])


def whole(kind: str) -> bool:
    """Whether an incident of one host interrupts all hosts of its slice."""
    return bool(_kinds()[kind].get("whole"))
