"""Every rule against its cases; and every check of every rule is one that some case needs."""

from __future__ import annotations

import ast
import inspect
import textwrap

import pytest
from case_files import TODAY, Case, bases, cases, resource
from tpuplane_policies.core.engine import judge_resource
from tpuplane_policies.core.ledger import Ledger
from tpuplane_policies.core.registry import Rule, rules

pytestmark = pytest.mark.policies

# They judge what the other rules came to, not resources: see test_policy_unknown_values.py.
ABOUT_THE_RUN = {"REP006", "REP008"}
JUDGING = [rule for rule in rules() if rule.id not in ABOUT_THE_RUN]


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.id)
def test_a_case(case: Case) -> None:
    found, ledger = case.judge(rules())
    assert case.as_expected(rules()), ([it.message for it in found], ledger.records)
    for violation in found:
        rule = next(it for it in rules() if it.id == case.rule)
        assert violation.message.startswith(case.rule)
        assert rule.remedy in violation.message


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
    seen = {it.line for case in cases() if case.rule == rule.id and case.fails for it in case.judge([rule])[0]}
    assert sorted(demands(rule) - seen) == []


@pytest.mark.parametrize("name", bases())
def test_what_is_good_is_good_by_every_rule(name: str) -> None:
    it = resource({"of": name})
    found = [text.message for rule in rules() for text in judge_resource(rule, it, {}, Ledger(), TODAY)]
    assert found == []
