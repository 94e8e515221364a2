"""Runs rules over resources and keeps count of what each came to decide."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from typing import Any

from tpuplane_policies.core.judging import Finding, Repair, exempted, judge
from tpuplane_policies.core.ledger import Ledger
from tpuplane_policies.core.plans import Plan
from tpuplane_policies.core.registry import Rule
from tpuplane_policies.core.resources import Resource, Stack, inline_pools, matches
from tpuplane_policies.core.values import UndecidedError


@dataclass(frozen=True, slots=True)
class Violation:
    """A finding that no exemption covers, in the words that a user reads."""

    rule: str
    message: str
    resource: Resource | None
    line: int
    like: tuple[str, ...] = ()
    """Checks of checkov and trivy that find the same."""


def judge_resource(
    rule: Rule, resource: Resource, settings: Mapping[str, Any], ledger: Ledger, today: date
) -> list[Violation]:
    """Hold a rule against one resource. `settings` are the rule's options and its `exemptions`."""
    return [
        violation
        for it in (resource, *inline_pools(resource))
        for check in rule.checks
        if matches(check.types, it.type)
        for violation in _judge(rule, check.function, it, settings, ledger, today)
    ]


def judge_stack(rule: Rule, stack: Stack, settings: Mapping[str, Any], ledger: Ledger, today: date) -> list[Violation]:
    """Hold a rule against the whole stack."""
    return [
        violation
        for check in rule.stack_checks
        for violation in _judge(rule, check.function, stack, settings, ledger, today)
    ]


def judge_plan(rule: Rule, plan: Plan, settings: Mapping[str, Any], ledger: Ledger, today: date) -> list[Violation]:
    """Hold a rule against a plan."""
    return [
        violation
        for check in rule.plan_checks
        for violation in _judge(rule, check.function, plan, settings, ledger, today)
    ]


def repairs(
    rule: Rule, resource: Resource, settings: Mapping[str, Any], today: date
) -> list[tuple[tuple[str, ...], Any]]:
    """What puts a resource right by one rule: keys and value; nothing where the resource is exempted."""
    whole = Finding("", resource, 0)
    if exempted(whole, settings.get("exemptions") or (), today)[0]:
        return []
    found: list[Repair] = []
    for check in rule.repairs:
        if matches(check.types, resource.type):
            with suppress(UndecidedError):  # what is not known yet is put right by the update that knows it
                found += check.function(resource, _options(rule, settings))
    return found


def _options(rule: Rule, settings: Mapping[str, Any]) -> dict[str, Any]:
    return {**rule.defaults, **{name: value for name, value in settings.items() if name in rule.options}}


def _judge(
    rule: Rule,
    function: Any,
    subject: Resource | Stack | Plan,
    settings: Mapping[str, Any],
    ledger: Ledger,
    today: date,
) -> list[Violation]:
    judgement = judge(function, subject, _options(rule, settings))
    ledger.note(rule.id, judgement, subject.name if isinstance(subject, Resource) else "the stack")
    violations = []
    for finding in judgement.findings:
        covered, note = exempted(finding, settings.get("exemptions") or (), today)
        if not covered:
            where = f"{finding.resource.name}: " if finding.resource else ""
            also = f" [{', '.join(finding.like)}]" if finding.like else ""
            text = f"{rule.id} {where}{finding.text}. Remedy: {rule.remedy}{also}" + (f" ({note})" if note else "")
            violations.append(Violation(rule.id, text, finding.resource, finding.line, finding.like))
    return violations
