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
from tpuplane_policies.core.resources import OURS, Resource, Stack, matches
from tpuplane_policies.core.values import UndecidedError, Value


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
        like = sorted({check for finding in self.findings for check in finding.like})
        remedies = dict.fromkeys(map(self._remedy, self.findings))
        also = (f" [{', '.join(like)}]" if like else "") + (f" ({self.note})" if self.note else "")
        remedy = f"Remedy: {'; '.join(remedies)}{also}"
        if len(self.findings) == 1:
            return f"{self.findings[0].text}. {remedy}"
        return "\n".join([*(finding.text for finding in self.findings), remedy])

    def _remedy(self, finding: Finding) -> str:
        """The remedy. For resources of this project's components it names the field of the stack file."""
        remedy = finding.remedy or self.rule.remedy
        if self.resource is None or OURS not in self.resource.urn:
            return remedy
        parts = finding.path.split(".")
        under = [".".join(parts[:length]) for length in range(len(parts), 0, -1)]
        field = next((self.rule.fields[path] for path in under if path in self.rule.fields), None)
        return f"in the stack file, set {field} ({remedy})" if field else remedy

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
        self.found: dict[tuple[str, str], Violation] = {}
        """The violations, by rule and URN."""
        self.undecided: dict[tuple[str, str], tuple[Resource | None, tuple[str, ...]]] = {}
        """By rule and URN: the resource and its unknown properties."""
        self._remedies: dict[tuple[str, str], tuple[str, ...]] = {}
        """How the unknown properties become known, by rule and URN; an empty text for each that an update knows."""
        self._used: set[tuple[str, Exemption]] = set()

    def resource(self, rule: Rule, resource: Resource) -> list[Violation]:
        """Apply a rule to one resource, or to its parts."""
        return self._settle(rule, self._judge(rule, resource), resource)

    def _judge(self, rule: Rule, resource: Resource) -> list[Judgement]:
        return [
            judge(check.function, part, self.settings.options(rule))
            for part in resource.parts
            for check in rule.checks
            if matches(check.types, part.type)
        ]

    def whole(self, rule: Rule, subject: Stack | Plan) -> list[Violation]:
        """Apply a rule to a whole stack or plan."""
        checks, options = (*rule.stack_checks, *rule.plan_checks), self.settings.options(rule)
        return self._settle(rule, [judge(check.function, subject, options) for check in checks])

    def decide(self, dependencies: Callable[[Resource], Dependencies]) -> None:
        """Judge undecided resources again with predictions of their unknown values.

        Only a rule that finds no mistake is then decided: a prediction can be wrong.
        """
        options = (self.settings.options(rule) for rule in self.rules.values())
        components = [component for own in options for component in own.get("components", ())]
        for (rule_id, urn), (resource, _) in list(self.undecided.items()):
            if resource is None or not self.rules[rule_id].checks:
                continue
            parts = self._judge(self.rules[rule_id], predicted(resource, dependencies(resource), components))
            if not any(part.undecided or part.findings for part in parts):
                del self.undecided[rule_id, urn]

    def hide(self, components: Iterable[tuple[Resource, list[Value]]]) -> None:
        """Leave the rules about objects in a cluster undecided for components whose objects are unknown."""
        for component, unknown in components:
            for rule in self.rules.values():
                if rule.group == "workload" and self.settings.level(rule) != "disabled":
                    self._settle(rule, [Judgement(undecided=unknown)], component)

    def about(self, rule: Rule) -> list[Violation]:
        """Report undecided rules: by resource if they are mandatory, by rule if they are advisory."""
        resources: dict[str, tuple[Resource | None, list[str]]] = {}
        remedies: defaultdict[str, dict[str, None]] = defaultdict(dict)
        names: defaultdict[str, list[str]] = defaultdict(list)
        for (rule_id, urn), (resource, paths) in self.undecided.items():
            if self.settings.level(self.rules[rule_id]) in BLOCKING:
                resources.setdefault(urn, (resource, []))[1].append(f"{rule_id} ({', '.join(paths)})")
                remedies[urn] |= dict.fromkeys(own or rule.remedy for own in self._remedies[rule_id, urn])
            else:
                names[rule_id].append(resource.name if resource else "the stack")
        text = "these rules cannot be decided, because values are unknown:"
        if rule.about == "mandatory":
            findings = [
                Finding(f"{text} {'; '.join(open_)}", resource, remedy="; ".join(remedies[urn]))
                for urn, (resource, open_) in resources.items()
            ]
        else:
            findings = [Finding(f"{text} {rule_id} of {_first(own)}", None) for rule_id, own in names.items()]
        return self._settle(rule, [Judgement(findings)])

    def repairs(self, rule: Rule, resource: Resource) -> list[Repair]:
        """The changes that fix a resource by one rule; none for an exempted resource."""
        repairs: list[Repair] = []
        for check in rule.repairs:
            if matches(check.types, resource.type):
                with suppress(UndecidedError):  # the update that knows the value makes the repair
                    repairs += check.function(resource, self.settings.options(rule))
        return [] if repairs and self._exempted(rule, resource)[0] else repairs

    def _settle(self, rule: Rule, parts: Sequence[Judgement], subject: Resource | None = None) -> list[Violation]:
        known = (*self.found, *self.undecided)
        urns = {_urn(subject)} if subject else {urn for rule_id, urn in known if rule_id == rule.id}
        for urn in urns:
            self.found.pop((rule.id, urn), None)
            self.undecided.pop((rule.id, urn), None)
        for resource, values in _by_resource((value for part in parts for value in part.undecided), subject):
            if not self._exempted(rule, resource)[0]:
                paths = tuple(dict.fromkeys(value.path for value in values))
                self.undecided[rule.id, _urn(resource)] = resource, paths
                self._remedies[rule.id, _urn(resource)] = tuple(value.remedy for value in values)
        violations = []
        for resource, findings in _by_resource((finding for part in parts for finding in part.findings), subject):
            covered, note = self._exempted(rule, resource)
            if not covered:
                once = {(finding.text, finding.remedy): finding for finding in findings}  # pods can inherit one mistake
                violation = Violation(rule, self.settings.level(rule), resource, tuple(once.values()), note)
                self.found[rule.id, _urn(resource)] = violation
                violations.append(violation)
        return violations

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
            for exemption in self.settings.exemptions(rule):
                if (rule.id, exemption) not in self._used:
                    yield f"exemption without a match: {rule.id} {exemption}"
                elif exemption.until >= self.today:
                    yield f"exempted: {rule.id} {exemption}"


def _first(names: list[str], count: int = 3) -> str:
    more = f" and {len(names) - count} more" if len(names) > count else ""
    return ", ".join(names[:count]) + more


def _urn(resource: Resource | None) -> str:
    return resource.urn if resource else ""


def _by_resource(items: Iterable[Any], subject: Resource | None) -> list[tuple[Resource | None, list[Any]]]:
    """Findings or unknown values by resource, in order. A cluster gets those of the pools inside it."""
    groups: dict[str, tuple[Resource | None, list[Any]]] = {}
    for item in items:
        resource = subject or item.resource
        groups.setdefault(_urn(resource), (resource, []))[1].append(item)
    return list(groups.values())
