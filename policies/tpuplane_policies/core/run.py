"""One run of a gate: applies rules to resources and keeps the results."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from typing import Any

from tpuplane_policies.core.config import Exemption, Settings
from tpuplane_policies.core.judging import Finding, Judgement, Repair, judge
from tpuplane_policies.core.plans import Plan
from tpuplane_policies.core.predictions import Dependencies, predicted
from tpuplane_policies.core.registry import BLOCKING, Rule
from tpuplane_policies.core.resources import Resource, Stack, inline_pools, matches
from tpuplane_policies.core.values import UndecidedError

OURS = "tpuplane:"
"""Part of the URN of each resource that a component of this project registers."""


@dataclass(frozen=True, slots=True)
class Violation:
    """The findings of one rule on one resource or on the stack, without exempted ones."""

    rule: Rule
    level: str
    resource: Resource | None
    findings: tuple[Finding, ...]
    note: str = ""
    """Why an exemption no longer covers the resource."""

    @property
    def text(self) -> str:
        """All findings and the remedy, without the names of rule and resource."""
        like = sorted({check for it in self.findings for check in it.like})
        remedies = dict.fromkeys(self._remedy(it) for it in self.findings)
        also = (f" [{', '.join(like)}]" if like else "") + (f" ({self.note})" if self.note else "")
        remedy = f"Remedy: {'; '.join(remedies)}{also}"
        if len(self.findings) == 1:
            return f"{self.findings[0].text}. {remedy}"
        return "\n".join([*(it.text for it in self.findings), remedy])

    def _remedy(self, finding: Finding) -> str:
        """What to do. For resources of our components the remedy names the stack file's field."""
        remedy = finding.remedy or self.rule.remedy
        if self.resource is None or OURS not in self.resource.urn:
            return remedy
        parts = finding.path.split(".")
        under = [".".join(parts[:length]) for length in range(len(parts), 0, -1)]
        field = next((self.rule.fields[it] for it in under if it in self.rule.fields), None)
        return f"in the stack file, {field} ({remedy})" if field else remedy

    @property
    def message(self) -> str:
        """The text with the names of rule and resource."""
        where = f" {self.resource.name}:" if self.resource else ""
        return f"{self.rule.id}{where} {self.text}"


class Run:
    """The results of one gate. A second judgement of the same resource replaces the first."""

    def __init__(self, rules: Iterable[Rule], settings: Settings, today: date) -> None:
        self.rules = {rule.id: rule for rule in rules}
        self.settings = settings
        self.today = today
        self.judged: Counter[str] = Counter()
        """Number of checks that ran, by rule."""
        self.found: dict[tuple[str, str], Violation] = {}
        """By rule and URN."""
        self.undecided: dict[tuple[str, str], tuple[Resource | None, tuple[str, ...]]] = {}
        """By rule and URN: the resource and its unknown properties."""
        self._used: set[tuple[str, Exemption]] = set()

    def resource(self, rule: Rule, resource: Resource) -> list[Violation]:
        """Apply a rule to one resource and to the node pools inside it."""
        return self._settle(rule, self._judge(rule, resource), resource)

    def _judge(self, rule: Rule, resource: Resource) -> list[Judgement]:
        return [
            judge(check.function, it, self.settings.options(rule))
            for it in (resource, *inline_pools(resource))
            for check in rule.checks
            if matches(check.types, it.type)
        ]

    def stack(self, rule: Rule, stack: Stack) -> list[Violation]:
        """Apply a rule to the whole stack."""
        options = self.settings.options(rule)
        return self._settle(rule, [judge(check.function, stack, options) for check in rule.stack_checks])

    def plan(self, rule: Rule, plan: Plan) -> list[Violation]:
        """Apply a rule to a plan."""
        options = self.settings.options(rule)
        return self._settle(rule, [judge(check.function, plan, options) for check in rule.plan_checks])

    def decide(self, dependencies: Callable[[Resource], Dependencies]) -> None:
        """Decide what only unknown values leave undecided that follow from the resources behind them.

        A rule that finds a mistake in such a value stays undecided, because the value is a prediction.
        """
        options = (self.settings.options(rule) for rule in self.rules.values())
        components = [it for found in options for it in found.get("components", ())]
        for (rule_id, urn), (resource, _) in list(self.undecided.items()):
            if resource is None or not self.rules[rule_id].checks:
                continue
            parts = self._judge(self.rules[rule_id], predicted(resource, dependencies(resource), components))
            if not any(part.undecided or part.findings for part in parts):
                del self.undecided[rule_id, urn]

    def about(self, rule: Rule) -> list[Violation]:
        """What rules could not decide: by resource for mandatory rules, by rule for advisory ones."""
        resources: dict[str, tuple[Resource | None, list[str]]] = {}
        names: defaultdict[str, list[str]] = defaultdict(list)
        for (rule_id, urn), (resource, paths) in self.undecided.items():
            if self.settings.level(self.rules[rule_id]) in BLOCKING:
                resources.setdefault(urn, (resource, []))[1].append(f"{rule_id} ({', '.join(paths)})")
            else:
                names[rule_id].append(resource.name if resource else "the stack")
        text = "unknown values leave undecided:"
        if rule.about == "mandatory":
            findings = [Finding(f"{text} {'; '.join(those)}", resource, 0) for resource, those in resources.values()]
        else:
            findings = [Finding(f"{text} {rule_id} of {_first(those)}", None, 0) for rule_id, those in names.items()]
        return self._settle(rule, [Judgement(findings)])

    def repairs(self, rule: Rule, resource: Resource) -> list[Repair]:
        """The changes that fix a resource by one rule; none for an exempted resource."""
        found: list[Repair] = []
        for check in rule.repairs:
            if matches(check.types, resource.type):
                with suppress(UndecidedError):  # the update that knows the value makes the repair
                    found += check.function(resource, self.settings.options(rule))
        return [] if found and self._exempted(rule, resource)[0] else found

    def _settle(self, rule: Rule, parts: Sequence[Judgement], subject: Resource | None = None) -> list[Violation]:
        self.judged[rule.id] += len(parts)
        urns = {_urn(subject)} if subject else {urn for rule_id, urn in self._keys() if rule_id == rule.id}
        for urn in urns:
            self.found.pop((rule.id, urn), None)
            self.undecided.pop((rule.id, urn), None)
        for resource, values in _by_resource((value for it in parts for value in it.undecided), subject):
            if not self._exempted(rule, resource)[0]:
                paths = tuple(dict.fromkeys(value.path for value in values))
                self.undecided[rule.id, _urn(resource)] = resource, paths
        violations = []
        for resource, findings in _by_resource((finding for it in parts for finding in it.findings), subject):
            covered, note = self._exempted(rule, resource)
            if not covered:
                once = tuple({(it.text, it.remedy): it for it in findings}.values())  # pods can inherit one mistake
                violation = Violation(rule, self.settings.level(rule), resource, once, note)
                self.found[rule.id, _urn(resource)] = violation
                violations.append(violation)
        return violations

    def _keys(self) -> Iterator[tuple[str, str]]:
        yield from self.found
        yield from self.undecided

    def _exempted(self, rule: Rule, resource: Resource | None) -> tuple[bool, str]:
        """Whether an exemption covers a resource, and a note if that exemption has expired."""
        note = ""
        for exemption in self.settings.exemptions(rule):
            if exemption.covers(resource):
                self._used.add((rule.id, exemption))
                if exemption.until >= self.today:
                    return True, ""
                note = f"its exemption expired after {exemption.until}"
        return False, note

    @property
    def totals(self) -> str:
        """The violations by level and rule."""
        counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for (rule_id, _), violation in self.found.items():
            counts[violation.level][rule_id] += 1
        totals = []
        for level in dict.fromkeys(("mandatory", *sorted(counts, reverse=True), "advisory")):
            each = ", ".join(f"{count} {rule_id}" for rule_id, count in sorted(counts[level].items()))
            totals.append(f"{counts[level].total()} {level}" + (f" ({each})" if each else ""))
        return ", ".join(totals)

    def exemptions(self) -> Iterator[str]:
        """The exemptions that were applied, and those without a match."""
        for rule in self.rules.values():
            for it in self.settings.exemptions(rule):
                if (rule.id, it) not in self._used:
                    yield f"exemption without a match: {rule.id} {it}"
                elif it.until >= self.today:
                    yield f"exempted: {rule.id} {it}"


def _first(names: list[str], count: int = 3) -> str:
    more = f" and {len(names) - count} more" if len(names) > count else ""
    return ", ".join(names[:count]) + more


def _urn(resource: Resource | None) -> str:
    return resource.urn if resource else ""


def _by_resource(items: Iterable[Any], subject: Resource | None) -> list[tuple[Resource | None, list[Any]]]:
    """Findings or unknown values by resource, in order. The cluster has those of the pools inside it."""
    found: dict[str, tuple[Resource | None, list[Any]]] = {}
    for it in items:
        resource = subject or it.resource
        found.setdefault(_urn(resource), (resource, []))[1].append(it)
    return list(found.values())
