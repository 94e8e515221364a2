"""The gate for plans as a command: what it prints, and what it returns."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from case_files import cases

pytestmark = pytest.mark.policies

COMMAND = Path(__file__).parents[2] / "policies" / "plan_gate.py"


def gate(text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(COMMAND), *arguments]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


@pytest.fixture
def replacing_a_pool() -> str:
    case = next(it for it in cases() if it.rule == "REP002" and it.fails)
    return json.dumps({"steps": case.written["plan"]})


def test_a_replaced_pool_needs_approval(replacing_a_pool: str, tmp_path: Path) -> None:
    refused = gate(replacing_a_pool)
    assert refused.returncode == 1
    assert refused.stdout.startswith("[mandatory] REP002 trainer: the plan replaces this pool for placementPolicy")
    config = tmp_path / "prod.json"
    config.write_text(json.dumps({"REP002": {"approved": ["trainer"]}}))
    approved = gate(replacing_a_pool, "--config", str(config))
    assert (approved.returncode, approved.stdout) == (0, "")
    config.write_text(json.dumps({"REP002": "advisory"}))
    advised = gate(replacing_a_pool, "--config", str(config))
    assert advised.returncode == 0
    assert advised.stdout.startswith("[advisory] REP002")


@pytest.mark.parametrize("text", ["", "error: no stack", "[]", "{}"])
def test_what_is_no_plan_is_refused_in_one_line(text: str) -> None:
    result = gate(text)
    assert result.returncode == 2
    assert result.stderr.startswith("plan_gate: not the output of `pulumi preview --json`")
    assert "Traceback" not in result.stderr
