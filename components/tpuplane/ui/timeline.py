"""The timeline of a rehearsal: the file that `tpuplane-twin rehearse` writes, and its tables, also for a terminal."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tpuplane.data_files import read_data

Summary = Mapping[str, Any]  # the figures and events of a rehearsal, as `--json` has them for each stack


class NoTimeline(Exception):
    """The file cannot be read, or is not a timeline."""


def read_timeline(file: Path) -> dict[str, Any]:
    """What the page shows of a file of `rehearse`: the picture of --picture, the tables of --json, or both.

    Raises `NoTimeline` with cause and remedy.
    """
    try:
        text = file.read_text(encoding="utf-8")
        drawn = text.startswith("<svg") and "<title>Chips over time</title>" in text
        found: Any = {"title": file.name, "stacks": {}, "picture": text} if drawn else json.loads(text)
        stacks = list(found.pop("stacks").values())
        written = datetime.fromtimestamp(file.stat().st_mtime, UTC)
        heading = f"Rehearsal that ended at {written:%Y-%m-%dT%H:%M:%SZ}: {found['title']}"
        return {**found, "heading": heading, "tables": list(_tables(stacks))}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as error:
        cause = getattr(error, "strerror", "it is not the timeline of a rehearsal")
        raise NoTimeline(
            f"{file} cannot be read: {cause}; name a file that `tpuplane-twin rehearse` wrote with --json or --picture"
        ) from None


def figures(every: Sequence[Summary]) -> Iterator[list[str]]:
    """Rows of text: names of columns, then each label with its figures, or a heading alone.

    One rehearsal has a column for all jobs and the platform, and one for each team. Several have a column each.
    """
    if len(every) == 1:
        (found,) = every
        yield ["figure", "all", *found["teams"]]
        yield from _rows("jobs", [found["overall"], *found["teams"].values()])
        yield from _rows("platform", [found["platform"]])
        return
    yield ["figure", *(found["title"] for found in every)]
    yield from _rows("platform", [found["platform"] for found in every], "platform")
    yield from _rows("jobs", [found["overall"] for found in every], "all jobs")
    for team in sorted({team for found in every for team in found["teams"]}):
        yield from _rows("jobs", [found["teams"].get(team, {}) for found in every], f"jobs of {team}")


def elapsed(seconds: float) -> str:
    """A time as text: 45s, 5m 10s, 1h 05m."""
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60}h {minutes % 60:02}m"
    return f"{minutes}m {rest:02}s" if minutes else f"{rest}s"


def _tables(every: Sequence[Summary]) -> Iterator[dict[str, Any]]:
    """The figures, and the events of each rehearsal."""
    if every:
        yield {"caption": "Figures", "rows": list(figures(every))}
    for found in every:
        rows = [[elapsed(moment["at"]), event] for moment in found["events"] for event in moment["events"]]
        yield {"caption": f"Events on {found['title']}", "rows": [["time", "event"], *rows]}


def _rows(kind: str, columns: Sequence[Summary], heading: str = "") -> Iterator[list[str]]:
    """A row for each figure. A figure that is None is a dash; one that a column does not have is empty."""
    if heading:
        yield [heading]
    for key, (label, form) in read_data("tpuplane.ui", "figures")[kind].items():
        texts = (_text(column[key], form) if key in column else "" for column in columns)
        yield [f"  {label}" if heading else label, *texts]


def _text(value: float | None, form: str) -> str:
    if value is None:
        return "-"
    return elapsed(value) if form == "time" else form.format(value)
