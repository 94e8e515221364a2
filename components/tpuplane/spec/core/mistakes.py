"""From what pydantic rejects to the user's mistakes, without those that only follow from them.

A rejected value is unknown, so a rule that depends on it cannot be checked. The rules are therefore checked several
times, each time with another value in its place: a mistake that some value removes is not reported.
"""

import itertools
from collections.abc import Callable
from typing import TypeVar, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.alias_generators import to_snake
from pydantic_core import ErrorDetails

from tpuplane.spec.core.errors import Mistake, Path
from tpuplane.spec.core.fields import STRICT
from tpuplane.spec.core.pydantic_messages import annotation_at, message, plain
from tpuplane.spec.core.substitutes import (
    GONE,
    Substitutes,
    as_text,
    copied,
    edits,
    is_single,
    names_in,
    path_of,
    put,
    removed,
)

_ModelT = TypeVar("_ModelT", bound=BaseModel)
_TURNS = 6
_MOST_ROOTS = 12


def mistakes_of(error: ValidationError, model: type[BaseModel]) -> list[Mistake]:
    """One mistake for each of pydantic's errors."""
    details = error.errors(include_url=False)
    return [Mistake(path_of(detail), message(detail, model)) for detail in details if not _left_empty(detail)]


def judged(
    value: object, model: type[_ModelT], check: Callable[[_ModelT], list[Mistake]]
) -> tuple[_ModelT | None, list[Mistake]]:
    """The description, or None, and every mistake: of its fields, and of what must hold between them."""
    try:
        spec = model.model_validate(value, context=STRICT)
    except ValidationError as error:
        return None, _mistakes(value, error, model, check)
    return spec, _roots(value, model, check, check(spec))


def _mistakes(
    value: object, error: ValidationError, model: type[_ModelT], check: Callable[[_ModelT], list[Mistake]]
) -> list[Mistake]:
    found = {mistake.path: mistake for mistake in mistakes_of(error, model)}
    texts = {path for detail in error.errors(include_url=False) for path, _ in as_text(detail)}
    if any(len(path) == 1 and get_origin(plain(annotation_at(model, path))) is dict for path in found):
        return list(found.values())  # all clusters, teams or the like: nearly everything depends on them
    names = names_in(value)
    further: list[Mistake] | None = None
    for turn in range(_TURNS):
        repaired, spec, rejected = _readable(value, error, model, Substitutes(names, turn))
        # In quotes it would be rejected too: what is wrong with the text is the mistake.
        found |= {mistake.path: mistake for mistake in rejected if mistake.path in texts}
        if spec is not None:
            mistakes = check(spec)
            if further is None:
                further = _roots(repaired, model, check, mistakes)
            further = [mistake for mistake in further if mistake in mistakes]
    gone = {_spelled_alike(removed(path)) for path in found}
    quoted = {_spelled_alike(path) for path in texts}
    for mistake in further or ():
        at = _spelled_alike(mistake.path)
        if at in quoted:
            found = {path: it for path, it in found.items() if _spelled_alike(path) != at} | {mistake.path: mistake}
        elif not any(at[: len(path)] == path for path in gone):
            found[(*mistake.path, mistake.message)] = mistake
    return list(found.values())


def _roots(
    value: object, model: type[_ModelT], check: Callable[[_ModelT], list[Mistake]], mistakes: list[Mistake]
) -> list[Mistake]:
    """The mistakes without those that go when the value of another one is changed, but not the other way round."""
    if len(mistakes) < 2:
        return mistakes
    names = names_in(value)
    cured: dict[Mistake, set[Mistake]] = {}
    for mistake in mistakes[:_MOST_ROOTS]:
        cured[mistake] = set()
        for turn in range(_TURNS if is_single(value, mistake.path) else 0):
            changed = copied(value)
            # A name in a list: one of all names may be the right one.
            at = mistake.path[:-1] if turn == 2 and isinstance(mistake.path[-1], int) else mistake.path
            put(changed, at, Substitutes(names, turn).of(annotation_at(model, at), str(at[-1])) if turn else GONE)
            try:
                left = check(model.model_validate(changed, context=STRICT))
            except ValidationError:
                continue
            if mistake not in left:
                cured[mistake].update(set(mistakes) - set(left))
    return [
        mistake
        for mistake in mistakes
        if not any(mistake in others and cause not in cured.get(mistake, ()) for cause, others in cured.items())
    ]


def _readable(
    value: object, error: ValidationError, model: type[_ModelT], substitutes: Substitutes
) -> tuple[object, _ModelT | None, list[Mistake]]:
    """The description with something else in place of what is rejected, and what was rejected of that at first."""
    rejected: list[Mistake] = []
    for attempt in itertools.count():
        # A text in place of a number may be rejected again. What does not help is removed.
        found = [edits(detail, model, substitutes if attempt < 2 else None) for detail in error.errors()]
        repaired = copied(value)
        for path, new in sorted(itertools.chain(*found), key=lambda edit: _in_order(edit[0]), reverse=True):
            put(repaired, path, new)
        if repaired == value and attempt > 1:
            return repaired, None, rejected
        value = repaired
        try:
            return repaired, model.model_validate(value, context=STRICT), rejected
        except ValidationError as again:
            rejected = rejected or mistakes_of(again, model)
            error = again
    raise AssertionError("every attempt takes something away")


def _left_empty(detail: ErrorDetails) -> bool:
    """Whether a list is too short only because pydantic left out the items that it rejects itself."""
    return detail["type"] == "too_short" and bool(detail.get("input"))


def _in_order(path: Path) -> list[str]:
    """Items of a list by their place, so that the last can be taken away first."""
    return [f"{part:9}" if isinstance(part, int) else str(part) for part in path]


def _spelled_alike(path: Path) -> Path:
    """The path in one spelling: pydantic reports fields as they were written, checks report camelCase."""
    return tuple(to_snake(part) if isinstance(part, str) else part for part in path)
