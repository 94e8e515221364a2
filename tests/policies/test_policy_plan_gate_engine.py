"""The gate for plans on previews of the real engine that succeed, fail or stop."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from tpuplane_policies.core.plans import Plan

from tests.support.policies.previews import ENDINGS, FAILED, POOLS, RECORDED, SHOWN, preview
from tests.support.pulumi_program import Program, run

pytestmark = pytest.mark.policies


@pytest.fixture
def program(variables: dict[str, str], tmp_path: Path) -> Program:
    (tmp_path / "backend").mkdir()
    made = Program(tmp_path / "project", variables | {"PULUMI_BACKEND_URL": (tmp_path / "backend").as_uri()})
    made.describe(toolchain="uv", virtualenv=sys.prefix)
    return made


def record(kind: str, document: object, version: str) -> None:
    found = json.loads(RECORDED.read_text("utf-8")) if RECORDED.exists() else {"previews": {}}
    found = {"pulumi": version, "previews": {**found["previews"], kind: document}}
    text = json.dumps(found, indent=1, sort_keys=True)
    # Where this machine has the files says nothing.
    RECORDED.write_text(re.sub(r"project:///(\.\./)+\S*/(?=[\w.]+#)", "project:///", text) + "\n", "utf-8")


def operations(document: dict[str, Any]) -> list[str]:
    """What is done, in any order: a program registers resources at the same time."""
    return sorted(step["op"] for step in document.get("steps", ()))


@pytest.mark.parametrize("kind", ENDINGS)
def test_a_preview_that_did_not_succeed_is_no_plan(program: Program, kind: str) -> None:
    document = preview(program, kind)
    if os.environ.get("TPUPLANE_RECORD"):
        record(kind, document, program.output("version").strip())
    text = json.dumps(document)
    if kind in FAILED:
        with pytest.raises(ValueError, match=FAILED[kind]):
            Plan.parse(text)
    else:
        assert Plan.parse(text).stack == "new"
    theirs = json.loads(RECORDED.read_text("utf-8"))["previews"][kind]
    assert document.keys() - {"duration"} == theirs.keys() - {"duration"}
    assert operations(document) == operations(theirs)


@pytest.fixture
def described(program: Program) -> Program:
    """A stack whose configuration has the description of a pool with two single-host slices, after an update."""
    program.write(POOLS)
    program.output("stack", "init", "new")
    describe(program, "trainer", topology="2x2")
    program.output("up", "--yes", "--skip-preview")
    return program


def describe(program: Program, pools: str, **trainer: object) -> None:
    """Write a description, and the node pools that it leads to."""
    pool = {"generation": "v6e", "slices": 2, **trainer}
    platform = {"name": "acme", "clusters": {"lab": {"location": "us-central1", "pools": {"trainer": pool}}}}
    config = {"gcp:project": "acme-ml", "tpuplane:platform": platform, "demo:pools": pools}
    (program.folder / "stacks" / "Pulumi.new.yaml").write_text(yaml.safe_dump({"config": config}))


def gate(program: Program, *options: str, **variables: str) -> tuple[int, str]:
    """The gate on a preview, in the folder of the project; only the gate has the variables."""
    plan = program.folder / "plan.json"
    plan.write_text(program.run("pulumi", *SHOWN).stdout)
    command = (Path(sys.executable).parent / "tpuplane-plan-gate", plan, "--stack", "new", *options)
    done = run(command, program.folder, program.variables | variables, check=False)
    return done.returncode, done.stdout + done.stderr


def test_a_change_has_the_class_of_diff(described: Program) -> None:
    assert gate(described) == (0, "plan of new, 2 steps: 0 mandatory, 0 advisory\n")
    describe(described, "trainer-0 trainer-1", topology="2x4", machineType="ct6e-standard-4t")
    status, said = gate(described)
    assert status == 1
    assert "REP002 trainer: a change to clusters.lab.pools.trainer" in said
    assert "REP009" not in said


def test_a_change_that_no_step_shows_is_found_by_its_class(described: Program) -> None:
    describe(described, "trainer", topology="2x2", slices=1)
    status, said = gate(described)
    assert status == 1
    assert "REP009 clusters.lab.pools.trainer.slices: deletes-nodes: " in said
    approved = described.folder / "approved.json"
    approved.write_text('{"REP009": {"approved": ["clusters.lab.pools.trainer.slices"]}}')
    assert gate(described, "--config", str(approved))[0] == 0


def test_a_description_that_is_not_known_leaves_the_gate_undecided(described: Program, tmp_path: Path) -> None:
    status, said = gate(described, PULUMI_BACKEND_URL=(tmp_path / "none").as_uri())
    assert status == 1
    undecided = "REP006 these rules cannot be decided, because values are unknown: REP009"
    assert f"{undecided} (the changes to the description are not known" in said
    assert "Remedy: name the description before the change with --before FILE or --before REVISION:PATH\n" in said
    before = described.folder / "stacks" / "Pulumi.new.yaml"
    assert gate(described, "--before", str(before), PULUMI_BACKEND_URL=(tmp_path / "none").as_uri())[0] == 0
