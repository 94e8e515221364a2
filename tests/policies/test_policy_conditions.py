"""PRJ007: whom a condition of workload identity federation admits, by branch and by claim."""

from __future__ import annotations

from typing import Any

import pytest
from tpuplane_policies.cel.branches import admitted
from tpuplane_policies.cel.terms import Reach
from tpuplane_policies.core.registry import rules
from tpuplane_policies.core.values import UNKNOWN, Value

from tests.support.policies.case_files import a_run, resource
from tests.support.policies.conditions import EVERYONE, MAPPING, OWNERS, UNDECIDED, lines, reach

pytestmark = pytest.mark.policies


@pytest.mark.parametrize("condition", lines(EVERYONE))
def test_a_condition_that_admits_strangers(condition: str) -> None:
    assert reach(condition) is Reach.EVERYONE
    [found] = judged(condition)
    assert "admits users of other organizations" in found


@pytest.mark.parametrize("condition", lines(OWNERS))
def test_a_condition_that_admits_owners_alone(condition: str) -> None:
    assert reach(condition) <= Reach.OWNERS
    assert judged(condition) == []


@pytest.mark.parametrize("condition", lines(UNDECIDED))
def test_a_condition_that_is_not_decided(condition: str) -> None:
    assert reach(condition) is Reach.UNDECIDED
    assert judged(condition) == ["undecided"]


def judged(condition: str, **props: Any) -> list[str]:
    """The messages of the rule, or that it is undecided."""
    rule = next(candidate for candidate in rules() if candidate.id == "PRJ007")
    judged_resource = resource(
        {"of": "wif", "with": {"attributeCondition": condition, "attributeMapping": MAPPING, **props}}
    )
    run = a_run()
    found = [text for violation in run.resource(rule, judged_resource) for text in violation.text.splitlines() if text]
    return ["undecided"] if run.undecided else found


def test_a_provider_without_a_condition_has_one_message() -> None:
    [found] = judged(None)
    assert found.startswith("attributeCondition is not set: every user of the identity provider has access. Remedy: ")


def test_the_message_names_the_branch() -> None:
    [found] = judged("assertion.repository_owner == 'acme' || assertion.ref == 'refs/heads/main'")
    assert ": assertion.ref == 'refs/heads/main' admits users of other organizations. Remedy: " in found


def test_an_unknown_mapping_is_needed_or_not() -> None:
    mapping = {"attributeMapping": {"attribute.repository": "UNKNOWN"}}
    assert judged("attribute.repository == 'acme/app'", **mapping) == ["undecided"]
    assert judged("assertion.repository == 'acme/app'", **mapping) == []
    assert len(judged("attribute.repository == 'acme/app' || true", **mapping)) == 1
    whole = admitted("attribute.repository == 'a/b'", Value(UNKNOWN, "attributeMapping"))
    assert (whole.reach, [value.path for value in whole.unknown]) == (Reach.UNDECIDED, ["attributeMapping"])


def test_aws_has_a_mapping_of_its_own() -> None:
    condition = "attribute.aws_role == 'arn:aws:sts::123456789012:assumed-role/deployer'"
    subject = "google.subject.startsWith('arn:aws:sts::123456789012:assumed-role/deployer/')"
    assert admitted(subject, Value(None), aws=True).reach is Reach.OWNERS
    assert admitted(subject, Value(None)).reach is Reach.UNDECIDED
    assert admitted(condition, Value(None), aws=True).reach is Reach.UNDECIDED


def test_claims_of_an_own_identity_provider_are_configured() -> None:
    assert reach("assertion.department == 'ml'", own=["department"]) is Reach.OWNERS
    assert reach("assertion.department.startsWith('ml')", own=["department"]) is Reach.UNDECIDED
    assert reach("assertion.department == ''", own=["department"]) is Reach.UNDECIDED


def test_a_long_condition_is_decided_or_undecided_in_time() -> None:
    one = "assertion.repository_owner == 'acme'"
    assert reach(" || ".join([one] * 100)) is Reach.OWNERS
    assert reach(" || ".join([one] * 100 + ["true"])) is Reach.EVERYONE
    assert reach("!" * 3000 + f"({one})") is Reach.UNDECIDED
    assert reach("(" * 400 + one + ")" * 400) in (Reach.OWNERS, Reach.UNDECIDED)
