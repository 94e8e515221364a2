"""The pack under the real engine: resources that anyone wrote, levels, exemptions, and values that a preview lacks."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from case_files import bases, merged
from pulumi_stack import Stack
from tpuplane_twin import tools
from tpuplane_twin.engine import environment, install_engine
from tpuplane_twin.paths import TwinPaths

pytestmark = pytest.mark.twin

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
def stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stack:
    """A stack with one node pool, as config says."""
    path = os.pathsep.join(it for it in os.environ["PATH"].split(os.pathsep) if not shutil.which("pulumi", path=it))
    monkeypatch.setenv("PATH", path)
    monkeypatch.setenv("TPUPLANE_TWIN_HOME", str(tmp_path / "twins"))
    paths = TwinPaths.of("policy-test").make()
    install_engine(paths, tools.ensure(["pulumi"]))
    kept = {name: it for name, it in os.environ.items() if not name.startswith(("PULUMI_", "UV_", "VIRTUAL_ENV"))}
    kept["UV_PROJECT_ENVIRONMENT"] = sys.prefix
    for folder in ("infra", "stacks"):
        (tmp_path / "project" / folder).mkdir(parents=True)
    made = Stack(tmp_path / "project", kept | environment(paths))
    made.options(toolchain="uv", virtualenv=sys.prefix)
    made.program(PROGRAM)
    made.pulumi("stack", "init", "dev")
    return made


def pool(**changes: object) -> str:
    return json.dumps(merged(bases()["pool"]["props"], changes))


def judged(stack: Stack, *command: str, fails: bool, config: dict[str, object] | None = None) -> str:
    """What the engine says of the stack with the pack; names need deleteBeforeReplace, which a component has not."""
    path = stack.folder / "policies.json"
    path.write_text(json.dumps({"REP007": "disabled", **(config or {})}))
    return stack.pulumi(*command, "--policy-pack", str(PACK), "--policy-pack-config", str(path), fails=fails)


def test_a_known_mistake_fails_the_preview_and_an_exemption_lets_it_pass(stack: Stack) -> None:
    stack.pulumi("config", "set", "pool", pool(nodeCount=3))
    said = judged(stack, "preview", fails=True)
    assert "TPU003 pool: nodeCount is 3: a v6e 4x4 slice has 4 hosts. Remedy: set the counts per zone" in said
    assert "[mandatory]" in said
    exempt = {"exemptions": [{"resource": "pool", "reason": "until its job ends", "until": "2999-01-01"}]}
    assert "TPU003" not in judged(stack, "preview", fails=False, config={"TPU003": exempt})
    advisory = judged(stack, "preview", fails=False, config={"TPU003": "advisory"})
    assert "[advisory] [severity: high]  TPU003" in advisory


def test_a_preview_that_knows_too_little_fails_and_the_update_is_judged(stack: Stack) -> None:
    stack.pulumi("config", "set", "pool", pool(placementPolicy={"tpuTopology": "4x5"}))
    stack.pulumi("config", "set", "late", "true")
    said = judged(stack, "preview", fails=True)
    assert "REP006 TPU001 could not decide anything: not known yet are pool: placementPolicy" in said
    assert "4x5" not in said
    said = judged(stack, "up", "--yes", "--skip-preview", fails=True)
    assert "'4x5': not a v6e topology" in said
    assert "REP006" not in said
    stack.pulumi("config", "set", "pool", pool())
    assert "✅ tpuplane" in judged(stack, "up", "--yes", "--skip-preview", fails=False)


def test_a_config_that_the_pack_does_not_understand_is_refused(stack: Stack) -> None:
    stack.pulumi("config", "set", "pool", pool())
    said = judged(stack, "preview", fails=True, config={"TPU012": {"chips": "many"}})
    assert "TPU012" in said
    assert "chips" in said
