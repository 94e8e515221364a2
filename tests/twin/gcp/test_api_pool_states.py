"""`tpuplane status` reads the states of node pools through Google's client: stockouts, deletions, what is declared."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from tpuplane.plan import PlatformPlan, plan
from tpuplane.spec import parse_platform
from tpuplane.status.job_text import pool_state
from tpuplane.status.node_pools import NodePools
from tpuplane.status.objects import Node
from tpuplane.status.pools import describe_pools
from tpuplane.tpu import Slice

from tests.support.gcp.twin_api import CLUSTERS, PROJECT, TOKEN, Api, slice_pool

pytestmark = pytest.mark.twin

CONTEXT = f"gke_{PROJECT}_us-central1_c1"
POOLS = f"{CLUSTERS}/c1/nodePools"
FIXED = {"autoscaling": {}, "initialNodeCount": 4}
OUT = {"zone": "us-central1-b", "generation": "v6e", "capacity": None}
NETWORK = {"nodesCidr": "10.0.16.0/20", "podsCidr": "10.4.0.0/14", "servicesCidr": "10.0.32.0/20"}
TRAINER = {"generation": "v6e", "topology": "4x4", "zone": "us-central1-b"}
DECLARED = {
    "name": "lab",
    "project": "tpuplane-lab",
    "clusters": {
        "c1": {"location": "us-central1", "pools": {"trainer": TRAINER}},
        "c2": {"location": "us-central1", "network": NETWORK},
    },
}


@pytest.fixture
def google(cluster: Api, monkeypatch: pytest.MonkeyPatch) -> Api:
    """A cluster at the address that the client library uses."""
    monkeypatch.setenv("GOOGLE_OAUTH_ACCESS_TOKEN", TOKEN)
    monkeypatch.setenv("GOOGLE_CONTAINER_CUSTOM_ENDPOINT", f"{cluster.url}/v1beta1/")
    return cluster


def declared() -> PlatformPlan:
    """A stack file with the cluster of the test, and with another one."""
    made = plan(parse_platform(DECLARED))
    return replace(
        made, project=PROJECT, clusters=tuple(replace(cluster, name=cluster.key) for cluster in made.clusters)
    )


def node(pool: str, name: str) -> Node:
    shape = Slice.of("v6e", "4x4")
    labels = {**shape.node_labels, "cloud.google.com/gke-nodepool": pool}
    created = "2026-11-20T08:00:00Z"
    status = {"conditions": [{"type": "Ready", "status": "True"}], "capacity": {"google.com/tpu": "4"}}
    metadata = {"name": name, "labels": labels, "creationTimestamp": created}
    return Node.model_validate({"metadata": metadata, "spec": {"providerID": "gce://acme/z/n"}, "status": status})


async def status(nodes: list[Node], *stack: Any, context: str = CONTEXT, server: str = "") -> dict[str, Any]:
    known = {"context": context, "server": server, "nodePools": describe_pools(nodes, {}), "problems": []}
    return await asyncio.to_thread(NodePools(*stack).complete, known, nodes)


async def test_a_pool_in_error_has_state_message_and_time(google: Api) -> None:
    await google.call("POST", "/twin/stockouts", OUT)
    operation = await google.wait(await google.call("POST", POOLS, {"nodePool": slice_pool("trainer-0", **FIXED)}))
    found = await status([])
    (pool,) = found["nodePools"]
    assert (pool["name"], pool["slice"], pool["hostsReady"], pool["hosts"]) == ("trainer-0", "v6e 4x4", 0, 4)
    assert (pool["state"], pool["since"], pool["declared"]) == ("ERROR", operation["endTime"], None)
    assert "[GCE_STOCKOUT]" in pool["message"]
    assert pool_state(pool).startswith(f"ERROR since {operation['endTime']}: ")
    assert found["poolsFrom"] == f"Google's API, project {PROJECT}"
    assert found["gke"]["version"]


async def test_pools_in_motion_name_the_operation(google: Api) -> None:
    await google.done("POST", POOLS, {"nodePool": slice_pool("trainer-0", **FIXED)})
    google.backend.hold()
    deletion = await google.call("DELETE", f"{POOLS}/trainer-0")
    found = await status([])
    (pool,) = found["nodePools"]
    assert (pool["state"], pool["since"]) == ("STOPPING", deletion["startTime"])
    running = {"type": "DELETE_NODE_POOL", "about": "trainer-0", "since": deletion["startTime"]}
    assert found["gke"]["operations"] == [running]
    google.backend.go.set()
    await google.wait(deletion)


async def test_declared_and_undeclared_pools_are_told_apart(google: Api) -> None:
    await google.done("POST", POOLS, {"nodePool": slice_pool("extra")})
    found = await status([], declared(), "lab.yaml")
    assert {node_pool["name"]: (node_pool["state"], node_pool["declared"]) for node_pool in found["nodePools"]} == {
        "system": ("ABSENT", True),
        "trainer-0": ("ABSENT", True),
        "extra": ("RUNNING", False),
    }
    assert [pool_state(node_pool) for node_pool in found["nodePools"] if node_pool["name"] == "extra"] == [
        "not declared"
    ]
    (problem,) = found["problems"]
    assert problem.startswith(f"cluster c2 of lab.yaml does not exist in project {PROJECT}; ")
    assert "PULUMI_K8S_DELETE_UNREACHABLE=true pulumi refresh" in problem


async def test_a_stack_file_of_another_project_says_nothing_of_this_one(google: Api) -> None:
    await google.done("POST", POOLS, {"nodePool": slice_pool("extra")})
    found = await status([], replace(declared(), project="elsewhere"), "lab.yaml")
    assert [(pool["name"], pool["declared"]) for pool in found["nodePools"]] == [("extra", None)]
    assert found["problems"] == [f"lab.yaml describes project elsewhere, but the cluster is in project {PROJECT}"]


async def test_a_cluster_is_found_by_its_address_and_its_nodes_name_the_project(google: Api) -> None:
    await google.done("POST", POOLS, {"nodePool": slice_pool("trainer-0", **FIXED)})
    endpoint = (await google.call("GET", f"{CLUSTERS}/c1"))["endpoint"]
    found = await status([node("trainer-0", "a")], context="lab", server=f"https://{endpoint}")
    (pool,) = found["nodePools"]
    assert (pool["state"], pool["hosts"], pool["problems"]) == ("RUNNING", 4, ["3 of 4 hosts are missing"])


async def test_a_deleted_cluster_is_named_with_what_to_type(google: Api) -> None:
    await google.done("DELETE", f"{CLUSTERS}/c1")
    said = await asyncio.to_thread(NodePools().deleted, CONTEXT)
    assert said.startswith(f"cluster c1 does not exist in us-central1 of project {PROJECT}; ")


async def test_without_credentials_the_nodes_are_the_source(google: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_OAUTH_ACCESS_TOKEN", "expired")
    found = await status([node("trainer-0", "a")], declared(), "lab.yaml")
    assert found["poolsFrom"].startswith("the nodes of the cluster (Google rejects the credentials: ")
    absent, present = found["nodePools"]
    assert (absent["state"], absent["declared"], absent["message"]) == (
        "",
        True,
        "declared, but the cluster has no node of this pool",
    )
    assert (present["state"], present["since"], present["declared"]) == ("", "2026-11-20T08:00:00Z", True)
    assert found["problems"] == []
