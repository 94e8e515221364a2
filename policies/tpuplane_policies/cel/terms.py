"""The parts of an expression: values, claims of a token, and the identities that a branch admits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from tpuplane_policies.core.values import Value

SAME_OWNER = ("lowerAscii", "upperAscii", "trim", "string")
"""Functions whose result belongs to the owner of their argument."""


class Reach(IntEnum):
    """Which identities an expression admits. "And" has the smaller reach of its operands, "or" the larger one."""

    NO_ONE = 0
    OWNERS = 1
    UNDECIDED = 2
    EVERYONE = 3


@dataclass(frozen=True, slots=True)
class Verdict:
    """Which identities a branch admits."""

    reach: Reach
    text: str
    """The branch in CEL, for messages."""
    unknown: tuple[Value, ...] = ()
    """Unknown properties that decide it."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A value that the expression contains."""

    value: Any


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim of the token. With `before`, only its text before the first of these separators."""

    name: str
    before: str = ""


@dataclass(frozen=True, slots=True)
class Split:
    """A claim, split into a list at a separator. Without a separator, the size of the claim."""

    claim: Claim
    separator: str


@dataclass(frozen=True, slots=True)
class Joined:
    """Concatenated texts."""

    parts: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """The first value if a condition holds, else the second."""

    holds: Verdict
    fails: Verdict
    values: tuple[Term, Term]


@dataclass(frozen=True, slots=True)
class Listed:
    """The elements of a list, or the keys of a mapping."""

    elements: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Root:
    """The variable `attribute` or `google`."""

    name: str


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value about which nothing is known."""

    unknown: tuple[Value, ...] = ()


Term = Constant | Claim | Split | Joined | Choice | Listed | Root | Opaque


def derived(receiver: Term, name: str, arguments: Sequence[Term]) -> Term:
    """The result of a function of a claim."""
    text = text_of(arguments[0]) if len(arguments) == 1 else None
    if isinstance(receiver, Claim) and not arguments and name in (*SAME_OWNER, "size"):
        return Split(receiver, "") if name == "size" else receiver
    if isinstance(receiver, Claim) and not receiver.before and text:
        if name == "split":
            return Split(receiver, text)
        template = re.fullmatch(r"\{\w+\}([^{}]+)", text) if name == "extract" else None
        if template:
            return Claim(receiver.name, template[1])
    return Opaque()


def text_of(term: Term) -> str | None:
    """The text of a constant; None for other values."""
    return str(term.value) if isinstance(term, Constant) and isinstance(term.value, str) else None
