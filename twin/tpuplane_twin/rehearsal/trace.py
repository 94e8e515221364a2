"""A trace: the jobs of a rehearsal as CSV, one job a line. Pure."""

import csv
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import ValidationError
from tpuplane.quantities import counted
from tpuplane.spec.core.errors import SpecError
from tpuplane.spec.core.mistakes import mistakes_of
from tpuplane.tpu import Slice
from tpuplane.tpu.nearest import nearest_names
from tpuplane.workloads.jobset import MultisliceSpec
from tpuplane.workloads.names import check_name

from tpuplane_twin.clock.times import duration


class InvalidTrace(ValueError):
    """A trace that the user must correct. The message has the line, the column, the cause, and what is allowed."""


@dataclass(frozen=True, slots=True)
class TraceJob:
    """A job of a trace. Times are seconds; `at` counts from the beginning of the rehearsal."""

    name: str
    team: str
    shape: Slice
    slices: int
    seconds: float
    """The work that it needs: how long it runs without interruptions."""
    priority: str
    """Its WorkloadPriorityClass, empty for none."""
    at: float
    """When it is submitted."""
    checkpoint: float | None = None
    """The time between two checkpoints; None if an interruption loses all work."""
    compute_class: str = ""
    """The compute class of a job without a queue."""

    @property
    def chips(self) -> int:
        """The chips of all its slices."""
        return self.slices * self.shape.chips


def read_trace(text: str) -> list[TraceJob]:
    """The jobs of a trace, the first to arrive first; jobs that arrive together are in the order of their lines.

    The first line names the columns, in any order. Empty lines and lines that begin with # are skipped. A job without a
    name has that of its team and a number. Raises `InvalidTrace`.
    """
    header: list[str] = []
    jobs: list[TraceJob] = []
    lines: dict[str, int] = {}
    numbers: Counter[str] = Counter()
    for line, content in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        if not content.strip() or content.startswith("#"):
            continue
        try:
            cells = [cell.strip() for cell in next(csv.reader([content], strict=True))]
        except csv.Error as error:
            raise InvalidTrace(f"line {line}: {error}; write each job in one line") from None
        if not header:
            header = _header(line, cells)
            continue
        if len(cells) != len(header):
            raise InvalidTrace(f"line {line}: {counted(len(cells), 'value')} for {counted(len(header), 'column')}")
        values = {column: _value(line, column, cell) for column, cell in zip(header, cells, strict=True)}
        numbers[values["team"]] += 1
        given = values.pop("name", "")
        name = given or f"{values['team']}-{numbers[values['team']]}"
        try:
            check_name("JobSet", name)
        except SpecError as error:
            if given:
                raise InvalidTrace(f"line {line}, column {error}") from None
            name = f"job-{len(jobs) + 1}"  # a team's name can be too long for it
        if (other := lines.setdefault(name, line)) != line:
            raise InvalidTrace(f"line {line}, column name: {name!r} is the job of line {other}; names are unique")
        job = TraceJob(name=name, seconds=values.pop("minutes"), **values)
        try:
            work(job)
        except SpecError as error:
            raise InvalidTrace(f"line {line}: {error}") from None
        jobs.append(job)
    if not jobs:
        raise InvalidTrace(
            f"the trace has no job; write a line with {','.join(_COLUMNS)}, and then a line for each job"
        )
    return sorted(jobs, key=lambda job: job.at)


def work(job: TraceJob, placement: Literal["topology", "exclusive"] = "topology") -> MultisliceSpec:
    """What the job runs. Raises `SpecError` for a job that no cluster can run."""
    try:
        return MultisliceSpec(
            generation=job.shape.generation.name,
            topology=job.shape.topology,
            machine_type=job.shape.machine.name,
            slices=job.slices,
            namespace=job.team,
            image="rehearsal",
            command=("work",),
            priority_class=job.priority or None,
            compute_class=job.compute_class or None,
            placement=placement,
        )
    except ValidationError as error:
        raise SpecError(mistakes_of(error, MultisliceSpec)) from None


def shape(text: str) -> Slice:
    """The slice of a text such as `v6e 4x4`, `v6e-4x4` or `v6e 2x4 ct6e-standard-8t`. Raises `ValueError`."""
    words = text.split() if " " in text else text.rsplit("-", 1)
    if len(words) not in (2, 3):
        raise ValueError(f"{text!r} is not a shape; write generation and topology, such as v6e 4x4")
    return Slice.of(*words)


def _header(line: int, cells: list[str]) -> list[str]:
    """The names of the columns, each known and no one missing."""
    for cell in cells:
        if cell not in _COLUMNS or cells.count(cell) > 1:
            cause = "is a column twice" if cell in _COLUMNS else "is not a column"
            nearest = nearest_names(cell, [column for column in _COLUMNS if column not in cells])
            hint = f"; nearest: {', '.join(nearest)}" if nearest else ""
            raise InvalidTrace(f"line {line}: {cell!r} {cause}; allowed: {', '.join(_COLUMNS)}{hint}")
    if missing := [column for column in _COLUMNS if column not in (*cells, "name", "checkpoint")]:
        raise InvalidTrace(f"line {line}: missing columns: {', '.join(missing)}")
    return cells


def _value(line: int, column: str, cell: str) -> Any:
    try:
        return _COLUMNS[column](cell)
    except ValueError as error:
        raise InvalidTrace(f"line {line}, column {column}: {error}") from None


def _form(pattern: str, value: Callable[[str], Any], allowed: str) -> Callable[[str], Any]:
    """The function that reads a cell of this form."""

    def read(text: str) -> Any:
        if not re.fullmatch(pattern, text):
            raise ValueError(f"{text!r} is wrong; allowed: {allowed}")
        return value(text)

    return read


def _seconds(text: str) -> float | None:
    return duration(text if text[-1] in "smhd" else f"{text}s") if text else None


_NAME = "[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?"
_NAME_TEXT = "1 to 40 of a-z, 0-9 and -, without - at either end"
_NUMBER = r"[0-9]{1,9}(\.[0-9]{1,9})?"
_ABOVE_0 = "(?=.*[1-9])"
_TIME_TEXT = "seconds, or a number with s, m, h or d, such as 15m"

team_name = _form(_NAME, str, _NAME_TEXT)
"""The same text, if it is the name of a team. Raises `ValueError`."""

_COLUMNS: Mapping[str, Callable[[str], Any]] = {
    "team": team_name,
    "shape": shape,
    "slices": _form("[1-9][0-9]{0,3}", int, "whole numbers from 1 to 9999"),
    "minutes": _form(_ABOVE_0 + _NUMBER, lambda text: float(text) * 60, "numbers above 0, such as 90 or 2.5"),
    "priority": _form(f"({_NAME})?", str, f"{_NAME_TEXT}, or nothing"),
    "at": _form(f"{_NUMBER}[smhd]?", _seconds, _TIME_TEXT),
    "name": str,
    "checkpoint": _form(f"({_ABOVE_0}{_NUMBER}[smhd]?)?", _seconds, f"{_TIME_TEXT}, above 0, or nothing"),
}
