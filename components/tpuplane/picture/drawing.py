"""The picture of a platform: a box for each cluster with a card for each pool, which shows its slices."""

from collections.abc import Iterator
from html import escape
from importlib.resources import files

from tpuplane.picture.layout import Box, columns, flow, number
from tpuplane.picture.shapes import node_shape, slice_shape
from tpuplane.plan import ClusterPlan, NodePoolPlan, PlatformPlan
from tpuplane.plan.summary import PoolSummary, spread, system_nodes
from tpuplane.quantities import counted
from tpuplane.tpu import Slice

_PAGE = 1240.0
_MARGIN = 20.0
_PADDING = 14.0
_GAP = 12.0
_BETWEEN_SLICES = 6.0
_LINE = 16.0
# An upper estimate of the width of a letter, because text cannot be measured here.
_LETTER = 5.8
_CPU = "cpu"


def draw(platform: PlatformPlan) -> str:
    """The platform at full scale as SVG text. The same plan always gives the same text."""
    shapes = _Shapes()
    clusters = flow([_cluster(cluster, shapes) for cluster in platform.clusters], _PAGE, _GAP)
    legend = _legend(platform, shapes)
    width = max(clusters.width, legend.width, 420) + 2 * _MARGIN
    top = 74.0
    bottom = top + clusters.height + _GAP
    height = bottom + legend.height + _MARGIN
    style = files("tpuplane.picture").joinpath("style.css").read_text(encoding="utf-8")
    facts = _facts(platform)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{number(width)}" height="{number(height)}" '
        f'viewBox="0 0 {number(width)} {number(height)}" role="img">',
        f"<title>{escape(platform.name)}</title>",
        f"<desc>{escape(facts)}</desc>",
        f"<style>\n{style}</style>",
        "<defs>",
        *shapes.definitions(),
        "</defs>",
        f'<rect class="page" width="{number(width)}" height="{number(height)}"/>',
        _text(_MARGIN, 36, "title", platform.name),
        _text(_MARGIN, 57, "quiet", facts),
        *clusters.at(_MARGIN, top),
        *legend.at(_MARGIN, bottom),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


class _Shapes:
    """The shapes of the picture, each defined once."""

    def __init__(self) -> None:
        self._shapes: dict[str, Box] = {"node": node_shape()}

    def of(self, shape: Slice | None) -> tuple[str, Box]:
        """The id and the shape of a slice; of a node for None."""
        if shape is None:
            return "node", self._shapes["node"]
        name = f"slice-{shape.topology}-{shape.machine.layout}"
        if name not in self._shapes:
            self._shapes[name] = slice_shape(shape)
        return name, self._shapes[name]

    def definitions(self) -> Iterator[str]:
        """The shapes as SVG definitions."""
        for name, shape in self._shapes.items():
            yield from (f'<g id="{name}">', *shape.lines, "</g>")


def _facts(platform: PlatformPlan) -> str:
    pools = [pool for cluster in platform.clusters for pool in PoolSummary.of(cluster.pools)]
    tpus = [pool for pool in pools if pool.has_slices]
    hosts = counted(sum(pool.max_nodes for pool in tpus), "TPU host")
    least, most = sum(pool.min_slices for pool in tpus), sum(pool.max_slices for pool in tpus)
    slices = counted(most, "slice") if least == most else f"{spread(least, most)} slices"
    gpus = f" and {counted(platform.gpus, 'GPU')}" if platform.gpus else ""
    return (
        f"project {platform.project} · {counted(len(platform.clusters), 'cluster')} · {counted(len(pools), 'pool')} · "
        f"{slices} · {hosts} and {counted(platform.chips, 'chip')}"
        f"{gpus} at full scale"
    )


def _cluster(cluster: ClusterPlan, shapes: _Shapes) -> Box:
    cards = [_pool(pool, shapes) for pool in PoolSummary.of(cluster.pools)]
    if cluster.system_pool is not None:
        cards.append(_system(cluster, cluster.system_pool, shapes))
    body = flow(cards, _PAGE - 2 * _PADDING, _GAP)
    about = f"{cluster.location} · {counted(cluster.chips, 'chip')}"
    if cluster.gpus:
        about += f" · {counted(cluster.gpus, 'GPU')}"
    width = max(body.width, _LETTER * len(about), 9 * len(cluster.name)) + 2 * _PADDING
    top = 52.0
    height = top + body.height + _PADDING
    lines = (
        f'<rect class="cluster" width="{number(width)}" height="{number(height)}" rx="8"/>',
        _text(_PADDING, 24, "name", cluster.name),
        _text(_PADDING, 41, "quiet", about),
        *body.at(_PADDING, top),
    )
    return Box(width, height, lines)


def _pool(pool: PoolSummary, shapes: _Shapes) -> Box:
    hardware = pool.hardware
    if isinstance(hardware, Slice):
        more, units = f", {counted(hardware.hosts, 'host')} each", counted(pool.units, "chip")
    else:
        more, units = "", f"{counted(pool.units, 'GPU')} · {hardware.machine.name}"
    about = (f"{pool.pieces} \N{MULTIPLICATION SIGN} {pool.shape}{more}", f"{pool.capacity} · {units}", pool.zone)
    # Each multi-host slice is a node pool; single-host slices share one, and so do GPU nodes.
    names = pool.node_pools if hardware.hosts > 1 else pool.node_pools * pool.max_slices
    shape = shapes.of(hardware if isinstance(hardware, Slice) else None)
    return _card(pool.name, about, names, pool.min_slices, pool.capacity, shape)


def _system(cluster: ClusterPlan, system: NodePoolPlan, shapes: _Shapes) -> Box:
    low, high = system_nodes(cluster)
    about = (f"{spread(low, high)} CPU nodes", system.machine_type)
    return _card(system.name, about, (system.name,) * high, low, _CPU, shapes.of(None))


def _card(
    name: str, about: tuple[str, ...], items: tuple[str, ...], always: int, color: str, shape: tuple[str, Box]
) -> Box:
    """A pool: its name, its description, and a shape for each item, dashed for items above the minimum."""
    ref, size = shape
    text = max(7.5 * len(name), *(_LETTER * len(line) for line in about))
    inner = _PAGE - 4 * _PADDING
    per_row = columns(len(items), (size.width, size.height), (text, inner), _BETWEEN_SLICES) if items else 1
    step_x, step_y = size.width + _BETWEEN_SLICES, size.height + _BETWEEN_SLICES
    rows = -(-len(items) // per_row)
    width = max(text, min(per_row, len(items)) * step_x - _BETWEEN_SLICES) + 2 * _PADDING
    top = 22 + _LINE * len(about) + 10
    height = top + max(rows * step_y - _BETWEEN_SLICES, 0) + _PADDING
    lines = [
        f'<rect class="card" width="{number(width)}" height="{number(height)}" rx="6"/>',
        _text(_PADDING, 22, "pool", name),
        *(_text(_PADDING, 22 + _LINE * line, "quiet", content) for line, content in enumerate(about, 1)),
    ]
    for index, item in enumerate(items):
        x, y = _PADDING + index % per_row * step_x, top + index // per_row * step_y
        lines.append(_use(ref, x, y, color, later=index >= always, title=item))
    return Box(width, height, tuple(lines))


def _legend(platform: PlatformPlan, shapes: _Shapes) -> Box:
    """The meaning of the shapes, and of the colours in use."""
    pools = [pool for cluster in platform.clusters for pool in cluster.tpu_pools]
    first = next((pool for pool in pools if pool.slice is not None), None)
    entries = []
    if first is not None:
        entries.append(_entry('<rect class="chip" width="5" height="5" y="4"/>', first.capacity, "chip", 5))
        host = '<rect class="host" width="14" height="14"/>'
        entries.append(_entry(host, first.capacity, "host: a VM, a node", 14))
        frame = '<rect class="frame" width="22" height="14" rx="4"/>'
        entries.append(_entry(frame, first.capacity, "slice: hosts joined by ICI", 22))
        entries.append(_entry(frame, f"{first.capacity} later", "added by autoscaling", 22))
    colors = dict.fromkeys(pool.capacity for cluster in platform.clusters for pool in cluster.pools)
    swatch = '<rect class="chip" width="14" height="14" rx="3"/>'
    entries += [_entry(swatch, color, color, 14) for color in colors]
    entries.append(_entry("".join(shapes.of(None)[1].lines), _CPU, "CPU node", 14))
    return flow(entries, _PAGE, 18)


def _entry(shape: str, color: str, label: str, width: float) -> Box:
    lines = (f'<g class="{escape(color)}">{shape}</g>', _text(width + 6, 11, "quiet", label))
    return Box(width + 6 + _LETTER * len(label), 16, lines)


def _use(ref: str, x: float, y: float, color: str, *, later: bool, title: str) -> str:
    classes = f"{color} later" if later else color
    place = f'x="{number(x)}" y="{number(y)}"'
    return f'<use href="#{ref}" {place} class="{escape(classes)}"><title>{escape(title)}</title></use>'


def _text(x: float, y: float, kind: str, content: str) -> str:
    return f'<text x="{number(x)}" y="{number(y)}" class="{kind}">{escape(content)}</text>'
