"""The shipped scenarios on a twin, and two of them twice."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support import REPOSITORY
from tests.support.e2e.platform_under_test import PlatformUnderTest

pytestmark = pytest.mark.e2e

SCENARIOS = sorted((REPOSITORY / "examples" / "scenarios").glob("[a-z]*.yaml"))


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlatformUnderTest]:
    found = PlatformUnderTest(tmp_path_factory.mktemp("scenarios"), "scenarios")
    for file in (REPOSITORY / "examples" / "scenarios" / "stacks").glob("*.yaml"):
        shutil.copy(file, found.folder / "stacks")
    with found.taken_down():
        yield found


def play(stage: PlatformUnderTest, file: Path, code: int = 0) -> Any:
    said = stage.twin("rehearse", str(file), "--json", check=False)
    assert said.returncode == code, said.stdout + said.stderr[-3000:]
    return json.loads(said.stdout)


@pytest.fixture(scope="module")
def played(stage: PlatformUnderTest) -> dict[str, Any]:
    """What each scenario prints with one more expectation, which is not met. One command plays all of them."""
    files = [stage.folder / file.name for file in SCENARIOS]
    for file, wrong in zip(SCENARIOS, files, strict=True):
        scenario = yaml.safe_load(file.read_text(encoding="utf-8"))
        scenario["expect"].append({"figure": "overall.jobs", "equals": 0})
        wrong.write_text(yaml.safe_dump(scenario), encoding="utf-8")
    said = stage.twin("rehearse", *map(str, files), "--json", check=False)
    documents = said.stdout.replace("}\n{", "}\0{").split("\0")
    assert (said.returncode, len(documents), bool(said.stdout)) == (1, len(files), True), said.stderr[-3000:]
    return {file.stem: json.loads(text) for file, text in zip(files, documents, strict=True)}


@pytest.mark.parametrize("name", [file.stem for file in SCENARIOS])
def test_a_scenario_ends_as_it_expects_and_with_one_more_expectation_it_fails(
    played: dict[str, Any], name: str
) -> None:
    found = played[name]
    assert found["unmet"] == [f"overall.jobs is {found['stacks']['scenarios']['overall']['jobs']}; expected: 0"]


def test_the_last_scenario_is_kept(stage: PlatformUnderTest, played: dict[str, Any]) -> None:
    kept = json.loads((stage.folder / "twins" / stage.name / "timeline.json").read_text())
    assert kept["stacks"] == played[SCENARIOS[-1].stem]["stacks"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["night.yaml", "prod"], "name one stack, or files that end with"),
        (["night.yaml", "day.csv", "--picture", "chips.svg"], "is for one scenario or trace"),
    ],
)
def test_several_stacks_and_a_picture_of_several_files_are_rejected(
    stage: PlatformUnderTest, arguments: list[str], said: str
) -> None:
    result = stage.twin("rehearse", *arguments, check=False)
    assert result.returncode == 2
    assert said in " ".join(result.stderr.replace("│", "").split())


@pytest.mark.long
def test_an_event_of_an_unknown_pool_is_rejected_before_the_scenario_begins(stage: PlatformUnderTest) -> None:
    file = stage.folder / "scenario.yaml"
    events = [{"at": "9h", "event": "reclaim", "of": "cheap-9"}]
    file.write_text(yaml.safe_dump({"title": "wrong", "stack": "scenarios", "events": events}))
    said = stage.twin("rehearse", str(file), check=False)
    assert "the event 'reclaim cheap-9' at 9h: 'cheap-9' is not a node pool or node; allowed: " in said.stderr


@pytest.mark.long
@pytest.mark.parametrize("name", ["host-failure", "noisy-neighbour"])
def test_a_scenario_gives_the_same_result_again(stage: PlatformUnderTest, name: str) -> None:
    first, second = (play(stage, REPOSITORY / "examples" / "scenarios" / f"{name}.yaml") for _ in range(2))
    assert first == second


@pytest.mark.long
def test_another_stack_has_other_figures_for_the_same_trace(stage: PlatformUnderTest) -> None:
    trace = REPOSITORY / "examples" / "scenarios" / "morning.csv"
    stacks = ["--against", "two-slices", "--against", "three-slices"]
    found = json.loads(stage.twin("rehearse", str(trace), *stacks, "--json").stdout)["stacks"]
    assert [stack["overall"]["succeeded"] for stack in found.values()] == [17, 17]
    two, three = (stack["overall"]["waitSecondsP95"] for stack in found.values())
    assert three < two


@pytest.mark.long
def test_a_sample_of_a_real_day_is_played_to_its_end(stage: PlatformUnderTest) -> None:
    """Jobs of up to seven hours of the trace of Philly, drawn by a seed, on pools of their shapes."""
    folder = REPOSITORY / "examples" / "scenarios"
    lines = (folder / "philly-2017-11-15.csv").read_text(encoding="utf-8").splitlines()
    header, *jobs = (line for line in lines if not line.startswith("#"))
    short = [job for job in jobs if float(job.split(",")[3]) <= 420]
    trace = stage.folder / "sample.csv"
    trace.write_text("\n".join([header, *random.Random(2017).sample(short, 8)]), encoding="utf-8")
    stack = yaml.safe_load((folder / "stacks" / "Pulumi.three-slices.yaml").read_text(encoding="utf-8"))
    platform = stack["config"]["tpuplane:platform"]
    platform["name"] = "philly"
    platform["clusters"]["lab"]["pools"] = {
        "fours": {"generation": "v6e", "topology": "2x2", "slices": 1},
        "eights": {"generation": "v6e", "topology": "2x4", "machineType": "ct6e-standard-8t", "slices": 2},
    }
    quotas = {"research": {"eights": {"slices": 1}}, "product": {"eights": {"slices": 1}, "fours": {"slices": 1}}}
    for team, pools in quotas.items():
        platform["teams"][team]["clusters"] = {"lab": {"pools": pools}}
    (stage.folder / "stacks" / "Pulumi.philly.yaml").write_text(yaml.safe_dump(stack), encoding="utf-8")
    said = stage.twin("rehearse", str(trace), "--against", "philly", "--json", check=False)
    assert said.returncode == 0, said.stdout + said.stderr[-3000:]
    found = json.loads(said.stdout)["stacks"]["philly"]["overall"]
    assert (found["jobs"], found["succeeded"]) == (8, 8)
    assert found["waitSecondsMax"] >= found["waitSecondsP95"] >= 0
