"""How pods, nodes, selectors and quantities are read."""

from __future__ import annotations

from typing import Any

import pytest
from tpuplane_twin.elasticity.elasticity import InvalidSetting, scale_down_after
from tpuplane_twin.elasticity.objects import Pod
from tpuplane_twin.elasticity.selectors import label_selector, node_affinity, pod_terms, selects

from tests.support.elasticity.elastic_objects import cpu_group, group, pod, pod_json, slice_group

pytestmark = pytest.mark.unit


def container(cpu: str, **fields: Any) -> dict[str, Any]:
    return {"name": "c", "resources": {"requests": {"cpu": cpu}}, **fields}


@pytest.mark.parametrize(
    ("spec", "cpu"),
    [
        ({"containers": [container("1"), container("500m")]}, 1500),
        ({"containers": [container("1")], "initContainers": [container("3")]}, 3000),
        ({"containers": [container("1")], "initContainers": [container("2", restartPolicy="Always")]}, 3000),
        (
            {
                "containers": [container("1")],
                "initContainers": [container("2", restartPolicy="Always"), container("4")],
            },
            6000,
        ),
        ({"containers": [container("1")], "overhead": {"cpu": "250m"}}, 1250),
        ({"containers": [container("1")], "resources": {"requests": {"cpu": "4"}}}, 4000),
    ],
)
def test_requests_are_counted_as_by_the_scheduler(spec: dict[str, Any], cpu: int) -> None:
    assert pod("p", spec=spec).requests["cpu"] == cpu


def test_pods_that_are_over_hold_nothing() -> None:
    over = pod_json("p", node="n")
    over["status"]["phase"] = "Succeeded"
    assert Pod.parse(over) is None


@pytest.mark.parametrize(
    "change",
    [
        {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}},
        {"status": {"nominatedNodeName": "n"}},
        {"status": {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]}},
    ],
)
def test_who_is_gated_promised_a_place_or_going_does_not_wait(change: dict[str, Any]) -> None:
    waiting = pod_json("p")
    for part, fields in change.items():
        waiting[part] |= fields
    parsed = Pod.parse(waiting)
    assert parsed is not None
    assert not parsed.unschedulable
    assert pod("p").unschedulable
    assert not pod("p", owner="DaemonSet").unschedulable


@pytest.mark.parametrize(
    ("expression", "labels", "expected"),
    [
        ({"operator": "In", "values": ["a", "b"]}, {"k": "b"}, True),
        ({"operator": "In", "values": ["a"]}, {}, False),
        ({"operator": "NotIn", "values": ["a"]}, {}, True),
        ({"operator": "NotIn", "values": ["a"]}, {"k": "a"}, False),
        ({"operator": "Exists"}, {"k": ""}, True),
        ({"operator": "DoesNotExist"}, {"k": ""}, False),
        ({"operator": "Gt", "values": ["9"]}, {"k": "10"}, True),
        ({"operator": "Lt", "values": ["9"]}, {"k": "10"}, False),
        ({"operator": "Lt", "values": ["9"]}, {"k": "x"}, False),
    ],
)
def test_selectors(expression: dict[str, Any], labels: dict[str, str], expected: bool) -> None:
    selector = label_selector({"matchExpressions": [{"key": "k", **expression}]})
    assert selector is not None
    assert selects(selector, labels) is expected


def test_node_affinity_needs_one_of_its_terms() -> None:
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}, {}]
    required = {"nodeSelectorTerms": terms}
    found = node_affinity({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}})
    assert found is not None
    assert [any(selects(term, {"metadata.name": name}) for term in found) for name in ("n1", "n2")] == [True, False]
    assert node_affinity({}) is None


@pytest.mark.parametrize(
    ("fields", "namespaces"),
    [
        ({}, {"own"}),
        ({"namespaces": ["a"]}, {"a"}),
        ({"namespaceSelector": {}}, {"own", "a", "b"}),
        ({"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "b"}}}, {"b"}),
    ],
)
def test_pod_terms_mean_pods_of_some_namespaces(fields: dict[str, Any], namespaces: set[str]) -> None:
    term = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"k": "v"}}, **fields}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    (parsed,) = pod_terms(affinity, "podAffinity", "own")
    assert {name for name in ("own", "a", "b") if parsed.matches(name, {"k": "v"})} == namespaces
    assert not parsed.matches("own", {"k": "other"})


def test_templates_equal_the_later_nodes() -> None:
    group = slice_group()
    node = group.future("us-east5-b", 2)
    assert node.pool == "slice"
    assert node.labels["cloud.google.com/gke-tpu-topology"] == "4x4"
    assert [(taint.key, taint.value) for taint in node.taints] == [("google.com/tpu", "present")]
    assert node.allocatable["google.com/tpu"] == 4000
    assert (group.hosts, cpu_group().hosts) == (4, 1)


@pytest.mark.parametrize(("run", "seconds"), [("3600s", 3600), ("3600.5s", 3600)])
def test_a_run_may_have_parts_of_a_second(run: str, seconds: int) -> None:
    found = group("short", "e2-standard-4", config={"machineType": "e2-standard-4", "maxRunDuration": run})
    assert found.pool.max_run_seconds == seconds


def test_the_patience_is_a_setting() -> None:
    assert scale_down_after({}) == 60
    assert scale_down_after({"TPUPLANE_TWIN_SCALE_DOWN_AFTER": "1.5"}) == 1.5
    for wrong in ("soon", "-1", "inf", "nan"):
        with pytest.raises(InvalidSetting, match=f"TPUPLANE_TWIN_SCALE_DOWN_AFTER: '{wrong}' is not a number"):
            scale_down_after({"TPUPLANE_TWIN_SCALE_DOWN_AFTER": wrong})
