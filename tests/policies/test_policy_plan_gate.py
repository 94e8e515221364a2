"""The gate for plans as a command: what it prints, and what it returns."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from case_files import cases

pytestmark = pytest.mark.policies

COMMAND = Path(sys.executable).parent / "tpuplane-plan-gate"


def gate(text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, *arguments], input=text, capture_output=True, text=True, check=False)


@pytest.fixture
def replacing_a_pool() -> str:
    case = next(it for it in cases() if it.rule == "REP002" and it.fails)
    return json.dumps({"steps": case.written["plan"]})


def test_a_replaced_pool_needs_approval(replacing_a_pool: str, tmp_path: Path) -> None:
    rejected = gate(replacing_a_pool)
    assert rejected.returncode == 1
    assert rejected.stdout.startswith("[mandatory] REP002 trainer: a change of placementPolicy.tpuTopology")
    config = tmp_path / "prod.json"
    config.write_text(json.dumps({"REP002": {"approved": ["trainer"]}}))
    approved = gate(replacing_a_pool, "--config", str(config))
    assert (approved.returncode, approved.stdout) == (0, "exempted: REP002 trainer: approved\n")
    config.write_text(json.dumps({"REP002": "advisory"}))
    advised = gate(replacing_a_pool, "--config", str(config))
    assert advised.returncode == 0
    assert advised.stdout.startswith("[advisory] REP002")
    assert advised.stdout.endswith("\n1 advisory: 1 REP002\n")
    config.write_text(json.dumps({"REP002": {"approved": ["train"]}}))
    assert gate(replacing_a_pool, "--config", str(config)).returncode == 1


def test_an_approval_without_a_match_is_reported(tmp_path: Path) -> None:
    config = tmp_path / "prod.json"
    config.write_text(json.dumps({"REP001": {"approved": ["central"]}}))
    done = gate('{"steps": []}', "--config", str(config))
    assert (done.returncode, done.stdout) == (0, "exemption without a match: REP001 central: approved\n")
    assert gate('{"steps": []}').stdout == "no findings\n"


def test_without_a_configuration_the_gate_names_the_file(replacing_a_pool: str) -> None:
    said = gate(replacing_a_pool).stdout
    assert said.endswith("use --config " + str(Path(__file__).parents[2] / "policies" / "config" / "prod.json") + "\n")


def test_what_the_plan_leaves_out_is_not_decided(tmp_path: Path) -> None:
    cluster = {"type": "gcp:container/cluster:Cluster", "urn": "urn:pulumi:x::a::t::central"}
    part = json.dumps({"steps": [{"op": "same", "newState": cluster}], "changeSummary": {"same": 168}})
    rejected = gate(part)
    assert rejected.returncode == 1
    assert "REP004 (the plan omits 167 resources: use --show-sames)" in rejected.stdout
    config = tmp_path / "local.json"
    config.write_text('{"REP006": "advisory"}')
    assert gate(part, "--config", str(config)).returncode == 0


@pytest.mark.parametrize(
    "text",
    [
        *("", "error: no stack", "[]", "{}", '{"steps": 1}', '{"steps": [{"op": "same"}]}'),
        '{"steps": [{"op": "same", "newState": {}}]}',
        pytest.param("[" * 100_000, id="deep"),
    ],
)
def test_other_input_is_rejected_in_one_line(text: str) -> None:
    result = gate(text)
    assert result.returncode == 2
    assert result.stderr.startswith("tpuplane-plan-gate: not the output of `pulumi preview --json`")
    assert "Traceback" not in result.stderr
