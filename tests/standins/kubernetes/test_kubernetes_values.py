"""The pure parts: values on the wire, property paths, normal forms, differences."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pulumi.runtime import rpc
from tpuplane_standins.providers.contract import Change
from tpuplane_standins.providers.kubernetes import diff, inputs, kinds, values
from tpuplane_standins.providers.values import (
    ASSET_SIGNATURE,
    RESOURCE_SIGNATURE,
    SIGNATURE_KEY,
    UNKNOWN,
    Secret,
    UnsupportedValue,
    decode_struct,
    encode_struct,
)

pytestmark = pytest.mark.unit

_SCALARS = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8)
_VALUES = st.recursive(
    _SCALARS | st.just(UNKNOWN),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
_OBJECTS = st.dictionaries(st.text(max_size=4), _VALUES | _VALUES.map(Secret), max_size=4)
_STEPS = st.text(st.characters(exclude_characters="\\*", exclude_categories=["Cs"]), min_size=1, max_size=5)


@given(_OBJECTS)
def test_values_survive_the_wire(obj: dict[str, Any]) -> None:
    assert decode_struct(encode_struct(obj)) == obj


@given(st.lists(_STEPS | st.integers(0, 9), min_size=1, max_size=4))
def test_paths_survive_their_text(steps: list[str | int]) -> None:
    path = (next((step for step in steps if isinstance(step, str)), "a"), *steps)
    assert values.parse_path(values.render_path(path)) == path


@pytest.mark.parametrize("text", ["a[", "a..b", 'a["b', "[x]"])
def test_text_that_is_no_path(text: str) -> None:
    with pytest.raises(values.PathError, match="is not a property path"):
        values.parse_path(text)


def test_the_marks_on_the_wire_are_the_sdks() -> None:
    marks = (rpc._special_sig_key, rpc._special_asset_sig, rpc._special_resource_sig)
    assert marks == (SIGNATURE_KEY, ASSET_SIGNATURE, RESOURCE_SIGNATURE)
    secret, unknown = encode_struct({"a": Secret("b"), "c": UNKNOWN}).fields.values()
    assert secret.struct_value.fields[rpc._special_sig_key].string_value == rpc._special_secret_sig
    assert unknown.string_value == rpc.UNKNOWN
    output = {rpc._special_sig_key: rpc._special_output_value_sig, "value": "b", "secret": True}
    assert decode_struct(encode_struct({"a": output})) == {"a": Secret("b")}


def test_assets_are_rejected() -> None:
    asset = encode_struct({"data": {SIGNATURE_KEY: ASSET_SIGNATURE, "text": "x"}})
    with pytest.raises(UnsupportedValue, match="cannot hold an asset"):
        decode_struct(asset)


def test_a_secret_in_a_list_hides_the_list_and_nothing_else() -> None:
    template = {"spec": {"args": ["a", Secret("b")], "image": "i"}}
    marked = values.mark_secrets({"spec": {"args": ["a", "b"], "image": "i"}, "status": {}}, template)
    assert marked == {"spec": {"args": Secret(["a", "b"]), "image": "i"}, "status": {}}


def changes(
    live: dict[str, Any], old: dict[str, Any], new: dict[str, Any], *replacing: str, built_in: bool = True
) -> dict[str, Change]:
    return diff.detailed(live, old, new, [values.parse_path(text) for text in replacing], built_in=built_in)


ADD, DELETE, UPDATE = Change("add"), Change("delete", of_input=True), Change("update")


@pytest.mark.parametrize(
    ("live", "old", "new", "found"),
    [
        ({"a": 1}, {"a": 1}, {"a": 1.0}, {}),
        ({"a": True}, {"a": 1}, {"a": 1}, {"a": UPDATE}),
        ({"a": 1}, {"a": 1}, {}, {"a": DELETE}),
        ({"a": 1}, {"a": 1}, {"a": None}, {"a": DELETE}),
        ({}, {}, {"a": None}, {}),
        ({"a": {"b": 1}}, {"a": {"b": 1}}, {"a": {"b": 1, "c.d": 2}}, {'a["c.d"]': ADD}),
        ({"a": [1, 2]}, {"a": [1, 2]}, {"a": [1, 3, 4]}, {"a[1]": UPDATE, "a[2]": ADD}),
        ({"a": [1, 2]}, {"a": [1, 2]}, {"a": [1]}, {"a[1]": DELETE}),
        ({"a": [{"b": 1, "c": 2}]}, {"a": [{"b": 1, "c": 2}]}, {"a": [{"b": 1}]}, {"a[0].c": DELETE}),
        ({"a": {"b": 1}}, {"a": {"b": 1}}, {"a": UNKNOWN}, {"a": UPDATE}),
        ({}, {}, {"a": UNKNOWN}, {"a": ADD}),
        ({"a": "x"}, {"a": "x"}, {"a": {"b": 1}}, {"a": UPDATE}),
    ],
)
def test_differences(live: dict[str, Any], old: dict[str, Any], new: dict[str, Any], found: dict[str, Change]) -> None:
    assert changes(live, old, new) == found


def test_the_servers_spelling_is_no_difference_for_built_in_kinds_only() -> None:
    live: dict[str, Any] = {"cpu": "1", "memory": "1Gi"}
    written = {"cpu": "1000m", "memory": "1024Mi", "hostNetwork": False, "labels": {}}
    assert changes(live, written, written) == {}
    assert set(changes(live, written, written, built_in=False)) == {"cpu", "memory", "hostNetwork", "labels"}
    assert changes(live, live, {**live, "cpu": "2"}) == {"cpu": UPDATE}
    assert changes(live, live, {**live, "hostNetwork": False}) == {"hostNetwork": ADD}, "the program adds it"


@pytest.mark.parametrize(
    ("field", "new", "replaced"),
    [
        ("a.b", {"a": {"b": {"c": 2}}}, {"a.b.c"}),  # below
        ("a.b.c", {"a": {"b": {"c": 2}}}, {"a.b.c"}),  # at
        ("a.x.y", {"a": {"b": {"c": 1}, "x": {"y": 1}}}, {"a.x"}),  # above, and in what is added
        ("a.x.z", {"a": {"b": {"c": 1}, "x": {"y": 1}}}, set()),
        ("l[*].i", {"a": {"b": {"c": 1}}, "l": [{"i": 1}]}, {"l"}),
        ("l[*].i", {"a": {"b": {"c": 1}}, "l": [{"j": 1}]}, set()),
    ],
)
def test_which_changes_replace(field: str, new: dict[str, Any], replaced: set[str]) -> None:
    live = {"a": {"b": {"c": 1}}}
    assert {path for path, change in changes(live, live, new, field).items() if change.replaces} == replaced


def test_what_a_pod_cannot_change_in_place() -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"image": "a", "name": "x"}]}}
    other = {**pod, "spec": {"containers": [{"image": "b", "name": "y"}]}}
    replacing = kinds.replacing_fields(pod, configmap_mutable=False, secret_mutable=False)
    found = diff.detailed(pod, pod, other, replacing, built_in=True)
    image, name = "spec.containers[0].image", "spec.containers[0].name"
    assert (found[image].replaces, found[name].replaces) == (True, False)


@pytest.mark.parametrize(
    ("mutable", "immutable", "replaces"), [(False, None, True), (True, None, False), (True, True, True)]
)
@pytest.mark.parametrize("kind", ["ConfigMap", "Secret"])
def test_data_replaces_unless_mutable(kind: str, mutable: bool, immutable: bool | None, replaces: bool) -> None:
    obj = {"apiVersion": "v1", "kind": kind, "immutable": immutable}
    fields = kinds.replacing_fields(obj, configmap_mutable=mutable, secret_mutable=mutable)
    assert (("data",) in fields) is replaces


def test_pruned_to_what_the_program_manages() -> None:
    live = {"a": {"ours": 1, "theirs": 2}, "list": [{"x": 1, "default": 2}, {"x": 3}], "status": {}}
    shape = {"a": {"ours": 0}, "list": [{"x": 0}], "gone": True}
    assert inputs.prune(live, shape) == {"a": {"ours": 1}, "list": [{"x": 1}]}


@pytest.mark.parametrize(
    ("token", "shown"),
    [
        ("kubernetes:core/v1:Namespace", "v1/Namespace"),
        ("kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue", "kueue.x-k8s.io/v1beta2/ClusterQueue"),
    ],
)
def test_kind_of_a_type(token: str, shown: str) -> None:
    assert str(kinds.Kind.of_type(token)) == shown


@pytest.mark.parametrize("token", ["kubernetes:index:Thing", "gcp:container/v1:Cluster"])
def test_type_that_names_no_kind(token: str) -> None:
    with pytest.raises(kinds.TypeTokenError):
        kinds.Kind.of_type(token)


def test_values_are_as_deep_as_the_schema_of_a_crd() -> None:
    """In a process of its own: the SDK, which other tests import, lifts protobuf's limit too."""
    program = (
        "from tpuplane_standins.providers import import_protocol_alone; import_protocol_alone()\n"
        "from tpuplane_standins.providers.values import decode_struct, encode_struct\n"
        "value = {}\n"
        "for _ in range(200): value = {'properties': value}\n"
        "assert decode_struct(type(encode_struct({})).FromString(encode_struct(value).SerializeToString())) == value\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
