"""`diff/data/provider.yaml`: what the provider does when a property of a cluster or node pool changes."""

from collections.abc import Iterator, Mapping

from tpuplane.spec.core.yaml_writer import yaml_text
from tpuplane_standins.providers.gcp.resources.cluster import ONE_WAY
from tpuplane_standins.providers.gcp.tables import Field, load

_RESOURCES = {"cluster": ("cluster", "replaces-cluster"), "nodePool": ("node_pool", "replaces-pools")}
_HEAD = """\
# Generated from the tables of the provider. The class of a change of each property of a cluster or node pool.
# A part without a class of its own has that of its property. Switches that only a new cluster can turn off have none.
"""


def provider_classes() -> str:
    """The text of the file."""
    classes: dict[str, dict[str, list[str]]] = {}
    for kind, (table, replaces) in _RESOURCES.items():
        rows = sorted(row for row in _rows(load(table).fields) if row[0] not in ONE_WAY)
        names = {"in-place": False, replaces: True}
        classes[kind] = {name: [path for path, new in rows if new == own] for name, own in names.items()}
    return _HEAD + yaml_text(classes, flow=None, width=90)


def _rows(fields: Mapping[str, Field], above: str = "") -> Iterator[tuple[str, bool]]:
    """The properties, each with whether a change replaces the resource. Parts that all do the same are one property."""
    for name, field in fields.items():
        if not field.output:
            parts = tuple(_rows(field.fields, f"{above}{name}."))
            same = {new for _, new in parts} <= {field.force_new}
            if same or (field.force_new and not any(new for _, new in parts)):
                yield f"{above}{name}", field.force_new
            yield from () if same else parts
