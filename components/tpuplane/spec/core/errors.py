"""Mistakes in a user's description: one line each, all of them at once."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from datetime import date

from tpuplane.tpu.nearest import lookalike, nearest_names

Path = tuple[str | int, ...]

_MOST_LISTED = 50
# A message has at most this many names of the user.
_MOST_NAMES = 100


def dotted(path: Path) -> str:
    """The path as users read it: `clusters.east.controlPlane.authorizedNetworks[0].cidr`."""
    text = ""
    for part in path:
        name = part if isinstance(part, int) or part.isprintable() else repr(part)
        text += f"[{name}]" if isinstance(name, int) else f".{name}" if text else name
    return text


def shown(value: object) -> str:
    """The value as it is in the file, short enough for one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, date):
        return value.isoformat()
    text = "nothing" if value is None else repr(value)
    if len(text) <= 60:
        return text
    length = f" ({len(value):,} characters)" if isinstance(value, str) else ""
    return f"{text[:56]}...{'' if isinstance(value, int | float) else text[-1]}{length}"


def repeated(keys: Iterable[str]) -> str | None:
    """A repeated key, if there is one."""
    return next((key for key, count in Counter(keys).items() if count > 1), None)


def choice(value: object, what: str, allowed: Iterable[str]) -> str:
    """The sentence for a value outside a fixed set: cause, allowed set, and the nearest if others are further away."""
    if not (allowed := tuple(allowed)):
        return f"{shown(value)} is not {what}; none exists"
    close = nearest_names(str(value), allowed)
    hint = f"; nearest: {', '.join(close)}" if 0 < len(close) < len(allowed) else ""
    return f"{shown(value)}{lookalike(str(value))} is not {what}; allowed: {listing(allowed)}{hint}"


def listing(names: Collection[str]) -> str:
    """The names in one line; of very many the first ones and their number."""
    if len(names) <= _MOST_NAMES:
        return ", ".join(names)
    return f"{', '.join(itertools.islice(names, _MOST_NAMES))} and {len(names) - _MOST_NAMES:,} more"


def _in_order(path: Path) -> str:
    """The path as text, in which items of a list are in the order of their places."""
    return dotted(tuple(f"[{part:09}]" if isinstance(part, int) else part for part in path)).replace(".[", "[")


@dataclass(frozen=True, slots=True)
class Mistake:
    """One mistake: where it is, and one line that says value, cause, allowed set and remedy."""

    path: Path
    message: str
    where: str = ""  # "stacks/Pulumi.local.yaml:12", or empty where there is no file
    rule: str = ""  # id of the rule of `data/rules.yaml` that it breaks, where it breaks one

    def __str__(self) -> str:
        return ": ".join(part for part in (self.where, dotted(self.path), self.message) if part)


class SpecError(ValueError):
    """A description with mistakes. `str()` has one line for each of the first 50, and the number of the others."""

    def __init__(self, mistakes: Iterable[Mistake], unexplained: int = 0) -> None:
        self.mistakes = tuple(sorted(mistakes, key=lambda mistake: (_in_order(mistake.path), mistake.message)))
        """The explained mistakes, sorted by path."""
        self.unexplained = unexplained
        """Mistakes that are only counted, because there are very many."""
        self.listed = self.mistakes[:_MOST_LISTED]
        self.rest = len(self.mistakes) - len(self.listed) + unexplained
        """Mistakes that are not listed."""
        more = [f"and {self.rest:,} more; fix these first"] if self.rest else []
        super().__init__("\n".join((*map(str, self.listed), *more)))

    def located(self, where: Callable[[Path], str]) -> SpecError:
        """The same mistakes. Each without a place gets the one that `where` finds in the file for its path."""
        placed = (replace(mistake, where=mistake.where or where(mistake.path)) for mistake in self.mistakes)
        return SpecError(placed, self.unexplained)
