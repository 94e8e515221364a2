"""The routes below /twin that make hosts fail, recover and end."""

from aiohttp import web

from tpuplane_twin.clock.times import InvalidTime, duration
from tpuplane_twin.failures.incidents import Incidents
from tpuplane_twin.failures.targets import Targets
from tpuplane_twin.gcp.errors import invalid
from tpuplane_twin.gcp.own_routes import serve
from tpuplane_twin.gcp.schema import Json

_KINDS = ("host-error", "maintenance", "recovery")


class Failures:
    """POST /twin/incidents begins an incident; POST /twin/reclaim reclaims spot hosts and waits for it."""

    def __init__(self, incidents: Incidents, targets: Targets) -> None:
        self._incidents = incidents
        self._targets = targets

    def serve(self, app: web.Application) -> None:
        """Add the routes."""
        serve(app, "/twin/incidents", post=self._begin)
        serve(app, "/twin/reclaim", post=self._reclaim)

    async def _begin(self, asked: Json) -> Json:
        kind = asked.get("kind")
        if kind not in _KINDS:
            raise invalid(f"{kind!r} is not an incident; allowed: {', '.join(_KINDS)}")
        try:
            notice = duration(str(asked["notice"])) if asked.get("notice") is not None else None
        except InvalidTime as error:
            raise invalid(f"notice: {error}") from error
        name, cluster = str(asked.get("target") or ""), str(asked.get("cluster") or "")
        with self._incidents.acts():
            target = await self._targets.hosts(kind, name, cluster, one=asked.get("scope") == "host")
        return self._incidents.described(self._incidents.begin(kind, target, notice))

    async def _reclaim(self, asked: Json) -> Json:
        with self._incidents.acts():
            target = await self._targets.passing_pool(str(asked.get("pool") or ""), str(asked.get("cluster") or ""))
        failure = await self._incidents.ended(self._incidents.begin("preemption", target))
        return {"pool": target.pool, **({"error": failure} if failure else {})}
