"""The rules as policies of Pulumi's SDK, and the pack that serves them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from datetime import UTC, datetime
from typing import Any

import grpc
import pulumi_policy.policy as sdk
from pulumi.runtime.proto import analyzer_pb2 as proto

from tpuplane_policies.core.config import SHIPPED, ConfigError, config_file, read, settings
from tpuplane_policies.core.registry import Rule, data, rules
from tpuplane_policies.core.resources import Resource, Stack, matches, types_within
from tpuplane_policies.core.run import Run, Violation
from tpuplane_policies.rules.operators import unseen
from tpuplane_policies.shown import shown

PLAN_ONLY = "judged from a plan, by tpuplane-plan-gate"


class Gate:
    """The state that the policies of one pack share: the run with its results, and the inputs of resources.

    The engine shows the outputs of a stack. An object in a cluster that a preview creates has no outputs, because its
    provider is not configured yet, and a rule would pass it. Therefore, rules judge a stack by the inputs that the
    engine showed before for each resource.
    """

    def __init__(self, chosen: Iterable[Rule]) -> None:
        self.rules = tuple(chosen)
        self._run: Run | None = None
        self._resources: dict[str, Resource] = {}
        self._stack: Stack | None = None

    def configure(self, config: Mapping[str, Any], where: str, others: Sequence[str] = ()) -> None:
        """Set the configuration. Raises `ConfigError` if it has mistakes."""
        judged = [rule for rule in self.rules if rule.checks or not rule.plan_checks]
        self._run = Run(judged, settings(config, where, self.rules, others), datetime.now(UTC).date())

    @property
    def run(self) -> Run:
        """The run. It fails for policies in the SDK's own PolicyPack, which does not configure them."""
        if self._run is None:
            raise RuntimeError("serve these policies by tpuplane_policies.pack.PolicyPack, which reads their config")
        return self._run

    def forget(self, urn: str) -> None:
        """Drop a resource that the engine shows again."""
        self._resources.pop(urn, None)

    def keep_stack(self, resources: Iterable[Any]) -> bool:
        """Keep the stack for all rules. False if the engine has not shown the inputs of each resource before."""
        inputs = [self._resources.get(message.urn) for message in resources]
        known = tuple(resource for resource in inputs if resource)
        self._stack = Stack(known) if len(known) == len(inputs) else None
        return self._stack is not None

    def decide(self, resources: Iterable[Any]) -> None:
        """Decide rules by the dependencies that the engine reports. The SDK omits those outside the stack."""
        dependencies = {
            message.urn: {
                name: [self._resources.get(urn) for urn in behind.urns]
                for name, behind in message.propertyDependencies.items()
            }
            for message in resources
        }
        self.run.decide(lambda resource: dependencies.get(resource.urn, {}))

    def resource(self, args: sdk.ResourceValidationArgs) -> Resource:
        """The resource of this call: one object for all rules, so that its properties are read once."""
        return self._resources.setdefault(args.urn, shown(args))

    def stack(self, args: sdk.StackValidationArgs) -> Stack:
        """The stack, with the inputs of each resource that the engine has shown, and the outputs of the others."""
        return self._stack or Stack(tuple(self._resources.get(each.urn) or shown(each) for each in args.resources))


class PolicyPack:
    """The SDK's `PolicyPack` with strict reading of the configuration. It serves these policies and others."""

    def __init__(self, name: str, policies: list[sdk.Policy]) -> None:
        setattr(sdk, "_PolicyAnalyzerServicer", Servicer)  # noqa: B010 - the SDK has no hook for this
        sdk.PolicyPack(name, policies)


class Servicer(sdk._PolicyAnalyzerServicer):  # type: ignore[misc]
    """The SDK's servicer, with strict reading of the configuration, a summary, and no repeated titles."""

    def __init__(self, name: str, version: str, policies: list[sdk.Policy], *further: Any) -> None:
        super().__init__(name, version, policies, *further)
        self._pack = {"policyPackName": name, "policyPackVersion": version}
        gates = {id(gate): gate for policy in policies if (gate := getattr(policy, "gate", None))}
        self.gates: list[Gate] = list(gates.values())
        self.others = [policy.name for policy in policies if not hasattr(policy, "gate")]
        self.hint = ""
        self._by_type: dict[str, list[sdk.Policy]] = {}

    def ConfigureStack(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Read the configuration file before the engine does: its errors name neither the file nor allowed values."""
        file = config_file()
        shipped = SHIPPED / f"{request.stack}.json"
        if file is not None:
            self._configure(lambda: read(file), str(file), context)
        elif shipped.exists():
            self.hint = f"no configuration, so every rule has its default level; use --policy-pack-config {shipped}"
        return super().ConfigureStack(request, context)

    def Configure(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Take the configuration from the engine: the levels of all rules and their options."""
        config = {
            name: {**sdk.json_format.MessageToDict(entry.properties), "enforcementLevel": _level(entry)}
            for name, entry in request.policyConfig.items()
        }
        self._configure(lambda: config, "--policy-pack-config", context)
        return super().Configure(request, context)

    def Analyze(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Judge one resource by the policies about its type. The SDK reads what it gets for each policy."""
        props = sdk.deserialize_properties(sdk.json_format.MessageToDict(request.properties))
        place = (request.type, sdk.unknown_checking_proxy(props), request.urn, request.name)
        for gate in self.gates:
            gate.forget(request.urn)
            options, provider = self._get_resource_options(request), self._get_provider_resource(request)
            gate.resource(sdk.ResourceValidationArgs(*place, options, provider))
        if not self.others:
            request.ClearField("properties")
            request.ClearField("provider")
        judging = copy(self)
        setattr(judging, _POLICIES, self._about(request.type))
        return _without_titles(super(Servicer, judging).Analyze(request, context))

    def Remediate(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Repair one resource. The SDK reads it also if no policy repairs."""
        levels = map(self._get_enforcement_level, getattr(self, _POLICIES))
        repairs = sdk.EnforcementLevel.REMEDIATE in levels
        return super().Remediate(request, context) if repairs else proto.RemediateResponse()

    def AnalyzeStack(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Judge the stack, and add the summary of the run. The SDK reads all resources for each policy."""
        for gate in self.gates:
            gate.decide(request.resources)
        kept = [gate.keep_stack(request.resources) for gate in self.gates]
        if all(kept) and not self.others:
            request.ClearField("resources")
        response = _without_titles(super().AnalyzeStack(request, context))
        runs = [gate.run for gate in self.gates]
        lines = [line for run in runs for line in ([run.totals] if run.found else []) + [*run.exemptions()]]
        if lines:
            lines += [self.hint] if self.hint else []
            message = _indented("\n".join(lines))
            response.diagnostics.append(proto.AnalyzeDiagnostic(policyName="total", message=message, **self._pack))
        return response

    def _about(self, type_: str) -> list[sdk.Policy]:
        """The policies about resources of a type. Policies of others, which have no rule, judge every resource."""
        if type_ not in self._by_type:
            each = [(policy, getattr(policy, "rule", None)) for policy in getattr(self, _POLICIES)]
            self._by_type[type_] = [policy for policy, rule in each if rule is None or _is_about(rule, type_)]
        return self._by_type[type_]

    def _configure(self, config: Callable[[], Any], where: str, context: grpc.ServicerContext) -> None:
        try:
            entries = config()
            for gate in self.gates:
                gate.configure(entries, where, self.others)
        except ConfigError as error:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))


_POLICIES = "_PolicyAnalyzerServicer__policies"
"""The SDK's private list of the policies that it calls."""


def _is_about(rule: Rule, type_: str) -> bool:
    return any(matches(check.types, part) for check in rule.checks for part in types_within(type_))


def _level(config: Any) -> str:
    return str(proto.EnforcementLevel.Name(config.enforcementLevel)).lower()


def _without_titles(response: Any) -> Any:
    """The response without the rule's title before each finding."""
    for diagnostic in response.diagnostics:
        diagnostic.message = _indented(diagnostic.message.removeprefix(f"{diagnostic.description}\n"))
    return response


def _indented(message: str) -> str:
    """A message with a space before each line: with `--diff`, the engine adds none after the resource."""
    return f" {message}".replace("\n", "\n ")


def policies(chosen: Sequence[Rule] | None = None) -> list[sdk.Policy]:
    """One policy for each rule, so that a configuration sets level, options and exemptions of each.

    Serve them with `PolicyPack` of this module, together with your own policies. By default all rules are `chosen`,
    also those that judge a plan, because both gates read the same configuration file.
    """
    gate = Gate(rules() if chosen is None else chosen)
    return [_policy(rule, gate) for rule in gate.rules]


def _policy(rule: Rule, gate: Gate) -> sdk.Policy:
    def resource(args: sdk.ResourceValidationArgs, report: sdk.ReportViolation) -> None:
        _report(gate.run.resource(rule, gate.resource(args)), report)

    def remediate(args: sdk.ResourceValidationArgs) -> Mapping[str, Any] | None:
        repairs = gate.run.repairs(rule, shown(args))
        for keys, value in repairs:
            _put(args.props, keys, value)
        return args.props if repairs else None

    def stack(args: sdk.StackValidationArgs, report: sdk.ReportViolation) -> None:
        if rule.plan_checks:
            args.not_applicable(PLAN_ONLY)
        judged = gate.stack(args)
        if rule.about:
            gate.run.hide(unseen(judged))
        _report(gate.run.about(rule) if rule.about else gate.run.whole(rule, judged), report)

    policy: sdk.Policy
    if rule.checks:
        repair = remediate if rule.repairs else None
        policy = sdk.ResourceValidationPolicy(name=rule.id, validate=resource, remediate=repair, **_metadata(rule))
    else:
        policy = sdk.StackValidationPolicy(name=rule.id, validate=stack, **_metadata(rule))
    policy.gate, policy.rule = gate, rule
    return policy


def _put(props: Any, keys: tuple[str, ...], value: Any) -> None:
    # Changes the SDK's own mapping, which keeps secrets and unknown values.
    *above, last = keys
    for key in above:
        if props.get(key) is None:
            props[key] = {}
        props = props[key]
    props[last] = value


def _metadata(rule: Rule) -> dict[str, Any]:
    framework = sdk.PolicyComplianceFramework("CIS GKE", "1.4", specification=", ".join(rule.cis))
    options = {**{name: dict(schema) for name, schema in rule.options.items()}, "exemptions": data("exemptions")}
    return {
        "description": rule.title,
        "display_name": f"{rule.id} {rule.title}",
        "enforcement_level": sdk.EnforcementLevel(rule.level),
        "severity": sdk.Severity(rule.severity),
        "framework": framework if rule.cis else None,
        "tags": [rule.group, *rule.checkov, *rule.trivy],
        "remediation_steps": rule.remedy,
        "config_schema": sdk.PolicyConfigSchema(options),
    }


def _report(violations: Iterable[Violation], report: sdk.ReportViolation) -> None:
    for violation in violations:
        report(violation.text, violation.resource.urn if violation.resource else None)
