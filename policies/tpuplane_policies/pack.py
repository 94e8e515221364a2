"""The rules as policies of Pulumi's SDK, which is met here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from pulumi_policy import (
    EnforcementLevel,
    Policy,
    PolicyComplianceFramework,
    PolicyConfigSchema,
    PolicyResource,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    Severity,
    StackValidationArgs,
    StackValidationPolicy,
)
from pulumi_policy.proxy import UnknownValueError

from tpuplane_policies.core.engine import Violation, judge_resource, judge_stack
from tpuplane_policies.core.ledger import Ledger
from tpuplane_policies.core.registry import Rule, rules
from tpuplane_policies.core.resources import Resource, Stack, matches
from tpuplane_policies.core.values import UNKNOWN
from tpuplane_policies.rules.change import report_undecided

EXEMPTIONS = {
    "type": "array",
    "description": "Resources that the rule leaves alone, each for a reason and until a day.",
    "items": {
        "type": "object",
        "required": ["resource", "reason", "until"],
        "additionalProperties": False,
        "properties": {
            "resource": {"type": "string", "description": "Logical name or URN; * stands for anything."},
            "reason": {"type": "string", "minLength": 1},
            "until": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$", "description": "The last day."},
        },
    },
}


def policies(chosen: Sequence[Rule] | None = None) -> list[Policy]:
    """Every rule as a policy of its own name, so that levels, options and exemptions are set rule by rule.

    A rule that judges single resources and the whole stack is two policies: `TPU007` and `TPU007-stack`. They share
    one ledger of what could be decided, which the last ones, of the group "change", read.
    """
    ledger = Ledger()
    report_undecided(ledger)
    made: list[Policy] = []
    for rule in rules() if chosen is None else chosen:
        if rule.checks:
            made.append(_resource_policy(rule, ledger))
        if rule.stack_checks:
            made.append(_stack_policy(rule, ledger, f"{rule.id}-stack" if rule.checks else rule.id))
    return made


def _resource_policy(rule: Rule, ledger: Ledger) -> Policy:
    def validate(args: ResourceValidationArgs, report: ReportViolation) -> None:
        if any(matches(check.types, args.resource_type) for check in rule.checks):
            violations = judge_resource(rule, _resource(args), args.get_config(), ledger, datetime.now(UTC).date())
            _report(violations, report)

    return ResourceValidationPolicy(name=rule.id, validate=validate, **_metadata(rule))


def _stack_policy(rule: Rule, ledger: Ledger, name: str) -> Policy:
    def validate(args: StackValidationArgs, report: ReportViolation) -> None:
        stack = Stack(tuple(_resource(it) for it in args.resources))
        _report(judge_stack(rule, stack, args.get_config(), ledger, datetime.now(UTC).date()), report)

    return StackValidationPolicy(name=name, validate=validate, **_metadata(rule))


def _metadata(rule: Rule) -> dict[str, Any]:
    return {
        "description": rule.title,
        "display_name": f"{rule.id} {rule.title}",
        "enforcement_level": EnforcementLevel(rule.level),
        "severity": Severity(rule.severity),
        "framework": PolicyComplianceFramework("CIS GKE", "1.4", specification=", ".join(rule.cis))
        if rule.cis
        else None,
        "tags": [rule.group, *rule.checkov, *rule.trivy],
        "remediation_steps": rule.remedy,
        "config_schema": PolicyConfigSchema(
            {**{k: dict(v) for k, v in rule.options.items()}, "exemptions": EXEMPTIONS}
        ),
    }


def _report(violations: Iterable[Violation], report: ReportViolation) -> None:
    for it in violations:
        report(it.message, it.resource.urn if it.resource else None)


def _resource(it: ResourceValidationArgs | PolicyResource) -> Resource:
    return Resource(
        type=it.resource_type,
        name=it.name,
        urn=it.urn,
        load=lambda: written(it) if isinstance(it, PolicyResource) else plain(it.props),
        protect=it.opts.protect,
        delete_before_replace=it.opts.delete_before_replace,
        ignore_changes=tuple(it.opts.ignore_changes),
    )


def written(it: PolicyResource) -> dict[str, Any]:
    """The properties of a resource of a stack, without those that its provider will choose.

    A stack is judged by outputs. What is unknown there, and comes from no other resource, nobody wrote.
    """
    props: dict[str, Any] = plain(it.props)
    return {
        name: value if it.property_dependencies.get(name) else _known(value)
        for name, value in props.items()
        if value is not UNKNOWN or it.property_dependencies.get(name)
    }


def _known(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _known(below) for key, below in value.items() if below is not UNKNOWN}
    if isinstance(value, list):
        return [_known(element) for element in value if element is not UNKNOWN]
    return value


def plain(props: Any) -> Any:
    """The SDK's properties as plain values. It raises at the touch of an unknown one; here UNKNOWN stands there."""
    if isinstance(props, Mapping):
        return {key: _item(props, key) for key in props}
    if isinstance(props, Sequence) and not isinstance(props, str | bytes):
        return [_item(props, index) for index in range(len(props))]
    return props


def _item(of: Any, key: Any) -> Any:
    try:
        return plain(of[key])
    except UnknownValueError:
        return UNKNOWN
