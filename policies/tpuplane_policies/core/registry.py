"""Joins the description of each rule (`data/*.yaml`) with the functions that check it (`rules/*.py`)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Literal, TypeVar

from tpuplane.data_files import read_data

from tpuplane_policies.core.judging import PlanCheck, ResourceCheck, ResourceRepair, StackCheck

data = cache(partial(read_data, "tpuplane_policies"))
"""The contents of the file of `data` with a name."""

GROUPS = ("gke", "tpu", "queueing", "workload", "project", "change")
"""Files of `data` with rules, in the order in which the pack runs them."""

Level = Literal["advisory", "mandatory", "disabled"]
BLOCKING = ("mandatory", "remediate")
"""Levels whose violations fail a gate. With `remediate`, these are the violations that remain."""


@dataclass(frozen=True, slots=True)
class Check:
    """One function of a rule. `types` are regular expressions of resource types."""

    function: Callable[..., Any]
    types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: its description, the equivalent checks of other tools, and its functions."""

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
    """For the remedy: the fields of the stack file that set each property."""
    about: Literal["", "mandatory", "advisory"] = ""
    """The level of the rules whose undecided results this rule reports; empty for every other rule."""
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """JSON schemas of the rule's options, each with its default."""
    requires: tuple[Mapping[str, Any], ...] = ()
    """Conditions on single properties: see `rules/requirements.py`."""
    checks: tuple[Check, ...] = ()
    stack_checks: tuple[Check, ...] = ()
    plan_checks: tuple[Check, ...] = ()
    """Checks of replacements and resource options, which Pulumi shows only in a plan: `plangate` runs them."""
    repairs: tuple[Check, ...] = ()
    """Functions that fix a resource if a stack sets the rule's level to `remediate`."""

    @property
    def defaults(self) -> dict[str, Any]:
        """The default of each option."""
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
    """Register a check of single resources of these types."""
    return _register("checks", rule_id, *types)


def stack_rule(rule_id: str) -> Callable[[StackCheck], StackCheck]:
    """Register a check of all resources of a stack."""
    return _register("stack_checks", rule_id)


def plan_rule(rule_id: str) -> Callable[[PlanCheck], PlanCheck]:
    """Register a check of a plan."""
    return _register("plan_checks", rule_id)


def repair_rule(rule_id: str, *types: str) -> Callable[[ResourceRepair], ResourceRepair]:
    """Register a function that fixes resources of these types by a change that replaces nothing."""
    return _register("repairs", rule_id, *types)


@cache
def rules() -> tuple[Rule, ...]:
    """Every rule.

    Raises `ValueError` if the pack itself is wrong: a rule lacks its description or its functions, or has checks of
    kinds that would need several policies. Checks of a plan need none.
    """
    for module in iter_modules(import_module("tpuplane_policies.rules").__path__):
        import_module(f"tpuplane_policies.rules.{module.name}")
    described = tuple(_rule(group, rule_id, raw) for group in GROUPS for rule_id, raw in data(group).items())
    if mixed := [rule.id for rule in described if rule.stack_checks and (rule.checks or rule.plan_checks)]:
        raise ValueError(f"rules with checks of more than one kind: {', '.join(mixed)}")
    if incomplete := {*_WRITTEN} ^ {rule.id for rule in described if not rule.about}:
        raise ValueError(f"rules without a description or without checks: {', '.join(sorted(incomplete))}")
    return described


def _rule(group: str, rule_id: str, raw: Mapping[str, Any]) -> Rule:
    written = _WRITTEN.get(rule_id, {})
    return Rule(
        id=rule_id,
        group=group,
        **{name: tuple(value) if isinstance(value, list) else value for name, value in raw.items()},
        **{kind: tuple(written.get(kind, ())) for kind in _KINDS},
    )
