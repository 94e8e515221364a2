"""Both gates on what exists, with the charts of its add-ons rendered: a preview of new clusters shows none of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import BIN, REPOSITORY
from tests.support.e2e.platform_under_test import PlatformUnderTest

pytestmark = pytest.mark.e2e

PACK = REPOSITORY / "policies"
BROKEN = re.compile(r"\[mandatory\].* (\w+)  \(([^\s:]+)\S*: ")
# Where the laboratory differs from the other stacks: in its clusters, pools and budgets, not in what runs in clusters.
LABORATORY: dict[str, set[str]] = {
    "local": set(),
    "dev": {"TPU012", "TPU014"},
    "staging": {"GKE013", "GKE021", "GKE022", "TPU013", "TPU014"},
    "prod": {"GKE013", "GKE017", "GKE021", "GKE022"},
}


def gate(platform: PlatformUnderTest, stack: str, config: str, *command: str) -> tuple[set[str], str]:
    """Which mandatory rules the engine's gate finds broken, and what it printed."""
    options = ("--policy-pack", str(PACK), "--policy-pack-config", str(PACK / "config" / f"{config}.json"))
    done = platform.run("pulumi", *command, "--stack", stack, "--non-interactive", *options, check=False)
    broken = {rule for rule, _ in BROKEN.findall(done.stdout)}
    assert bool(done.returncode) == bool(broken), f"{done.stdout}\n{done.stderr}"
    return broken, done.stdout


def plan_gate(platform: PlatformUnderTest, plan: Path, config: str) -> str:
    return platform.run(BIN / "tpuplane-plan-gate", plan, "--config", PACK / "config" / f"{config}.json").stdout


@pytest.mark.parametrize(
    "config", [pytest.param(config, marks=[pytest.mark.long] if config != "local" else []) for config in LABORATORY]
)
def test_add_ons_pass_the_gate_of_each_stack(platform: PlatformUnderTest, config: str) -> None:
    broken, said = gate(platform, "local", config, "preview")
    assert broken == LABORATORY[config], said
    assert {kind for _, kind in BROKEN.findall(said)} <= {"gcp", "pulumi"}, said


@pytest.mark.parametrize("config", ["local", "prod"])
def test_the_plan_passes_the_gate_on_plans(platform: PlatformUnderTest, plan: Path, config: str) -> None:
    assert ": 0 mandatory, 0 advisory\n" in plan_gate(platform, plan, config)


def test_a_definition_that_nothing_keeps_is_found(platform: PlatformUnderTest, plan: Path) -> None:
    document = json.loads(plan.read_text())
    kept = [step["newState"] for step in document["steps"] if "CustomResourceDefinition" in step["newState"]["type"]]
    assert len(kept) > 10
    assert all(state.pop("retainOnDelete") for state in kept)
    changed = platform.folder / "changed.json"
    changed.write_text(json.dumps(document))
    done = platform.run(BIN / "tpuplane-plan-gate", changed, "--config", PACK / "config" / "local.json", check=False)
    assert done.returncode == 1
    assert f"{len(kept)} mandatory ({len(kept)} REP005)" in done.stdout


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[PlatformUnderTest]:
    """A twin with nothing on it."""
    made = PlatformUnderTest(tmp_path, "gate")
    try:
        made.twin("up")
        made.variables |= json.loads(made.twin("env", "--json").stdout)
        yield made
    finally:
        made.twin("down")


@pytest.mark.long
@pytest.mark.parametrize("stack", ["dev", "staging", "prod"])
def test_a_stack_passes_its_own_gate_while_it_is_made_and_afterwards(alone: PlatformUnderTest, stack: str) -> None:
    alone.run("pulumi", "stack", "select", stack, "--create", "--non-interactive")
    for command in (("up", "--yes", "--skip-preview"), ("preview",)):
        broken, said = gate(alone, stack, stack, *command)
        assert not broken, said
    path = alone.folder / "plan.json"
    shown = ("preview", "--json", "--show-sames", "--stack", stack, "--non-interactive")
    path.write_text(alone.run("pulumi", *shown).stdout)
    assert ": 0 mandatory, " in plan_gate(alone, path, stack)
