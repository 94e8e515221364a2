"""`tpuplane check`: exit codes, where it writes, and that it never needs Pulumi."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tpuplane.cli import app
from typer.testing import CliRunner, Result

from tests.support.imported import imported

pytestmark = pytest.mark.unit

STACKS = Path(__file__).parents[3] / "stacks"
RIGHT = (STACKS / "Pulumi.local.yaml").read_text()


def run(*args: str | Path) -> Result:
    return CliRunner().invoke(app, [str(arg) for arg in args])


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    file = tmp_path / "Pulumi.wrong.yaml"
    file.write_text(RIGHT.replace("topology: 4x4", "topology: 4x5", 1))
    return file


def test_a_right_file_is_shown_and_ok() -> None:
    result = run("check", STACKS / "Pulumi.local.yaml")
    assert result.exit_code == 0
    assert result.stderr == ""
    trainer = next(line for line in result.stdout.splitlines() if "trainer" in line)
    assert trainer.split() == ["trainer", "v6e", "4x4", "us-central1-b", "on-demand", "2", "8", "32"]
    assert result.stdout.splitlines()[-1] == "ok: 2 clusters, 104 chips"


def test_a_wrong_file_is_one_line_on_stderr_and_exit_code_1(wrong: Path) -> None:
    result = run("check", wrong)
    assert result.exit_code == 1
    assert result.stdout == ""
    line = next(n for n, text in enumerate(wrong.read_text().splitlines(), 1) if "4x5" in text)
    assert result.stderr == (
        f"{wrong}:{line}: clusters.central1.pools.trainer.topology: '4x5' is not a v6e topology; "
        "allowed: 1x1, 2x2, 2x4, 4x4, 4x8, 8x8, 8x16, 16x16; nearest: 4x4, 4x8\n"
    )


def test_json_of_a_right_file() -> None:
    result = run("check", STACKS / "Pulumi.local.yaml", "--json")
    assert result.exit_code == 0
    answer = json.loads(result.stdout)
    assert (answer["ok"], answer["chips"]) == (True, 104)
    pools = {pool["name"]: pool for cluster in answer["clusters"] for pool in cluster["pools"]}
    assert pools["trainer"]["nodePools"] == ["trainer-0", "trainer-1"]
    assert (pools["serving"]["minSlices"], pools["serving"]["maxSlices"]) == (1, 4)


def test_json_of_a_wrong_file(wrong: Path) -> None:
    result = run("check", wrong, "--json")
    assert result.exit_code == 1
    answer = json.loads(result.stdout)
    assert answer["ok"] is False
    assert [mistake["path"] for mistake in answer["mistakes"]] == ["clusters.central1.pools.trainer.topology"]


def test_a_file_that_is_not_there_is_a_wrong_call(tmp_path: Path) -> None:
    result = run("check", tmp_path / "Pulumi.none.yaml")
    assert result.exit_code == 2
    assert "does not exist; there is no stack file in" in result.stderr


@pytest.mark.parametrize("args", [["check"], ["check", "--nope"], ["chekc"], []])
def test_a_wrong_call_is_exit_code_2(args: list[str]) -> None:
    assert run(*args).exit_code == 2


@pytest.mark.parametrize("option", ["-h", "--help", "--version"])
def test_help_and_version(option: str) -> None:
    said = run(option)
    assert said.exit_code == 0
    assert "tpuplane" in said.stdout.lower()


def test_commands_are_completed() -> None:
    asked = {"COMP_WORDS": "tpuplane expl", "COMP_CWORD": "1", "_TPUPLANE_COMPLETE": "complete_bash"}
    assert CliRunner().invoke(app, env=asked, prog_name="tpuplane").stdout.split() == ["explain"]


def test_the_schema_command_prints_what_is_checked_in() -> None:
    checked_in = STACKS.parent / "components/tpuplane/spec/platform.schema.json"
    assert run("schema").stdout == checked_in.read_text()


def test_nothing_of_the_pure_side_imports_pulumi() -> None:
    """It would cost half a second and an engine's presence; `check` must answer without both."""
    assert imported("import tpuplane.cli, tpuplane.spec.schema, tpuplane.plan", "pulumi", "grpc") == []
