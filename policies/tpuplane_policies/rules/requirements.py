"""Conditions on single properties: the entries `requires` of `data/*.yaml`.

`of` names resource types of `kinds`. `property` is a path in the resource, or in each part of it that `each` names. The
condition is `is` or `one of`; it also holds if one of the properties `unless` is true. `wrong`, `like` and `remedy` are
those of a finding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tpuplane_policies.core.judging import Demands, Options, demand
from tpuplane_policies.core.registry import GROUPS, data, resource_rule
from tpuplane_policies.core.resources import CLUSTER, POOL, Resource
from tpuplane_policies.core.values import Truth, Value
from tpuplane_policies.rules import kinds
from tpuplane_policies.rules.pods import all_containers, pod_specs
from tpuplane_policies.rules.pools import node_configs

CONDITIONS: Mapping[str, Callable[[Value], Truth]] = {
    "set": lambda value: value.is_set,
    "true": lambda value: value.is_true,
    "false": lambda value: value.is_false,
    "not true": lambda value: ~value.is_true,
    "not false": lambda value: ~value.is_false,
}
TYPES: Mapping[str, Any] = {"CLUSTER": CLUSTER, "POOL": POOL, **vars(kinds)}
PARTS: Mapping[str, Callable[[Resource], Iterable[Value]]] = {
    "resource": lambda resource: (resource.props,),
    "node config": node_configs,
    "pod": pod_specs,
    "container": lambda resource: (container for _, container in all_containers(resource)),
}


def _register(rule_id: str, raw: Mapping[str, Any]) -> None:
    parts, allowed = PARTS[raw.get("each", "resource")], tuple(raw.get("one of", ()))
    condition = (lambda value: value.one_of(*allowed)) if allowed else CONDITIONS[raw["is"]]

    def check(resource: Resource, options: Options) -> Demands:
        for part in parts(resource):
            at = part[raw["property"]]
            holds = condition(at)
            for other in raw.get("unless", ()):
                holds |= resource[other].is_true
            yield demand(holds, at, raw["wrong"], like=raw.get("like", ""), remedy=raw.get("remedy", ""))

    types = [TYPES[name] for name in raw["of"].split()]
    resource_rule(rule_id, *(it for kind in types for it in ((kind,) if isinstance(kind, str) else kind)))(check)


for _group in GROUPS:
    for _id, _rule in data(_group).items():
        for _entry in _rule.get("requires", ()):
            _register(_id, _entry)
