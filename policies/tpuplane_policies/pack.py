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

from tpuplane_policies.core.engine import Violation, judge_resource, judge_stack, repairs
from tpuplane_policies.core.ledger import Ledger
from tpuplane_policies.core.registry import Rule, rules
from tpuplane_policies.core.resources import Resource, Stack, matches
from tpuplane_policies.core.values import SENTINELS, UNKNOWN
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
    ledger, seen = Ledger(), _Seen()
    report_undecided(ledger)
    made: list[Policy] = []
    for rule in rules() if chosen is None else chosen:
        if rule.checks:
            made.append(_resource_policy(rule, ledger, seen))
        if rule.stack_checks:
            made.append(_stack_policy(rule, ledger, seen, f"{rule.id}-stack" if rule.checks else rule.id))
    return made


class _Seen:
    """The resources that were judged one by one, with their inputs.

    A stack is shown by its outputs. Of a resource whose provider is not configured yet, such as all that is in a
    cluster which the preview is to make, there are none, and a rule would pass it unread.
    """

    def __init__(self) -> None:
        self._resources: dict[str, tuple[int, Resource]] = {}
        self._turns = 0

    def next_turn(self) -> int:
        """The place of one more rule among those that the SDK asks."""
        self._turns += 1
        return self._turns

    def one(self, args: ResourceValidationArgs, turn: int) -> Resource:
        """The resource of this call: the same object for every rule, so that its properties are read once.

        The SDK asks the rules in turn. A turn that is not after the last one is a new look at a resource.
        """
        last, known = self._resources.get(args.urn, (turn, None))
        if known is None or turn <= last:
            known = _resource(args)
        self._resources[args.urn] = turn, known
        return known

    def all(self, args: StackValidationArgs) -> Stack:
        """The resources of the stack as they are written, where they were seen, else as they are."""
        return Stack(tuple(self._resources.get(it.urn, (0, None))[1] or _resource(it) for it in args.resources))


def _resource_policy(rule: Rule, ledger: Ledger, seen: _Seen) -> Policy:
    turn = seen.next_turn()

    def validate(args: ResourceValidationArgs, report: ReportViolation) -> None:
        resource = seen.one(args, turn)
        if any(matches(check.types, args.resource_type) for check in rule.checks):
            violations = judge_resource(rule, resource, args.get_config(), ledger, datetime.now(UTC).date())
            _report(violations, report)

    def remediate(args: ResourceValidationArgs) -> Mapping[str, Any] | None:
        found = repairs(rule, _resource(args), args.get_config(), datetime.now(UTC).date())
        for keys, value in found:
            _put(args.props, keys, value)
        return args.props if found else None

    return ResourceValidationPolicy(
        name=rule.id, validate=validate, remediate=remediate if rule.repairs else None, **_metadata(rule)
    )


def _put(props: Any, keys: tuple[str, ...], value: Any) -> None:
    # Into the SDK's own mapping, which keeps secrets and unknown values as they are.
    *above, last = keys
    for key in above:
        if props.get(key) is None:
            props[key] = {}
        props = props[key]
    props[last] = value


def _stack_policy(rule: Rule, ledger: Ledger, seen: _Seen, name: str) -> Policy:
    def validate(args: StackValidationArgs, report: ReportViolation) -> None:
        _report(judge_stack(rule, seen.all(args), args.get_config(), ledger, datetime.now(UTC).date()), report)

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
    return UNKNOWN if isinstance(props, str) and props in SENTINELS else props


def _item(of: Any, key: Any) -> Any:
    try:
        return plain(of[key])
    except UnknownValueError:
        return UNKNOWN
