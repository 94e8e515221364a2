"""An exemption covers the resource that it names up to its last day, and the summary reports it."""

from __future__ import annotations

import pytest
from tpuplane_policies.core.registry import rules

from tests.support.policies.case_files import a_run, resource

pytestmark = pytest.mark.policies

GOOD = {"resource": "po*", "reason": "moves next week, ML-12", "until": "2026-11-21"}
RULE = next(rule for rule in rules() if rule.id == "TPU003")


@pytest.mark.parametrize(
    ("change", "said", "told"),
    [
        ({}, None, "exempted: TPU003 po*: moves next week, ML-12 (until 2026-11-21)"),
        ({"resource": "urn:*NodePool::pool"}, None, "exempted: TPU003 urn:*NodePool::pool: moves"),
        ({"resource": "poo?"}, "", "exemption without a match: TPU003 poo?: moves"),
        ({"resource": "[p]ool"}, "", "exemption without a match: TPU003 [p]ool: moves"),
        ({"resource": "other"}, "", "exemption without a match: TPU003 other: moves"),
        ({"until": "2026-11-20"}, "its exemption expired after 2026-11-20", "1 mandatory (1 TPU003), 0 advisory"),
    ],
)
def test_an_exemption(change: dict[str, str], said: str | None, told: str) -> None:
    run = a_run({"TPU003": {"exemptions": [GOOD | change]}}, [RULE])
    found = run.resource(RULE, resource({"of": "pool", "with": {"nodeCount": 3}}))
    if said is None:
        assert found == []
    else:
        assert [said in finding.message for finding in found] == [True]
        assert ("exemption" in found[0].message) == bool(said)
    lines = [run.totals, *run.exemptions()]
    assert any(line.startswith(told) for line in lines), lines


@pytest.mark.parametrize(("name", "covered"), [('data["eu"]', True), ("data*", False)])
def test_an_approval_is_the_whole_name(name: str, covered: bool) -> None:
    run = a_run({"REP001": {"approved": [name]}})
    [approval] = run.settings.exemptions(run.rules["REP001"])
    assert approval.covers(resource({"of": "cluster", "name": 'data["eu"]'})) is covered
    assert str(approval) == f"{name}: approved"


def test_what_is_not_known_yet_of_an_exempted_resource_does_not_matter() -> None:
    run = a_run({"TPU003": {"exemptions": [GOOD]}}, rules())
    assert run.resource(RULE, resource({"of": "pool", "with": {"nodeCount": "UNKNOWN"}})) == []
    assert run.undecided == {}
    assert run.totals == "0 mandatory, 0 advisory"
    assert [*run.exemptions()] == ["exempted: TPU003 po*: moves next week, ML-12 (until 2026-11-21)"]


def test_totals_by_level_and_rule() -> None:
    run = a_run({"GKE012": "advisory"})
    bad = {"nodeCount": 3, "management": {"autoRepair": False}}
    for name in ("one", "two"):
        for rule in rules():
            run.resource(rule, resource({"of": "pool", "name": name, "with": bad}))
    assert run.totals == "2 mandatory (2 TPU003), 2 advisory (2 GKE012)"


def test_what_is_judged_again_counts_once() -> None:
    run = a_run()
    run.resource(RULE, resource({"of": "pool", "with": {"nodeCount": 3}}))
    assert run.totals == "1 mandatory (1 TPU003), 0 advisory"
    run.resource(RULE, resource({"of": "pool"}))
    assert run.totals == "0 mandatory, 0 advisory"
