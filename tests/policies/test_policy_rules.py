"""Every rule against its cases; and every check of every rule is one that some case needs."""

from __future__ import annotations

import ast
import inspect
import textwrap

import pytest
from case_files import Case, a_run, bases, cases, resource
from tpuplane_policies.core.registry import Rule, rules

pytestmark = pytest.mark.policies

# The others say what these could not decide: see test_policy_unknown_values.py.
JUDGING = [rule for rule in rules() if not rule.about]


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.id)
def test_a_case(case: Case) -> None:
    found, run = case.judge(rules())
    assert case.as_expected(rules()), ([it.message for it in found], run.undecided)
    for violation in found:
        assert violation.message.startswith(case.rule)
        assert "Remedy: " in violation.message


@pytest.mark.parametrize("rule", JUDGING, ids=lambda rule: rule.id)
def test_a_rule_that_is_disabled_is_missed(rule: Rule) -> None:
    others = [it for it in rules() if it is not rule]
    missed = [case for case in cases() if not case.as_expected(others)]
    assert {case.rule for case in missed} == {rule.id}
    assert {case.fails for case in missed} == {True, False}


def demands(rule: Rule) -> set[int]:
    """The lines of a rule's demands."""
    lines = set()
    for check in (*rule.checks, *rule.stack_checks, *rule.plan_checks):
        source, start = inspect.getsourcelines(check.function)
        tree = ast.parse(textwrap.dedent("".join(source)))
        lines |= {node.lineno + start - 1 for node in ast.walk(tree) if isinstance(node, ast.Yield)}
    return lines


@pytest.mark.parametrize("rule", JUDGING, ids=lambda rule: rule.id)
def test_every_demand_of_a_rule_is_seen_to_fail(rule: Rule) -> None:
    seen = {
        finding.line
        for case in cases()
        if case.rule == rule.id and case.fails
        for violation in case.judge([rule])[0]
        for finding in violation.findings
    }
    assert sorted(demands(rule) - seen) == []


@pytest.mark.parametrize("name", bases())
def test_what_is_good_is_good_by_every_rule(name: str) -> None:
    it = resource({"of": name})
    run = a_run()
    assert [text.message for rule in rules() for text in run.resource(rule, it)] == []
    assert run.undecided == {}


def test_every_rule_has_an_id_of_its_own() -> None:
    assert len({rule.id for rule in rules()}) == len(rules())
