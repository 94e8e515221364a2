"""Names of GKE node pools, and their owners. A pool can have 15,000 names, which are compared without a list."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace

_NUMBERED = re.compile(r"(.+)-(0|[1-9][0-9]*)")


@dataclass(frozen=True, slots=True)
class NodePoolNames:
    """The names of a pool's node pools, in the order of its slices."""

    key: str
    given: tuple[str, ...] = ()
    """The first names."""
    numbers: range = range(0)
    """The further ones are `KEY-NUMBER`."""

    def every(self) -> tuple[str, ...]:
        """Every name."""
        return (*self.given, *(f"{self.key}-{number}" for number in self.numbers))

    @property
    def last(self) -> str | None:
        """The last name, which is the longest of those with a number."""
        if self.numbers:
            return f"{self.key}-{self.numbers[-1]}"
        return self.given[-1] if self.given else None

    def below(self, cluster: str) -> "NodePoolNames":
        """The same names, joined with the name of their cluster."""
        return replace(self, key=f"{cluster}-{self.key}", given=tuple(f"{cluster}-{name}" for name in self.given))

    def generated_too(self) -> dict[int, str]:
        """The given names that are also further ones, by their places."""
        parts = enumerate(map(_parts, self.given))
        return {at: self.given[at] for at, (key, number) in parts if key == self.key and number in self.numbers}


class TakenNames:
    """The owner of each name."""

    def __init__(self) -> None:
        self._given: dict[str, dict[int, str]] = defaultdict(dict)  # by the parts of the name
        self._numbered: dict[str, tuple[range, str]] = {}

    def take(self, names: NodePoolNames, owner: str) -> tuple[str, str] | None:
        """Record the owner of these names. Returns the first name that already has another owner, and that owner."""
        clash = next((taken for taken in self._taken(names) if taken[1] != owner), None)
        for key, number in map(_parts, names.given):
            self._given[key].setdefault(number, owner)
        if names.numbers:
            self._numbered.setdefault(names.key, (names.numbers, owner))
        return clash

    def _taken(self, names: NodePoolNames) -> Iterator[tuple[str, str]]:
        for name in names.given:
            key, number = _parts(name)
            if number in self._given[key]:
                yield name, self._given[key][number]
            if number in self._numbers_of(key):
                yield name, self._numbered[key][1]
        for number, owner in self._given[names.key].items():
            if number in names.numbers:
                yield f"{names.key}-{number}", owner
        first = max(names.numbers.start, self._numbers_of(names.key).start)
        if first in names.numbers and first in self._numbers_of(names.key):
            yield f"{names.key}-{first}", self._numbered[names.key][1]

    def _numbers_of(self, key: str) -> range:
        return self._numbered[key][0] if key in self._numbered else range(0)


def _parts(name: str) -> tuple[str, int]:
    """The key and the number of a name `KEY-NUMBER`; another name and -1."""
    match = _NUMBERED.fullmatch(name)
    return (match[1], int(match[2])) if match else (name, -1)
