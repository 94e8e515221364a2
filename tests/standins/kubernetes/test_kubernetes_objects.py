"""Create, change and delete objects of a real API server through the provider."""

from __future__ import annotations

import re
from typing import Any

import pytest
from kubernetes.client import ApiClient, CoreV1Api
from tpuplane_standins.providers.values import UNKNOWN, Secret

from tests.support.providers.kubernetes_control_plane import ControlPlane
from tests.support.providers.kubernetes_driver import Diff, Driver, Rejected, Resource, urn

pytestmark = pytest.mark.twin

NAMESPACE = "kubernetes:core/v1:Namespace"
CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
SECRET = "kubernetes:core/v1:Secret"


def config_map(namespace: str, **fields: Any) -> dict[str, Any]:
    metadata = {"namespace": namespace, **fields.pop("metadata", {})}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, **fields}


def test_namespace_lives_from_create_to_delete(provider: Driver) -> None:
    made = provider.make(NAMESPACE, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "whole-life"}})
    assert made.id == "whole-life"
    assert made.state["metadata"]["uid"]
    assert made.state["__inputs"]["metadata"] == {"name": "whole-life"}
    assert made.state["__initialApiVersion"] == "v1"
    assert re.fullmatch(r"pulumi-kubernetes-[0-9a-f]{8}", made.state["__fieldManager"])

    unchanged = provider.diff(made, provider.recheck(made, made.inputs))
    assert not unchanged.detailedDiff and unchanged.changes == unchanged.DIFF_NONE

    provider.delete(made)
    assert provider.read(made).id == ""


def test_unnamed_object_gets_the_same_name_in_preview_and_update(provider: Driver, namespace: str) -> None:
    seed = b"seed of this resource"
    checked = [
        provider.check(CONFIG_MAP, config_map(namespace, data={"a": "1"}), name="settings", randomSeed=seed)
        for _ in range(2)
    ]
    names = {resource.inputs["metadata"]["name"] for resource in checked}
    assert len(names) == 1
    assert re.fullmatch(r"settings-[0-9a-f]{8}", names.pop())
    assert checked[0].inputs["metadata"]["annotations"] == {"pulumi.com/autonamed": "true"}

    made = provider.create(checked[0])
    kept = provider.recheck(made, config_map(namespace, data={"a": "1"}))
    assert kept["metadata"]["name"] == checked[0].inputs["metadata"]["name"]


def test_preview_asks_the_server_and_changes_nothing(provider: Driver, namespace: str, api: ApiClient) -> None:
    resource = provider.check(CONFIG_MAP, config_map(namespace, metadata={"name": "later"}, data={"a": "1"}))
    previewed = provider.create(resource, preview=True)
    assert previewed.id == ""
    assert previewed.state["data"] == {"a": "1"}
    assert previewed.state["metadata"]["uid"]
    assert CoreV1Api(api).list_namespaced_config_map(namespace).items == []


def test_preview_rejects_what_the_server_rejects(provider: Driver, namespace: str) -> None:
    resource = provider.check(CONFIG_MAP, config_map(namespace, metadata={"name": "Not A Name"}))
    with pytest.raises(Rejected, match=r'was not successfully created by the Kubernetes API server.*"Not A Name"'):
        provider.create(resource, preview=True)


def test_preview_with_unknowns_keeps_them(provider: Driver, namespace: str) -> None:
    inputs = config_map(namespace, metadata={"name": "later"}, data={"address": UNKNOWN})
    resource = provider.check(CONFIG_MAP, inputs)
    assert resource.inputs["data"] == {"address": UNKNOWN}
    assert provider.create(resource, preview=True).state == resource.inputs

    made = provider.make(CONFIG_MAP, inputs | {"data": {"address": "x"}})
    changes = provider.diff(made, provider.recheck(made, inputs)).detailedDiff
    assert {path: change.kind for path, change in changes.items()} == {"data.address": Diff.UPDATE_REPLACE}


def test_preview_in_a_namespace_that_is_still_to_come(provider: Driver) -> None:
    resource = provider.check(CONFIG_MAP, config_map("not-there-yet", metadata={"name": "a"}))
    assert provider.create(resource, preview=True).state == resource.inputs


def test_existing_object_is_not_adopted(provider: Driver, namespace: str) -> None:
    inputs = config_map(namespace, metadata={"name": "taken"})
    provider.make(CONFIG_MAP, inputs)
    with pytest.raises(Rejected, match=r'configmaps "taken" already exists\n\nThe resource already exists') as rejected:
        provider.make(CONFIG_MAP, inputs, name="other")
    assert rejected.value.failure is None
    assert provider.create(provider.check(CONFIG_MAP, inputs, name="other"), preview=True).id == ""


def test_existing_object_is_adopted_on_request(fresh: Driver, control_plane: ControlPlane, namespace: str) -> None:
    fresh.configure(kubeconfig=control_plane.kubeconfig(), upsertExistingObjects="true")
    first = fresh.make(CONFIG_MAP, config_map(namespace, metadata={"name": "shared"}, data={"a": "1"}))
    second = fresh.make(CONFIG_MAP, config_map(namespace, metadata={"name": "shared"}, data={"b": "2"}), name="other")
    assert second.state["metadata"]["uid"] == first.state["metadata"]["uid"]
    assert second.state["data"] == {"a": "1", "b": "2"}


def test_unknown_field_is_reported_and_a_later_apply_rejected(provider: Driver, namespace: str) -> None:
    inputs = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": "typo", "namespace": namespace},
        "automountServiceAccountTokn": True,
    }
    made = provider.make("kubernetes:core/v1:ServiceAccount", inputs)
    provider.log.wait_for('unknown field "automountServiceAccountTokn"')
    with pytest.raises(Rejected, match="field not declared in schema"):
        provider.update(made, provider.recheck(made, inputs | {"automountServiceAccountToken": False}))


def test_secret_data_is_always_secret(provider: Driver, namespace: str) -> None:
    inputs = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "key", "namespace": namespace},
        "stringData": {"password": "hunter2"},
    }
    made = provider.make(SECRET, inputs)
    assert made.inputs["data"] == Secret({"password": "aHVudGVyMg=="})
    assert made.state["data"] == made.state["__inputs"]["data"] == Secret({"password": "aHVudGVyMg=="})
    assert not provider.diff(made, provider.recheck(made, inputs)).detailedDiff

    changed = provider.recheck(made, inputs | {"stringData": {"password": "other"}})
    assert set(provider.diff(made, changed).replaces) == {"data.password"}
    assert provider.read(made).state["data"] == made.state["data"]


def test_secret_input_makes_its_output_secret(provider: Driver, namespace: str) -> None:
    inputs = config_map(namespace, metadata={"name": "mixed"}, data={"open": "1", "hidden": Secret("2")})
    made = provider.make(CONFIG_MAP, inputs)
    assert made.state["data"] == {"open": "1", "hidden": Secret("2")}
    assert made.state["__inputs"]["data"] == {"open": "1", "hidden": Secret("2")}


def test_config_map_data_replaces_and_names_decide_the_order(provider: Driver, namespace: str) -> None:
    named = provider.make(CONFIG_MAP, config_map(namespace, metadata={"name": "named"}, data={"a": "1"}))
    diff = provider.diff(
        named, provider.recheck(named, config_map(namespace, metadata={"name": "named"}, data={"a": "2"}))
    )
    assert list(diff.replaces) == ["data.a"]
    assert diff.deleteBeforeReplace

    unnamed = provider.make(CONFIG_MAP, config_map(namespace, data={"a": "1"}), name="unnamed")
    diff = provider.diff(unnamed, provider.recheck(unnamed, config_map(namespace, data={"a": "2"})))
    assert list(diff.replaces) == ["data.a"]
    assert not diff.deleteBeforeReplace


def test_labels_change_in_place(provider: Driver, namespace: str) -> None:
    def inputs(**labels: str) -> dict[str, Any]:
        return config_map(namespace, metadata={"name": "labelled", "labels": labels})

    made = provider.make(CONFIG_MAP, inputs(stay="1", go="1", **{"dotted.key/x": "1"}))
    wanted = provider.recheck(made, inputs(stay="1", come="1", **{"dotted.key/x": "2"}))
    diff = provider.diff(made, wanted)
    assert {path: change.kind for path, change in diff.detailedDiff.items()} == {
        "metadata.labels.come": Diff.ADD,
        "metadata.labels.go": Diff.DELETE,
        'metadata.labels["dotted.key/x"]': Diff.UPDATE,
    }
    assert not diff.replaces

    previewed = provider.update(made, wanted, preview=True)
    assert previewed.state["metadata"]["labels"]["come"] == "1"
    assert provider.read(made).state["metadata"]["labels"] == made.state["metadata"]["labels"]

    updated = provider.update(made, wanted)
    assert updated.state["metadata"]["labels"] == {"stay": "1", "come": "1", "dotted.key/x": "2"}
    assert updated.state["__fieldManager"] == made.state["__fieldManager"]
    managers = {(entry["manager"], entry["operation"]) for entry in updated.state["metadata"]["managedFields"]}
    assert managers == {(made.state["__fieldManager"], "Apply")}
    assert not provider.diff(updated, wanted).detailedDiff


def test_conflict_with_another_manager(provider: Driver, namespace: str, api: ApiClient) -> None:
    def inputs(value: str, **annotations: str) -> dict[str, Any]:
        return config_map(
            namespace, metadata={"name": "contested", "labels": {"who": value}, "annotations": annotations}
        )

    made = provider.make(CONFIG_MAP, inputs("us"))
    made = provider.update(made, provider.recheck(made, inputs("us-again")))
    CoreV1Api(api).patch_namespaced_config_map(
        "contested", namespace, {"metadata": {"labels": {"who": "them"}}}, field_manager="them"
    )
    refreshed = provider.read(made)
    assert refreshed.inputs["metadata"]["labels"] == {"who": "them"}
    wanted = provider.recheck(made, inputs("us"))
    assert list(provider.diff(refreshed, wanted).detailedDiff) == ["metadata.labels.who"]

    with pytest.raises(Rejected, match="server-side apply field conflict detected, see https://") as rejected:
        provider.update(refreshed, wanted)
    assert rejected.value.failure is not None
    assert rejected.value.failure.id == f"{namespace}/contested"
    assert rejected.value.state["metadata"]["labels"] == {"who": "them"}

    forced = provider.update(refreshed, provider.recheck(made, inputs("us", **{"pulumi.com/patchForce": "true"})))
    assert forced.state["metadata"]["labels"] == {"who": "us"}


def test_ignored_field_stays_with_its_owner(provider: Driver, namespace: str, api: ApiClient) -> None:
    def inputs(ours: str) -> dict[str, Any]:
        return config_map(namespace, metadata={"name": "shared", "labels": {"theirs": "start", "ours": ours}})

    made = provider.make(CONFIG_MAP, inputs("1"))
    made = provider.update(made, provider.recheck(made, inputs("2")))
    CoreV1Api(api).patch_namespaced_config_map(
        "shared", namespace, {"metadata": {"labels": {"theirs": "moved"}}}, field_manager="them"
    )
    made = provider.read(made)
    wanted = provider.recheck(made, inputs("3"))
    ignore = ("metadata.labels.theirs",)
    assert list(provider.diff(made, wanted, ignore).detailedDiff) == ["metadata.labels.ours"]
    updated = provider.update(made, wanted, ignore=ignore)
    assert updated.state["metadata"]["labels"] == {"theirs": "moved", "ours": "3"}


def test_patch_resource_owns_only_its_fields(provider: Driver, namespace: str) -> None:
    owner = provider.make(CONFIG_MAP, config_map(namespace, metadata={"name": "owned", "labels": {"a": "1"}}))
    patch_type = "kubernetes:core/v1:ConfigMapPatch"
    patch = provider.make(
        patch_type, config_map(namespace, metadata={"name": "owned", "labels": {"b": "2"}}), name="patch"
    )
    assert provider.read(owner).state["metadata"]["labels"] == {"a": "1", "b": "2"}
    provider.delete(patch)
    assert provider.read(owner).state["metadata"]["labels"] == {"a": "1"}
    with pytest.raises(Rejected, match="patch resources require the"):
        provider.check(patch_type, config_map(namespace))


def test_drift_is_found_and_a_deleted_object_is_gone(provider: Driver, namespace: str, api: ApiClient) -> None:
    made = provider.make(CONFIG_MAP, config_map(namespace, metadata={"name": "drifting"}, data={"a": "1"}))
    CoreV1Api(api).patch_namespaced_config_map("drifting", namespace, {"data": {"a": "drift", "foreign": "1"}})
    refreshed = provider.read(made)
    assert refreshed.inputs["data"] == {"a": "drift"}, "what the program does not manage is no input"
    assert refreshed.state["data"] == {"a": "drift", "foreign": "1"}
    assert list(provider.diff(refreshed, made.inputs).detailedDiff) == ["data.a"]

    CoreV1Api(api).delete_namespaced_config_map("drifting", namespace)
    assert provider.read(made).id == ""
    provider.delete(made)


def test_import_takes_what_a_program_could_have_written(provider: Driver, namespace: str, api: ApiClient) -> None:
    CoreV1Api(api).create_namespaced_config_map(
        namespace, {"metadata": {"name": "foreign", "labels": {"a": "1"}}, "data": {"k": "v"}}
    )
    found = provider.read(Resource(urn(CONFIG_MAP), {}, {}, f"{namespace}/foreign"))
    assert found.id == f"{namespace}/foreign"
    assert found.inputs == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "foreign", "namespace": namespace, "labels": {"a": "1"}},
        "data": {"k": "v"},
    }
    assert not provider.diff(found, provider.recheck(found, found.inputs)).detailedDiff
    assert provider.read(Resource(urn(CONFIG_MAP), {}, {}, f"{namespace}/nowhere")).id == ""


def test_namespace_of_the_configuration_is_the_default(fresh: Driver, control_plane: ControlPlane) -> None:
    fresh.configure(kubeconfig=control_plane.kubeconfig(), namespace="team")
    unplaced = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    assert fresh.check(CONFIG_MAP, unplaced).inputs["metadata"]["namespace"] == "team"
    cluster_wide = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}
    assert "namespace" not in fresh.check(NAMESPACE, cluster_wide).inputs["metadata"]


def test_lists_are_no_resources(provider: Driver) -> None:
    with pytest.raises(Rejected, match="list resources exist for compatibility"):
        provider.check("kubernetes:core/v1:ConfigMapList", {"apiVersion": "v1", "kind": "ConfigMapList", "items": []})


def test_delete_waits_for_finalizers_and_says_so(provider: Driver, namespace: str, api: ApiClient) -> None:
    inputs = config_map(namespace, metadata={"name": "held", "finalizers": ["example.com/hold"]})
    made = provider.make(CONFIG_MAP, inputs)
    with pytest.raises(Rejected, match="timed out waiting for the condition") as rejected:
        provider.delete(made, timeout=1)
    assert rejected.value.failure is not None
    provider.log.wait_for("finalizers might be preventing deletion (example.com/hold)")
    CoreV1Api(api).patch_namespaced_config_map("held", namespace, {"metadata": {"finalizers": None}})
    provider.delete(made)
    assert provider.read(made).id == ""
