"""Property values of a resource. Some are unknown before the resource exists.

A test of an unknown value returns an unknown Truth. Code that needs the value itself, or uses an unknown Truth in an
`if`, gets an UndecidedError, and the rule is then undecided for the resource.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import reduce
from operator import and_, or_
from typing import Any, Final, TypeVar

from tpuplane.data_files import read_data

T = TypeVar("T")


class _Unknown(Enum):
    UNKNOWN = "known after the update"


UNKNOWN: Final = _Unknown.UNKNOWN
"""The value of a property that a preview does not know."""


HIDDEN: Final = "[secret]"
"""The engine's text for a secret in the output of a preview, which never has the value."""
_REVEAL = "the output of a preview hides secrets: make it a plain value, or exempt the resource"

SENTINELS: Final = frozenset(read_data("tpuplane_policies", "sentinels").values())
"""The engine's texts for unknown values of each type."""

NOTHING: Final = (None, "", [])
"""What stands for a mapping that is not set."""

# Texts that the provider reads as a boolean, as Go's strconv.ParseBool does.
_TRUE: Final = ("1", "t", "T", "TRUE", "true", "True")
_FALSE: Final = ("0", "f", "F", "FALSE", "false", "False")


class UndecidedError(Exception):
    """A rule needs values that are unknown."""

    def __init__(self, *unknown: Value) -> None:
        super().__init__(", ".join(value.path for value in unknown))
        self.unknown = unknown


@dataclass(frozen=True, slots=True)
class Truth:
    """True, false or unknown, by Kleene's logic: an "and" with one false operand is false.

    Combine with `&`, `|` and `~`. An unknown Truth in an `if` raises UndecidedError.
    """

    holds: bool | None
    """None if it is unknown. Use it only for the text of a finding, never to decide whether there is one."""
    unknown: tuple[Value, ...] = ()
    """The unknown properties that it depends on."""

    def __and__(self, other: Truth) -> Truth:
        if self.holds is False or other.holds is False:
            return Truth(False)
        return Truth(None, self.unknown + other.unknown) if None in (self.holds, other.holds) else Truth(True)

    def __or__(self, other: Truth) -> Truth:
        return ~(~self & ~other)

    def __invert__(self) -> Truth:
        return self if self.holds is None else Truth(not self.holds)

    def __bool__(self) -> bool:
        if self.holds is None:
            raise UndecidedError(*self.unknown)
        return self.holds


def any_of(truths: Iterable[Truth]) -> Truth:
    """Whether one of these holds; false without any."""
    return reduce(or_, truths, Truth(False))


def all_of(truths: Iterable[Truth]) -> Truth:
    """Whether all of these hold; true without any."""
    return reduce(and_, truths, Truth(True))


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """The value of one property, with its path for messages. The value of an unset property is None."""

    raw: Any
    """The plain value, as JSON has it, or UNKNOWN. Rules use the methods below instead."""
    path: str = ""
    resource: Any = None
    """The resource that has the property; None for the stack."""
    remedy: str = field(default="", kw_only=True)
    """The change that makes an unknown value known; empty if the update knows it."""

    def __getitem__(self, dotted: str) -> Value:
        """The property at a path such as `nodeConfig.machineType`. Every property of an unknown value is unknown."""
        here = self
        for key in dotted.split("."):
            here = here.child(key)
        return here

    def child(self, key: str) -> Value:
        """The property with exactly this key, which may contain dots, as labels and annotations do."""
        mapping = self.mapping
        if mapping.raw is UNKNOWN:
            return mapping
        path = f"{self.path}.{key}" if self.path else key
        return _inside((self.raw or {}).get(key), path, self.resource)

    def names(self) -> tuple[str, ...]:
        """The keys of a mapping. Raises `UndecidedError` if it is unknown."""
        mapping = self.mapping
        if mapping.raw is UNKNOWN:
            raise UndecidedError(mapping)
        return tuple(self.raw or ())

    def each(self) -> Iterator[Value]:
        """The elements of a list. Any other value, also an unknown one, counts as a list of itself; None is empty."""
        if self.is_list:
            for index, element in enumerate(self.raw):
                yield _inside(element, f"{self.path}[{index}]", self.resource)
        elif self.raw is not None:
            yield self

    def below(self) -> Iterator[Value]:
        """The values of a mapping or the elements of a list; nothing for other values."""
        yield from (self.child(key) for key in self.raw) if isinstance(self.raw, dict) else ()
        yield from self.each() if self.is_list else ()

    @property
    def is_list(self) -> bool:
        """Whether it is a list. Its elements may be unknown."""
        return isinstance(self.raw, list)

    @property
    def is_mapping(self) -> bool:
        """Whether it is a mapping, or unknown."""
        return self.raw is UNKNOWN or isinstance(self.raw, dict)

    @property
    def is_unknown(self) -> bool:
        """Whether the whole value is unknown."""
        return self.raw is UNKNOWN

    def get(self, default: Any = None) -> Any:
        """The plain value, or `default` if it is not set. Raises `UndecidedError` if a part of it is unknown."""
        if missing := tuple(self._unknown()):
            raise UndecidedError(*missing)
        return default if self.raw is None else self.raw

    def test(self, predicate: Callable[[Any], bool]) -> Truth:
        """Whether `predicate` holds for the value, which is None if it is not set."""
        try:
            return Truth(bool(predicate(self.get())))
        except UndecidedError as error:
            return Truth(None, error.unknown)

    @property
    def scalar(self) -> Value:
        """Itself, but unknown if it is a list or a mapping: a provider rejects those in place of a single value."""
        return self._of_wrong_type if isinstance(self.raw, list | dict) else self

    @property
    def mapping(self) -> Value:
        """Itself, but unknown if it is a list or a single value that is not empty: a provider rejects those."""
        return self if self.is_mapping or self.raw in NOTHING else self._of_wrong_type

    @property
    def _of_wrong_type(self) -> Value:
        return Value(UNKNOWN, f"{self.path}, a value of the wrong type", self.resource)

    def one_of(self, *allowed: Any) -> Truth:
        """Whether the value is one of these; None means "not set"."""
        value = self if {*allowed} <= {None} else self.scalar
        return value.test(lambda raw: raw in allowed)

    def contains(self, *elements: Any) -> Truth:
        """Whether a list has one of these elements."""
        return any_of(element.one_of(*elements) for element in self.each())

    def any(self, predicate: Callable[[Any], bool]) -> Truth:
        """Whether `predicate` holds for an element of a list, or for a single value."""
        return any_of(element.scalar.test(predicate) for element in self.each())

    @property
    def is_true(self) -> Truth:
        """Whether it is set and true."""
        return self.one_of(True, *_TRUE)

    @property
    def is_false(self) -> Truth:
        """Whether it is set and false."""
        return self.one_of(False, *_FALSE)

    @property
    def is_zero(self) -> Truth:
        """Whether it is not set, or the number 0, which can also be a text."""
        return self.test(lambda raw: not int(raw or 0))

    @property
    def is_set(self) -> Truth:
        """Whether it has a value that is not empty. A mapping whose values are all unknown may become empty."""
        parts = tuple(self.below())
        if self.raw is UNKNOWN or (parts and all(part.raw is UNKNOWN for part in parts)):
            return Truth(None, parts or (self,))
        return Truth(self.raw not in (None, "", [], {}))

    @property
    def description(self) -> str:
        """The path and the value, as the start of a message; empty for a whole resource or stack."""
        if not self.path:
            return ""
        if self.raw is None:
            return f"{self.path} is not set: "
        parts = self.raw if self.is_list else [self.raw]
        if not all(isinstance(part, str | int | float) or (self.is_list and part is UNKNOWN) for part in parts):
            return f"{self.path}: "  # an object, or an unknown value
        return f"{self.path} is {_shown(self.raw)}: "

    def _unknown(self) -> Iterator[Value]:
        if self.raw is UNKNOWN:
            yield self
        for part in self.below():
            yield from part._unknown()


@dataclass(frozen=True, slots=True)
class Total:
    """A sum of numbers that are not negative, some of which may be unknown."""

    known: float
    unknown: tuple[Value, ...] = ()

    @classmethod
    def of(cls, parts: Iterable[T], amount: Callable[[T], float]) -> Total:
        """The sum of the amounts of all parts."""
        known, unknown = 0.0, list[Value]()
        for part in parts:
            try:
                known += amount(part)
            except UndecidedError as error:
                unknown += error.unknown
        return cls(known, tuple(unknown))

    def __add__(self, other: Total) -> Total:
        return Total(self.known + other.known, self.unknown + other.unknown)

    def at_most(self, limit: float) -> Truth:
        """Whether the sum is at most the limit. It is false if the known numbers alone exceed the limit."""
        if self.known > limit:
            return Truth(False)
        return Truth(None, self.unknown) if self.unknown else Truth(True)


def hidden(raw: Any, is_unknown: Callable[[str], bool]) -> Any:
    """A plain value with UNKNOWN in place of each text that stands for an unknown value."""
    if isinstance(raw, dict):
        return {key: hidden(value, is_unknown) for key, value in raw.items()}
    if isinstance(raw, list):
        return [hidden(value, is_unknown) for value in raw]
    return UNKNOWN if isinstance(raw, str) and is_unknown(raw) else raw


NOWHERE: Final = Value(None)
"""The property at fault of a demand on the stack as a whole."""


def _inside(raw: Any, path: str, resource: Any) -> Value:
    if raw == HIDDEN:
        return Value(UNKNOWN, f"{path}, a secret", resource, remedy=_REVEAL)
    return Value(raw, path, resource)


def _shown(raw: Any) -> str:
    if raw is UNKNOWN:
        return f"({UNKNOWN.value})"
    if isinstance(raw, list):
        return ", ".join(map(_shown, raw)) or "empty"
    if isinstance(raw, bool):
        return str(raw).lower()
    return str(int(raw)) if isinstance(raw, float) and raw.is_integer() else repr(raw)
