"""Scenario files: what they accept, and the message of each mistake."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tpuplane.spec.core.errors import SpecError
from tpuplane_twin.rehearsal.expectations import ExpectationSpec
from tpuplane_twin.rehearsal.records import JobRecord
from tpuplane_twin.rehearsal.scenario import ScenarioSpec, events, load_scenario

from tests.support import REPOSITORY
from tests.support.rehearsals import DAY

pytestmark = pytest.mark.unit

SCENARIOS = sorted((REPOSITORY / "examples" / "scenarios").glob("[a-z]*.yaml"))


_ONE_JOB = "title: x\njobs: [{name: a, team: t, shape: v6e 4x4, runs: 1h}]\n"


def rejected(folder: Path, text: str) -> str:
    file = folder / "wrong.yaml"
    file.write_text(text)
    with pytest.raises(SpecError) as error:
        load_scenario(file)
    return str(error.value).replace(f"{file}:", "")


@pytest.mark.parametrize("file", SCENARIOS, ids=lambda file: file.stem)
def test_each_shipped_scenario_is_valid_and_expects_something(file: Path) -> None:
    scenario = load_scenario(file)
    assert scenario.expect
    assert scenario.all_jobs


def test_jobs_are_counted_and_in_the_order_of_submission(tmp_path: Path) -> None:
    file = tmp_path / "two.yaml"
    file.write_text(
        "title: two\njobs:\n"
        '- {name: late, team: research, shape: v6e 4x4, runs: 1h, at: 30m, priority: "", class: ""}\n'
        "- {name: sweep, team: research, shape: v6e-4x4, runs: 2h, count: 2, every: 1h30m, checkpoint: 10m}\n"
        "- {name: short, team: research, shape: v6e-4x4, runs: 0.55h, at: 2h}\n"
    )
    found = [(job.name, job.at, job.seconds, job.checkpoint) for job in load_scenario(file).all_jobs]
    assert found == [
        ("sweep-1", 0, 7200, 600),
        ("late", 1800, 3600, None),
        ("sweep-2", 5400, 7200, 600),
        ("short", 7200, 1980, None),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("title: x\njobs: [{name: a, team: t, shape: v6e 4x5, runs: 1h}]", "2: jobs[0].shape: '4x5' is not"),
        ("title: x\njobs: [{name: a, team: t, shape: v6e, runs: 1h}]", "2: jobs[0].shape: 'v6e' is not a shape"),
        ("title: x\njobs: [{name: a, team: t, shape: v6e 4x4, runs: 90s}]", "is not a whole number of minutes"),
        (
            "title: x\njobs: [{name: A, team: t, shape: v6e 4x4, runs: 1h}]",
            "name: 'A' is not a valid name of a JobSet; allowed: 1 to 26 lower-case letters",
        ),
        (
            f"title: x\njobs: [{{name: {'a' * 25}, team: t, shape: v6e 4x4, runs: 1h, count: 2}}]",
            f"name: '{'a' * 25}-2' is not a valid name of a JobSet",
        ),
        ("title: x\nuntil: tomorrow", "2: until: 'tomorrow' is not a duration"),
        ("title: x\nuntil: 24", "2: until: '24' is not a duration; give numbers with s, m, h or d"),
        ("title: x\nevents: [{at: 1.5, event: capacity}]", "2: events[0].at: '1.5' is not a duration; give numbers"),
        (
            "title: x\njobs: [{name: a, team: t, shape: v6e 4x4, runs: 1h, priority: HIGH !!}]",
            "2: jobs[0].priority: 'HIGH !!' is not",
        ),
        (
            "title: x\njobs: [{name: a, team: t, shape: v6e 4x4, runs: 1h, class: A B}]",
            "2: jobs[0].class: 'A B' is not",
        ),
        (
            "title: x\njobs: [{name: a, team: t, shape: v5e 2x2, slices: 2, runs: 1h}]",
            "2: jobs[0]: slices: 2 slices of v5e 2x2 cannot be joined; allowed: 1, or a multi-host",
        ),
        (
            "title: x\njobs: [{name: a, team: t, shape: v6e 4x4, slices: 100001, runs: 1h}]",
            "slices: 100001 is too large; allowed: 1 to 100000",
        ),
        ("title: x\nevents: [{at: 1h, event: fail-hots, of: a/0}]", "nearest: fail-host"),
        ("title: x\nexpect: [{figure: end}]", "one of equals, least and most is required"),
        ("title: x\nevents: [{at: 1h, event: fail-host}]", "fail-host needs the target, or a mapping with target"),
        (
            "title: x\nevents: [{at: 1h, event: fail-host, of: [a]}]",
            "fail-host needs the target, or a mapping with target; it has ['a']",
        ),
        (
            "title: x\nevents: [{at: 1h, event: quota, of: here}]",
            "of: 'here' is not allowed; allowed: a mapping with region, generation, capacity, chips",
        ),
        (
            "title: x\nevents: [{at: 1h, event: capacity, of: [a]}]",
            "of: ['a'] is not allowed; allowed: a mapping with zone, generation, capacity",
        ),
        ("title: x\njobs: [{name: a, team: t, shape: v6e 4x4, runs: 0m}]", "'0m' is too short; allowed: at least 1m"),
        (
            "title: x\njobs: [{name: a, team: t, shape: v6e 4x4, runs: 1h, checkpoint: 0m}]",
            "checkpoint: '0m' is too short; allowed: at least 1m",
        ),
        (
            "title: x\nevents: [{at: 1h, event: stockout, of: {zone: us-east5-b, generation: v6e, chips: -5}}]",
            "of: -5 is not a number of chips; allowed: a whole number from 0",
        ),
        (
            "title: x\nevents: [{at: 1h, event: quota, of: {region: us-east5, generation: v6e, capacity: any}}]",
            "of: 'any' has no quota of chips; allowed: on-demand",
        ),
        (
            "title: x\nevents: [{at: 1h, event: maintain, of: {target: a, notice: soon}}]",
            "of: 'soon' is not a duration; give numbers with s, m, h or d",
        ),
        (
            "title: x\nevents: [{at: 1h, event: maintain, of: {target: a, notice: 0}}]",
            "of: '0' is not a duration; give numbers with s, m, h or d",
        ),
        (
            "title: x\nevents: [{at: 1h, event: upgrade, of: {cluster: a, version: banana}}]",
            'of: Master version "banana" is unsupported.',
        ),
        *(
            (
                f"title: x\nevents: [{{at: 1h, event: upgrade, of: {{cluster: a, now: {value}}}}}]",
                f"of: now: {shown} is not a truth value; allowed: true to ignore the maintenance window, or false",
            )
            for value, shown in (("maybe", "'maybe'"), ("no", "'no'"), ("0", "0"))
        ),
        ("title: x\nevents: [{at: 1h, event: quota, of: {region: a}}]", "quota needs a mapping with generation"),
        ("title: x\nevents: [{at: 1h, event: stockout, of: {zon: a}}]", "not a field of stockout; allowed: zone, gen"),
        (
            "title: x\nevents: [{at: 1h, event: stockout, of: {zone: mars-1-a, generation: v6e}}]",
            "of: 'mars-1-a' is not a zone; give one such as us-central1-b",
        ),
        (
            "title: x\nevents: [{at: 1h, event: quota, of: {region: mars, generation: v6e}}]",
            "of: 'mars' is not a region; give one such as us-central1",
        ),
        ("title: x\nevents: [{at: 1h, event: stockout, of: {zone: us-east5-b, generation: v9}}]", "'v9'"),
        ("title: x\nuntil: 1h\nevents:\n- {at: 2h, event: capacity}", "4: events[0].at: '2h' is after the end of"),
        (
            "title: x\nuntil: 1h\njobs:\n- {name: a, team: t, shape: v6e 4x4, runs: 1h, count: 3, every: 40m}",
            "4: jobs[0].at: 'a' arrives at 80m at the latest, which is after the end of the scenario; allowed",
        ),
        (
            "title: x\nuntil: 1h\nevents: [{at: 1h, event: capacity}]\nexpect: [{figure: lost, at: 2h, equals: 0}]",
            "4: ex",
        ),
        (
            f"{_ONE_JOB}expect: [{{figure: overall.suceeded, equals: 1}}]",
            "3: expect[0].figure: 'overall.suceeded' is not a figure; allowed: platform.end, platform.chipHours",
        ),
        (
            f"{_ONE_JOB}expect: [{{figure: lost, equals: 0}}]",
            "3: expect[0].figure: 'lost' is a figure of a time; add at",
        ),
        (
            f"{_ONE_JOB}expect: [{{figure: teams.t.goodput, at: 1h, least: 0.9}}]",
            "3: expect[0].figure: 'teams.t.goodput' is a figure of the whole scenario; remove at",
        ),
        (
            f"{_ONE_JOB}expect: [{{figure: overall, equals: 1}}]",
            "3: expect[0]: overall has several figures; name one of: overall.jobs, overall.succeeded, ",
        ),
        (
            f'{_ONE_JOB}expect: [{{figure: overall.succeeded, equals: "1"}}]',
            "3: expect[0]: overall.succeeded is a number, and '1' is not; allowed: a number",
        ),
        (f"{_ONE_JOB}expect: [{{figure: overall.goodput, least: 95}}]", "overall.goodput is a number from 0 to 1, and"),
        (f"{_ONE_JOB}expect: [{{figure: teams.t.succeeded, least: 2}}]", "teams.t.succeeded is a number from 0 to 1"),
        (f"{_ONE_JOB}expect: [{{figure: lost, at: 1h, equals: -1}}]", "lost is a number from 0, and none meets this"),
        (
            f"{_ONE_JOB}expect: [{{figure: overall.goodput, most: 95}}]",
            "3: expect[0]: overall.goodput is a number from 0 to 1, and each of them meets this; change equals, least",
        ),
        (f"{_ONE_JOB}expect: [{{figure: lost, at: 1h, least: 0}}]", "lost is a number from 0, and each of them meets"),
        (f"{_ONE_JOB}expect: [{{figure: teams.t.neverRan, least: -1, most: 1}}]", "from 0 to 1, and each of them"),
        (
            f"{_ONE_JOB}expect: [{{figure: overall.jobs, equals: 1, most: 0}}]",
            "overall.jobs is a number from 0 to 1, and",
        ),
        (f"{_ONE_JOB}expect: [{{figure: jobs.a, at: 1h, equals: success}}]", "'success' is not a state of a job"),
        (
            f"{_ONE_JOB}expect: [{{figure: jobs.a, at: 1h, least: 1}}]",
            "3: expect[0]: jobs.a is a text; least and most are for numbers, so use equals",
        ),
        (
            f"{_ONE_JOB}expect: [{{figure: jobs.a, at: 1h, equals: null}}]",
            "3: expect[0]: jobs.a is a text, and nothing is not; allowed: a text",
        ),
        (f"{_ONE_JOB}expect: [{{figure: lost, at: 1h, equals: {{a: 1}}}}]", "3: expect[0]: lost is a number, and {'a'"),
        (f"{_ONE_JOB}expect: [{{figure: lost, at: 1h, equals: true}}]", "3: expect[0]: lost is a number, and true is"),
        (f"{_ONE_JOB}expect: [{{figure: events, equals: 1}}]", "3: expect[0]: events is a list, and 1 is not"),
        (f"{_ONE_JOB}expect: [{{figure: events, least: 1}}]", "3: expect[0]: events is a list; least and most are"),
        (
            f"{_ONE_JOB}expect: [{{figure: jobs.b, at: 1h, equals: runs}}]",
            "3: expect[0].figure: 'jobs.b' is not a figure",
        ),
        (
            "title: x\njobs: [{name: a, team: t, shape: v6e 4x4, runs: 1h, at: 5h}]\n"
            "expect: [{figure: jobs.a, at: 1h, equals: waits}]",
            "3: expect[0].figure: 'jobs.a' is not a figure",
        ),
        (f"{_ONE_JOB}expect: [{{figure: used.u, at: 1h, equals: 0}}]", "nearest: used.t"),
        ("title: x\nexpect: [{figure: lost, least: 5, most: 2}]", "no figure is at least 5 and at most 2"),
        ("title: x", "1: title: nothing happens in this scenario; give it jobs or events"),
        ("title: x\ntitle: y\nevents: [{at: 1h, event: capacity}]", "title: is given twice; remove one"),
        ("", "1: not a scenario; write a mapping of title, stack, until"),
        ("- title: x", "1: not a scenario; write a mapping of title, stack, until"),
        ("title: x\nevnts: []", "events"),
        ("jobs: []", "title"),
        (
            "title: x\njobs:\n- &job {name: a, team: t, shape: v6e 4x4, runs: 1h}\n- *job",
            "3: jobs[1].name: two jobs are called 'a'; give each a name of its own",
        ),
    ],
)
def test_a_mistake_has_its_line_and_what_is_allowed(tmp_path: Path, text: str, message: str) -> None:
    assert message in rejected(tmp_path, text)


@pytest.mark.parametrize(
    ("expectation", "unmet"),
    [
        ({"equals": 3}, ""),
        ({"equals": 4}, "teams.a.jobs is 3; expected: 4"),
        ({"least": 3, "most": 3}, ""),
        ({"least": 4}, "teams.a.jobs is 3; expected: at least 4"),
        ({"most": 2.5}, "teams.a.jobs is 3; expected: at most 2.5"),
        ({"figure": "teams.a.job", "most": 9}, "teams.a.job: there is no such figure"),
        ({"figure": "teams.a", "most": 9}, "teams.a is {'jobs': 3}; expected: at most 9"),
    ],
)
def test_an_expectation_says_what_differs(expectation: dict[str, object], unmet: str) -> None:
    spec = ExpectationSpec.model_validate({"figure": "teams.a.jobs", **expectation})
    assert spec.unmet({"teams": {"a": {"jobs": 3}}}) == unmet


def test_every_event_is_a_request_to_the_twin() -> None:
    assert {call["path"].split("/")[1] for call in events().values()} == {"twin"}


@pytest.mark.parametrize("state", ["runs", "waits"])
def test_a_job_that_still_runs_at_the_end_runs(state: str) -> None:
    job = JobRecord("train", "a", 16, arrived=0, needs=7200, runs=[(0.0, 3600.0)], state=state)
    timeline = replace(DAY, jobs=(job,))
    expected = ExpectationSpec.model_validate({"figure": "jobs.train", "at": "1h", "equals": state})
    spec = ScenarioSpec(title="x", expect=(expected,))
    assert spec.unmet(timeline) == []


@pytest.mark.parametrize(("at", "state"), [("59m", "waits"), ("1h", "failed")])
def test_a_job_that_failed_before_it_ran_has_failed(at: str, state: str) -> None:
    job = JobRecord("train", "a", 16, arrived=0, needs=7200, state="failed", ended=3600.0)
    expected = ExpectationSpec.model_validate({"figure": "jobs.train", "at": at, "equals": state})
    assert ScenarioSpec(title="x", expect=(expected,)).unmet(replace(DAY, jobs=(job,))) == []


def test_of_two_moments_at_one_time_the_later_one_counts() -> None:
    first, *_ = DAY.moments
    timeline = replace(DAY, moments=(first, replace(first, at=60.0, lost=4), replace(first, at=60.0, lost=8)))
    expected = ExpectationSpec.model_validate({"figure": "lost", "at": "1m", "equals": 8})
    assert ScenarioSpec(title="x", expect=(expected,)).unmet(timeline) == []


def test_a_team_without_chips_has_0_of_them() -> None:
    expected = [{"figure": f"{kind}.a", "at": "0m", "equals": 0} for kind in ("used", "waiting")]
    job = JobRecord("train", "a", 16, arrived=3600, needs=60, runs=[], state="waits")
    timeline = replace(DAY, jobs=(job,), moments=(replace(DAY.moments[0], at=0.0, used={}, waiting={}),))
    spec = ScenarioSpec(title="x", expect=tuple(map(ExpectationSpec.model_validate, expected)))
    assert spec.unmet(timeline) == []
