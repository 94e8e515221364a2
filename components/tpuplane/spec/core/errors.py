"""Mistakes in what the user wrote: one line each, all of them at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

from tpuplane.tpu.nearest import nearest_names

Path = tuple[str | int, ...]


def dotted(path: Path) -> str:
    """The path as users read it: `clusters.east.controlPlane.authorizedNetworks[0].cidr`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def shown(value: object) -> str:
    """The value as it is in the file, short enough for one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, date):
        return value.isoformat()
    text = "nothing" if value is None else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def repeated(keys: Iterable[str]) -> str | None:
    """A key that is there more than once, if any is."""
    return next((key for key, count in Counter(keys).items() if count > 1), None)


def choice(value: object, what: str, allowed: Iterable[str]) -> str:
    """The sentence for a value outside a fixed set: cause, allowed set and, where one is close, the nearest."""
    allowed = tuple(allowed)
    if not allowed:
        return f"{shown(value)} is not {what}: there is none"
    close = nearest_names(str(value), allowed) if len(allowed) > 1 else ()
    hint = f"; nearest: {', '.join(close)}" if close else ""
    return f"{shown(value)} is not {what}; allowed: {', '.join(allowed)}{hint}"


def check_unique(at: Path, values: Sequence[str]) -> Iterator[Mistake]:
    """Reject an item that is in the list before."""
    for index, value in enumerate(values):
        if value in values[:index]:
            yield Mistake((*at, index), f"{shown(value)} is in the list twice; remove one")


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
    """The description is wrong. `mistakes` holds every mistake, sorted by path; `str()` is one line for each."""

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        self.mistakes = tuple(sorted(mistakes, key=lambda mistake: (dotted(mistake.path), mistake.message)))
        super().__init__("\n".join(map(str, self.mistakes)))

    def located(self, where: Callable[[Path], str]) -> SpecError:
        """The same mistakes, each with the place in the file that `where` finds for its path."""
        return SpecError(replace(mistake, where=where(mistake.path)) for mistake in self.mistakes)
