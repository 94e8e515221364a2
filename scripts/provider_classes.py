"""`diff/data/provider.yaml`: what the provider does when a property of a cluster or node pool changes."""

from collections.abc import Iterator, Mapping

from tpuplane.data_files import read_data
from tpuplane.spec.core.yaml_writer import yaml_text
from tpuplane_standins.providers.gcp.resources.cluster import ONE_WAY
from tpuplane_standins.providers.gcp.tables import Field, load

_RESOURCES = {"cluster": ("cluster", "replaces-cluster"), "nodePool": ("node_pool", "replaces-pools")}
_HEAD = """\
# Generated from the tables of the provider. The class of a change of each property of a cluster or node pool.
# A part without a class of its own has that of its property. Three kinds of properties have none: those for which the
# provider keeps Google's value if the program sends none, switches that only a new cluster can turn off, and the nodes
# of a cluster, which are resources of their own.
"""
_OF_NODES = ("initialNodeCount", "nodeConfig", "nodePools", "removeDefaultNodePool")


def provider_classes() -> str:
    """The text of the file."""
    classes: dict[str, dict[str, list[str]]] = {}
    for kind, (table, replaces) in _RESOURCES.items():
        without = (*ONE_WAY, *_OF_NODES) if kind == "cluster" else ()
        fields = {name: field for name, field in load(table).fields.items() if name not in without}
        rows = sorted(_rows(fields, read_data("tpuplane.diff", "kept")["sent"][kind]))
        names = {"in-place": False, replaces: True}
        classes[kind] = {name: [path for path, new in rows if new is own] for name, own in names.items()}
    return _HEAD + yaml_text(classes, flow=None, width=90)


def _rows(fields: Mapping[str, Field], sent: list[str], above: str = "") -> Iterator[tuple[str, bool | None]]:
    """The properties, each with whether a change replaces the resource; None if the provider can keep Google's value.

    Parts that all do the same are one property.
    """
    for name, field in fields.items():
        if not field.output:
            path = f"{above}{name}"
            own = None if field.force_new and field.computed and path not in sent else field.force_new
            parts = tuple(_rows(field.fields, sent, f"{path}."))
            same = {new for _, new in parts} <= {own}
            if same or (own is not False and not any(new is not False for _, new in parts)):
                yield path, own
            yield from () if same else parts
