"""The shipped scenarios on a twin, and two of them twice."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

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


def play(stage: PlatformUnderTest, file: Path) -> Any:
    said = stage.twin("rehearse", str(file), "--json", check=False)
    assert said.returncode == 0, said.stdout + said.stderr[-3000:]
    return json.loads(said.stdout)


@pytest.mark.parametrize("file", SCENARIOS, ids=lambda file: file.stem)
def test_a_scenario_ends_as_it_expects(stage: PlatformUnderTest, file: Path) -> None:
    assert play(stage, file)["unmet"] == []


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
