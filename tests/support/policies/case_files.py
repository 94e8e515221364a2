"""The cases of `cases/*.yaml`: for each rule what passes and what fails, as changes to known good resources."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from typing import Any

import yaml
from tpuplane.diff import diff
from tpuplane.spec import parse_platform
from tpuplane_policies.core.config import settings
from tpuplane_policies.core.plans import Plan
from tpuplane_policies.core.registry import Rule, rules
from tpuplane_policies.core.resources import Resource, Stack, matches
from tpuplane_policies.core.run import Run, Violation
from tpuplane_policies.core.values import UNKNOWN

from tests.support import TESTS

FOLDER = TESTS / "policies/cases"
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


def a_run(config: dict[str, Any] | None = None, held: Iterable[Rule] | None = None) -> Run:
    """A run of a gate with this configuration."""
    return Run(rules() if held is None else held, settings(config or {}, "test.json", rules()), TODAY)


def preview(steps: list[dict[str, Any]]) -> dict[str, Any]:
    """These steps as the output of `pulumi preview --json`."""
    return {"steps": steps, "changeSummary": Counter(step["op"] for step in steps)}


@dataclass(frozen=True)
class Case:
    rule: str
    number: int
    fails: bool
    written: dict[str, Any]

    @property
    def id(self) -> str:
        return f"{self.rule}-{'fail' if self.fails else 'pass'}-{self.number}"

    def judge(self, held: Iterable[Rule]) -> tuple[list[Violation], Run]:
        """The violations of the rules, and their run."""
        held = [rule for rule in held if rule.id == self.rule]
        run, found = a_run({self.rule: self.written.get("config", {})}, held), []
        for rule in held:
            if "stack" in self.written:
                found += run.whole(rule, self.stack())
            elif "plan" in self.written:
                found += run.whole(rule, self.plan())
            else:
                found += run.resource(rule, resource(self.written))
        return found, run

    def plan(self) -> Plan:
        """The plan; with `before`, a description that `after` changes."""
        parsed = Plan.parse(json.dumps(preview(self.written["plan"])))
        if "before" not in self.written:
            return parsed
        before = self.written["before"]
        change = diff(
            *(
                parse_platform(description, project="acme-ml")
                for description in (before, merged(before, self.written["after"]))
            )
        )
        return replace(parsed, changes=change)

    def stack(self) -> Stack:
        return Stack(tuple(resource(raw) for raw in self.written["stack"] for _ in range(raw.get("count", 1))))

    def as_expected(self, held: Iterable[Rule]) -> bool:
        """Whether the rules have the result of the case. `says` has path and value, or numbers."""
        found, run = self.judge(held)
        if self.fails:
            return any(self.written["says"] in finding.message for finding in found)
        return not found and any(map(self.is_judged, held)) and not run.undecided

    def is_judged(self, rule: Rule) -> bool:
        """Whether a check of this rule runs."""
        if rule.id != self.rule or "stack" in self.written or "plan" in self.written:
            return rule.id == self.rule
        parts = resource(self.written).parts
        return any(matches(check.types, part.type) for check in rule.checks for part in parts)


@cache
def cases() -> tuple[Case, ...]:
    found = []
    for path in sorted(FOLDER.glob("*.yaml")):
        if path.stem != "bases":
            for rule, written in yaml.safe_load(path.read_text()).items():
                found += [Case(rule, n, fails=False, written=case) for n, case in enumerate(written["pass"])]
                found += [Case(rule, n, fails=True, written=case) for n, case in enumerate(written["fail"])]
    return tuple(found)
