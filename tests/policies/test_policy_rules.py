"""Every rule against its cases; some case needs each demand of each check."""

from __future__ import annotations

import ast
import inspect
import textwrap
from dataclasses import replace
from typing import Any

import pytest
import yaml
from tpuplane_policies.core.judging import Demands
from tpuplane_policies.core.registry import Check, Rule, rules

from tests.support.policies.case_files import FOLDER, Case, a_run, bases, cases, resource

pytestmark = pytest.mark.policies

# The other rules report what these rules could not decide: see test_policy_unknown_values.py.
JUDGING = [rule for rule in rules() if not rule.about]


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.id)
def test_a_case(case: Case) -> None:
    found, run = case.judge(rules())
    assert case.as_expected(rules()), ([finding.message for finding in found], run.undecided)
    for violation in found:
        assert violation.message.startswith(case.rule)
        assert "Remedy: " in violation.message


@pytest.mark.parametrize("rule", JUDGING, ids=lambda rule: rule.id)
def test_cases_fail_without_their_rule(rule: Rule) -> None:
    others = [candidate for candidate in rules() if candidate is not rule]
    missed = [case for case in cases() if case.rule == rule.id and not case.as_expected(others)]
    assert {case.fails for case in missed} == {True, False}


def demands(check: Check) -> set[int]:
    """The lines of a check's demands."""
    source, start = inspect.getsourcelines(check.function)
    tree = ast.parse(textwrap.dedent("".join(source)))
    return {node.lineno + start - 1 for node in ast.walk(tree) if isinstance(node, ast.Yield)}


def traced(check: Check, lines: set[int]) -> Check:
    """The check, which adds the line of each demand that does not hold, also in a generator to which it delegates."""

    def function(subject: Any, options: Any) -> Demands:
        made: Any = check.function(subject, options)
        for demand in made:
            inner = made
            while inner.gi_yieldfrom is not None:
                inner = inner.gi_yieldfrom
            if demand.truth.holds is False:
                lines.add(inner.gi_frame.f_lineno)
            yield demand

    return replace(check, function=function)


CHECKS = [
    pytest.param(rule, kind, check, id=f"{rule.id}-{number}")
    for rule in JUDGING
    for kind in ("checks", "stack_checks", "plan_checks")
    for number, check in enumerate(getattr(rule, kind))
]


@pytest.mark.parametrize(("rule", "kind", "check"), CHECKS)
def test_every_demand_of_a_check_fails_for_some_case(rule: Rule, kind: str, check: Check) -> None:
    seen: set[int] = set()
    alone = replace(rule, **{kind: (traced(check, seen),)})
    for case in cases():
        if case.rule == rule.id and case.fails:
            case.judge([alone])
    assert demands(check)
    assert sorted(demands(check) - seen) == []


@pytest.mark.parametrize(("case", "message"), yaml.safe_load((FOLDER.parent / "messages.yaml").read_text()).items())
def test_full_message(case: str, message: str) -> None:
    [found], _ = next(candidate for candidate in cases() if candidate.id == case).judge(rules())
    assert found.message == message


@pytest.mark.parametrize("name", bases())
def test_valid_resource_passes_every_rule(name: str) -> None:
    judged_resource = resource({"of": name})
    run = a_run()
    assert [text.message for rule in rules() for text in run.resource(rule, judged_resource)] == []
    assert run.undecided == {}


def test_ids_are_unique() -> None:
    assert len({rule.id for rule in rules()}) == len(rules())
