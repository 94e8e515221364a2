"""What a scenario expects: figures of a rehearsal, at a time or of the whole."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, FiniteFloat, model_validator
from tpuplane.spec.core.errors import Mistake, choice, shown
from tpuplane.spec.core.fields import Spec, reject

from tpuplane_twin.clock.times import InvalidTime, duration
from tpuplane_twin.gcp.merge import at as value_at
from tpuplane_twin.rehearsal.records import STATES, JobRecord, Moment, Timeline
from tpuplane_twin.rehearsal.summary import summary
from tpuplane_twin.rehearsal.trace import TraceJob


def _minutes(text: str) -> str:
    try:
        seconds = duration(text)
    except InvalidTime as error:
        raise reject(str(error)) from None
    if seconds % 60:
        raise reject(f"{shown(text)} is not a whole number of minutes")
    return text


def _text(value: object) -> object:
    """A number as text, for which quotes would not help."""
    return str(value) if isinstance(value, int | float) else value


Time = Annotated[str, BeforeValidator(_text), AfterValidator(_minutes)]
"""A number with a unit, such as 90m, 8h or 2d; whole minutes."""

_NOTHING = object()
_LIMITED = ("goodput", "jobs", "succeeded", "neverRan")
"""Figures with a highest number: a part of 1, or the number of jobs."""


class ExpectationSpec(Spec):
    """What a figure must be: at a time, or of the whole scenario."""

    figure: str
    """Its path in the JSON result, such as `teams.research.waitSecondsP95` or, with `at`, `used.research`."""
    at: Time | None = None
    equals: Any = None
    least: FiniteFloat | None = None
    most: FiniteFloat | None = None

    @model_validator(mode="after")
    def _check_limits(self) -> "ExpectationSpec":
        if "equals" not in self.model_fields_set and self.least is None and self.most is None:
            raise reject("one of equals, least and most is required")
        if self.least is not None and self.most is not None and self.least > self.most:
            raise reject(f"no figure is at least {self.least:g} and at most {self.most:g}; swap least and most")
        return self

    def tests_nothing(self, result: dict[str, Any]) -> str:
        """Why all rehearsals of the jobs of this result meet the expectation, or none does. Empty if it can differ."""
        value = value_at(result, self.figure)
        kind, given = _kind(value), "equals" in self.model_fields_set
        if isinstance(value, Mapping):
            if isinstance(self.equals, Mapping):
                return ""
            return f"{self.figure} has several figures; name one of: {', '.join(_names({self.figure: value}))}"
        if kind != _NUMBER and not (self.least is None and self.most is None):
            return f"{self.figure} is {kind}; least and most are for numbers, so use equals"
        if given and _kind(self.equals) != kind and not (kind == _NUMBER and self.equals is None):
            return f"{self.figure} is {kind}, and {shown(self.equals)} is not; allowed: {kind}"
        if value in STATES and self.equals not in STATES:
            return choice(str(self.equals), "a state of a job", STATES)
        return self._out_of_range(result) if kind == _NUMBER else ""

    def _out_of_range(self, result: dict[str, Any]) -> str:
        path, _, name = self.figure.rpartition(".")
        highest = math.inf
        if self.at is None and name in _LIMITED:
            highest = 1.0 if name == "goodput" else value_at(result, f"{path}.jobs")
        least = max(each for each in (0, self.least, self.equals) if each is not None)
        most = min(each for each in (highest, self.most, self.equals) if each is not None)
        always = "equals" not in self.model_fields_set and least == 0 and most == highest
        if least <= most and not always:
            return ""
        allowed = f"from 0{f' to {highest:g}' if highest < math.inf else ''}"
        met = "each of them" if always else "none"
        return f"{self.figure} is {_NUMBER} {allowed}, and {met} meets this; change equals, least or most"

    def unmet(self, result: dict[str, Any]) -> str:
        """What differs from the expectation, empty if it is met. A figure that does not exist differs."""
        value = value_at(result, self.figure, _NOTHING)
        where = f"{self.figure}{f' at {self.at}' if self.at else ''}"
        if value is _NOTHING:
            return f"{where}: there is no such figure"
        limits = {"least": self.least, "most": self.most}
        number = isinstance(value, int | float)
        if "equals" in self.model_fields_set and value != self.equals:
            return f"{where} is {shown(value)}; expected: {shown(self.equals)}"
        for name, limit in limits.items():
            if limit is not None and (not number or (value < limit if name == "least" else value > limit)):
                return f"{where} is {shown(value)}; expected: at {name} {limit:g}"
        return ""


_NUMBER = "a number"


def _kind(value: object) -> str:
    kinds = {str: "a text", list: "a list", tuple: "a list", dict: "a mapping", bool: "a truth value"}
    return kinds.get(type(value), _NUMBER)


def unmet(expectations: Iterable[ExpectationSpec], timeline: Timeline) -> list[str]:
    """What differs from the expectations."""
    whole = summary(timeline)
    found = (each.unmet(_moment(timeline, duration(each.at)) if each.at else whole) for each in expectations)
    return [text for text in found if text]


def _moment(timeline: Timeline, at: float) -> dict[str, Any]:
    """The figures of a time: those of the platform, and the state of each job."""
    moment = [moment for moment in timeline.moments if moment.at <= at][-1]

    def state(job: JobRecord) -> str:
        if any(since <= at < to for since, to in job.runs) or (job.state == "runs" and job.runs[-1][1] <= at):
            return "runs"
        return job.state if job.ended is not None and job.ended <= at else "waits"

    jobs = {job.name: state(job) for job in timeline.jobs if job.arrived <= at}
    none = dict.fromkeys((job.team for job in timeline.jobs), 0)
    return {**asdict(moment), "jobs": jobs, "used": {**none, **moment.used}, "waiting": {**none, **moment.waiting}}


def unknown_figures(expectations: Sequence[ExpectationSpec], jobs: Iterable[TraceJob]) -> Iterator[Mistake]:
    """The figures that no rehearsal of these jobs has."""
    records = tuple(map(JobRecord.of, jobs))
    timeline = Timeline("", 0, (Moment(0, 0, 0, {}, {}, 0, 0),), records)
    whole, last = summary(timeline), max((job.arrived for job in records), default=0)
    for index, each in enumerate(expectations):
        moment = _moment(timeline, duration(each.at) if each.at else last)
        result, other = (whole, moment) if each.at is None else (moment, whole)
        if value_at(result, each.figure, _NOTHING) is not _NOTHING:
            if text := each.tests_nothing(result):
                yield Mistake(("expect", index), text)
            continue
        text = choice(each.figure, "a figure", _names(result))
        if value_at(other, each.figure, _NOTHING) is not _NOTHING:
            kind = "of a time; add at" if each.at is None else "of the whole scenario; remove at"
            text = f"{shown(each.figure)} is a figure {kind}"
        yield Mistake(("expect", index, "figure"), text)


def _names(figures: Mapping[str, Any]) -> list[str]:
    """The names of figures, as expectations write them."""
    nested = {key: _names(value) if isinstance(value, Mapping) else [] for key, value in figures.items()}
    return [".".join((key, name)) for key, names in nested.items() for name in names] + [
        key for key, names in nested.items() if not names
    ]
