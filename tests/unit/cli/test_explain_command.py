"""`tpuplane explain`: reason, place in the file and source of a value; what it says to an unknown path."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tpuplane.cli import app
from tpuplane.tpu import catalogue
from typer.testing import CliRunner, Result

pytestmark = pytest.mark.unit

LAB = Path(__file__).parents[1] / "lab.yaml"


def run(*args: str | Path) -> Result:
    return CliRunner().invoke(app, ["explain", *map(str, args)])


def test_a_pool_is_explained_with_sources_below() -> None:
    result = run("pools.trainer", "--stack", LAB)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "clusters.central1.pools.trainer"
    placed = lines.index("  placementTopology: 4x4")
    assert lines[placed + 1].endswith("COMPACT placement with this topology. [ca] [xpk] [toolkit]")
    assert f"[xpk] {catalogue().sources['xpk']}" in lines


def test_a_choice_points_at_its_line() -> None:
    result = run("pools.serving.machineType", "--stack", LAB)
    line = next(n for n, text in enumerate(LAB.read_text().splitlines(), 1) if "ct6e-standard-8t" in text)
    assert f"({LAB}:{line})" in result.stdout
    (value,) = json.loads(run("pools.serving.machineType", "--stack", LAB, "--json").stdout)["values"]
    assert (value["name"], value["value"], value["where"]) == ("machineType", "ct6e-standard-8t", f"{LAB}:{line}")
    assert set(value["sources"]) == {"ca", "doc_v6e", "ce_machines"}


def test_an_unknown_path_is_a_wrong_call() -> None:
    result = run("pools.trainer.disk", "--stack", LAB)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("PATH: pools.trainer has no 'disk'; allowed: nodePools, slice, machineType")


def test_the_stack_is_the_local_one_unless_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    missing = run("pools.trainer.slice")
    assert missing.exit_code == 2
    assert "stacks/Pulumi.local.yaml does not exist" in missing.stderr
    (tmp_path / "stacks").mkdir()
    (tmp_path / "stacks" / "Pulumi.local.yaml").write_text(LAB.read_text())
    assert run("pools.trainer.slice").exit_code == 0


def test_a_wrong_file_is_rejected_first(tmp_path: Path) -> None:
    file = tmp_path / "Pulumi.wrong.yaml"
    file.write_text(LAB.read_text().replace("topology: 4x4", "topology: 4x5", 1))
    result = run("pools.trainer", "--stack", file)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "'4x5' is not a v6e topology" in result.stderr
