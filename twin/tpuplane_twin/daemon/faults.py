"""Faults that a user injects: of Google's API, stockouts, and quota limits."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from aiohttp import web
from tpuplane.spec.quota_checks import COUNTS
from tpuplane.tpu import SliceError, catalogue

from tpuplane_twin.gcp import faults
from tpuplane_twin.gcp.app import METHODS
from tpuplane_twin.gcp.container.names import CLUSTER
from tpuplane_twin.gcp.container.stockouts import ANY, CAPACITIES, STOCKOUT, stockout_key
from tpuplane_twin.gcp.errors import invalid
from tpuplane_twin.gcp.locations import is_zone, regions
from tpuplane_twin.gcp.operations import afflicted, relieve
from tpuplane_twin.gcp.own_routes import serve
from tpuplane_twin.gcp.quotas import clear_limits, limit_chips, limits
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store


class Faults:
    """The routes below /twin that inject faults."""

    def __init__(self, store: Store, app: web.Application, backoff: Callable[[], list[Json]] = list) -> None:
        """`backoff` returns the pools in back-off."""
        self._store = store
        self._app = app
        self._backoff = backoff

    def serve(self) -> None:
        """Add the routes to the application."""
        serve(self._app, "/twin/stockouts", get=lambda _: self.shortages(), post=self._add, delete=self._clear)
        serve(self._app, "/twin/quotas", post=self._limit, delete=self._unlimit)
        serve(self._app, "/twin/faults", get=lambda _: self.of_api(), post=self._add_fault, delete=self._clear_faults)

    def shortages(self) -> Json:
        """The stockouts and quota limits, and the pools in back-off after one of them or another failure."""
        return {"stockouts": self._store.values(STOCKOUT), "quotas": limits(self._store), "backoff": self._backoff()}

    def of_api(self) -> Json:
        """The faults of the API that requests will meet, and the operations with a fault that have not ended."""
        return {"faults": self._store.values(faults.FAULT), "faultyOperations": afflicted(self._store)}

    def _add_fault(self, asked: Json) -> Json:
        """Add a fault. The same one again is a rule of its own, after the others."""
        rule = faults.parse(asked, self._app[METHODS])
        self._store.put(faults.FAULT, str(time.time_ns()), rule)
        return self.of_api()

    def _clear_faults(self, asked: Json) -> Json:
        """Remove the faults with the given fields, or all, also from operations that have not ended."""
        wanted = faults.fields(asked, self._app[METHODS])
        with self._store.transaction():
            for key, rule in self._store.items(faults.FAULT):
                if wanted.items() <= rule.items():
                    self._store.delete(faults.FAULT, key)
            relieve(self._store, wanted)
        return self.of_api()

    def _add(self, asked: Json) -> Json:
        """Add a stockout of a generation in a zone, for one provisioning model or all. It can leave some chips."""
        stockout = stockout_of(asked)
        key = stockout_key(stockout["zone"], stockout["generation"], stockout["capacity"])
        self._store.put(STOCKOUT, key, stockout)
        return self.shortages()

    def _clear(self, asked: Json) -> Json:
        """Remove the named stockouts, or all. As on GKE, back-offs continue."""
        wanted = named(asked)
        for key, stockout in self._store.items(STOCKOUT):
            if wanted.items() <= stockout.items():
                self._store.delete(STOCKOUT, key)
        return self.shortages()

    def _limit(self, asked: Json) -> Json:
        """Limit the chips of a generation in a region, for the projects that have clusters. Without chips: no limit."""
        limit = limit_of(asked)
        projects = sorted({key.split("/")[1] for key, _ in self._store.items(CLUSTER)})
        if limit["chips"] is not None and not projects:
            raise invalid("no project has a cluster yet; create one with pulumi up, then set the limit")
        for project in projects:
            limit_chips(self._store, project, **limit)
        return self.shortages()

    def _unlimit(self, _: Json) -> Json:
        clear_limits(self._store)
        return self.shortages()


def stockout_of(asked: Mapping[str, Any]) -> Json:
    """A stockout as it is stored. Raises `ApiError`."""
    stockout: Json = {"capacity": ANY, **named({**asked, "region": None})}
    for field in ("zone", "generation"):
        if field not in stockout:
            raise invalid(f"a stockout needs zone and generation; no {field} is given")
    if (chips := asked.get("chips")) is not None:
        if stockout["capacity"] == "reservation":
            raise invalid("chips: a reservation has its own number of chips; remove chips")
        _check_chips(chips)
        stockout["chips"] = chips
    return stockout


def limit_of(asked: Mapping[str, Any]) -> Json:
    """Region, generation, field of the quota, and chips of a limit; None: no limit. Raises `ApiError`."""
    quota, chips = named({**asked, "zone": None}), asked.get("chips")
    for part in ("region", "generation"):
        if part not in quota:
            raise invalid(f"a quota needs region and generation; no {part} is given")
    capacity = quota.get("capacity", "on-demand")
    field = next((field for field, capacities in COUNTS.items() if capacity in capacities), None)
    if field is None:
        allowed = ", ".join(name for capacities in COUNTS.values() for name in capacities)
        raise invalid(f"{capacity!r} has no quota of chips; allowed: {allowed}")
    if chips is not None:
        _check_chips(chips)
    return {"region": quota["region"], "generation": quota["generation"], "field": field, "chips": chips}


def _check_chips(chips: object) -> None:
    if type(chips) is not int or chips < 0:
        raise invalid(f"{chips!r} is not a number of chips; allowed: a whole number from 0")


def named(asked: Mapping[str, Any]) -> dict[str, str]:
    """The given fields of a stockout or quota, in stored form. Raises `ApiError` for invalid ones."""
    found = {field: str(asked[field]) for field in ("zone", "region", "generation", "capacity") if asked.get(field)}
    if "region" in found and found["region"] not in regions():
        raise invalid(f"{found['region']!r} is not a region; give one such as us-central1")
    if "zone" in found and not is_zone(found["zone"]):
        raise invalid(f"{found['zone']!r} is not a zone; give one such as us-central1-b")
    if "generation" in found:
        try:
            found["generation"] = catalogue().generation(found["generation"]).name
        except SliceError as error:
            raise invalid(str(error)) from error
    if found.get("capacity", ANY) not in (*CAPACITIES, ANY):
        raise invalid(f"{found['capacity']!r} is not a provisioning model; allowed: {', '.join(CAPACITIES)}")
    return found
