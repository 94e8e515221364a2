"""The cases of `cases/*.yaml`: for each rule what passes and what fails, as changes to known good resources."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from tpuplane_policies.core.engine import Violation, judge_plan, judge_resource, judge_stack
from tpuplane_policies.core.ledger import Ledger
from tpuplane_policies.core.plans import Plan
from tpuplane_policies.core.registry import Rule
from tpuplane_policies.core.resources import Resource, Stack
from tpuplane_policies.core.values import UNKNOWN

FOLDER = Path(__file__).parent / "cases"
TODAY = date(2026, 11, 21)


def merged(base: Any, change: Any) -> Any:
    """JSON merge patch (RFC 7396); the text UNKNOWN stands for a value that a preview does not know."""
    if change == "UNKNOWN":
        return UNKNOWN
    if not isinstance(change, dict):
        return [merged(None, element) for element in change] if isinstance(change, list) else change
    result = dict(base) if isinstance(base, dict) else {}
    for key, value in change.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


@cache
def bases() -> dict[str, dict[str, Any]]:
    return yaml.safe_load((FOLDER / "bases.yaml").read_text())


def resource(written: dict[str, Any]) -> Resource:
    base = bases()[written["of"]]
    props = merged(base["props"], written.get("with", {}))
    name = written.get("name", written["of"])
    options = base.get("options", {}) | written.get("options", {})
    type_ = written.get("type", base["type"])
    urn = f"urn:pulumi:prod::acme::{type_}::{name}"
    return Resource(type_, name, urn, lambda: props, **options)


@dataclass(frozen=True)
class Case:
    rule: str
    number: int
    fails: bool
    written: dict[str, Any]

    @property
    def id(self) -> str:
        return f"{self.rule}-{'fail' if self.fails else 'pass'}-{self.number}"

    def judge(self, rules: Iterable[Rule]) -> tuple[list[Violation], Ledger]:
        """What the rules make of it."""
        ledger, found = Ledger(), []
        settings = self.written.get("config", {})
        for rule in (it for it in rules if it.id == self.rule):
            if "stack" in self.written:
                stack = Stack(tuple(resource(it) for it in self.written["stack"] for _ in range(it.get("count", 1))))
                found += judge_stack(rule, stack, settings, ledger, TODAY)
            elif "plan" in self.written:
                plan = Plan.parse(json.dumps({"steps": self.written["plan"]}))
                found += judge_plan(rule, plan, settings, ledger, TODAY)
            else:
                found += judge_resource(rule, resource(self.written), settings, ledger, TODAY)
        return found, ledger

    def as_expected(self, rules: Iterable[Rule]) -> bool:
        """Whether the rules say what the case says."""
        found, ledger = self.judge(rules)
        if self.fails:
            return any(self.written["says"] in it.message for it in found)
        record = ledger.records.get(self.rule)
        return not found and record is not None and record.decided > 0 and not record.undecided


@cache
def cases() -> tuple[Case, ...]:
    found = []
    for path in sorted(FOLDER.glob("*.yaml")):
        if path.stem != "bases":
            for rule, written in yaml.safe_load(path.read_text()).items():
                found += [Case(rule, n, fails=False, written=it) for n, it in enumerate(written["pass"])]
                found += [Case(rule, n, fails=True, written=it) for n, it in enumerate(written["fail"])]
    return tuple(found)
