"""The rules as policies of Pulumi's SDK, and the pack that serves them: the SDK is met here and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import grpc
import pulumi_policy.policy as sdk
from pulumi.runtime.proto import analyzer_pb2 as proto
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

from tpuplane_policies.core.config import EXEMPTIONS, SHIPPED, ConfigError, read, settings
from tpuplane_policies.core.invocation import given
from tpuplane_policies.core.registry import Rule, rules
from tpuplane_policies.core.resources import Resource, Stack, matches
from tpuplane_policies.core.run import Run, Violation
from tpuplane_policies.core.values import SENTINELS, UNKNOWN

PLAN_ONLY = "judged from a plan, by tpuplane-plan-gate"


class Gate:
    """What the policies of one pack share: the run that keeps what they find, and the resources as they are written.

    A stack is shown by its outputs. Of a resource whose provider is not configured yet, such as all that is in a
    cluster which the preview is to make, there are none, and a rule would pass it unread. So a stack is judged by
    what was seen of its resources one by one.
    """

    def __init__(self, chosen: Iterable[Rule]) -> None:
        self.rules = tuple(chosen)
        self._run: Run | None = None
        self._resources: dict[str, Resource] = {}

    def configure(self, config: Mapping[str, Any], where: str, others: Sequence[str] = ()) -> None:
        """Take the configuration. Raises `ConfigError` where it is wrong."""
        judged = [rule for rule in self.rules if not rule.plan_checks]
        self._run = Run(judged, settings(config, where, self.rules, others), datetime.now(UTC).date())

    @property
    def run(self) -> Run:
        """The run. A pack of the SDK's own would judge without its configuration, so it does not judge."""
        if self._run is None:
            raise RuntimeError("serve these policies by tpuplane_policies.pack.PolicyPack, which reads their config")
        return self._run

    def look(self, urn: str) -> None:
        """Begin anew with a resource: the engine shows it for the first time, or again."""
        self._resources.pop(urn, None)

    def one(self, args: ResourceValidationArgs) -> Resource:
        """The resource of this call: the same object for every rule, so that its properties are read once."""
        return self._resources.setdefault(args.urn, _resource(args))

    def all(self, args: StackValidationArgs) -> Stack:
        """The resources of the stack as they are written, where they were seen, else as they are."""
        return Stack(tuple(self._resources.get(it.urn) or _resource(it) for it in args.resources))


class PolicyPack:
    """Serves policies, ours and others: the SDK's `PolicyPack` with a configuration that is read strictly."""

    def __init__(self, name: str, policies: list[Policy]) -> None:
        setattr(sdk, "_PolicyAnalyzerServicer", Servicer)  # noqa: B010 - the SDK offers no other way in
        sdk.PolicyPack(name, policies)


class Servicer(sdk._PolicyAnalyzerServicer):  # type: ignore[misc]
    """What the engine asks a pack. The SDK answers; here are what it leaves out and what it says twice."""

    def __init__(self, name: str, version: str, policies: list[Policy], *further: Any) -> None:
        super().__init__(name, version, policies, *further)
        self._pack = {"policyPackName": name, "policyPackVersion": version}
        gates = {id(gate): gate for policy in policies if (gate := getattr(policy, "gate", None))}
        self.gates: list[Gate] = list(gates.values())
        self.others = [policy.name for policy in policies if not hasattr(policy, "gate")]
        self.hint = ""

    def ConfigureStack(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Before the engine itself reads the configuration, whose errors name neither file nor what is allowed."""
        file = given()
        shipped = SHIPPED / f"{request.stack}.json"
        if file is not None:
            self._configure(lambda: read(file), str(file), context)
        elif shipped.exists():
            self.hint = f"no configuration, so every rule is at its strictest: give --policy-pack-config {shipped}"
        return super().ConfigureStack(request, context)

    def Configure(self, request: Any, context: grpc.ServicerContext) -> Any:
        """The configuration as the engine hands it on: the levels of all rules, and their options."""
        config = {
            name: {**sdk.json_format.MessageToDict(it.properties), "enforcementLevel": _level(it)}
            for name, it in request.policyConfig.items()
        }
        self._configure(lambda: config, "--policy-pack-config", context)
        return super().Configure(request, context)

    def Analyze(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Judge one resource."""
        for gate in self.gates:
            gate.look(request.urn)
        return _once(super().Analyze(request, context))

    def AnalyzeStack(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Judge the stack; at the end stand the totals, and what became of the exemptions."""
        response = _once(super().AnalyzeStack(request, context))
        lines = [line for gate in self.gates for line in gate.run.summary()]
        if lines:
            lines += [self.hint] if self.hint else []
            response.diagnostics.append(
                proto.AnalyzeDiagnostic(policyName="total", message=_apart("\n".join(lines)), **self._pack)
            )
        return response

    def _configure(self, config: Callable[[], Any], where: str, context: grpc.ServicerContext) -> None:
        try:
            known = config()
            for gate in self.gates:
                gate.configure(known, where, self.others)
        except ConfigError as error:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))


def _level(config: Any) -> str:
    return str(proto.EnforcementLevel.Name(config.enforcementLevel)).lower()


def _once(response: Any) -> Any:
    """What the SDK answers, without the rule's title before each of its findings."""
    for it in response.diagnostics:
        it.message = _apart(it.message.removeprefix(f"{it.description}\n"))
    return response


def _apart(message: str) -> str:
    """A message with a space before each line: with `--diff`, the engine puts it behind the resource without any."""
    return f" {message}".replace("\n", "\n ")


def policies(chosen: Sequence[Rule] | None = None) -> list[Policy]:
    """Every rule as a policy of its own name, so that levels, options and exemptions are set rule by rule.

    `PolicyPack` of this module serves them, with policies of others beside them. A rule that judges a plan is
    there for its configuration only: the two gates have one file.
    """
    gate = Gate(rules() if chosen is None else chosen)
    return [_policy(rule, gate) for rule in gate.rules]


def _policy(rule: Rule, gate: Gate) -> Policy:
    def resource(args: ResourceValidationArgs, report: ReportViolation) -> None:
        it = gate.one(args)  # whether or not this rule judges it: another one judges the stack
        if any(matches(check.types, it.type) for check in rule.checks):
            _report(gate.run.resource(rule, it), report)

    def remediate(args: ResourceValidationArgs) -> Mapping[str, Any] | None:
        found = gate.run.repairs(rule, _resource(args))
        for keys, value in found:
            _put(args.props, keys, value)
        return args.props if found else None

    def stack(args: StackValidationArgs, report: ReportViolation) -> None:
        if rule.plan_checks:
            args.not_applicable(PLAN_ONLY)
        _report(gate.run.about(rule) if rule.about else gate.run.stack(rule, gate.all(args)), report)

    made: Policy
    if rule.checks:
        repair = remediate if rule.repairs else None
        made = ResourceValidationPolicy(name=rule.id, validate=resource, remediate=repair, **_metadata(rule))
    else:
        made = StackValidationPolicy(name=rule.id, validate=stack, **_metadata(rule))
    made.gate = gate
    return made


def _put(props: Any, keys: tuple[str, ...], value: Any) -> None:
    # Into the SDK's own mapping, which keeps secrets and unknown values as they are.
    *above, last = keys
    for key in above:
        if props.get(key) is None:
            props[key] = {}
        props = props[key]
    props[last] = value


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
        report(it.text, it.resource.urn if it.resource else None)


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
