"""Rehearsals as a chart."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib.resources import files
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tpuplane_twin.rehearsal.chart import chart
from tpuplane_twin.rehearsal.records import Moment, Timeline

from tests.support.rehearsals import DAY

pytestmark = pytest.mark.unit

SVG = "{http://www.w3.org/2000/svg}"
Point = tuple[float, float]


def areas(svg: str) -> list[tuple[str, list[Point]]]:
    """The areas of all plots: what each shows, and its corners."""
    found = []
    for path in ElementTree.fromstring(svg).iter(f"{SVG}path"):
        if (title := path.find(f"{SVG}title")) is not None:
            corners = re.findall(r"(-?[\d.]+) (-?[\d.]+)", path.attrib["d"])
            found.append((title.text or "", [(float(x), float(y)) for x, y in corners]))
    return found


def texts(svg: str, kind: str) -> list[str]:
    return [text.text or "" for text in ElementTree.fromstring(svg).iter(f"{SVG}text") if text.attrib["class"] == kind]


def test_each_stack_has_a_plot_with_the_same_areas() -> None:
    svg = chart([DAY, replace(DAY, title="acme <spot> & co")])
    shown = ["product", "research", "waiting jobs", "lost hosts", "usable chips"]
    assert [name for name, _ in areas(svg)] == shown * 2
    assert texts(svg, "name") == ["acme", "acme <spot> & co"]
    assert texts(svg, "entry") == shown
    assert texts(svg, "mark").count("chips") == texts(svg, "mark").count("hours") == 2
    root = ElementTree.fromstring(svg)
    assert root.attrib["role"] == "img"
    assert root[0].text == "Chips over time"
    assert (root[1].text or "").endswith("over time: acme, acme <spot> & co")
    assert svg == chart([DAY, replace(DAY, title="acme <spot> & co")])


def test_levels_are_to_scale() -> None:
    # 860 pixels are two hours. 200 pixels from y = 228 are the most that is shown: 8 used and 16 waiting chips.
    found = dict(areas(chart([DAY])))
    x, y = 860 / 2, 200 / 24
    assert [(round(at), level) for at, level in found["usable chips"][:4]] == [
        (0, 94.67),
        *[(72, 94.67)] * 2,
        (215, 94.67),
    ]
    assert round(228 - 16 * y, 2) == 94.67
    after = [point for point in found["usable chips"] if x < point[0] < 1.4 * x]
    assert {level for _, level in after} == {round(228 - 8 * y, 2)}
    assert min(level for _, level in found["waiting jobs"]) == 28
    assert {level for _, level in found["product"]} == {228, round(228 - 4 * y, 2)}


def test_a_longer_rehearsal_sets_the_axis_of_all() -> None:
    longer = replace(DAY, title="long", end=4 * 7200.0)
    found = areas(chart([DAY, longer]))
    assert max(x for x, _ in found[0][1]) == 860 / 4
    assert max(x for x, _ in found[5][1]) == 860
    assert [mark for mark in texts(chart([longer]), "mark") if mark.isdigit()] == [
        *("0", "4", "8", "12", "16", "20", "24"),
        *("0", "1", "2", "3", "4", "5", "6", "7", "8"),
    ]


def test_teams_have_colours_in_light_and_dark() -> None:
    style = files("tpuplane_twin.rehearsal").joinpath("data/chart.svg").read_text(encoding="utf-8")
    colours = re.findall(r"\.team-\d \{ fill: (#\w+)", style)
    assert len(set(colours)) == 6
    dark = style.split("prefers-color-scheme: dark")[1]
    for kind in ("text", ".page", ".mark", ".grid", ".team", ".hatch", ".usable"):
        assert f"\n{kind} {{" in dark
    many = {f"team-{number}": 4 for number in range(8)}
    svg = chart([Timeline("many", 60.0, (Moment(0.0, 32, 0, many, {}, 0, 0.0),), ())])
    assert set(re.findall(r'class="team (team-\d)"', svg)) == {f"team-{number}" for number in range(6)}


@pytest.mark.parametrize("timelines", [[], [Timeline("empty", 0.0, (), ())]])
def test_nothing_is_a_chart_without_areas(timelines: list[Timeline]) -> None:
    assert areas(chart(timelines)) == []


MOMENTS = st.builds(
    Moment,
    at=st.integers(0, 9000),
    chips=st.integers(0, 512),
    lost=st.integers(0, 64),
    used=st.dictionaries(st.text("ab<&\"'", min_size=1, max_size=3), st.integers(0, 64), max_size=3),
    waiting=st.dictionaries(st.text("ab", max_size=1), st.integers(0, 512), max_size=2),
    idle=st.just(0),
    dollars=st.just(0.0),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(MOMENTS, max_size=5), max_size=3))
def test_all_areas_are_within_their_plots(every: list[list[Moment]]) -> None:
    timelines = [
        Timeline(f"stack {number}", 9000.0, tuple(sorted(moments, key=lambda moment: moment.at)), ())
        for number, moments in enumerate(every)
    ]
    for _, corners in areas(chart(timelines)):
        assert all(-0.01 <= x <= 860.01 and 27.99 <= y <= 228.01 for x, y in corners)
