"""The file of a rehearsal as the page shows it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tpuplane.ui.timeline import NoTimeline, read_timeline
from tpuplane_twin.rehearsal.chart import chart
from tpuplane_twin.rehearsal.summary import summary

from tests.support.rehearsals import DAY

pytestmark = pytest.mark.unit


def test_a_result_has_figures_and_events(tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    result = {"title": "A day", "stacks": {"acme": summary(DAY)}, "unmet": ["overall.succeeded is 1; expected: 2"]}
    file.write_text(json.dumps(result))
    os.utime(file, (1_700_000_000, 1_700_000_000))
    found = read_timeline(file)
    figures, events = found["tables"]
    assert found["heading"] == "Rehearsal that ended at 2023-11-14T22:13:20Z: A day"
    assert (found["unmet"], "picture" in found) == (result["unmet"], False)
    assert figures["rows"][:2] == [["figure", "all", "product", "research"], ["jobs", "3", "1", "2"]]
    assert events == {
        "caption": "Events on acme",
        "rows": [
            ["time", "event"],
            ["0s", "trainer-1 runs"],
            ["1h 00m", "trainer-1 lost a host"],
            ["1h 00m", "trainer-1 waits"],
        ],
    }


def test_several_stacks_have_a_column_each_and_events_of_their_own(tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    file.write_text(json.dumps({"title": "A day", "stacks": dict.fromkeys("ab", summary(DAY)), "unmet": []}))
    figures, *events = read_timeline(file)["tables"]
    assert figures["rows"][:3] == [["figure", "acme", "acme"], ["platform"], ["  time in all", "2h 00m", "2h 00m"]]
    assert len(events) == 2


def test_a_picture_is_shown_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "day.svg"
    file.write_text(chart([DAY]))
    found = read_timeline(file)
    assert (found["title"], found["picture"], found["tables"]) == ("day.svg", chart([DAY]), [])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "3",
        "{}",
        '{"stacks": []}',
        '{"stacks": {}}',
        '{"title": "", "stacks": {"a": {}}}',
        '{"title": "", "stacks": {"a": 1}}',
        json.dumps({"title": "", "stacks": {"a": {**summary(DAY), "platform": {"end": float("inf")}}}}),
        json.dumps({"title": "", "stacks": {"a": {**summary(DAY), "platform": {"dollars": "many"}}}}),
        "<svg><title>Another picture</title></svg>",
        "title: a scenario",
        "\udcff",
    ],
)
def test_another_file_is_no_timeline(tmp_path: Path, text: str) -> None:
    file = tmp_path / "file"
    file.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(NoTimeline, match=f"{file} cannot be read: it is not the timeline of a rehearsal; name a file "):
        read_timeline(file)


def test_a_file_that_cannot_be_read_has_its_cause(tmp_path: Path) -> None:
    with pytest.raises(NoTimeline, match="cannot be read: Is a directory; name a file "):
        read_timeline(tmp_path)
