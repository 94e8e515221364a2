"""Every field of the spec: its type says what a change does, and the diff gives each change exactly one class."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from typing import Annotated, Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, create_model
from tpuplane.cli.diff_text import diff_as_json, diff_as_markdown, diff_as_text
from tpuplane.cost import cost
from tpuplane.diff import classes, diff
from tpuplane.diff.compare import differences
from tpuplane.diff.judges import JUDGES
from tpuplane.spec import PlatformSpec, parse_platform
from tpuplane.spec.core.changes import Change, ChangeClass, Event, InPlace, change_of, unclassed
from tpuplane.spec.core.errors import Path, dotted
from tpuplane.spec.core.fields import Spec, unwrap_all
from tpuplane.spec.core.rules import spec_data

from scripts import generate
from tests.support.diff.every_field import (
    VALUES,
    Changed,
    apart,
    changes,
    field_at,
    fields,
    platform_spec,
    switches,
    together,
)

pytestmark = pytest.mark.unit


class KnownSpec(Spec):
    """A part whose holder says what a change does."""

    field: int = 1


def marks(model: type[BaseModel] = PlatformSpec) -> Iterator[Change]:
    """What the types of all fields say of a change."""
    for field in model.model_fields.values():
        if own := change_of(field):
            yield own
        part = unwrap_all(field.annotation)
        if isinstance(part, type) and issubclass(part, BaseModel):
            yield from marks(part)


def test_every_type_says_what_a_change_does() -> None:
    assert list(unclassed(PlatformSpec)) == []


def test_every_judge_and_source_is_used_and_known() -> None:
    used = list(marks())
    assert {mark.judge for mark in used} - {None} == JUDGES.keys() == spec_data("changes")["judges"].keys()
    assert {mark.source for mark in used} == spec_data("changes")["sources"].keys()
    assert tuple(classes()) == get_args(ChangeClass)
    for answers in spec_data("changes")["judges"].values():
        assert answers.keys() <= {*classes(), *get_args(Event)}


def test_a_change_without_a_class_for_each_direction_is_an_error() -> None:
    with pytest.raises(TypeError, match="has no class for some changes"):
        Change(on="in-place", source="provider")


def test_each_direction_has_its_class_and_its_sentence() -> None:
    change = Change(on="in-place", off="replaces-cluster", source="cluster")
    assert change.sentence == "Switched on in place. Switching it off replaces the cluster."
    assert change.clause("off", "replaces-cluster") == "Switching it off replaces the cluster."
    assert change.clause("off", "nothing") == "The planned value stays the same."


def test_a_field_without_a_class_is_named_by_the_generator(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    silent = create_model("SilentSpec", field=(int, 1), part=(InPlace[dict[str, KnownSpec]], {}))
    monkeypatch.setattr(generate, "PlatformSpec", silent)
    assert generate.main() == 1
    assert "SilentSpec.field: no class of a change" in capsys.readouterr().out


def test_a_judge_of_names_gives_the_fields_no_class() -> None:
    pools = Annotated[
        dict[str, KnownSpec],
        Change(new="creates", removed="deletes-nodes", judge="pool", named="pool", source="node_pool"),
    ]
    assert list(unclassed(create_model("PlatformSpec", pools=(pools, {})))) == ["KnownSpec.field"]


def costs(found: Any) -> Any:
    return cost(found.before.plan), cost(found.after.plan)


def turned(part: Any) -> Any:
    """The same with every mapping in the other order."""
    if isinstance(part, BaseModel):
        return part.model_copy(update={name: turned(getattr(part, name)) for name in part.model_fields_set})
    return {key: turned(part[key]) for key in reversed(part)} if isinstance(part, dict) else part


@pytest.fixture(scope="module", autouse=True)
def _changes() -> None:
    """Made here, because Hypothesis measures how long a test draws."""
    changes()


EVERY = st.deferred(lambda: st.sampled_from(changes()))


@settings(max_examples=50)
@given(EVERY)
def test_a_changed_field_has_exactly_one_class(change: Changed) -> None:
    before, after = parse_platform(change.before), parse_platform(change.after)
    found = diff(before, after)
    assert diff(before, after) == found
    assert diff(after, after).changes == ()
    assert [found_change.kind for found_change in diff(turned(before), after).changes] == [
        found_change.kind for found_change in found.changes
    ]
    at = dotted(change.place)
    for found_change in found.changes:
        assert dotted(found_change.path).startswith(at) or at.startswith(dotted(found_change.path))
        assert found_change.kind in classes()
        assert found_change.before != found_change.after
    assert len({found_change.path for found_change in found.changes}) == len(found.changes) > 0
    values = diff_as_json(found, costs(found))
    assert json.loads(json.dumps(values)) == values
    text = "\n".join(diff_as_text(found, costs(found)))
    assert all(dotted(found_change.path) in text and found_change.why in text for found_change in found.changes)
    assert all(
        dotted(found_change.path) in "\n".join(diff_as_markdown(found, costs(found))) for found_change in found.changes
    )


@functools.cache
def of_platform(name: str) -> list[Changed]:
    """The changes of a platform."""
    return [change for change in changes() if change.platform == name]


@settings(max_examples=30)
@given(EVERY, st.data())
def test_the_way_back_changes_the_same_fields(change: Changed, data: st.DataObject) -> None:
    several = [change, *data.draw(st.lists(st.sampled_from(of_platform(change.platform)), max_size=3))]
    try:
        one, other = platform_spec(change.platform), parse_platform(together(several))
    except ValueError:
        return
    assert {found_change.path for found_change in diff(one, other).changes} == {
        found_change.path for found_change in diff(other, one).changes
    }


def classes_by_path(change: Changed, after: PlatformSpec) -> dict[Path, str]:
    return {
        found_change.path: found_change.kind for found_change in diff(platform_spec(change.platform), after).changes
    }


def independent(one: Changed, other: Changed) -> bool:
    """Whether neither change is within the other, or depends on it as the documentation of its field says."""
    # With bootDiskEncryption, adding or removing autoProvisioning replaces the cluster, and the other way round.
    # An adopted cluster without a name of its own has the name of the platform.
    pairs = (("autoProvisioning", "bootDiskEncryption"), ("name", "adopted"))
    sides = [(this, that) for pair in pairs for this, that in (pair, pair[::-1])]
    depends = any(this in one.place and that in other.place for this, that in sides)
    return apart(other, [one]) and not depends


@functools.cache
def alone() -> list[Changed]:
    """The changes but those of a namespace, which remains if a team or another list has it."""
    return [change for change in changes() if "namespaces" not in change.place]


INDEXES = st.deferred(lambda: st.integers(0, len(alone()) - 1))


# Hypothesis draws two numbers, because drawing and rejecting changes can take longer than it allows.
@settings(max_examples=30)
@given(INDEXES, INDEXES)
def test_two_changes_have_the_classes_of_each(first: int, second: int) -> None:
    one, others = alone()[first], [*alone()[second:], *alone()]
    other = next(change for change in others if change.platform == one.platform and independent(one, change))
    try:
        found = classes_by_path(one, parse_platform(together([one, other])))
    except ValueError:
        return
    assert found == classes_by_path(one, one.spec) | classes_by_path(other, other.spec)


def test_the_changes_cover_every_field() -> None:
    compared = (differences(platform_spec(change.platform), change.spec) for change in changes())
    found = {field_at(found_change.path) for of_change in compared for found_change in of_change}
    missing = sorted(fields() - found)
    assert missing == [], f"no test changes {', '.join(missing)}: write another value into tests/unit/diff/values.yaml"


# Values that need another field with them. `values.yaml` has them as a part of a pool or class; the slice controller
# needs a release channel, and test_cluster_options.py has both.
TOGETHER_ONLY = {
    ("ClassNodePoolConfigSpec.confidential_node_type", "TDX"),
    ("ClassNodePoolConfigSpec.image_type", "custom_containerd"),
    ("ClusterSpec.slice_controller", True),
    ("FilestoreSpec.tier", "REGIONAL"),
    ("GpuPoolSpec.capacity", "reservation"),
    ("MaintenanceExclusionSpec.until_end_of_support", False),
    ("MaintenanceExclusionSpec.until_end_of_support", True),
    ("PoolSpec.capacity", "flex-start"),
    ("PoolSpec.capacity", "reservation"),
}


def test_every_boolean_and_enum_changes_to_each_of_its_values() -> None:
    tried = {(field_at(change.place), change.value) for change in changes() if isinstance(change.value, bool | str)}
    missing = sorted(map(str, switches() - tried - TOGETHER_ONLY))
    assert missing == [], (
        f"no test changes {', '.join(missing)}: give the field another value in lab.yaml or company.yaml of "
        "tests/unit/diff, from which it can change to this one"
    )
    assert switches() - tried >= TOGETHER_ONLY


def test_every_written_value_is_a_change() -> None:
    """A value that the spec rejects would test nothing."""
    used = {str(change.value) for change in changes()}
    assert [(pattern, value) for pattern, values in VALUES.items() for value in values if str(value) not in used] == []
