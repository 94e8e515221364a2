"""The pack under the real engine: resources of any program, levels, exemptions, and unknown values."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from tpuplane_twin import tools
from tpuplane_twin.machine.paths import TwinPaths
from tpuplane_twin.shell.engine import environment, install_engine

from tests.support.policies.case_files import bases, merged
from tests.support.pulumi_program import Program

pytestmark = pytest.mark.engine

PACK = Path(__file__).parents[2] / "policies"

# Components may have any type, so these are node pools to a policy and need no provider.
PROGRAM = """
import json, pulumi
from pulumi.runtime import is_dry_run

UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"  # how the engine writes a string that is not known yet
config = pulumi.Config()
props = json.loads(config.require("pool"))
if config.get_bool("late") and is_dry_run():
    props["placementPolicy"] = UNKNOWN
pulumi.ComponentResource("gcp:container/nodePool:NodePool", "pool", props)
"""


@pytest.fixture
def stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    """A stack with one node pool, as config says."""
    path = os.pathsep.join(
        word for word in os.environ["PATH"].split(os.pathsep) if not shutil.which("pulumi", path=word)
    )
    monkeypatch.setenv("PATH", path)
    monkeypatch.setenv("TPUPLANE_TWIN_HOME", str(tmp_path / "twins"))
    paths = TwinPaths.of("policy-test").make()
    install_engine(paths, tools.ensure(["pulumi"]))
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PULUMI_", "UV_", "VIRTUAL_ENV"))}
    kept["UV_PROJECT_ENVIRONMENT"] = sys.prefix
    made = Program(tmp_path / "project", kept | environment(paths))
    made.describe(toolchain="uv", virtualenv=sys.prefix)
    made.write(PROGRAM)
    made.output("stack", "init", "dev")
    return made


def pool(**changes: object) -> str:
    return json.dumps(merged(bases()["pool"]["props"], changes))


def judged(stack: Program, *command: str, fails: bool, config: dict[str, object] | None = None) -> str:
    """What the engine says of the stack with the pack."""
    path = stack.folder / "policies.json"
    path.write_text(json.dumps(config or {}))
    return stack.output(*command, "--policy-pack", str(PACK), "--policy-pack-config", str(path), fails=fails)


def test_a_known_mistake_fails_the_preview_and_an_exemption_lets_it_pass(stack: Program) -> None:
    stack.output("config", "set", "pool", pool(nodeCount=3))
    said = judged(stack, "preview", fails=True)
    assert "nodeCount is 3: a v6e 4x4 slice has 4 hosts. Remedy: set nodeCount to 4" in said
    assert "[mandatory] [severity: high]  TPU003  (gcp:container:NodePool: pool)" in said
    assert "1 mandatory (1 TPU003), 0 advisory" in said
    exempt = {"exemptions": [{"resource": "pool", "reason": "until its job ends", "until": "2999-01-01"}]}
    exempted = judged(stack, "preview", fails=False, config={"TPU003": exempt})
    assert "exempted: TPU003 pool: until its job ends (until 2999-01-01)" in exempted
    assert "nodeCount" not in exempted
    advisory = judged(stack, "preview", fails=False, config={"TPU003": "advisory"})
    assert "[advisory] [severity: high]  TPU003" in advisory


def test_a_preview_that_knows_too_little_fails_and_the_update_is_judged(stack: Program) -> None:
    stack.output("config", "set", "pool", pool(placementPolicy={"tpuTopology": "4x5"}))
    stack.output("config", "set", "late", "true")
    said = judged(stack, "preview", fails=True)
    assert "REP006  (gcp:container:NodePool: pool)" in said
    assert "TPU001 (placementPolicy)" in said
    assert "4x5" not in said
    said = judged(stack, "up", "--yes", "--skip-preview", fails=True)
    assert "'4x5': not a v6e topology" in said
    assert "REP006" not in said
    stack.output("config", "set", "pool", pool())
    assert "✅ tpuplane" in judged(stack, "up", "--yes", "--skip-preview", fails=False)


def test_a_configuration_that_the_pack_does_not_understand_is_rejected(stack: Program) -> None:
    stack.output("config", "set", "pool", pool())
    wrong: dict[str, object] = {"TPU012": {"chips": "many", "chip": 5}, "GKE08": {"approved": []}}
    said = judged(stack, "preview", fails=True, config=wrong)
    for mistake in (
        "TPU012.chips: 'many' is not a number; allowed: a number from 0",
        "TPU012.chip: 'chip' is not an option of this rule; allowed: enforcementLevel, chips",
        "'GKE08' is not a rule; allowed: all, and the ids of docs/policies.md",
    ):
        assert f"{stack.folder / 'policies.json'}: {mistake}" in said
    # The engine reads levels before the pack does.
    said = judged(stack, "preview", fails=True, config={"REP001": "Mandatory"})
    assert '"REP001": "Mandatory" is not a valid enforcement level' in said


def test_an_approval_is_for_the_other_gate_and_breaks_nothing(stack: Program) -> None:
    stack.output("config", "set", "pool", pool())
    assert "✅ tpuplane" in judged(stack, "preview", fails=False, config={"REP002": {"approved": ["x"]}})


def test_without_a_configuration_the_gate_names_the_stacks_own(stack: Program) -> None:
    stack.output("config", "set", "pool", pool(nodeCount=3))
    said = stack.output("preview", "--policy-pack", str(PACK), fails=True)
    shipped = PACK / "config" / "dev.json"
    assert f"no configuration, so every rule has its default level; use --policy-pack-config {shipped}" in said
