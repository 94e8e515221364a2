"""What goes wrong in a data centre, brought about by hand: stockouts, and spot hosts that are reclaimed."""

from __future__ import annotations

from collections.abc import Callable

from aiohttp import web
from tpuplane.tpu import SliceError, catalogue

from tpuplane_twin.daemon.routes import Json, Refused, answering
from tpuplane_twin.gcp.app import reclaim
from tpuplane_twin.gcp.backend import BackendError
from tpuplane_twin.gcp.container.names import POOL
from tpuplane_twin.gcp.container.stockouts import ANY, CAPACITIES, STOCKOUT, stockout_key
from tpuplane_twin.gcp.locations import is_zone
from tpuplane_twin.gcp.store import Store
from tpuplane_twin.gcp.views import PoolView


class Faults:
    """The routes below /twin that bring faults about."""

    def __init__(self, store: Store, app: web.Application, backoff: Callable[[], list[Json]] = list) -> None:
        """`backoff` answers the pools that the autoscalers leave alone."""
        self._store = store
        self._app = app
        self._backoff = backoff

    def serve(self) -> None:
        """Add the routes to the application."""
        self._app.router.add_get("/twin/stockouts", answering(self._stockouts))
        self._app.router.add_post("/twin/stockouts", answering(self._add))
        self._app.router.add_delete("/twin/stockouts", answering(self._clear))
        self._app.router.add_post("/twin/reclaim", answering(self._reclaim))

    def shortages(self) -> Json:
        """The stockouts, and the pools that the autoscalers leave alone, for a stockout or another failure."""
        return {"stockouts": self._store.values(STOCKOUT), "backoff": self._backoff()}

    async def _stockouts(self, asked: Json) -> Json:
        del asked
        return self.shortages()

    async def _add(self, asked: Json) -> Json:
        """From now on there is no capacity of a generation in a zone, or none bought in one way."""
        stockout = {"capacity": ANY, **_named(asked)}
        for field in ("zone", "generation"):
            if field not in stockout:
                raise Refused(f"a stockout is of a generation in a zone, and no {field} is given")
        self._store.put(STOCKOUT, stockout_key(**stockout), stockout)
        return self.shortages()

    async def _clear(self, asked: Json) -> Json:
        """There is capacity again: of what is named, or everywhere. As on GKE, that ends no back-off."""
        wanted = _named(asked)
        for stockout in self._store.values(STOCKOUT):
            if wanted.items() <= stockout.items():
                self._store.delete(STOCKOUT, stockout_key(**stockout))
        return self.shortages()

    async def _reclaim(self, asked: Json) -> Json:
        """Compute Engine takes the hosts of a spot pool back."""
        name = str(asked.get("pool") or "")
        found = [(key, pool) for key, pool in self._store.items(POOL) if key.endswith(f"/nodePools/{name}")]
        cluster = asked.get("cluster")
        found = [(key, pool) for key, pool in found if not cluster or f"/clusters/{cluster}/" in key]
        spot = sorted(pool["name"] for pool in self._store.values(POOL) if PoolView(pool).capacity == "spot")
        choices = f"spot pools: {', '.join(spot) or 'none'}"
        if not found:
            raise Refused(f"there is no node pool {name!r}; {choices}")
        if len(found) > 1:
            clusters = ", ".join(key.split("/")[5] for key, _ in found)
            raise Refused(f"several clusters have a node pool {name!r}; say which with --cluster: {clusters}")
        ((key, pool),) = found
        if PoolView(pool).capacity != "spot":
            raise Refused(f"{name!r} is {PoolView(pool).capacity}, and only spot hosts are reclaimed; {choices}")
        try:
            await reclaim(self._app, key)
        except BackendError as error:
            return {"pool": key, "error": str(error)}
        return {"pool": key}


def _named(asked: Json) -> dict[str, str]:
    """What of a stockout is named, as it is kept. Raises `Refused` for what there is not."""
    found = {field: str(asked[field]) for field in ("zone", "generation", "capacity") if asked.get(field)}
    if "zone" in found and not is_zone(found["zone"]):
        raise Refused(f"{found['zone']!r} is not a zone; give one such as us-central1-b")
    if "generation" in found:
        try:
            found["generation"] = catalogue().generation(found["generation"]).name
        except SliceError as error:
            raise Refused(str(error)) from error
    if found.get("capacity", ANY) not in (*CAPACITIES, ANY):
        raise Refused(f"{found['capacity']!r} is not a way to buy hosts; allowed: {', '.join(CAPACITIES)}")
    return found
