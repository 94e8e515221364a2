"""Scenarios: jobs, events and expectations of a stack, from a YAML file."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, ValidationError, WrapValidator, model_validator
from tpuplane.data_files import read_data
from tpuplane.spec.core.errors import Mistake, SpecError, choice, shown
from tpuplane.spec.core.fields import STRICT, Namespace, Spec, reject
from tpuplane.spec.core.mistakes import mistakes_of
from tpuplane.spec.core.yaml_reader import read_yaml
from tpuplane.workloads.names import LabelName, check_name

from tpuplane_twin.clock.times import InvalidTime, duration
from tpuplane_twin.daemon.faults import limit_of, named, stockout_of
from tpuplane_twin.failures.upgrades import upgrade_of
from tpuplane_twin.gcp.errors import ApiError
from tpuplane_twin.rehearsal.expectations import ExpectationSpec, Time, unknown_figures, unmet
from tpuplane_twin.rehearsal.records import Timeline
from tpuplane_twin.rehearsal.trace import TraceJob, shape, work

events = cache(partial(read_data, "tpuplane_twin.rehearsal", "events"))
"""The events by name."""


def _positive(text: str) -> str:
    if not duration(text):
        raise reject(f"{shown(text)} is too short; allowed: at least 1m")
    return text


Work = Annotated[Time, AfterValidator(_positive)]
"""A time above 0."""

_NameOrNone = Annotated[LabelName, WrapValidator(lambda value, check: value if value == "" else check(value))]


def _shape(text: str) -> str:
    try:
        shape(text)
    except ValueError as error:
        raise reject(str(error)) from None
    return text


class JobSpec(Spec):
    """Equal jobs of a team: each is a JobSet in the default queue of the team's namespace."""

    name: str
    """Name of the job. With a count, each job has a number after it."""
    team: Namespace
    """Namespace of the team."""
    shape: Annotated[str, AfterValidator(_shape)]
    """Generation and topology, such as `v6e 4x4`."""
    slices: Annotated[int, Field(ge=1)] = 1
    runs: Work
    """The time of work that each job needs."""
    at: Time = "0m"
    """When the first one is submitted."""
    count: Annotated[int, Field(ge=1, le=1000)] = 1
    every: Time = "0m"
    """The time between two of them."""
    priority: _NameOrNone = ""
    """A workload priority class. Default: none."""
    compute_class: Annotated[_NameOrNone, Field(alias="class")] = ""
    """A compute class, for a namespace without a queue. Default: none."""
    checkpoint: Work | None = None
    """The time between two checkpoints. Default: an interruption loses all work."""

    @model_validator(mode="after")
    def _check_job(self) -> "JobSpec":
        try:
            check_name("JobSet", self._numbered(self.count))  # no other is longer
            work(next(self.jobs))
        except SpecError as error:
            raise reject(str(error)) from None
        return self

    def _numbered(self, number: int) -> str:
        return self.name if self.count == 1 else f"{self.name}-{number}"

    @property
    def jobs(self) -> Iterator[TraceJob]:
        """Each job."""
        for number in range(self.count):
            yield TraceJob(
                name=self._numbered(number + 1),
                team=self.team,
                shape=shape(self.shape),
                slices=self.slices,
                seconds=duration(self.runs),
                priority=self.priority,
                at=duration(self.at) + number * duration(self.every),
                checkpoint=duration(self.checkpoint) if self.checkpoint else None,
                compute_class=self.compute_class,
            )


_CHECKS: Mapping[str, Callable[[Mapping[str, Any]], object]] = {
    "stockout": stockout_of,
    "quota": limit_of,
    "upgrade": upgrade_of,
}
"""The checks of all fields of an event together, as the twin does them. Default: of each field."""


class EventSpec(Spec):
    """An event at a time."""

    at: Time
    event: str
    """The name of the event."""
    of: Any = None
    """What it happens to, as the command of the same name of `tpuplane-twin` names it."""

    @property
    def text(self) -> str:
        """The event in a few words."""
        of = " ".join(map(str, self.of.values())) if isinstance(self.of, Mapping) else self.of
        return f"{self.event} {of or ''}".rstrip()

    @property
    def given(self) -> Mapping[str, Any]:
        """The fields of the request."""
        if isinstance(self.of, Mapping):
            return self.of
        return {events()[self.event]["field"]: self.of} if self.of and not isinstance(self.of, list) else {}

    @model_validator(mode="after")
    def _check_event(self) -> "EventSpec":
        if self.event not in events():
            raise reject(f"event: {choice(self.event, 'an event', events())}")
        call = events()[self.event]
        if "field" not in call and not isinstance(self.of, Mapping | None):
            allowed = f"a mapping with {', '.join(call['fields'])}"
            raise reject(f"of: {shown(self.of)} is not allowed; allowed: {allowed}")
        for field in self.given.keys() - set(call["fields"]):
            raise reject(f"of: {choice(field, f'a field of {self.event}', call['fields'])}")
        if missing := [field for field in call["needs"] if not self.given.get(field)]:
            one = f"the {call['field']}, or " if "field" in call else ""
            raise reject(f"of: {self.event} needs {one}a mapping with {', '.join(missing)}; it has {shown(self.of)}")
        if self.of is not None and not isinstance(self.of, str | Mapping):
            raise reject(f"of: {shown(self.of)} is not allowed; allowed: a text, or a mapping")
        try:
            _CHECKS.get(self.event, named)(self.given)
            if (notice := self.given.get("notice")) is not None:
                duration(str(notice))
        except (ApiError, InvalidTime) as error:
            raise reject(f"of: {error}") from None
        return self


class ScenarioSpec(Spec):
    """A rehearsal of a stack."""

    title: str
    stack: str = "local"
    """The stack of the Pulumi project that it plays on."""
    until: Time = "24h"
    """When it ends at the latest. It ends earlier when all jobs and events have ended."""
    jobs: tuple[JobSpec, ...] = ()
    events: tuple[EventSpec, ...] = ()
    expect: tuple[ExpectationSpec, ...] = ()

    @property
    def all_jobs(self) -> list[TraceJob]:
        """Each job, in the order of submission."""
        return sorted((job for spec in self.jobs for job in spec.jobs), key=lambda job: job.at)

    def unmet(self, timeline: Timeline) -> list[str]:
        """What differs from the expectations."""
        return unmet(self.expect, timeline)


def load_scenario(file: Path) -> ScenarioSpec:
    """The scenario in a file. Raises `SpecError` with each mistake, its line and what is allowed."""
    value, lines = read_yaml(file)
    if not isinstance(value, dict):
        cause = f"not a scenario; write a mapping of {', '.join(ScenarioSpec.model_fields)}"
        raise SpecError([Mistake((), cause, f"{file}:1")])
    try:
        scenario = ScenarioSpec.model_validate(value, context=STRICT)
        found = [Mistake(path, "is given twice; remove one") for path in lines.duplicates.values()]
        found += [*_never(scenario), *unknown_figures(scenario.expect, scenario.all_jobs)]
    except ValidationError as error:
        found = mistakes_of(error, ScenarioSpec)
    if found:
        raise SpecError(found).located(lambda path: f"{file}:{lines.mark(path)[0]}")
    return scenario


def _never(scenario: ScenarioSpec) -> Iterator[Mistake]:
    """What would not be played: a scenario of nothing, a second job of a name, and what is later than its end."""
    if not scenario.jobs and not scenario.events:
        yield Mistake(("title",), "nothing happens in this scenario; give it jobs or events")
    ends = duration(scenario.until)
    late = f"is after the end of the scenario; allowed: up to {scenario.until}, which until sets"
    names: set[str] = set()
    for index, jobs in enumerate(scenario.jobs):
        for name in [job.name for job in jobs.jobs if job.name in names][:1]:
            yield Mistake(("jobs", index, "name"), f"two jobs are called {name!r}; give each a name of its own")
        names.update(job.name for job in jobs.jobs)
        if (last := max(job.at for job in jobs.jobs)) > ends:
            yield Mistake(("jobs", index, "at"), f"{jobs.name!r} arrives at {last / 60:g}m at the latest, which {late}")
    dated: dict[str, tuple[EventSpec | ExpectationSpec, ...]] = {"events": scenario.events, "expect": scenario.expect}
    for name, parts in dated.items():
        for index, part in enumerate(parts):
            if part.at is not None and duration(part.at) > ends:
                yield Mistake((name, index, "at"), f"{part.at!r} {late}")
