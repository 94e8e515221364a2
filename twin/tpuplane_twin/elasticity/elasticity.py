"""The cluster autoscalers of a twin: one for each running cluster."""

import asyncio
import logging
import math
import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from tpuplane_twin.cluster.api import Api, ClusterError
from tpuplane_twin.elasticity.autoscaler import ClusterAutoscaler, Provided
from tpuplane_twin.elasticity.demand import Provisioning
from tpuplane_twin.elasticity.failures import Kept
from tpuplane_twin.elasticity.groups import Costs, Group, costs
from tpuplane_twin.elasticity.limits import Limits
from tpuplane_twin.gcp.backend import held_counts, node_numbers
from tpuplane_twin.gcp.compute.reservations import RESERVATION
from tpuplane_twin.gcp.container.answers import linked, pool_answer
from tpuplane_twin.gcp.container.names import CLUSTER, POOL
from tpuplane_twin.gcp.container.reconcile import SCALABLE
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store
from tpuplane_twin.gcp.views import PoolView

log = logging.getLogger(__name__)

SCALE_DOWN_AFTER = "TPUPLANE_TWIN_SCALE_DOWN_AFTER"
STOCKOUT_SCOPE = "TPUPLANE_TWIN_STOCKOUT_SCOPE"
_DEFAULT_SECONDS = 60.0
_LOOK_SECONDS = 1.0
_RUNNING = ("RUNNING", "RECONCILING")

Autoscaler = Callable[[Api, Callable[[], Provided], Callable[[], dict[str, Kept]]], ClusterAutoscaler]
"""Makes the autoscaler of a cluster from its client, its current pools, and the nodes that are created again."""


class InvalidSetting(ValueError):
    """An environment variable has an invalid value."""


def scale_down_after(environment: Mapping[str, str] = os.environ) -> float:
    """Seconds that a node must be unneeded before it is deleted: TPUPLANE_TWIN_SCALE_DOWN_AFTER, else 60.

    GKE's value is 600. Raises `InvalidSetting`.
    """
    text = environment.get(SCALE_DOWN_AFTER, "")
    try:
        seconds = float(text) if text else _DEFAULT_SECONDS
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise InvalidSetting(f"{SCALE_DOWN_AFTER}: {text!r} is not a number of seconds; give 0 or more, such as 60")
    return seconds


def stockout_scope(environment: Mapping[str, str] = os.environ) -> str:
    """Where a stockout suspends a priority of a compute class: TPUPLANE_TWIN_STOCKOUT_SCOPE, zone or region; else zone.

    Raises `InvalidSetting`.
    """
    scope = environment.get(STOCKOUT_SCOPE) or "zone"
    if scope not in ("zone", "region"):
        raise InvalidSetting(f"{STOCKOUT_SCOPE}: {scope!r} is not a scope; give zone or region")
    return scope


class Elasticity:
    """Starts and stops autoscalers with the clusters in the store."""

    def __init__(self, store: Store, client: Callable[[Json], Api | None], autoscaler: Autoscaler) -> None:
        """`client` returns the client of a running control plane, else None. `autoscaler` makes that of a cluster."""
        self._store = store
        self._client = client
        self._autoscaler = autoscaler
        self._running: dict[str, tuple[ClusterAutoscaler, asyncio.Task[None]]] = {}

    async def run(self) -> None:
        """Run until cancelled. Read the store only after changes."""
        seen: int | None = None
        try:
            while True:
                changes = self._store.changes
                if changes != seen:
                    try:
                        seen = changes if await self._follow() else None
                    except Exception:  # autoscaling of other clusters must continue
                        log.exception("the autoscalers could not be started and stopped; trying again")
                        seen = None
                await asyncio.sleep(_LOOK_SECONDS)
        finally:
            await self._stop(list(self._running))

    def busy(self) -> bool:
        """Whether an autoscaler is busy."""
        return any(autoscaler.busy for autoscaler, _ in self._running.values())

    def backoff(self) -> list[dict[str, Any]]:
        """The pools in back-off after a failed scale-up: cluster, pool, remaining seconds and cause."""
        return [
            {"cluster": key.rpartition("/")[2], **pool}
            for key, (autoscaler, _) in self._running.items()
            for pool in autoscaler.backoff()
        ]

    async def _follow(self) -> bool:
        """Run one autoscaler for each running cluster. False if a control plane has not started yet."""
        complete = True
        wanted: dict[str, Api] = {}
        for key, cluster in self._store.items(CLUSTER):
            if cluster["status"] not in _RUNNING:
                continue
            client = self._client(linked(key, cluster))
            if client is None:
                complete = False
            else:
                wanted[key] = client
        await self._stop([key for key, (running, _) in self._running.items() if wanted.get(key) is not running.api])
        for key, client in wanted.items():
            if key in self._running:
                self._running[key][0].poke()
            else:
                autoscaler = self._autoscaler(client, partial(self._read, key), partial(self._kept, key))
                self._running[key] = autoscaler, asyncio.create_task(autoscaler.run())
        return complete

    def _pools(self, cluster: str) -> dict[str, Json]:
        return dict(self._store.items(POOL, f"{cluster}/nodePools"))

    def _read(self, cluster: str) -> Provided:
        stored = self._store.get(CLUSTER, cluster)
        if stored is None:
            return [], Provisioning()
        view = linked(cluster, stored)
        pools = self._pools(cluster)
        groups: list[Group] = []
        used: list[tuple[Costs, int]] = []
        for key, pool in pools.items():
            try:
                used.append((costs(pool, view), sum(held_counts(pool).values())))
                if PoolView(pool).autoscaled and pool["status"] in SCALABLE:
                    groups.append(Group.parse(key, pool_answer(key, pool), view))
            except ClusterError as error:
                log.warning("%s is not autoscaled: %s", key, error)
        names = frozenset(key.rpartition("/")[2] for key in pools)
        held = {(key.split("/")[1], key.split("/")[-1]): found for key, found in self._store.items(RESERVATION)}
        return groups, Provisioning(cluster, view, {}, Limits.of(view, used), names, held)

    def _kept(self, cluster: str) -> dict[str, Kept]:
        """The nodes that are created again: always those of autoscaled pools, so that their size is correct."""
        views = {key: PoolView(pool) for key, pool in self._pools(cluster).items()}
        return {
            key: Kept(node_numbers(view.raw), view.auto_repair)
            for key, view in views.items()
            if (view.autoscaled or view.auto_repair) and view.status in SCALABLE
        }

    async def _stop(self, keys: list[str]) -> None:
        for key in keys:
            _, task = self._running.pop(key)
            task.cancel()
            await asyncio.wait([task])
