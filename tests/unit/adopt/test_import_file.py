"""From previews to import files, changes, and properties that are kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from tpuplane.adopt import NotAdopted
from tpuplane.adopt.resources import Change, changes, import_file, property_of
from tpuplane.cli.import_text import stack_text
from tpuplane.spec import load_stack

from tests.support.existing import Json, adopted, cluster, spec

pytestmark = pytest.mark.unit


def test_the_import_file_has_what_exists_and_the_components() -> None:
    cluster_type, pool_type = "gcp:container/cluster:Cluster", "gcp:container/nodePool:NodePool"
    place = {"project": "acme-ml", "location": "us-east5"}
    identity = "projects/acme-ml/locations/us-east5/clusters/svc"
    above: Json = {"parent": "platform-svc", "component": True}
    components: list[Json] = [
        {"type": "tpuplane:index:Cluster", "name": "platform-svc", "component": True},
        {**above, "type": "tpuplane:index:SystemNodePool", "name": "platform-svc-system"},
        {**above, "type": "tpuplane:index:TpuNodePool", "name": "platform-svc-t"},
    ]
    # Pulumi numbers what has the same type and name.
    single: list[Json] = [
        {"type": cluster_type, "name": "platform-svcCluster", "logicalName": "platform-svc", "parent": "platform-svc"},
        {"type": pool_type, "name": "p", "logicalName": "platform-svc-system", "parent": "platform-svc-system"},
        {"type": pool_type, "name": "p2", "logicalName": "platform-svc-system", "parent": "platform-svc-t"},
    ]
    account = {"type": "gcp:serviceaccount/account:Account", "name": "platform-svc-nodes", "parent": "platform-svc"}
    steps = [
        {
            "op": "create",
            "newState": {"type": kind, "urn": f"urn:pulumi:s::p::{types}${kind}::{name}", "inputs": inputs},
        }
        for kind, types, name, inputs in (
            (cluster_type, "tpuplane:index:Cluster", "platform-svc", {**place, "name": "svc"}),
            *(
                (
                    pool_type,
                    f"tpuplane:index:Cluster${token}",
                    "platform-svc-system",
                    {**place, "cluster": "svc", "name": own},
                )
                for token, own in (("tpuplane:index:TpuNodePool", "system"), ("tpuplane:index:SystemNodePool", "cpu"))
            ),
        )
    ]
    made = {"resources": [*components, *({**resource, "id": "<PLACEHOLDER>"} for resource in (*single, account))]}
    ids = [identity, f"{identity}/nodePools/cpu", f"{identity}/nodePools/system"]
    exist = [{**resource, "id": own} for resource, own in zip(single, ids, strict=True)]
    assert import_file(made, steps, set(ids))["resources"] == [*components, *exist]
    assert import_file(made, steps, {identity})["resources"] == [*components, exist[0]]
    assert import_file(made, [], set())["resources"] == components


def test_a_change_is_a_property_once() -> None:
    old = {"id": "it", "inputs": {"nodeConfig": {"labels": {"a": "1"}, "__defaults": []}, "name": "t"}}
    new = {"inputs": {"nodeConfig": {"labels": {"a": "2"}}, "name": "t"}}
    diffs = {
        'nodeConfig.labels["a/b"]': {"kind": "update"},
        "nodeConfig.labels.c": {"kind": "add-replace"},
        "resourceVersion": {"kind": "update"},  # no input
    }
    steps = [
        {"op": "replace", "urn": "u::t", "oldState": old, "newState": new, "detailedDiff": diffs},
        {"op": "create-replacement", "urn": "u::t", "oldState": old, "newState": new, "detailedDiff": diffs},
        {"op": "same", "urn": "u::s", "newState": new},
        {"op": "create", "urn": "u$gcp:x:Policy::p", "newState": {"type": "gcp:x:Policy"}},
        {"op": "update", "urn": "u::v", "oldState": {"id": "v"}, "detailedDiff": {"pulumiLabels": {"kind": "update"}}},
        {"op": "update", "urn": "u::w", "oldState": {"id": "w"}},
    ]
    assert list(changes(steps)) == [
        Change("it", "replaces", "nodeConfig.labels", {"a": "1"}, {"a": "2"}),
        Change("gcp:x:Policy p", "creates"),
        Change("v", "in place", "pulumiLabels"),
        Change("w", "updates"),
    ]


@pytest.mark.parametrize(
    ("more", "before", "after"),
    [({}, {}, {"team": "a"}), ({"goog-other": "x"}, {"goog-other": "x"}, None), ({"team": "a"}, {"team": "a"}, {})],
)
def test_labels_that_gke_gives_to_a_pool_are_no_change(
    more: dict[str, str], before: dict[str, str], after: dict[str, str] | None
) -> None:
    def labels(own: dict[str, str] | None) -> Json:
        return {"id": "it", "inputs": {"nodeConfig": {"resourceLabels": own}}}

    old = labels({"goog-gke-accelerator-type": "tpu-v6e-slice", **more})
    details = {"nodeConfig.resourceLabels": {"kind": "update"}}
    step = {"op": "update", "urn": "u::t", "oldState": old, "newState": labels(after), "detailedDiff": details}
    assert list(changes([step])) == [Change("it", "in place", "nodeConfig.resourceLabels", before, after)]
    assert list(changes([{**step, "newState": labels(more)}])) == []


@pytest.mark.parametrize(("total", "paths"), [(True, ["autoscaling"]), (False, ["autoscaling.maxNodeCount"])])
def test_limits_of_all_zones_and_of_each_zone_change_together(*, total: bool, paths: list[str]) -> None:
    """The API rejects both at once, so none of them may be kept without the others."""
    old = {"id": "it", "inputs": {"autoscaling": {"totalMaxNodeCount": 32}}}
    new = {"inputs": {"autoscaling": {"minNodeCount": 0, "maxNodeCount": 16}}}
    details = {"autoscaling.maxNodeCount": {"kind": "update"}}
    if total:
        details["autoscaling.totalMaxNodeCount"] = {"kind": "delete"}
    step = {"op": "update", "urn": "u::t", "oldState": old, "newState": new, "detailedDiff": details}
    assert [change.path for change in changes([step])] == paths


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("nodeConfig.oauthScopes[0]", "nodeConfig.oauthScopes"),
        ('resourceLabels["a-b"]', "resourceLabels"),
        ("addonsConfig.rayOperatorConfigs[0].enabled", "addonsConfig.rayOperatorConfigs"),
        ("privateClusterConfig.masterGlobalAccessConfig.enabled", "privateClusterConfig.masterGlobalAccessConfig"),
    ],
)
def test_a_property_has_no_index_and_two_levels_at_most(path: str, name: str) -> None:
    assert property_of(path) == name


def test_kept_properties_are_in_the_file() -> None:
    found = adopted(cluster("svc"))
    pool = next(place for place in found.places if place.endswith("/t"))
    kept = found.kept([(pool, "nodeConfig.oauthScopes"), (pool, "nodeConfig.labels")])
    assert spec(kept).clusters["svc"].pools["t"].adopted is not None
    assert spec(kept).clusters["svc"].pools["t"].adopted.ignore_changes == (
        "nodeConfig.labels",
        "nodeConfig.oauthScopes",
    )
    assert str(NotAdopted("a", "b")) == "a: b"


@pytest.mark.parametrize("label", ["1e3", "0o17", "y", "12e4567"])
def test_the_stack_file_has_each_text_as_a_text(tmp_path: Path, label: str) -> None:
    described = cluster("xpk-test")
    described["resourceLabels"] = {"commit": label}
    found = adopted(described)
    file = tmp_path / "Pulumi.xpk.yaml"
    file.write_text(stack_text(found, file, []))
    assert load_stack(file) == spec(found)
    assert f"commit: '{label}'\n" in file.read_text()
