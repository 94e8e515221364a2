"""Rehearsals as tables."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console
from rich.table import Table
from tpuplane.ui.timeline import elapsed
from tpuplane_twin.rehearsal.records import Timeline
from tpuplane_twin.rehearsal.summary import summary
from tpuplane_twin.rehearsal.text import figures_table

from tests.support.rehearsals import DAY

pytestmark = pytest.mark.unit


def shown(table: Table) -> list[str]:
    out = Console(file=io.StringIO(), width=160)
    out.print(table)
    assert isinstance(out.file, io.StringIO)
    return [line.rstrip() for line in out.file.getvalue().splitlines()]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (59.4, "59s"), (59.6, "1m 00s"), (310, "5m 10s"), (3900, "1h 05m"), (90060, "25h 01m")],
)
def test_times_are_short(seconds: float, text: str) -> None:
    assert elapsed(seconds) == text


def test_each_team_has_a_column() -> None:
    assert shown(figures_table([summary(DAY)])) == [
        "                                       all  product  research",
        "jobs                                     3        1         2",
        "succeeded                                1        1         0",
        "never ran                                1        0         1",
        "waiting time, median                5m 00s   5m 00s        0s",
        "waiting time, 95th percentile      10m 00s   5m 00s   10m 00s",
        "waiting time, maximum              10m 00s   5m 00s   10m 00s",
        "preemptions                              1        1         0",
        "other interruptions                      1        0         1",
        "chip hours used                       16.0      4.0      12.0",
        "chip hours of lost work                2.7      0.7       2.0",
        "goodput                              83.3%    83.3%     83.3%",
        "time in all                         2h 00m",
        "chip hours available                  28.0",
        "chip hours of lost hosts               4.0",
        "chip hours idle while a job waits      2.0",
        "dollars                              40.00",
        "chips without a published price          0",
    ]


def test_stacks_are_side_by_side_by_team() -> None:
    other = replace(DAY, title="acme-spot", jobs=DAY.jobs[1:2], unpriced=1024)
    rows = shown(figures_table([summary(DAY), summary(other)]))
    assert rows[:8] == [
        "                                        acme  acme-spot",
        "platform",
        "  time in all                         2h 00m     2h 00m",
        "  chip hours available                  28.0       28.0",
        "  chip hours of lost hosts               4.0        4.0",
        "  chip hours idle while a job waits      2.0        2.0",
        "  dollars                              40.00      40.00",
        "  chips without a published price          0      1,024",
    ]
    headings = ["all jobs", "jobs of product", "jobs of research"]
    assert [row for row in rows[8:] if not row.startswith(" ")] == headings
    assert rows[rows.index("all jobs") + 1] == "  jobs                                     3          1"
    # A team without jobs in one of the stacks has no figures there.
    assert rows[rows.index("jobs of research") + 1] == "  jobs                                     2"


def test_nothing_to_measure_is_a_dash() -> None:
    rows = shown(figures_table([summary(Timeline("empty", 60.0, (), ()))]))
    assert [row for row in rows if row.endswith("-")] == [
        "waiting time, median                    -",
        "waiting time, 95th percentile           -",
        "waiting time, maximum                   -",
        "goodput                                 -",
    ]
