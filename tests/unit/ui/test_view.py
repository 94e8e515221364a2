"""The rows of the page: hosts as runs, who holds them, who waits, prices, events; also of 12,736 hosts."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from tpuplane.status.google import Project
from tpuplane.status.pool_states import with_states
from tpuplane.status.snapshot import Objects
from tpuplane.status.watching import State
from tpuplane.ui.view import view

from tests.support.simulated import huge, prod
from tests.support.status.api_server import KUEUE, parsed
from tests.support.status.events import event
from tests.support.status.hosts import HOSTS, LOST, node, pod
from tests.support.status.queues import LOCAL_QUEUE, QUEUE, workload

pytestmark = pytest.mark.unit


SLICES = "/apis/accelerator.gke.io/v1beta1/slices"


def shown(lists: dict[str, list[Any]], context: str = "lab") -> dict[str, Any]:
    kueue = {"queues": "clusterqueues", "local_queues": "localqueues", "flavors": "resourceflavors"}
    names = {"nodes": "/api/v1/nodes", "pods": "/api/v1/pods", "warnings": "/api/v1/events", "slices": SLICES}
    if KUEUE + "workloads" in lists:
        names |= {name: KUEUE + plural for name, plural in {**kueue, "workloads": "workloads"}.items()}
    objects = Objects.of(
        context, "https://10.0.0.1", {name: parsed(name, lists.get(path, ())) for name, path in names.items()}
    )
    state = State(context, objects, "")
    return view(state, state.described())


def test_the_hosts_of_a_slice_are_runs_of_holder_and_state() -> None:
    lost = {**HOSTS[2], "status": {**HOSTS[2]["status"], "conditions": [LOST]}}
    nodes = [HOSTS[0], {**HOSTS[1], "spec": {"unschedulable": True}}, lost]
    pods = [pod("research", name, host, 4) for name, host in (("a", "h0"), ("b", "h1"))]
    entry = shown({"/api/v1/nodes": nodes, "/api/v1/pods": pods})["slices"][0]
    assert entry["group"] == "trainer"
    assert entry["heldBy"] == [{"job": f"research/{name}", "team": "research"} for name in "ab"]
    assert entry["cells"] == [(1, 0, "ready"), (1, 1, "cordoned"), (1, -1, "down"), (1, -1, "missing")]
    assert entry["problems"][0] == "1 of 4 hosts are missing"


def test_a_host_whose_device_plugin_fails_is_not_free() -> None:
    failing = {**HOSTS[0], "status": {**HOSTS[0]["status"], "allocatable": {"cpu": "1", "google.com/tpu": "0"}}}
    entry = shown({"/api/v1/nodes": [failing, *HOSTS[1:]], "/api/v1/pods": []})["slices"][0]
    assert entry["cells"] == [(1, -1, "down"), (3, -1, "ready")]
    assert entry["use"] == {"held": {}, "idle": 12, "down": 4}


def test_chips_of_placed_pods_are_held_and_not_waited_for() -> None:
    """Also where two teams share a host, a job has a part of its pods on hosts, and a host is not ready."""
    lost = {**HOSTS[2], "status": {**HOSTS[2]["status"], "conditions": [LOST]}}
    pods = [
        pod("research", "a", "h0", 2),
        pod("product", "b", "h0", 1),
        *(pod("vision", f"c{at}", host, 4, owner="run") for at, host in enumerate(("h1", "h2", ""))),
    ]
    cordoned = {**HOSTS[3], "spec": {"unschedulable": True}}
    found = shown({"/api/v1/nodes": [*HOSTS[:2], lost, cordoned], "/api/v1/pods": pods})
    held = {"research": 2, "product": 1, "vision": 8}
    assert [slice_["use"] for slice_ in found["slices"]] == [{"held": held, "idle": 1, "down": 4}]
    assert {work["job"]: work["unplaced"] for work in found["works"]} == {"a": 0, "b": 0, "run": 4}


def test_chips_of_the_placed_pods_of_a_workload_are_not_waited_for() -> None:
    placed = pod("research", "p0", "h0", 4, owner="runs")
    placed["metadata"]["annotations"] = {"kueue.x-k8s.io/workload": "jobset-runs"}
    waiting = {
        KUEUE + "clusterqueues": [QUEUE],
        KUEUE + "localqueues": [LOCAL_QUEUE],
        KUEUE + "workloads": [workload(name, "research", QuotaReserved=("False", "")) for name in ("runs", "waits")],
    }
    found = shown({"/api/v1/nodes": HOSTS, "/api/v1/pods": [placed], **waiting})
    assert {work["job"]: work["unplaced"] for work in found["works"]} == {"runs": 4, "waits": 8}
    assert found["slices"][0]["use"] == {"held": {"research": 4}, "idle": 12, "down": 0}


@pytest.mark.parametrize(
    ("labels", "price"),
    [
        ({"node.kubernetes.io/instance-type": "e2-standard-4"}, (None, "")),
        (
            {
                "cloud.google.com/gke-accelerator": "nvidia-h100-80gb",
                "node.kubernetes.io/instance-type": "a3-highgpu-8g",
                "cloud.google.com/gke-provisioning": "standard",
                "topology.kubernetes.io/zone": "us-central1-a",
            },
            (True, ""),
        ),
    ],
)
def test_the_price_of_a_pool(labels: dict[str, str], price: tuple[bool | None, str]) -> None:
    entry = shown({"/api/v1/nodes": [node("n", "some", **labels)]})["slices"][0]
    assert (entry["usdPerHour"] and entry["usdPerHour"] > 8, entry["noPrice"]) == price


def test_hosts_that_do_not_exist_cost_nothing() -> None:
    machine = {"machineType": "a3-highgpu-8g", "accelerators": [{"acceleratorType": "nvidia-h100-80gb"}]}
    lost = {"name": "h100", "status": "ERROR", "config": machine, "initialNodeCount": 2, "locations": ["us-central1-a"]}
    objects = Objects.of("lab", "https://10.0.0.1", {"nodes": [], "pods": []})
    state = State("lab", objects, "")
    rows = with_states([], {"nodePools": [lost]}, Project("acme", ()), None)
    (entry,) = view(state, {**state.described(), "nodePools": rows})["slices"]
    assert (entry["hosts"], entry["usdPerHour"], entry["cells"]) == (2, 0, [(2, -1, "missing")])


def test_a_price_that_is_not_on_record_has_a_reason() -> None:
    unknown = {"cloud.google.com/gke-tpu-accelerator": "tpu-v99", "cloud.google.com/gke-tpu-topology": "2x2"}
    made = node("n", "some", **unknown)
    made["status"]["capacity"]["google.com/tpu"] = "4"
    entry = shown({"/api/v1/nodes": [made]})["slices"][0]
    assert (entry["usdPerHour"], entry["noPrice"]) == (None, "its hardware is not in the catalogue")
    assert entry["group"] == "some"


def test_equal_events_are_one() -> None:
    events = [event(f"p{at}", "FailedScheduling", "0/4 nodes", second=at) for at in range(3)]
    assert [each_event["about"] for each_event in shown({"/api/v1/events": events})["events"]] == [
        "Pod research/p2 and 2 more"
    ]


def test_slices_of_cubes_have_state_and_partitions() -> None:
    state = {"type": "Ready", "status": "False", "reason": "FAILED", "message": "a host is lost"}
    made = {
        "metadata": {"name": "research-train"},
        "spec": {"topology": "4x4x4", "partitionIds": ["0123456789abcdef"]},
        "status": {"conditions": [state]},
    }
    assert shown({SLICES: [made]})["dynamicSlices"] == [
        {
            "name": "research-train",
            "topology": "4x4x4",
            "partitions": ["0123456789abcdef"],
            "job": "",
            "state": "FAILED",
            "message": "a host is lost",
        }
    ]


def test_a_cluster_that_was_never_read_shows_its_problem() -> None:
    state = State("gke_acme_us-east5_big", None, "no cluster answers")
    found = view(state, state.described())
    assert (found["name"], found["place"], found["problem"]) == ("big", "us-east5", "no cluster answers")


@pytest.mark.parametrize(("clusters", "hosts"), [(prod, 594), (huge, 12_736)])
def test_large_platforms_are_small(clusters: Callable[[], Any], hosts: int) -> None:
    """The whole page of the largest cluster is a fifth of a megabyte."""
    found = [shown(lists, context) for context, lists in clusters().items()]
    slices = [slice_ for cluster in found for slice_ in cluster["slices"]]
    assert sum(slice_["hosts"] for slice_ in slices if slice_["chips"]) == hosts
    assert all(sum(run[0] for run in slice_["cells"]) == slice_["hosts"] for slice_ in slices)
    assert len(json.dumps(found)) < 250_000
    assert sum(slice_["usdPerHour"] or 0 for slice_ in slices) > 5_000
    assert any(work["waits"] for cluster in found for work in cluster["works"])
