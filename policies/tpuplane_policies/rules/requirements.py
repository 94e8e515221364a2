"""Conditions on single properties: the entries `requires` of `data/*.yaml`.

`of` names resource types of `KINDS`. `property` is a path in the resource, or in each part of it that `each` names;
without it, the condition is on the whole part. The key of the condition is one of `CONDITIONS`; its value can be the
name of a list in `KINDS`. A requirement is also met if one of the conditions in `or` holds, or if one of the properties
in `unless` is true. Findings get `wrong`, `like` and `remedy`; `like if` adds equivalent checks under a condition.
`{path}` in a remedy is the path of the property.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from tpuplane_policies.core.judging import Demands, Options, demand
from tpuplane_policies.core.registry import GROUPS, data, resource_rule
from tpuplane_policies.core.resources import CLUSTER, POOL, Resource
from tpuplane_policies.core.values import NOTHING, Truth, Value
from tpuplane_policies.rules.argo import every
from tpuplane_policies.rules.kinds import KINDS
from tpuplane_policies.rules.pods import all_containers, pod_specs
from tpuplane_policies.rules.pools import node_configs
from tpuplane_policies.rules.project import is_world

STATES: Mapping[str, Callable[[Value], Truth]] = {
    "set": lambda value: value.is_set,
    "mapping": lambda value: value.mapping.is_set,
    "named": lambda value: value.scalar.is_set,
    "true": lambda value: value.is_true,
    "false": lambda value: value.is_false,
    "not true": lambda value: ~value.is_true,
    "not false": lambda value: ~value.is_false,
    "not set": lambda value: ~value.is_set,
    "given": lambda value: ~value.mapping.test(lambda raw: raw in NOTHING),
    "not given": lambda value: value.one_of(None),
    "absent": lambda _: Truth(False),
    "not the internet": lambda value: ~value.scalar.test(is_world),
}
NAMES: Mapping[str, Any] = {"CLUSTER": CLUSTER, "POOL": POOL, **KINDS}
PARTS: Mapping[str, Callable[[Resource], Iterable[Value]]] = {
    "resource": lambda resource: (resource.props,),
    "node config": node_configs,
    "authorized network": lambda resource: resource["masterAuthorizedNetworksConfig.cidrBlocks"].each(),
    "disk": lambda resource: (*resource["bootDisk"].each(), *resource["attachedDisks"].each()),
    "network": lambda resource: resource["networkConfigs"].each(),
    "node": lambda resource: resource["tpu.nodeSpecs"].each(),
    "subject": lambda resource: resource["subjects"].each(),
    "pod": pod_specs,
    "volume": lambda resource: (volume for pod in pod_specs(resource) for volume in every(pod, "volumes")),
    "container": lambda resource: (container for _, container in all_containers(resource)),
    "variable": lambda resource: _in_containers(resource, "env"),
    "source of variables": lambda resource: _in_containers(resource, "envFrom"),
    "added capability": lambda resource: _in_containers(resource, "securityContext.capabilities.add"),
}


def _in_containers(resource: Resource, field: str) -> Iterator[Value]:
    return (element for _, container in all_containers(resource) for element in container[field].each())


def _listed(values: Any) -> Sequence[Any]:
    return NAMES[values] if isinstance(values, str) else values


def _matches(at: Value, pattern: str) -> Truth:
    return at.scalar.test(lambda raw: re.fullmatch(pattern, str(raw or "")) is not None)


def _number(raw: Any) -> Any:
    """The number in a text, which a provider also accepts; any other value as it is."""
    try:
        return float(raw) if isinstance(raw, str) else raw
    except ValueError:
        return raw


CONDITIONS: Mapping[str, Callable[[Value, Any], Truth]] = {
    "is": lambda at, state: STATES[state](at),
    "one of": lambda at, values: at.one_of(*_listed(values)),
    "none of": lambda at, values: ~at.one_of(*_listed(values)) & ~at.test(lambda raw: _number(raw) in _listed(values)),
    "matches": _matches,
    "matches not": lambda at, pattern: ~_matches(at, pattern),
    "contains": lambda at, value: at.contains(value),
    "contains not": lambda at, value: ~at.contains(value),
    "contains a match": lambda at, pattern: at.any(lambda raw: re.fullmatch(pattern, str(raw)) is not None),
}


def _property(raw: Mapping[str, Any], part: Value) -> Value:
    return part[raw["property"]] if "property" in raw else part


def _holds(raw: Mapping[str, Any], part: Value) -> Truth:
    """Whether a part of a resource meets a condition or one of its alternatives."""
    truth = Truth(False)
    for name, condition in CONDITIONS.items():
        if name in raw:
            truth = condition(_property(raw, part), raw[name])
    for other in raw.get("or", ()):
        truth |= _holds(other, part)
    for name in raw.get("unless", ()):
        truth |= part[name].is_true
    return truth


def _register(rule_id: str, raw: Mapping[str, Any]) -> None:
    parts, also = PARTS[raw.get("each", "resource")], raw.get("like if")

    def check(resource: Resource, options: Options) -> Demands:
        for part in parts(resource):
            like = raw.get("like", "")
            if also and _holds(also, part).holds:
                like = f"{like} {also['like']}"
            at = _property(raw, part)
            remedy = raw.get("remedy", "").replace("{path}", at.path)
            yield demand(_holds(raw, part), at, raw["wrong"], like=like, remedy=remedy)

    types = [NAMES[name] for name in raw["of"].split()]
    patterns = (pattern for kind in types for pattern in ((kind,) if isinstance(kind, str) else kind))
    resource_rule(rule_id, *patterns)(check)


for _group in GROUPS:
    for _id, _rule in data(_group).items():
        for _entry in _rule.get("requires", ()):
            _register(_id, _entry)
