"""Every field of the spec: its docstring says what a change does, and the diff gives each change exactly one class."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, create_model
from tpuplane.cli.diff_text import diff_as_json, diff_as_markdown, diff_as_text
from tpuplane.cost import cost
from tpuplane.diff import UnknownConsequence, classes, diff
from tpuplane.diff.judges import JUDGES
from tpuplane.diff.sentences import Consequence, consequence, consequences
from tpuplane.spec import PlatformSpec, parse_platform
from tpuplane.spec.core.errors import Path, dotted
from tpuplane.spec.core.fields import Spec, element, unwrap

from tests.support.diff.every_field import VALUES, Changed, Described, apart, changes, field_at, fields, together

pytestmark = pytest.mark.unit


def leaves(model: type[BaseModel], of_holder: Consequence | None = None) -> dict[str, Consequence | None]:
    """What a change of each field does, by its model and name. A field that is always a part has no value itself."""
    found: dict[str, Consequence | None] = {}
    for name, field in model.model_fields.items():
        why = consequence(field, of_holder)
        inner, _ = unwrap(field.annotation)
        part = inner
        while (item := element(part)) is not None:
            part, _ = unwrap(item)
        holds = isinstance(part, type) and issubclass(part, BaseModel)
        if part is not inner or not holds or field.default is None:
            found[f"{model.__name__}.{name}"] = why
        if holds:
            found |= {key: it for key, it in leaves(part, why).items() if found.get(key) is None}
    return found


def test_every_docstring_says_what_a_change_does() -> None:
    assert [name for name, why in leaves(PlatformSpec).items() if why is None] == []


def test_every_sentence_is_used_and_judged() -> None:
    used = {why.text for why in leaves(PlatformSpec).values() if why}
    assert used == consequences().keys()
    assert {why.judge for why in consequences().values()} - {None} == JUDGES.keys()
    for why in consequences().values():
        assert why.judge or "as" in why.by_event or {"new", "removed"} <= why.by_event.keys(), why.text


def test_an_unknown_sentence_is_an_error() -> None:
    class Renamed(Spec):
        field: int = 1
        """Something. A change renames the pool."""

    with pytest.raises(UnknownConsequence, match="A change renames the pool"):
        leaves(Renamed)


def test_a_field_without_a_sentence_is_an_error() -> None:
    model = create_model("Silent", field=(int, Field(1, description="Something.")))
    assert leaves(model) == {"Silent.field": None}


def costs(found: Any) -> Any:
    return cost(found.before.plan), cost(found.after.plan)


def turned(part: Any) -> Any:
    """The same with every mapping in the other order."""
    if isinstance(part, BaseModel):
        return part.model_copy(update={name: turned(getattr(part, name)) for name in part.model_fields_set})
    return {key: turned(part[key]) for key in reversed(part)} if isinstance(part, dict) else part


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(changes()))
def test_a_changed_field_has_exactly_one_class(change: Changed) -> None:
    before, after = parse_platform(change.before), parse_platform(change.after)
    found = diff(before, after)
    assert diff(before, after) == found
    assert diff(after, after).changes == ()
    assert [it.kind for it in diff(turned(before), after).changes] == [it.kind for it in found.changes]
    at = dotted(change.place)
    for it in found.changes:
        assert dotted(it.path).startswith(at) or at.startswith(dotted(it.path))
        assert it.kind in classes()
        assert it.before != it.after
    assert len({it.path for it in found.changes}) == len(found.changes) > 0
    values = diff_as_json(found, costs(found))
    assert json.loads(json.dumps(values)) == values
    text = "\n".join(diff_as_text(found, costs(found)))
    assert all(dotted(it.path) in text and it.why in text for it in found.changes)
    assert all(dotted(it.path) in "\n".join(diff_as_markdown(found, costs(found))) for it in found.changes)


@settings(deadline=None, max_examples=50)
@given(st.sampled_from(changes()), st.data())
def test_the_way_back_changes_the_same_fields(change: Changed, data: st.DataObject) -> None:
    same = [it for it in changes() if it.platform == change.platform]
    several = [change, *data.draw(st.lists(st.sampled_from(same), max_size=3))]
    try:
        one, other = parse_platform(change.before), parse_platform(together(several))
    except ValueError:
        return
    assert {it.path for it in diff(one, other).changes} == {it.path for it in diff(other, one).changes}


def classes_by_path(change: Changed, after: Described) -> dict[Path, str]:
    return {it.path: it.kind for it in diff(parse_platform(change.before), parse_platform(after)).changes}


# A change that depends on another one: the interaction is documented where the field is.
TOGETHER = {
    # "With `bootDiskEncryption`, adding or removing it replaces the cluster", and the other way round.
    frozenset({"autoProvisioning", "bootDiskEncryption"}),
    # A namespace remains if a team or another list has it.
    frozenset({"namespaces"}),
}


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(changes()), st.data())
def test_two_changes_have_the_classes_of_each(one: Changed, data: st.DataObject) -> None:
    others = [it for it in changes() if it.platform == one.platform and apart(it, [one])]
    other = data.draw(st.sampled_from(others))
    fields_ = [next((it for it in place if any(it in of for of in TOGETHER)), "") for place in (one.place, other.place)]
    assume(frozenset(fields_) not in TOGETHER and "namespaces" not in fields_)
    try:
        found = classes_by_path(one, together([one, other]))
    except ValueError:
        return
    assert found == classes_by_path(one, one.after) | classes_by_path(other, other.after)


def test_the_changes_cover_every_field() -> None:
    found: set[str] = set()
    for it in changes():
        found |= {field_at(of.path) for of in diff(parse_platform(it.before), parse_platform(it.after)).changes}
    assert fields() - found == set()


def test_every_written_value_is_a_change() -> None:
    """A value that the spec rejects would test nothing."""
    used = {str(it.value) for it in changes()}
    assert [(of, it) for of, values in VALUES.items() for it in values if str(it) not in used] == []
