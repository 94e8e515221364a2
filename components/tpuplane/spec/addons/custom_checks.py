"""The checks of a user's own operators, with each other and with the cluster."""

from collections.abc import Iterator, Mapping, Sequence

from tpuplane.data_files import placeholders
from tpuplane.spec.addons.addons import CustomAddonSpec
from tpuplane.spec.addons.catalogue import addon_catalogue
from tpuplane.spec.addons.checks import awaited, installed, present, same_objects, to_add
from tpuplane.spec.cluster.cluster import ClusterSpec
from tpuplane.spec.core.errors import Mistake, Path, choice, shown
from tpuplane.spec.core.rules import broken, spec_data


def check_custom(at: Path, cluster: ClusterSpec) -> Iterator[Mistake]:
    """Every mistake in the operators that tpuplane does not ship. `at` is the place of `addons`."""
    for key, spec in cluster.addons.custom.items():
        path = (*at, "custom", key)
        yield from _check_needs((*path, "definition"), cluster, key)
        yield from _check_values(path, spec)
        addons = {addon.key: addon for addon in installed(cluster)}
        own = addons.pop(key)
        if owner := next((other for other in addons.values() if other.namespace == own.namespace), None):
            namespace = (*path, "definition", "namespace")
            yield broken("addon-namespace", namespace, value=shown(own.namespace), addon=owner.title, remove="")
        elif other := next((other for other in addons.values() if same_objects(own, other)), None):
            line = f"{shown(own.chart.name)} is also the chart of {other.title}, and a cluster has its roles only once"
            yield Mistake((*path, "definition", "chart", "name"), f"{line}; remove one of the two")


def _check_needs(at: Path, cluster: ClusterSpec, key: str) -> Iterator[Mistake]:
    definition, shipped = cluster.addons.custom[key].definition, addon_catalogue().addons
    others = [name for name in (*shipped, *cluster.addons.custom) if name not in ("rayTpuWebhook", key)]
    for field in ("needs", "after"):
        names: tuple[str, ...] = getattr(definition, field)
        for index, name in enumerate(names):
            if name not in others:
                yield Mistake((*at, field, index), choice(name, "another add-on", others))
            # An existing cluster may have the add-on already.
            elif field == "needs" and name not in present(cluster) and cluster.existing is None:
                title = shipped[name].title
                line = f"{definition.title} needs {title}, which this cluster does not have; {to_add(name)}"
                yield Mistake((*at, field, index), line)
    addons = installed(cluster)
    waits = {addon.key: awaited(addon, addons) for addon in addons}
    for other in waits[key]:
        if other != key and key in _reached(other, waits):
            why = ", because Kueue waits for the kinds that it manages" if other == "kueue" else ""
            line = f"{key} and {other} wait for each other{why}; remove {other} from needs and after"
            yield Mistake((*at, "needs" if other in definition.needs else "after"), line)


def _reached(key: str, waits: Mapping[str, Sequence[str]]) -> set[str]:
    """All add-ons that this one waits for, also through others."""
    found: set[str] = set()
    open_ = [key]
    while open_:
        new = set(waits[open_.pop()]) - found
        found |= new
        open_.extend(new)
    return found


def _check_values(at: Path, spec: CustomAddonSpec) -> Iterator[Mistake]:
    """Each `$name` has a value, and each field that the user writes has a `$name`."""
    found, known = list(placeholders(spec.definition.values)), spec_data("placeholders")
    for place, text, name in found:
        path = (*at, "definition", "values", *place)
        if text != name:  # may be a variable of a script or of a chart's template
            if name in known and "{{" not in text:
                line = f"{name} in {shown(text)} is not replaced, because it is not the whole text"
                yield Mistake(path, f"{line}; write {name} alone, or its value; in a script, ${{{name[1:]}}}")
        elif name not in known:
            yield Mistake(path, choice(name, "a value that the plan fills in", known))
        elif known[name] in ("image", "user") and getattr(spec.definition, known[name]) is None:
            line = f"{shown(name)} needs {known[name]} in the definition; add it, or write the value"
            yield Mistake(path, line)
    filled = {known.get(name) for _, _, name in found}
    for field in ("replicas", "resources"):
        if field in spec.model_fields_set and field not in filled:
            line = f"has no effect, because values in the definition do not use ${field}; remove it, or add ${field}"
            yield Mistake((*at, field), line)
