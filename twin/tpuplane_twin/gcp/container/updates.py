"""The fields of updates, as `data/updates.yaml` lists them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from tpuplane_twin.gcp.errors import not_served
from tpuplane_twin.gcp.locations import data
from tpuplane_twin.gcp.merge import at, overlay, put_at
from tpuplane_twin.gcp.schema import Json, snake


@dataclass(frozen=True, slots=True)
class Updates:
    """The fields of one kind of update. `places` and `unwrapped` map each to the dotted path that it sets."""

    what: str
    places: Mapping[str, str]
    unwrapped: Mapping[str, tuple[str, str, Any]]
    merged: Mapping[str, Sequence[str]]
    not_served: Mapping[str, str]

    def apply(self, target: Json, field: str, value: Any) -> str:
        """Set the value of `field`, and return its path; 400 if the twin does not serve the field."""
        if field in self.unwrapped:
            inner, path, default = self.unwrapped[field]
            put_at(target, path, value.get(inner, default))
            return path
        if field not in self.places:
            reason = self.not_served.get(field)
            raise not_served(f"{self.what} updates of {snake(field)}" + (f": {reason}" if reason else ""))
        path = self.places[field]
        if field in self.merged:
            kept = overlay(at(target, path, {}), {})
            for part in self.merged[field]:
                if at(value, part) is not None:
                    put_at(kept, part, None)
            value = overlay(kept, value)
        put_at(target, path, value)
        return path


@cache
def cluster_updates() -> Updates:
    """The fields of ClusterUpdate."""
    table = data("updates")["cluster"]
    desired = {
        f"desired{name}": f"{parent}.{name[0].lower()}{name[1:]}".lstrip(".")
        for parent, names in table["desired"].items()
        for name in names
    }
    return _updates("cluster", table, {**desired, **table["places"]})


@cache
def node_pool_updates() -> Updates:
    """The fields of UpdateNodePoolRequest that are not the pool's version, disk or address."""
    table = data("updates")["node_pool"]
    return _updates("node pool", table, table["places"])


def _updates(what: str, table: dict[str, Any], places: dict[str, str]) -> Updates:
    unwrapped = {field: (inner, path, default) for field, (inner, path, default) in table["unwrapped"].items()}
    return Updates(what, places, unwrapped, table["merged"], table["not_served"])
