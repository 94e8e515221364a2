"""Node pools and slices as the nodes' labels tell them: hosts that are there, ready, and who holds them."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from tpuplane.status.google import Project
from tpuplane.status.holders import jobs_by_node
from tpuplane.status.node_pools import NodePools
from tpuplane.status.owners import Owners
from tpuplane.status.pool_states import with_states
from tpuplane.status.pools import describe_pools
from tpuplane.tpu import Slice

from tests.support.preflight.google_cloud import PROJECT, google_cloud
from tests.support.status.api_server import parsed
from tests.support.status.hosts import HOSTS, LOST, host, node, pod

pytestmark = pytest.mark.unit


def pools(nodes: list[dict[str, Any]], pods: list[dict[str, Any]]) -> list[dict[str, Any]]:
    read = parsed("pods", pods)
    return describe_pools(parsed("nodes", nodes), jobs_by_node(read, Owners({"Pod": read})))


def test_a_multi_host_pool_is_one_slice_with_all_of_its_hosts() -> None:
    (pool,) = pools(HOSTS, [])
    assert (pool["slice"], pool["chips"], pool["hosts"], pool["hostsReady"]) == ("v6e 4x4", 16, 4, 4)
    assert (pool["capacity"], pool["zones"], pool["problems"]) == ("reservation", ["us-east5-b"], [])


def test_a_host_that_is_missing_not_ready_cordoned_or_without_chips_is_reported() -> None:
    lost = {**HOSTS[0], "status": {**HOSTS[0]["status"], "conditions": [LOST]}}
    closed = {**HOSTS[1], "spec": {"unschedulable": True}}
    faulty = {**HOSTS[2], "status": {**HOSTS[2]["status"], "allocatable": {"cpu": "100", "google.com/tpu": "1"}}}
    (pool,) = pools([lost, closed, faulty], [])
    assert (pool["hosts"], pool["hostsReady"]) == (4, 2)
    assert pool["problems"] == [
        "1 of 4 hosts are missing",
        "h0 is not ready: Kubelet stopped posting node status.",
        "h2 offers 1 of 4 chips",
        "h1 is cordoned",
    ]


def test_maintenance_is_reported_from_its_announcement() -> None:
    announced = {"cloud.google.com/scheduled-maintenance-time": "1764524100"}
    begun = {**announced, "cloud.google.com/active-node-maintenance": "ONGOING"}
    hosts = [host(f"h{index}", "trainer-0", Slice.of("v6e", "4x4")) for index in range(4)]
    for node_, labels in zip(hosts, (begun, announced, announced, {}), strict=True):
        node_["metadata"]["labels"] |= labels
    (pool,) = pools(hosts, [])
    assert pool["problems"] == [
        "maintenance of 1 of 4 hosts has begun",
        "maintenance of 2 of 4 hosts begins at 2025-11-30T17:35:00Z",
    ]


def test_hosts_of_one_host_slices_are_counted_as_they_are() -> None:
    single = Slice.of("v6e", "2x2")
    (pool,) = pools([host("a", "notebooks", single), host("b", "notebooks", single)], [])
    assert (pool["multiHost"], pool["hosts"], pool["chips"]) == (False, 2, 8)


def test_a_pool_is_held_by_the_jobs_whose_pods_have_its_chips() -> None:
    pods = [
        *(pod("research", f"p{index}", f"h{index}", 4, "train-x7") for index in range(4)),
        pod("kube-system", "device-plugin", "h0", 0),
        pod("product", "alone", "h0", 4),
    ]
    (pool,) = pools(HOSTS, pods)
    assert pool["heldBy"] == ["product/alone", "research/train-x7"]


def test_chips_that_the_catalogue_does_not_know_are_shown_by_their_labels() -> None:
    labels = {"cloud.google.com/gke-tpu-accelerator": "tpu9-slice", "cloud.google.com/gke-tpu-topology": "4x4"}
    (pool,) = pools([node("new", "next", **labels)], [])
    assert (pool["slice"], pool["hosts"]) == ("tpu9-slice 4x4", 1)


def test_gpu_nodes_and_cpu_nodes() -> None:
    gpus = node("g", "open-models", **{"cloud.google.com/gke-accelerator": "nvidia-l4"})
    gpus["status"]["capacity"]["nvidia.com/gpu"] = "2"
    spot = node("c", "batch", **{"cloud.google.com/gke-provisioning": "spot"})
    cpus, first = pools([gpus, spot], [])
    assert (cpus["name"], cpus["capacity"], cpus["chips"], cpus["gpus"]) == ("batch", "spot", 0, 0)
    assert (first["gpu"], first["gpus"], first["hosts"]) == ("nvidia-l4", 2, 1)


def test_a_node_without_labels_is_of_no_pool() -> None:
    bare = {"metadata": {"name": "bare"}, "spec": {}, "status": {}}
    pod_of_it = pod("research", "p", "bare", 4)
    (pool,) = pools([bare], [pod_of_it])
    assert (pool["name"], pool["slice"], pool["chips"], pool["heldBy"]) == ("", "", 0, ["research/p"])


def test_a_host_whose_label_was_removed_stays_in_its_slice_with_a_word_about_it() -> None:
    lost = copy.deepcopy(HOSTS)
    for host_, label in ((lost[0], "cloud.google.com/gke-tpu-topology"), (lost[1], "tpuplane-capacity")):
        del host_["metadata"]["labels"][label]
    (pool,) = pools(lost, [])
    assert (pool["slice"], pool["hosts"], pool["capacity"]) == ("v6e 4x4", 4, "reservation")
    assert pool["problems"] == [
        "h0 has lost the label cloud.google.com/gke-tpu-topology; "
        "set it again: kubectl label node h0 cloud.google.com/gke-tpu-topology=4x4",
        "h1 has lost the label tpuplane-capacity; set it again: kubectl label node h1 tpuplane-capacity=reservation",
    ]


def test_a_host_without_the_label_of_its_pool_is_not_a_slice_of_its_own() -> None:
    lost = copy.deepcopy(HOSTS)
    del lost[3]["metadata"]["labels"]["cloud.google.com/gke-nodepool"]
    none, trainer = pools(lost, [])
    assert (none["name"], none["hosts"], none["problems"]) == (
        "",
        1,
        [
            "h3 has lost the label cloud.google.com/gke-nodepool; "
            "set it again: kubectl label node h3 cloud.google.com/gke-nodepool=VALUE"
        ],
    )
    assert (trainer["name"], trainer["problems"]) == ("trainer-0", ["1 of 4 hosts are missing"])


def test_a_lone_tpu_host_without_its_labels_is_named() -> None:
    single = host("a", "notebooks", Slice.of("v6e", "2x2"))
    for label in ("gke-tpu-accelerator", "gke-tpu-topology"):
        del single["metadata"]["labels"][f"cloud.google.com/{label}"]
    (pool,) = pools([single], [])
    assert pool["problems"][0].startswith(
        "a has lost the label cloud.google.com/gke-tpu-accelerator, cloud.google.com/gke-tpu-topology; "
    )


def test_the_context_tells_private_clusters_with_one_address_apart() -> None:
    clusters = tuple({"name": name, "location": "us-east5", "endpoint": "172.16.0.2"} for name in ("east", "other"))
    project = Project("lab", clusters)
    assert project.cluster("gke_lab_us-east5_other", "https://172.16.0.2") == clusters[1]
    assert project.cluster("mine", "https://172.16.0.2") is None
    assert Project("lab", clusters[:1]).cluster("mine", "https://172.16.0.2") == clusters[0]


@pytest.mark.parametrize(
    ("state", "operation", "since"),
    [
        ("ERROR", {"status": "DONE", "error": {"message": "no chips"}}, "2026-11-20T09:00:00Z"),
        ("ERROR", {"status": "DONE"}, ""),  # Google reclaimed the hosts later
        ("STOPPING", {"status": "RUNNING"}, "2026-11-20T08:00:00Z"),
    ],
)
def test_only_an_operation_that_failed_or_runs_tells_since_when(
    monkeypatch: pytest.MonkeyPatch, state: str, operation: dict[str, Any], since: str
) -> None:
    path, cluster = f"v1beta1/projects/{PROJECT}/locations/-", f"projects/1/locations/us-east5/clusters/{PROJECT}-east"
    link = f"https://container.googleapis.com/v1/{cluster}/nodePools/night-0"
    times = {"startTime": "2026-11-20T08:00:00Z", "endTime": "2026-11-20T09:00:00Z"}
    pool_ = {"name": "night-0", "status": state, "selfLink": link, "config": {"machineType": "ct6e-standard-4t"}}
    made = {"name": f"{PROJECT}-east", "location": "us-east5", "nodePools": [pool_]}
    done = {"name": "op", "operationType": "CREATE_NODE_POOL", "targetLink": link, **times, **operation}
    with google_cloud({f"{path}/clusters": {"clusters": [made]}, f"{path}/operations": {"operations": [done]}}) as api:
        api.setenv(monkeypatch)
        found = NodePools().complete(
            {"context": f"gke_{PROJECT}_us-east5_{PROJECT}-east", "nodePools": [], "problems": []}
        )
    assert [(pool["state"], pool["since"]) for pool in found["nodePools"]] == [(state, since)]


def test_a_location_that_does_not_answer_is_a_problem_and_not_an_absence(monkeypatch: pytest.MonkeyPatch) -> None:
    lists = {f"v1beta1/projects/{PROJECT}/locations/-/{kind}": {} for kind in ("clusters", "operations")}
    with google_cloud({path: {"missingZones": ["us-east5"]} for path in lists}) as server:
        server.setenv(monkeypatch)
        found = NodePools().complete({"context": f"gke_{PROJECT}_us-east5_east", "problems": []})
    assert found["problems"] == ["Google's API is incomplete: locations did not answer: us-east5"]
    assert found["poolsFrom"] == "the nodes of the cluster (locations did not answer: us-east5)"


def test_a_pool_in_error_with_a_code_alone() -> None:
    conditions = [{"code": "GCE_STOCKOUT"}, {"canonicalCode": "UNAVAILABLE", "message": "no hosts"}]
    pool = {"name": "next", "status": "ERROR", "conditions": conditions, "config": {"machineType": "e2-medium"}}
    cluster = {"name": "east", "location": "us-east5", "nodePools": [pool]}
    (row,) = with_states([], cluster, Project("lab", (cluster,)), None)
    assert (row["state"], row["message"]) == ("ERROR", "GCE_STOCKOUT; no hosts")
