"""From the errors of pydantic to the user's mistakes, without those that only follow from others.

A rejected value is unknown, so a rule that depends on it cannot be checked. The rules are therefore checked several
times, each time with another value instead. A mistake that disappears with one of these values is not reported.
"""

import itertools
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TypeVar, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.alias_generators import to_snake
from pydantic_core import ErrorDetails

from tpuplane.spec.core import substitutes
from tpuplane.spec.core.errors import Mistake, Path, SpecError, dotted
from tpuplane.spec.core.fields import STRICT
from tpuplane.spec.core.misplaced import misplaced_in
from tpuplane.spec.core.pydantic_messages import annotation_at, message, plain
from tpuplane.spec.core.repetitions import with_repetitions

_ModelT = TypeVar("_ModelT", bound=BaseModel)
_TURNS = 6
_MOST_ROOTS = 12
# Of more rejected values, the first are explained, and none is replaced to check the rest.
_MOST_EXPLAINED = 200
# Values that all checks together may read, so that the time does not grow with the size of a file.
_MOST_WORK = 100_000


def mistakes_of(error: ValidationError, model: type[BaseModel]) -> list[Mistake]:
    """One mistake for each of pydantic's errors."""
    return _explained(error.errors(include_url=False), model, None)


def judged(value: object, model: type[_ModelT], check: Callable[[_ModelT], Iterable[Mistake]]) -> _ModelT:
    """The description. Raises `SpecError` with every mistake of its fields and of its rules."""
    check = with_repetitions(check)
    try:
        spec = model.model_validate(value, context=STRICT)
    except ValidationError as error:
        details = error.errors(include_url=False)
        if len(details) <= _MOST_EXPLAINED:
            raise SpecError(_mistakes(value, details, model, check)) from None
        details.sort(key=lambda detail: dotted(substitutes.path_of(detail)))
        unexplained = len(details) - _MOST_EXPLAINED
        raise SpecError(_explained(details[:_MOST_EXPLAINED], model, value), unexplained) from None
    if mistakes := _roots(value, model, check, list(check(spec)), _Trials(value)):
        raise SpecError(mistakes)
    return spec


class _Trials:
    """The number of repeated checks to find causes. A larger description has fewer."""

    def __init__(self, value: object) -> None:
        self._size = substitutes.size_of(value)
        self._left = _MOST_WORK

    def take(self, mistakes: int = 0) -> bool:
        """Whether one more check is possible for a description with this number of mistakes."""
        self._left -= self._size + mistakes
        return self._left >= 0


def _explained(details: list[ErrorDetails], model: type[BaseModel], value: object) -> list[Mistake]:
    """One mistake for each error. With the rejected `value`, fields in place of names are one too."""
    misplaced, details = misplaced_in(value, details, model)
    # A required field under another name is one mistake.
    misspelt = {substitutes.meant(detail, model) for detail in details if detail["type"] == "extra_forbidden"}
    # `{a:b}` without a space is a key, and its value is empty.
    keys = {substitutes.path_of(detail) for detail in details if detail["loc"][-1:] == ("[key]",)}
    mistakes = (
        Mistake(substitutes.path_of(detail), message(detail, model))
        for detail in details
        # A list can be too short only because pydantic omits its rejected items.
        if not (detail["type"] == "too_short" and detail.get("input"))
        and not (detail["type"] == "missing" and detail["loc"] in misspelt)
        and not (detail["input"] is None and detail["loc"] in keys)
    )
    return list(dict.fromkeys((*mistakes, *(mistake for fields in misplaced for mistake in fields.mistakes()))))


def _mistakes(
    value: object, details: list[ErrorDetails], model: type[_ModelT], check: Callable[[_ModelT], Iterable[Mistake]]
) -> list[Mistake]:
    found = _explained(details, model, value)
    texts = {path for detail in details for path, _ in substitutes.as_text(detail)}
    if _in_all((*map(substitutes.path_of, details), *(mistake.path for mistake in found)), model):
        return found
    names = substitutes.names_in(value)
    trials = _Trials(value)
    checked: list[tuple[object, list[Mistake]]] = []
    for turn in range(_TURNS):
        if checked and not trials.take(len(checked[0][1])):
            break
        repaired, spec, rejected = _readable(value, details, model, substitutes.Substitutes(names, turn), trials)
        # It would also be rejected in quotes, so the mistake is in the text.
        again = {mistake.path: mistake for mistake in rejected if mistake.path in texts}
        found = [mistake for mistake in found if mistake.path not in again] + list(again.values())
        if spec is not None:
            checked.append((repaired, list(check(spec))))
    further: list[Mistake] = []
    if checked:
        repaired, mistakes = checked[0]
        roots = dict.fromkeys(_roots(repaired, model, check, mistakes, trials))
        further = [mistake for mistake in roots if all(mistake in others for _, others in checked)]
    gone = {_spelled_alike(substitutes.removed(mistake.path)) for mistake in found}
    quoted = {_spelled_alike(path) for path in texts}
    # The parts with an unknown field that resembles none.
    unknown = (detail for detail in details if detail["type"] == "extra_forbidden")
    unnamed = Counter(
        _spelled_alike(substitutes.path_of(detail)[:-1])
        for detail in unknown
        if substitutes.meant(detail, model) is None
    )
    missing = Counter(_spelled_alike(lack.path[:-1]) for lack in further if _lacks(value, lack))
    keys = {detail["loc"][-2] for detail in details if detail["loc"][-1:] == ("[key]",)}
    for mistake in further:
        at, given = _spelled_alike(mistake.path), substitutes.at_path(value, mistake.path)
        meant = _lacks(value, mistake) and missing[at[:-1]] <= unnamed[at[:-1]]
        # Unknown fields may be the missing ones. A rejected name is described.
        if at in unnamed or meant or (isinstance(given, str) and given in keys):
            continue
        if at in quoted:
            found = [other for other in found if other in further or _spelled_alike(other.path) != at] + [mistake]
        elif not any(at[:length] in gone for length in range(len(at) + 1)):
            found.append(mistake)
    return found


def _lacks(value: object, mistake: Mistake) -> bool:
    """Whether the mistake is about a field that the description does not have."""
    return substitutes.at_path(value, mistake.path) is None


def _in_all(paths: Iterable[Path], model: type[BaseModel]) -> bool:
    """Whether all clusters, teams or the like are rejected. Nearly everything depends on them."""
    return any(len(path) == 1 and get_origin(plain(annotation_at(model, path))) is dict for path in paths)


def _roots(
    value: object,
    model: type[_ModelT],
    check: Callable[[_ModelT], Iterable[Mistake]],
    mistakes: list[Mistake],
    trials: _Trials,
) -> list[Mistake]:
    """The mistakes without those that disappear with another value of another mistake, but not the reverse."""
    if len(mistakes) < 2:
        return mistakes
    names, every = substitutes.names_in(value), set(mistakes)
    cured: dict[Mistake, set[Mistake]] = {}
    for mistake in mistakes[:_MOST_ROOTS]:
        cured[mistake] = set()
        single = isinstance(substitutes.at_path(value, mistake.path), str | int | float)
        for turn in range(_TURNS if single else 0):
            if not trials.take(len(mistakes)):
                break
            changed = substitutes.copied(value)
            # For a name in a list, try all names.
            at = mistake.path[:-1] if turn == 2 and isinstance(mistake.path[-1], int) else mistake.path
            values = substitutes.Substitutes(names, turn)
            new = values.of(annotation_at(model, at), str(at[-1])) if turn else substitutes.GONE
            substitutes.put(changed, at, new)
            try:
                left = list(check(model.model_validate(changed, context=STRICT)))
            except ValidationError:
                continue
            if mistake not in left:
                gone = every.difference(left)
                # Mistakes of other items in the same list only change their index.
                around = mistake.path[:-1] if isinstance(mistake.path[-1], int) else ("",)
                cured[mistake].update(other for other in gone if other.path[: len(around)] != around)
    return [
        mistake
        for mistake in mistakes
        if not any(mistake in others and cause not in cured.get(mistake, ()) for cause, others in cured.items())
    ]


def _readable(
    value: object, details: list[ErrorDetails], model: type[_ModelT], other: substitutes.Substitutes, trials: _Trials
) -> tuple[object, _ModelT | None, list[Mistake]]:
    """The description with other values instead of the rejected ones, and the first errors."""
    rejected: list[Mistake] = []
    for attempt in itertools.count():
        # A text in place of a number may be rejected again. A value that does not help is removed.
        new_values = other if attempt < 2 else None
        misplaced, others = misplaced_in(value, details, model)
        found = [substitutes.edits(detail, model, new_values) for detail in others]
        found += [list(fields.edits(new_values)) for fields in misplaced]
        repaired = substitutes.copied(value)
        trials.take()
        for path, new in sorted(itertools.chain(*found), key=lambda edit: _in_order(edit[0]), reverse=True):
            substitutes.put(repaired, path, new)
        if repaired == value and attempt > 1:
            return repaired, None, rejected
        value = repaired
        try:
            return repaired, model.model_validate(value, context=STRICT), rejected
        except ValidationError as error:
            details = error.errors(include_url=False)
            rejected = rejected or _explained(details, model, value)
            if _in_all(map(substitutes.path_of, details), model):
                return repaired, None, rejected
    raise AssertionError("every attempt removes a value")


def _in_order(path: Path) -> list[str]:
    """Items of a list by their index, so that the last can be removed first."""
    return [f"{part:9}" if isinstance(part, int) else str(part) for part in path]


def _spelled_alike(path: Path) -> Path:
    """The path in camelCase, as in checks. Pydantic reports fields with the spelling of the file."""
    return tuple(to_snake(part) if isinstance(part, str) else part for part in path)
