"""Upgrades that GKE begins by itself: a control plane, then its node pools one after the other.

Source: https://docs.cloud.google.com/kubernetes-engine/docs/concepts/maintenance-windows-and-exclusions
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from aiohttp import web
from dateutil.rrule import rrulestr
from tpuplane.tpu import GkeVersion

from tpuplane_twin.clock.times import Times
from tpuplane_twin.failures.clusters import choices, stored_clusters
from tpuplane_twin.gcp.backend import BackendError
from tpuplane_twin.gcp.container.maintenance_rules import moment, scopes_at
from tpuplane_twin.gcp.container.names import CLUSTER, POOL, cluster_of
from tpuplane_twin.gcp.errors import invalid
from tpuplane_twin.gcp.own_routes import serve
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store
from tpuplane_twin.gcp.versions import master_version
from tpuplane_twin.gcp.views import ClusterView, PoolView

Upgrade = Callable[[str, str], Awaitable[None]]
"""Upgrades the cluster or pool of that resource name to a version. Raises BackendError."""


class AutoUpgrades:
    """POST /twin/upgrade upgrades a cluster as GKE does, and answers what was upgraded and what was held.

    Each upgrade takes its time before the next one begins, in which the pods of the new nodes start: operators lead
    again before the nodes of their work are replaced.
    """

    def __init__(self, store: Store, upgrade: Upgrade, times: Times) -> None:
        self._store = store
        self._upgrade = upgrade
        self._times = times
        self._locks = defaultdict[str, asyncio.Lock](asyncio.Lock)

    def serve(self, app: web.Application) -> None:
        """Add the route."""
        serve(app, "/twin/upgrade", post=self._answer)

    async def _answer(self, asked: Json) -> Json:
        found = stored_clusters(self._store, str(asked.get("cluster") or ""))
        if len(found) != 1:
            raise invalid(f"choose one cluster: {', '.join(choices(map(cluster_of, found))) or 'none exists'}")
        version, ignore_window = upgrade_of(asked)
        async with self._locks[found[0]]:  # GKE upgrades a cluster once: a second one finds what the first has done
            return await self.run(found[0], version, ignore_window=ignore_window)

    async def run(self, key: str, version: str | None, *, ignore_window: bool) -> Json:
        """Upgrade the cluster and its pools, up to the first `error`. Raises `ApiError` for a wrong version."""
        cluster = ClusterView(self._store.get(CLUSTER, key) or {})
        target, now = master_version(version, cluster.channel), self._times.clock.date()
        opens = None if ignore_window else window_opens(cluster.maintenance, now)
        if opens is not None:
            return {"upgraded": [], "held": [f"until {opens:%Y-%m-%d %H:%M} UTC by the maintenance window"]}
        upgraded: list[str] = []
        held: list[str] = []
        scopes = scopes_at(cluster.maintenance, now)
        ahead = target if version else max(target, cluster.version, key=GkeVersion.parse)
        pools = [(name, PoolView(pool)) for name, pool in self._store.items(POOL, f"{key}/nodePools")]
        ours = [
            (name, pool) for name, pool in pools if pool.auto_upgrade and not pool.flex_start and pool.status != "ERROR"
        ]
        steps: list[tuple[str, ClusterView | PoolView]] = [(key, cluster), *ours]
        for name, view in steps:
            goal = target if view is cluster else ahead
            if GkeVersion.parse(view.version) >= GkeVersion.parse(goal):
                continue
            if stop := scopes & _holding(view, goal):
                held.append(f"{view.name} by the exclusion {', '.join(sorted(stop))}")
                if view is cluster:  # nodes are never newer than their control plane
                    break
                continue
            if upgraded:
                await self._times.clock.sleep(self._times.seconds("upgrade"))
            try:
                await self._upgrade(name, goal)
            except BackendError as error:
                return {"upgraded": upgraded, "held": held, "error": f"{view.name}: {error}"}
            upgraded.append(f"{view.name}: {view.version} to {goal}")
        return {"upgraded": upgraded, "held": held}


def upgrade_of(asked: Mapping[str, Any]) -> tuple[str | None, bool]:
    """The version of an upgrade, None for the default, and whether it ignores the window. Raises `ApiError`."""
    now = asked.get("now", False)
    if type(now) is not bool:
        raise invalid(f"now: {now!r} is not a truth value; allowed: true to ignore the maintenance window, or false")
    version = str(asked["version"]) if asked.get("version") else None
    master_version(version, None)
    return version, now


def _holding(view: ClusterView | PoolView, target: str) -> set[str]:
    """The scopes of exclusions that hold this upgrade."""
    minor = GkeVersion.parse(target).minor != GkeVersion.parse(view.version).minor
    nodes = isinstance(view, PoolView)
    return {
        "NO_UPGRADES",
        *(("NO_MINOR_UPGRADES",) if minor else ()),
        *(("NO_MINOR_OR_NODE_UPGRADES",) if minor or nodes else ()),
    }


def window_opens(policy: Json, now: datetime) -> datetime | None:
    """When the next maintenance window begins; None if one is open, or the policy has none.

    Raises `ApiError` for a recurrence that is not one of RFC 5545.
    """
    window: Json = policy.get("window", {})
    if daily := window.get("dailyMaintenanceWindow"):
        hour, minute = map(int, daily["startTime"].split(":"))
        start, length = datetime(2020, 1, 1, hour, minute, tzinfo=UTC), timedelta(hours=4)
        rule = "FREQ=DAILY"
    elif recurring := window.get("recurringWindow"):
        start, end = (moment(recurring["window"][key]) for key in ("startTime", "endTime"))
        length, rule = end - start, recurring["recurrence"]
    else:
        return None
    try:
        recurrence = rrulestr(rule, dtstart=start)
    except ValueError as error:
        raise invalid(f"the maintenance window has the recurrence {rule!r}: {error}") from None
    last = recurrence.before(now, inc=True)
    if last is not None and now < last + length:
        return None
    opens: datetime | None = recurrence.after(now)
    return opens
