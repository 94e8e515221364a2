"""The fields of updates, as `data/updates.yaml` lists them."""

from functools import cache
from typing import Any, Literal

from tpuplane_twin.gcp.data_files import data
from tpuplane_twin.gcp.errors import not_served
from tpuplane_twin.gcp.merge import at, overlay, put_at
from tpuplane_twin.gcp.schema import Json, snake

Kind = Literal["cluster", "node_pool"]
"""ClusterUpdate, or UpdateNodePoolRequest without the pool's version, disk and address."""


@cache
def update_fields(kind: Kind) -> Json:
    """The table of the file; its `places` and `unwrapped` map each field to the dotted path that it sets."""
    table = data("updates")[kind]
    desired = {
        f"desired{name}": f"{parent}.{name[0].lower()}{name[1:]}".lstrip(".")
        for parent, names in table.get("desired", {}).items()
        for name in names
    }
    return {**table, "places": {**desired, **table["places"]}}


def apply_update(kind: Kind, target: Json, field: str, value: Any) -> str:
    """Set the value of `field`, and return its path; 400 if the twin does not serve the field."""
    fields = update_fields(kind)
    if field in fields["unwrapped"]:
        inner, path, default = fields["unwrapped"][field]
        put_at(target, path, value.get(inner, default))
        return str(path)
    if field not in fields["places"]:
        reason = fields["not_served"].get(field)
        what = f"{kind.replace('_', ' ')} updates of {snake(field)}"
        raise not_served(what + (f": {reason}" if reason else ""))
    path = fields["places"][field]
    alone = fields["merged_alone"].get(field)
    if field in fields["merged"] or (alone and value.keys() == {alone}):
        kept = overlay(at(target, path, {}), {})
        parts = fields["merged"].get(field, [])
        for part in value if parts == ["*"] else parts:
            if at(value, part) is not None:
                put_at(kept, part, None)
        value = overlay(kept, value)
    if field in fields["removable"] and not any(value.values()):
        value = None
    put_at(target, path, value)
    return str(path)
