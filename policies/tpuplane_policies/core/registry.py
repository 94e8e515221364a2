"""Joins what is written about a rule (`data/*.yaml`) with the functions that judge (`rules/*.py`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.resources import files
from pkgutil import iter_modules
from typing import Any, Literal, TypeVar, cast

import yaml

from tpuplane_policies.core.judging import PlanCheck, ResourceCheck, ResourceRepair, StackCheck

GROUPS = ("gke", "tpu", "queueing", "workload", "project", "change")
"""Files of `data`, in the order in which the pack runs their rules: "change" says what the others could not decide."""

Level = Literal["advisory", "mandatory", "disabled"]
BLOCKING = ("mandatory", "remediate")
"""Levels whose violations fail a gate: what remediation could not put right does."""


@dataclass(frozen=True, slots=True)
class Check:
    """One function of a rule. `types`: the resource types that it judges, as regular expressions."""

    function: Callable[..., Any]
    types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: what it asks for and why, what it is called elsewhere, and the functions that judge."""

    id: str
    group: str
    title: str
    severity: Literal["low", "medium", "high", "critical"]
    why: str
    remedy: str
    level: Level = "mandatory"
    checkov: tuple[str, ...] = ()
    trivy: tuple[str, ...] = ()
    cis: tuple[str, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)
    """The stack file's fields by the properties that our components make of them, for the remedy."""
    about: Literal["", "mandatory", "advisory"] = ""
    """A rule about the run itself: what rules of this level could not decide."""
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """JSON schemas of what a stack may set, each with its default."""
    checks: tuple[Check, ...] = ()
    stack_checks: tuple[Check, ...] = ()
    plan_checks: tuple[Check, ...] = ()
    """For what Pulumi tells no policy pack: what a plan replaces, and with which options (`plangate`)."""
    repairs: tuple[Check, ...] = ()
    """What puts a resource right, where a stack sets the rule's level to `remediate`."""

    @property
    def defaults(self) -> dict[str, Any]:
        """The options as they are where a stack sets none."""
        return {name: schema.get("default") for name, schema in self.options.items()}


_F = TypeVar("_F", bound=Callable[..., Any])
_WRITTEN: dict[str, dict[str, list[Check]]] = {}
_KINDS = ("checks", "stack_checks", "plan_checks", "repairs")


def _register(kind: str, rule_id: str, *types: str) -> Callable[[_F], _F]:
    def register(function: _F) -> _F:
        _WRITTEN.setdefault(rule_id, {}).setdefault(kind, []).append(Check(function, types))
        return function

    return register


def resource_rule(rule_id: str, *types: str) -> Callable[[ResourceCheck], ResourceCheck]:
    """Make a function a check of a rule, for resources of these types, one at a time."""
    return _register("checks", rule_id, *types)


def stack_rule(rule_id: str) -> Callable[[StackCheck], StackCheck]:
    """Make a function a check of a rule, for all resources of a stack at once."""
    return _register("stack_checks", rule_id)


def plan_rule(rule_id: str) -> Callable[[PlanCheck], PlanCheck]:
    """Make a function a check of a rule, for a plan: what `pulumi preview --json` says."""
    return _register("plan_checks", rule_id)


def repair_rule(rule_id: str, *types: str) -> Callable[[ResourceRepair], ResourceRepair]:
    """Make a function put resources of these types right, where that changes nothing that runs."""
    return _register("repairs", rule_id, *types)


@cache
def rules() -> tuple[Rule, ...]:
    """Every rule.

    Raises:
        ValueError: if a rule is described and not written, or written and not described, or judges resources and
            stacks, which would be two policies: a mistake in the pack.

    """
    for module in iter_modules(import_module("tpuplane_policies.rules").__path__):
        import_module(f"tpuplane_policies.rules.{module.name}")
    found = tuple(_rule(group, rule_id, text) for group in GROUPS for rule_id, text in _described(group).items())
    if mixed := [rule.id for rule in found if bool(rule.checks) + bool(rule.stack_checks) + bool(rule.plan_checks) > 1]:
        raise ValueError(f"rules that judge more than one kind of thing: {', '.join(mixed)}")
    odd = {*_WRITTEN} ^ {rule.id for rule in found if not rule.about}
    if odd:
        raise ValueError(f"rules that are only described or only written: {', '.join(sorted(odd))}")
    return found


def _described(group: str) -> dict[str, dict[str, Any]]:
    text = files("tpuplane_policies").joinpath(f"data/{group}.yaml").read_text(encoding="utf-8")
    return cast("dict[str, dict[str, Any]]", yaml.safe_load(text) or {})


def _rule(group: str, rule_id: str, text: Mapping[str, Any]) -> Rule:
    written = _WRITTEN.get(rule_id, {})
    return Rule(
        id=rule_id,
        group=group,
        **{name: tuple(it) if isinstance(it, list) else it for name, it in text.items()},
        **{kind: tuple(written.get(kind, ())) for kind in _KINDS},
    )
