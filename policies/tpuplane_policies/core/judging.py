"""How a rule judges: it yields demands, and each of them holds, fails or is undecided."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, TypeVar

from tpuplane_policies.core.plans import Plan
from tpuplane_policies.core.resources import Resource, Stack
from tpuplane_policies.core.values import NOWHERE, UNKNOWN, Truth, UndecidedError, Value

S, T = TypeVar("S"), TypeVar("T")

Options = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Demand:
    """One condition of a rule. `wrong` describes the problem if the condition does not hold."""

    truth: Truth
    at: Value
    """The property at fault, all properties of a resource, or NOWHERE for the stack itself."""
    wrong: str
    like: tuple[str, ...] = ()
    """Ids of the equivalent checks of checkov and trivy."""
    remedy: str = ""
    """The remedy, if that of the rule does not apply."""


UNREADABLE = (ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError)
"""Errors of a value of the wrong type. The provider will reject the value, so no rule passes it."""
Demands = Iterable[Demand]
ResourceCheck = Callable[[Resource, Options], Demands]
StackCheck = Callable[[Stack, Options], Demands]
PlanCheck = Callable[[Plan, Options], Demands]
Repair = tuple[tuple[str, ...], Any]
"""The keys of a property, and the value that fixes the resource."""
Repairs = Iterable[Repair]
ResourceRepair = Callable[[Resource, Options], Repairs]


def separately(parts: Iterable[T], check: Callable[[T], Demands]) -> Demands:
    """The demands on each part. A part with an unknown or unreadable value does not stop the checks of the others."""
    for part in parts:
        try:
            yield from check(part)
        except UndecidedError as error:
            yield Demand(Truth(None, error.unknown), NOWHERE, "")
        except UNREADABLE as error:
            own = part if isinstance(part, Resource) else None
            unreadable = Value(UNKNOWN, f"a value of the wrong type: {error}", own)
            yield Demand(Truth(None, (unreadable,)), NOWHERE, "")


def of_each(
    parts: Callable[[S], Iterable[T]],
) -> Callable[[Callable[[T, Options], Demands]], Callable[[S, Options], Demands]]:
    """Make a check of one part a check of the whole, which judges all its parts `separately`."""

    def of_whole(check: Callable[[T, Options], Demands]) -> Callable[[S, Options], Demands]:
        return wraps(check)(lambda whole, options: separately(parts(whole), lambda part: check(part, options)))

    return of_whole


def demand(truth: Truth | bool, at: Value, wrong: str, *, like: str = "", remedy: str = "") -> Demand:
    """A condition that must hold. `like` lists ids of equivalent checks of checkov and trivy, separated by spaces."""
    return Demand(truth if isinstance(truth, Truth) else Truth(truth), at, wrong, tuple(like.split()), remedy)


@dataclass(frozen=True, slots=True)
class Finding:
    """A demand that does not hold."""

    text: str
    resource: Resource | None
    like: tuple[str, ...] = ()
    remedy: str = ""
    path: str = ""
    """The property at fault."""


@dataclass(slots=True)
class Judgement:
    """The result of a check on one resource, a stack or a plan."""

    findings: list[Finding] = field(default_factory=list)
    undecided: list[Value] = field(default_factory=list)
    """Unknown properties that the check needs."""


def judge(check: Callable[..., Demands], subject: Resource | Stack | Plan, options: Options) -> Judgement:
    """Run one check on a resource, a stack or a plan. An unknown value does not discard earlier findings."""
    judgement = Judgement()
    own = subject if isinstance(subject, Resource) else None
    for made in separately([subject], lambda whole: check(whole, options)):
        if made.truth.holds is None:
            judgement.undecided.extend(made.truth.unknown)
        elif not made.truth.holds and not (own and own.is_patch and made.at.raw is None):
            text, where = made.at.description + made.wrong, made.at.resource or own
            judgement.findings.append(Finding(text, where, made.like, made.remedy, made.at.path))
    return judgement
