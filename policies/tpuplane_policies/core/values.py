"""Property values of a resource, any of which may not be known before the resource exists."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final


class _Unknown(Enum):
    UNKNOWN = "known after the update"


UNKNOWN: Final = _Unknown.UNKNOWN
"""Stands in a property's place where a preview cannot know its value."""


SENTINELS: Final = {
    "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
    "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
    "04da6b54-80e4-46f7-96ec-b56ff0331ba9",
    "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
    "030794c1-ac77-496b-92df-f27374a8bd58",
    "e48ece36-62e2-4504-bad9-02848725956a",
    "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
}
"""How the engine writes an unknown boolean, number, string, list, asset, archive and object."""


class UndecidedError(Exception):
    """A rule needs a value that is not known yet."""

    def __init__(self, *paths: str) -> None:
        super().__init__(", ".join(paths))
        self.paths = paths


@dataclass(frozen=True, slots=True)
class Truth:
    """Yes, no, or not known yet (`holds` is None), by Kleene's logic: one known "no" settles an "and"."""

    holds: bool | None
    unknown: tuple[str, ...] = ()
    """The properties that would have to be known."""

    def __and__(self, other: Truth) -> Truth:
        if self.holds is False or other.holds is False:
            return Truth(False)
        return Truth(None, self.unknown + other.unknown) if None in (self.holds, other.holds) else Truth(True)

    def __or__(self, other: Truth) -> Truth:
        if self.holds or other.holds:
            return Truth(True)
        return Truth(None, self.unknown + other.unknown) if None in (self.holds, other.holds) else Truth(False)

    def __invert__(self) -> Truth:
        return self if self.holds is None else Truth(not self.holds)

    def __bool__(self) -> bool:
        raise TypeError("a Truth may be unknown: combine it with &, | and ~, or read .holds")


@dataclass(frozen=True, slots=True)
class Value:
    """One property, with the path that a message names. What is not set is None."""

    raw: Any
    path: str = ""

    def __getitem__(self, dotted: str) -> Value:
        """The property below, such as `nodeConfig.machineType`; below an unknown one, all is unknown."""
        here = self
        for key in dotted.split("."):
            here = here.child(key)
        return here

    def child(self, key: str) -> Value:
        """The property of exactly this key, which may contain dots (labels and annotations do)."""
        if self.raw is UNKNOWN:
            return self
        path = f"{self.path}.{key}" if self.path else key
        return Value(self.raw.get(key) if isinstance(self.raw, Mapping) else None, path)

    def each(self) -> Iterator[Value]:
        """The elements of a list; of an unknown list, one unknown element."""
        if self.raw is UNKNOWN:
            yield self
        elif isinstance(self.raw, Sequence) and not isinstance(self.raw, str):
            for index, element in enumerate(self.raw):
                yield Value(element, f"{self.path}[{index}]")

    def get(self, default: Any = None) -> Any:
        """The plain value, or `default` where it is not set.

        Raises:
            UndecidedError: if it, or anything in it, is not known yet.

        """
        missing = tuple(_unknown_in(self.raw, self.path))
        if missing:
            raise UndecidedError(*missing)
        return default if self.raw is None else self.raw

    def test(self, predicate: Callable[[Any], bool]) -> Truth:
        """Whether the value (None where not set) is as `predicate` wants it."""
        try:
            return Truth(bool(predicate(self.get())))
        except UndecidedError as error:
            return Truth(None, error.paths)

    def one_of(self, *allowed: Any) -> Truth:
        """Whether the value is one of these; None stands for "not set"."""
        return self.test(lambda it: it in allowed)

    def contains(self, element: Any) -> Truth:
        """Whether a list (of which some elements may be unknown) has this element."""
        found = Truth(False)
        for item in self.each():
            found |= item.one_of(element)
        return found

    @property
    def is_true(self) -> Truth:
        """Whether it is set and true."""
        return self.one_of(True, "true")

    @property
    def is_set(self) -> Truth:
        """Whether it is there and not empty. Something that is not known yet is there."""
        return Truth(self.raw is UNKNOWN or self.raw not in (None, "", [], {}))


def _unknown_in(raw: Any, path: str) -> Iterator[str]:
    if raw is UNKNOWN:
        yield path
    elif isinstance(raw, Mapping):
        for key, value in raw.items():
            yield from _unknown_in(value, f"{path}.{key}" if path else str(key))
    elif isinstance(raw, Sequence) and not isinstance(raw, str):
        for index, value in enumerate(raw):
            yield from _unknown_in(value, f"{path}[{index}]")
