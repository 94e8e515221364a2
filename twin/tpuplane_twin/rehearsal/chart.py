"""Rehearsals as one SVG: chips over time, a plot for each stack over the same axes. Pure."""

from collections.abc import Callable, Iterator, Sequence
from html import escape
from importlib.resources import files
from string import Template

from tpuplane.picture.layout import Box, flow, number

from tpuplane_twin.rehearsal.records import Moment, Timeline

_WIDTH, _HEIGHT = 860.0, 200.0  # of a plot, in pixels
_TITLE, _LEFT, _TOP, _BOTTOM, _GAP = 44.0, 64.0, 28.0, 40.0, 20.0
_LETTER = 6.6  # an upper estimate of the width of a letter, because text cannot be measured here
_COLOURS = 6
_HOURS = (0.1, 0.25, 0.5, 1, 2, 3, 6, 12, 24, 48, 96, 168, 336, 672)
_CHIPS = tuple(2**power for power in range(24))

Level = Callable[[Moment], float]
Layer = tuple[str, str, Level, Level]
"""An area of a plot: the classes of its style, its meaning, its lower and its upper edge in chips."""


def chart(timelines: Sequence[Timeline]) -> str:
    """The rehearsals as SVG text; the same rehearsals always give the same text.

    Coloured areas are the chips of each team's running jobs, and the hatched area above them those that waiting jobs
    need. The line is the usable chips, and the area above it those of lost hosts.
    """
    moments = [moment for timeline in timelines for moment in timeline.moments]
    layers = list(_layers(sorted({team for moment in moments for team in moment.used})))
    hours = max([timeline.end for timeline in timelines], default=0.0) / 3600 or 1.0
    chips = max([upper(moment) for moment in moments for _, _, _, upper in layers], default=0.0) or 1.0
    plots = [_plot(timeline, layers, hours, chips) for timeline in timelines]
    legend = flow([_entry(kind, meaning) for kind, meaning, _, _ in layers], _WIDTH, _GAP)
    body = flow([*plots, legend], 0, _GAP)
    template = Template(files("tpuplane_twin.rehearsal").joinpath("data/chart.svg").read_text(encoding="utf-8"))
    return template.substitute(
        width=number(_LEFT + _WIDTH + _GAP),
        height=number(_TITLE + body.height + _GAP),
        titles=escape(", ".join(timeline.title for timeline in timelines)),
        body="\n".join(body.at(_LEFT, _TITLE)),
    )


def _layers(teams: Sequence[str]) -> Iterator[Layer]:
    """The areas of a plot, the last one on top."""
    for place, team in enumerate(teams):
        yield f"team team-{place % _COLOURS}", team, _used(teams[:place]), _used(teams[: place + 1])
    used = _used(teams)
    yield "waiting", "waiting jobs", used, lambda moment: used(moment) + sum(moment.waiting.values())
    yield "lost", "lost hosts", lambda moment: moment.chips, lambda moment: moment.chips + moment.lost
    yield "usable", "usable chips", lambda moment: moment.chips, lambda moment: moment.chips


def _used(teams: Sequence[str]) -> Level:
    return lambda moment: sum(moment.used.get(team, 0) for team in teams)


def _plot(timeline: Timeline, layers: Sequence[Layer], hours: float, chips: float) -> Box:
    """One rehearsal below its title, with the marks of both axes."""
    bottom = _TOP + _HEIGHT
    lines = [_text(0, 14, "name", timeline.title), _text(-8, 14, "mark", "chips", "end")]
    for mark in _marks(chips, _CHIPS):
        y = bottom - mark / chips * _HEIGHT
        lines.append(f'<path class="grid" d="M0 {number(y)}h{number(_WIDTH)}"/>')
        lines.append(_text(-8, y + 4, "mark", f"{mark:,}", "end"))
    for mark in _marks(hours, _HOURS):
        x = mark / hours * _WIDTH
        lines.append(f'<path class="grid" d="M{number(x)} {number(bottom)}v5"/>')
        lines.append(_text(x, bottom + 18, "mark", f"{mark:g}", "middle"))
    lines.append(_text(_WIDTH / 2, bottom + 34, "mark", "hours", "middle"))
    for kind, meaning, lower, upper in layers:
        edges = *_edge(timeline, upper), *reversed(_edge(timeline, lower))
        points = (f"{number(at / hours * _WIDTH)} {number(bottom - level / chips * _HEIGHT)}" for at, level in edges)
        if edges:
            lines.append(f'<path class="{kind}" d="M{"L".join(points)}z"><title>{escape(meaning)}</title></path>')
    return Box(_WIDTH, bottom + _BOTTOM, tuple(lines))


def _edge(timeline: Timeline, level: Level) -> list[tuple[float, float]]:
    """The corners of a level over time, in hours and chips."""
    ends = [*(moment.at for moment in timeline.moments), timeline.end][1:]
    spans = zip(timeline.moments, ends, strict=True)
    return [(at / 3600, level(moment)) for moment, end in spans for at in (moment.at, end)]


def _marks(most: float, steps: Sequence[float]) -> list[float]:
    """The marks of an axis: multiples of the least step that gives at most nine."""
    step = next((step for step in steps if most / step <= 8), most)
    return [step * count for count in range(int(most / step) + 1)]


def _entry(kind: str, meaning: str) -> Box:
    swatch = f'<rect class="{kind}" width="14" height="14"/>'
    return Box(20 + _LETTER * len(meaning), 16, (swatch, _text(20, 11, "entry", meaning)))


def _text(x: float, y: float, kind: str, content: str, anchor: str = "start") -> str:
    return f'<text class="{kind}" x="{number(x)}" y="{number(y)}" text-anchor="{anchor}">{escape(content)}</text>'
