"""Both gates on what exists, with the charts of its add-ons rendered: a preview of new clusters shows none of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.e2e.platform_under_test import BIN, REPOSITORY, PlatformUnderTest

pytestmark = pytest.mark.e2e

PACK = REPOSITORY / "policies"
BROKEN = re.compile(r"\[mandatory\].* (\w+)  \(([^\s:]+)\S*: ")


def gate(platform: PlatformUnderTest, stack: str, config: str, *command: str) -> tuple[set[str], str]:
    """Which mandatory rules the engine's gate finds broken, and what it printed."""
    options = ("--policy-pack", str(PACK), "--policy-pack-config", str(PACK / "config" / f"{config}.json"))
    done = platform.run("pulumi", *command, "--stack", stack, "--non-interactive", *options, check=False)
    broken = {rule for rule, _ in BROKEN.findall(done.stdout)}
    assert bool(done.returncode) == bool(broken), f"{done.stdout}\n{done.stderr}"
    return broken, done.stdout


def plan_gate(platform: PlatformUnderTest, plan: Path, config: str) -> str:
    return platform.run(BIN / "tpuplane-plan-gate", plan, "--config", PACK / "config" / f"{config}.json").stdout


@pytest.fixture(scope="module")
def plan(platform: PlatformUnderTest) -> Path:
    """The whole plan of what exists, in which nothing changes."""
    path = platform.folder / "plan.json"
    path.write_text(platform.pulumi("preview", "--json", "--show-sames").stdout)
    return path


def test_the_platform_passes_its_own_gate(platform: PlatformUnderTest, plan: Path) -> None:
    broken, said = gate(platform, "local", "local", "preview")
    assert not broken, said
    assert plan_gate(platform, plan, "local").splitlines()[0].startswith(("no findings", "exempt"))
