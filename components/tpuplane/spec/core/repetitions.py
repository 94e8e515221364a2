"""Items that are in their list twice."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from pydantic import BaseModel

from tpuplane.spec.core.errors import Mistake, Path, shown

_ModelT = TypeVar("_ModelT", bound=BaseModel)


def repetitions(at: Path, values: Iterable[str]) -> Iterator[Mistake]:
    """A mistake for each item that is in the list before."""
    first: dict[str, int] = {}
    for index, value in enumerate(values):
        if first.setdefault(value, index) != index:
            yield Mistake((*at, index), f"{shown(value)} is in the list twice; remove one")


def with_repetitions(check: Callable[[_ModelT], Iterable[Mistake]]) -> Callable[[_ModelT], Iterable[Mistake]]:
    """The same check, and also a check of the texts in every list. A repeated one has no other mistake."""

    def checked(spec: _ModelT) -> Iterator[Mistake]:
        twice = {mistake.path: mistake for mistake in _repeated((), spec)}
        yield from twice.values()
        yield from (mistake for mistake in check(spec) if mistake.path not in twice)

    return checked


def _repeated(at: Path, value: object) -> Iterator[Mistake]:
    """The repetitions in all lists of a description, but not in GKE's node settings, whose lists can be arguments."""
    if isinstance(value, BaseModel):
        fields = type(value).model_fields
        for name in value.model_fields_set:
            yield from _repeated((*at, fields[name].alias or name), getattr(value, name))
    elif isinstance(value, tuple):
        yield from repetitions(at, (item for item in value if isinstance(item, str)))
    if isinstance(value, dict | tuple):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for part, item in items:
            if isinstance(item, BaseModel):
                yield from _repeated((*at, part), item)
