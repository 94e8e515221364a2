"""What an expression consists of: values, claims of a token, and whom a branch admits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from tpuplane_policies.core.values import Value

SAME_OWNER = ("lowerAscii", "upperAscii", "trim", "string")
"""Functions whose result has the owner of their argument."""


class Reach(IntEnum):
    """Whom an expression admits. "And" has the smaller reach of its operands, "or" the larger one."""

    NO_ONE = 0
    OWNERS = 1
    UNDECIDED = 2
    EVERYONE = 3


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whom a branch admits."""

    reach: Reach
    text: str
    """The branch."""
    unknown: tuple[Value, ...] = ()
    """Unknown properties that decide it."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A value of the program."""

    value: Any


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim of the token. `before`: only its text before the first of these separators."""

    name: str
    before: str = ""


@dataclass(frozen=True, slots=True)
class Split:
    """A claim as a list of its parts; without a separator, the size of the claim."""

    claim: Claim
    separator: str


@dataclass(frozen=True, slots=True)
class Joined:
    """Texts in a row."""

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
    """A value of which nothing is known."""

    unknown: tuple[Value, ...] = ()


Term = Constant | Claim | Split | Joined | Choice | Listed | Root | Opaque


def derived(of: Term, name: str, given: Sequence[Term]) -> Term:
    """The result of a function of a claim."""
    text = text_of(given[0]) if len(given) == 1 else None
    if isinstance(of, Claim) and not given and name in (*SAME_OWNER, "size"):
        return Split(of, "") if name == "size" else of
    if isinstance(of, Claim) and not of.before and text:
        if name == "split":
            return Split(of, text)
        template = re.fullmatch(r"\{\w+\}([^{}]+)", text) if name == "extract" else None
        if template:
            return Claim(of.name, template[1])
    return Opaque()


def text_of(term: Term) -> str | None:
    """The text of a constant; None for other values."""
    return str(term.value) if isinstance(term, Constant) and isinstance(term.value, str) else None
