"""How a rule comes to its judgement, and what an exemption changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from fnmatch import fnmatchcase
from typing import Any

from tpuplane_policies.core.plans import Plan
from tpuplane_policies.core.resources import Resource, Stack
from tpuplane_policies.core.values import UNKNOWN, Truth, UndecidedError, Value

Options = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Demand:
    """One thing that a rule asks for. `wrong` says what is the matter where it does not hold."""

    truth: Truth
    at: Value
    wrong: str
    resource: Resource | None = None
    """The resource at fault, for a rule that sees the whole stack; None: the stack itself."""
    like: tuple[str, ...] = ()
    """Checks of checkov and trivy that judge just this."""


Demands = Iterable[Demand]
ResourceCheck = Callable[[Resource, Options], Demands]
StackCheck = Callable[[Stack, Options], Demands]
PlanCheck = Callable[[Plan, Options], Demands]
Repair = tuple[tuple[str, ...], Any]
"""A property, by the keys that lead to it, and the value that puts its resource right."""
Repairs = Iterable[Repair]
ResourceRepair = Callable[[Resource, Options], Repairs]


def demand(truth: Truth | bool, at: Value, wrong: str, resource: Resource | None = None, like: str = "") -> Demand:
    """Ask for something to be so. `like`: ids of checkov's and trivy's checks that ask for the same, by spaces."""
    return Demand(truth if isinstance(truth, Truth) else Truth(truth), at, wrong, resource, tuple(like.split()))


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong, where."""

    text: str
    resource: Resource | None
    line: int
    """Line of the check that found it: tests hold every check to account."""
    like: tuple[str, ...] = ()
    """Checks of checkov and trivy that find it too."""


@dataclass(slots=True)
class Judgement:
    """What came of a rule on one resource, or on a stack."""

    findings: list[Finding] = field(default_factory=list)
    undecided: list[str] = field(default_factory=list)
    """Properties that must be known first."""
    decided: int = 0
    """Demands that were settled, either way; at least 1 where nothing was left open."""


def judge(check: Callable[..., Demands], subject: Resource | Stack | Plan, options: Options) -> Judgement:
    """Hold one check against a resource, a stack or a plan. What is unknown leaves the rest of the check standing."""
    judgement = Judgement()
    own = subject if isinstance(subject, Resource) else None
    demands: Any = check(subject, options)
    try:
        for it in demands:
            if it.truth.holds is None:
                judgement.undecided.extend(it.truth.unknown)
                continue
            judgement.decided += 1
            if not it.truth.holds:
                judgement.findings.append(Finding(_text(it), it.resource or own, demands.gi_frame.f_lineno, it.like))
    except UndecidedError as error:
        judgement.undecided.extend(error.paths)
    if not judgement.undecided and not judgement.decided:
        judgement.decided = 1
    return judgement


def _text(it: Demand) -> str:
    if not it.at.path:
        return it.wrong
    if it.at.raw is None:
        return f"{it.at.path} is not set: {it.wrong}"
    if it.at.raw is UNKNOWN or isinstance(it.at.raw, dict):
        return f"{it.at.path}: {it.wrong}"
    return f"{it.at.path} is {_shown(it.at.raw)}: {it.wrong}"


def _shown(raw: Any) -> str:
    if isinstance(raw, bool):
        return str(raw).lower()
    if isinstance(raw, float) and raw.is_integer():
        return str(int(raw))
    return repr(raw)


def exempted(finding: Finding, exemptions: Iterable[Mapping[str, Any]], today: date) -> tuple[bool, str]:
    """Whether an exemption covers a finding; if one would but does not count, why."""
    name = finding.resource.name if finding.resource else ""
    urn = finding.resource.urn if finding.resource else ""
    note = ""
    for exemption in exemptions:
        pattern = str(exemption.get("resource", ""))
        if not (fnmatchcase(name, pattern) or (urn and fnmatchcase(urn, pattern))):
            continue
        try:
            until = date.fromisoformat(str(exemption.get("until")))
        except ValueError:
            note = f"its exemption does not count: until is {exemption.get('until')!r}, not a date as 2027-01-31"
            continue
        if not str(exemption.get("reason", "")).strip():
            note = "its exemption does not count: it gives no reason"
        elif until < today:
            note = f"its exemption ended on {until}"
        else:
            return True, ""
    return False, note
