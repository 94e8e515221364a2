"""Rehearsals as tables for a terminal: what happened, the figures by team, and several stacks side by side. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from rich.markup import escape
from rich.table import Column, Table
from tpuplane.data_files import read_data

Summary = Mapping[str, Any]
"""A result of `summary`."""


def events_table(found: Summary) -> Table:
    """What happened, and when."""
    table = Table(Column("time", justify="right", no_wrap=True), "event", box=None, pad_edge=False)
    for moment in found["events"]:
        for number, event in enumerate(moment["events"]):
            table.add_row("" if number else elapsed(moment["at"]), escape(event))
    return table


def figures_table(found: Summary) -> Table:
    """A column for all jobs and for each team; the platform's figures are in the first."""
    table = _table("all", *found["teams"])
    _add(table, "jobs", [found["overall"], *found["teams"].values()])
    _add(table, "platform", [found["platform"]])
    return table


def comparison_table(every: Sequence[Summary]) -> Table:
    """A column for each stack: its platform's figures, those of all jobs, and those of each team."""
    table = _table(*(found["title"] for found in every))
    _add(table, "platform", [found["platform"] for found in every], "platform")
    _add(table, "jobs", [found["overall"] for found in every], "all jobs")
    for team in sorted({team for found in every for team in found["teams"]}):
        _add(table, "jobs", [found["teams"].get(team, {}) for found in every], f"jobs of {team}")
    return table


def elapsed(seconds: float) -> str:
    """A time as text: 45s, 5m 10s, 1h 05m."""
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60}h {minutes % 60:02}m"
    return f"{minutes}m {rest:02}s" if minutes else f"{rest}s"


def _table(*columns: str) -> Table:
    numbers = (Column(escape(column), justify="right", no_wrap=True) for column in columns)
    return Table(Column("", no_wrap=True), *numbers, box=None, pad_edge=False)


def _add(table: Table, kind: Literal["jobs", "platform"], columns: Sequence[Summary], heading: str = "") -> None:
    """A row for each figure. A figure that is None is a dash; one that a column does not have is empty."""
    if heading:
        table.add_row(f"[bold]{escape(heading)}[/bold]")
    for key, (label, form) in read_data("tpuplane_twin.rehearsal", "figures")[kind].items():
        texts = (_text(column[key], form) if key in column else "" for column in columns)
        table.add_row(f"  {label}" if heading else label, *texts)


def _text(value: float | None, form: str) -> str:
    if value is None:
        return "-"
    return elapsed(value) if form == "time" else form.format(value)
