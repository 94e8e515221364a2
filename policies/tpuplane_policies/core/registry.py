"""Joins what is written about a rule (`data/*.yaml`) with the functions that judge (`rules/*.py`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.resources import files
from pkgutil import iter_modules
from typing import Any, Literal, cast

import yaml

from tpuplane_policies.core.judging import PlanCheck, ResourceCheck, ResourceRepair, StackCheck

GROUPS = ("gke", "tpu", "queueing", "workload", "project", "change")
"""Files of `data`, in the order in which the pack runs their rules: "change" reads what the others came to."""

Level = Literal["advisory", "mandatory", "disabled"]


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
    level: Level
    why: str
    remedy: str
    checkov: tuple[str, ...] = ()
    trivy: tuple[str, ...] = ()
    cis: tuple[str, ...] = ()
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


_CHECKS: dict[str, list[Check]] = {}
_STACK_CHECKS: dict[str, list[Check]] = {}
_PLAN_CHECKS: dict[str, list[Check]] = {}
_REPAIRS: dict[str, list[Check]] = {}


def resource_rule(rule_id: str, *types: str) -> Callable[[ResourceCheck], ResourceCheck]:
    """Make a function a check of a rule, for resources of these types, one at a time."""

    def register(function: ResourceCheck) -> ResourceCheck:
        _CHECKS.setdefault(rule_id, []).append(Check(function, types))
        return function

    return register


def stack_rule(rule_id: str) -> Callable[[StackCheck], StackCheck]:
    """Make a function a check of a rule, for all resources of a stack at once."""

    def register(function: StackCheck) -> StackCheck:
        _STACK_CHECKS.setdefault(rule_id, []).append(Check(function, ()))
        return function

    return register


def plan_rule(rule_id: str) -> Callable[[PlanCheck], PlanCheck]:
    """Make a function a check of a rule, for a plan: what `pulumi preview --json` says."""

    def register(function: PlanCheck) -> PlanCheck:
        _PLAN_CHECKS.setdefault(rule_id, []).append(Check(function, ()))
        return function

    return register


def repair_rule(rule_id: str, *types: str) -> Callable[[ResourceRepair], ResourceRepair]:
    """Make a function put resources of these types right, where that changes nothing that runs."""

    def register(function: ResourceRepair) -> ResourceRepair:
        _REPAIRS.setdefault(rule_id, []).append(Check(function, types))
        return function

    return register


@cache
def rules() -> tuple[Rule, ...]:
    """Every rule.

    Raises:
        ValueError: if a rule is described and not written, or written and not described: a mistake in the pack.

    """
    for module in iter_modules(import_module("tpuplane_policies.rules").__path__):
        import_module(f"tpuplane_policies.rules.{module.name}")
    found = tuple(_rule(group, rule_id, text) for group in GROUPS for rule_id, text in _described(group).items())
    odd = {*_CHECKS, *_STACK_CHECKS, *_PLAN_CHECKS, *_REPAIRS} ^ {rule.id for rule in found}
    if odd:
        raise ValueError(f"rules that are only described or only written: {', '.join(sorted(odd))}")
    return found


def _described(group: str) -> dict[str, dict[str, Any]]:
    text = files("tpuplane_policies").joinpath(f"data/{group}.yaml").read_text(encoding="utf-8")
    return cast("dict[str, dict[str, Any]]", yaml.safe_load(text) or {})


def _rule(group: str, rule_id: str, text: Mapping[str, Any]) -> Rule:
    lists = {name: tuple(text.get(name, ())) for name in ("checkov", "trivy", "cis")}
    return Rule(
        id=rule_id,
        group=group,
        title=text["title"],
        severity=text["severity"],
        level=text.get("level", "mandatory"),
        why=text["why"],
        remedy=text["remedy"],
        options=text.get("options", {}),
        checks=tuple(_CHECKS.get(rule_id, ())),
        stack_checks=tuple(_STACK_CHECKS.get(rule_id, ())),
        plan_checks=tuple(_PLAN_CHECKS.get(rule_id, ())),
        repairs=tuple(_REPAIRS.get(rule_id, ())),
        **lists,
    )
