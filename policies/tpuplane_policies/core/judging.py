"""How a rule comes to its judgement: one demand after the other, each settled or left undecided."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
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
    """The property at fault, or all properties of a resource, or NOWHERE for the stack itself."""
    wrong: str
    like: tuple[str, ...] = ()
    """Checks of checkov and trivy that judge just this."""
    remedy: str = ""
    """What to do, where that is something else than the rule's own remedy."""


Demands = Iterable[Demand]
ResourceCheck = Callable[[Resource, Options], Demands]
StackCheck = Callable[[Stack, Options], Demands]
PlanCheck = Callable[[Plan, Options], Demands]
Repair = tuple[tuple[str, ...], Any]
"""A property, by the keys that lead to it, and the value that puts its resource right."""
Repairs = Iterable[Repair]
ResourceRepair = Callable[[Resource, Options], Repairs]


def demand(truth: Truth | bool, at: Value, wrong: str, *, like: str = "", remedy: str = "") -> Demand:
    """Ask for something to be so. `like`: ids of checkov's and trivy's checks that ask for the same, by spaces."""
    return Demand(truth if isinstance(truth, Truth) else Truth(truth), at, wrong, tuple(like.split()), remedy)


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong, where."""

    text: str
    resource: Resource | None
    line: int
    """Line of the check that found it: tests hold every check to account."""
    like: tuple[str, ...] = ()
    """Checks of checkov and trivy that find it too."""
    remedy: str = ""
    path: str = ""
    """The property at fault."""


@dataclass(slots=True)
class Judgement:
    """What came of a check on one resource, a stack or a plan."""

    findings: list[Finding] = field(default_factory=list)
    undecided: list[Value] = field(default_factory=list)
    """Properties that must be known first."""


def judge(check: Callable[..., Demands], subject: Resource | Stack | Plan, options: Options) -> Judgement:
    """Hold one check against a resource, a stack or a plan. What is unknown leaves the demands before it standing."""
    judgement = Judgement()
    own = subject if isinstance(subject, Resource) else None
    demands: Any = check(subject, options)
    try:
        for it in demands:
            if it.truth.holds is None:
                judgement.undecided.extend(it.truth.unknown)
            elif not it.truth.holds and not (own and own.is_patch and it.at.raw is None):
                where, line = it.at.resource or own, demands.gi_frame.f_lineno
                text = it.at.told + it.wrong
                judgement.findings.append(Finding(text, where, line, it.like, it.remedy, it.at.path))
    except UndecidedError as error:
        judgement.undecided.extend(error.unknown)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        # A value of another type than the property's: its provider will reject it, and no rule passes it.
        judgement.undecided.append(Value(UNKNOWN, f"a value of the wrong type: {error}", own))
    return judgement
