"""The gate for plans as a command: what it prints, and what it returns."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tpuplane_policies.core.plans import Plan

from tests.support.policies.case_files import cases
from tests.support.policies.case_files import preview as plan_of
from tests.support.policies.plan_gate import gate
from tests.support.policies.previews import FAILED, recorded

pytestmark = pytest.mark.policies

COMMAND = Path(sys.executable).parent / "tpuplane-plan-gate"


PREVIEWS = dict(recorded())
CHECKED = "plan of prod, 1 step: 0 mandatory, 0 advisory\n"


@pytest.fixture
def replacing_a_pool() -> str:
    case = next(mistake for mistake in cases() if mistake.rule == "REP002" and mistake.fails)
    return json.dumps(plan_of(case.written["plan"]))


def test_a_replaced_pool_needs_approval(replacing_a_pool: str, tmp_path: Path) -> None:
    rejected = gate(replacing_a_pool)
    assert rejected.returncode == 1
    assert rejected.stdout.startswith("[mandatory] REP002 trainer: a change to placementPolicy.tpuTopology")
    config = tmp_path / "prod.json"
    config.write_text(json.dumps({"REP002": {"approved": ["trainer"]}}))
    approved = gate(replacing_a_pool, "--config", str(config))
    assert (approved.returncode, approved.stdout) == (0, f"{CHECKED}exempted: REP002 trainer: approved\n")
    config.write_text(json.dumps({"REP002": "advisory"}))
    advised = gate(replacing_a_pool, "--config", str(config))
    assert advised.returncode == 0
    assert advised.stdout.startswith("[advisory] REP002")
    assert advised.stdout.endswith("\nplan of prod, 1 step: 0 mandatory, 1 advisory (1 REP002)\n")
    config.write_text(json.dumps({"REP002": {"approved": ["train"]}}))
    assert gate(replacing_a_pool, "--config", str(config)).returncode == 1


def test_an_approval_without_a_match_is_reported(tmp_path: Path) -> None:
    config = tmp_path / "prod.json"
    config.write_text(json.dumps({"REP001": {"approved": ["central"]}}))
    done = gate(PREVIEWS["good"], "--config", str(config))
    assert (done.returncode, done.stdout) == (
        0,
        "plan of new, 2 steps: 0 mandatory, 0 advisory\nexemption without a match: REP001 central: approved\n",
    )


def test_without_a_configuration_the_gate_names_the_file(replacing_a_pool: str) -> None:
    said = gate(replacing_a_pool).stdout
    assert said.endswith("use --config " + str(Path(__file__).parents[2] / "policies" / "config" / "prod.json") + "\n")


def test_the_hidden_order_of_a_forced_replacement_is_not_decided() -> None:
    pool = next(case for case in cases() if case.rule == "REP002" and case.fails).written["plan"][0]
    options: tuple[dict[str, object], ...] = ({"replaceOnChanges": ["nodeCount"]}, {"replacementTrigger": "2"})
    watched = [pool | {"newState": pool["newState"] | option} for option in options]
    reasons = ["id", "provider", "replaceWith"]
    for forced in (*watched, *(pool | {"replaceReasons": [reason], "detailedDiff": None} for reason in reasons)):
        done = gate(json.dumps(plan_of([forced])))
        assert done.returncode == 1
        assert "REP007 (the order of its replacement). Remedy: add --show-replacement-steps" in done.stdout


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
        *("error: no stack", "[]", "{}", '{"steps": 1}', '{"steps": [{"op": "same"}]}'),
        '{"steps": [{"op": "same", "newState": {}}]}',
        '{"version": 3, "deployment": {"resources": []}}',  # pulumi stack export
        '{"format_version": "1.2", "terraform_version": "1.9.0", "resource_changes": []}',
        pytest.param("[" * 100_000, id="deep"),
    ],
)
def test_other_input_is_rejected_in_one_line(text: str) -> None:
    result = gate(text)
    assert result.returncode == 2
    assert result.stderr.startswith("tpuplane-plan-gate: not the output of `pulumi preview --json`")
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(("kind", "reason"), FAILED.items())
def test_a_preview_that_failed_is_rejected(kind: str, reason: str) -> None:
    result = gate(PREVIEWS[kind], "--stack", "new")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(f"tpuplane-plan-gate: {reason}")
    assert "run `pulumi preview --stack new --json --show-sames` and correct its errors" in result.stderr
    assert "set -o pipefail" in result.stderr


@pytest.mark.parametrize(("severity", "passes"), [("warning", True), ("info#err", True), ("fatal", False), ("", False)])
def test_a_message_of_another_severity_is_an_error(severity: str, passes: bool) -> None:
    document = json.loads(PREVIEWS["good"]) | {"diagnostics": [{"severity": severity, "message": "said"}]}
    result = gate(json.dumps(document))
    assert (result.returncode == 0) is passes
    assert ("the preview failed: said" in result.stderr) is not passes


def test_an_empty_plan_is_rejected() -> None:
    result = gate("\n")
    assert result.returncode == 2
    assert "the plan is empty, so the preview failed before its first step. Remedy: run `pulumi" in result.stderr


def test_a_plan_that_is_no_file_is_rejected() -> None:
    result = gate("", "nowhere.json")
    assert result.returncode == 2
    assert "nowhere.json cannot be read: No such file or directory. Remedy: name a file" in result.stderr


def test_a_plan_that_is_cut_off_is_rejected() -> None:
    whole = PREVIEWS["good"]
    assert Plan.parse(whole).steps
    for length in range(0, len(whole) - 1, 7):
        with pytest.raises(ValueError, match=r"cut off|empty"):
            Plan.parse(whole[:length])


@pytest.mark.parametrize("kind", ["good", "replaced by deletion and creation", "deleted"])
def test_a_plan_without_one_of_its_steps_is_rejected(kind: str) -> None:
    for index, step in enumerate(json.loads(PREVIEWS[kind])["steps"]):
        document = json.loads(PREVIEWS[kind])
        del document["steps"][index]
        if step["op"] == "same":  # as without --show-sames
            assert Plan.parse(json.dumps(document)).left_out == 1
        else:
            with pytest.raises(ValueError, match="not complete"):
                Plan.parse(json.dumps(document))
    document = json.loads(PREVIEWS[kind])
    del document["changeSummary"]
    with pytest.raises(ValueError, match="changeSummary"):
        Plan.parse(json.dumps(document))


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        (("steps", 0, "op"), "move", "operations that this version does not know: move"),
        (("changeSummary", "move"), 1, "operations that this version does not know: move"),
        (("steps", 0, "op"), 1, "not the output"),
        (("steps", 0, "op"), [], "not the output"),
        (("changeSummary", "create"), float("inf"), "not the output"),
        (("steps", 0, "newState", "urn"), "", "'' is not a URN"),
        (("steps", 0, "newState", "urn"), "urn:pulumi:x", "'urn:pulumi:x' is not a URN"),
        (("steps", 0, "newState", "inputs"), 1, "not the output"),
        (("config",), {"tpuplane:platform": {"name": "acme"}}, "not a text in the configuration: tpuplane:platform"),
    ],
)
def test_a_plan_with_a_part_in_another_form_is_rejected(
    path: tuple[str | int, ...], value: object, reason: str
) -> None:
    document = json.loads(PREVIEWS["good"])
    part = document
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    with pytest.raises(ValueError, match=reason):
        Plan.parse(json.dumps(document))


def test_a_plan_in_another_encoding_is_rejected(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    file.write_bytes(PREVIEWS["good"].replace('"steps"', '"\xe4": 1, "steps"').encode("latin-1"))
    command = f"{COMMAND} <{file}; {COMMAND} {file}"
    rejected = subprocess.run(["sh", "-c", command], env={"LC_ALL": "C"}, capture_output=True, text=True, check=False)
    assert (rejected.returncode, rejected.stdout) == (2, "")
    assert rejected.stderr.count("tpuplane-plan-gate: 'utf-8' codec can't decode byte 0xe4") == 2


def test_a_closed_input_is_rejected_in_one_line() -> None:
    closed = subprocess.run(["sh", "-c", f"{COMMAND} <&-"], capture_output=True, text=True, check=False)
    assert (closed.returncode, closed.stderr.count("\n")) == (2, 1)
    assert closed.stderr.startswith("tpuplane-plan-gate: standard input is closed. Remedy: ")


def test_a_plan_of_another_stack_or_project_is_rejected(tmp_path: Path) -> None:
    good = PREVIEWS["good"]
    assert "the plan is of stack new, not of prod" in gate(good, "--stack", "prod").stderr
    assert "the plan is of stack new, not of prod" in gate(good, "--stack", "acme/prod").stderr
    empty = gate(good, "--stack", "")
    long = gate(good, "--stack", "a/org/demo/new")
    assert (long.returncode, "is not STACK, ORGANIZATION/STACK or" in long.stderr) == (2, True)
    assert long.stderr.endswith("Remedy: name the stack as `pulumi stack ls` lists it\n")
    assert (empty.returncode, "--stack is empty; `pulumi stack ls` lists the stacks" in empty.stderr) == (2, True)
    (tmp_path / "Pulumi.yaml").write_text("name: acme\n")
    below = tmp_path / "policies"
    below.mkdir()
    for wrong in (gate(good, folder=below), gate(good, "--stack", "org/acme/new")):
        assert wrong.returncode == 2
        assert "the plan is of project demo, not of acme" in wrong.stderr
    assert gate(good, "--stack", "org/demo/new", folder=below).returncode == 0
    for unreadable in ("name: [", "- name", "", "runtime: python"):
        (tmp_path / "Pulumi.yaml").write_text(unreadable)
        wrong = gate(good, folder=below)
        assert wrong.returncode == 2
        assert f"{tmp_path}/Pulumi.yaml has no name of a project that can be read" in wrong.stderr
    (tmp_path / "Pulumi.yaml").write_text("name: demo\n")
    assert gate(good, "--stack", "new", folder=below).returncode == 0


def test_a_deletion_with_a_creation_in_its_place_is_a_replacement(tmp_path: Path) -> None:
    plan = PREVIEWS["replaced by deletion and creation"]
    rejected = gate(plan)
    assert rejected.returncode == 1
    (line,) = (text for text in rejected.stdout.splitlines() if text.startswith("["))
    assert line.startswith("[mandatory] REP002 trainer: a change to the pool's node pools, to trainer-0, trainer-1,")
    assert "1 mandatory (1 REP002), 0 advisory" in rejected.stdout
    config = tmp_path / "prod.json"
    config.write_text('{"REP002": {"approved": ["trainer"]}}')
    assert gate(plan, "--config", str(config)).returncode == 0


def test_a_secret_is_unknown_and_the_remedy_is_a_plain_value() -> None:
    urn = "urn:pulumi:prod::acme::gcp:container/nodePool:NodePool::trainer"
    state = {"type": "gcp:container/nodePool:NodePool", "urn": urn, "inputs": {"nodeCount": "[secret]"}}
    plan = plan_of([{"op": "update", "oldState": state, "newState": state}])
    rejected = gate(json.dumps(plan))
    assert (rejected.returncode, "values are unknown: REP009 (nodeCount, a secret)" in rejected.stdout) == (1, True)
    assert "Remedy: the output of a preview hides secrets: make it a plain value" in rejected.stdout
    rejected = gate(json.dumps({**plan, "config": {"tpuplane:platform": "[secret]"}}))
    assert (rejected.returncode, "not known: tpuplane:platform is a secret" in rejected.stdout) == (1, True)
    assert "Remedy: set it as plain text, without --secret" in rejected.stdout


def test_zones_that_a_state_does_not_name_leave_the_gate_undecided() -> None:
    state = {
        "type": "gcp:container/nodePool:NodePool",
        "urn": "urn:pulumi:prod::acme::gcp:container/nodePool:NodePool::a",
    }
    new = {**state, "inputs": {"nodeLocations": ["us-central1-b"]}}
    rejected = gate(json.dumps(plan_of([{"op": "update", "oldState": state, "newState": new}])))
    assert rejected.returncode == 1
    assert "REP009 (nodeLocations, the zones that GKE chose). Remedy: run `pulumi refresh`" in rejected.stdout


def test_a_wrong_description_before_the_change_is_a_wrong_call(tmp_path: Path) -> None:
    undescribed = gate(PREVIEWS["good"], "--before", "stack.yaml")
    assert (undescribed.returncode, "Remedy: omit --before" in undescribed.stderr) == (2, True)
    empty = gate(PREVIEWS["good"], "--before", "")
    assert (empty.returncode, empty.stderr.startswith("--before: the name is empty. Remedy: ")) == (2, True)
    described = {**json.loads(PREVIEWS["good"]), "config": {"tpuplane:platform": "{}"}}
    missing = gate(json.dumps(described), "--before", "stack.yaml", folder=tmp_path)
    assert (missing.returncode, "--before: stack.yaml does not exist" in missing.stderr) == (2, True)


def test_a_deletion_needs_approval(tmp_path: Path) -> None:
    plan = PREVIEWS["deleted"]
    rejected = gate(plan)
    assert rejected.returncode == 1
    assert "[mandatory] REP009 trainer: the pool is deleted with the work on it: 8 TPU chips." in rejected.stdout
    config = tmp_path / "prod.json"
    config.write_text('{"REP009": {"approved": ["trainer"]}}')
    assert gate(plan, "--config", str(config)).returncode == 0
