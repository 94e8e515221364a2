"""A recreated resource of the same name has a new identity, which a restart keeps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tpuplane_twin.gcp.app import resume
from tpuplane_twin.gcp.store import Store

from tests.support.gcp.twin_api import CLUSTERS, COMPUTE, Api, MemoryBackend, cluster_body, serving, slice_pool

pytestmark = pytest.mark.twin

POOLS = f"{CLUSTERS}/c1/nodePools"
REGION = f"{COMPUTE}/regions/us-central1"
NETWORK = "projects/acme/global/networks/net"
ACCOUNTS = "/iam/v1/projects/acme/serviceAccounts"


class Cache:
    """Instance groups by link, as the official provider keeps them for the length of a run: read once per link."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._read: dict[str, int] = {}

    async def nodes(self, pool: dict[str, Any]) -> int:
        for url in pool["instanceGroupUrls"]:
            if url not in self._read:
                path = url.replace("https://www.googleapis.com/compute/v1", "/compute/beta")
                self._read[url] = (await self._api.call("GET", path))["targetSize"]
        return sum(self._read[url] for url in pool["instanceGroupUrls"])


async def test_a_replaced_pool_is_read_with_its_own_number_of_hosts(cluster: Api) -> None:
    cache = Cache(cluster)
    for topology, hosts in (("4x4", 4), ("2x4", 2), ("4x4", 4)):
        asked = slice_pool(
            autoscaling={}, initialNodeCount=hosts, placementPolicy={"type": "COMPACT", "tpuTopology": topology}
        )
        await cluster.done("POST", POOLS, {"nodePool": asked})
        pool = await cluster.call("GET", f"{POOLS}/slice")
        assert await cache.nodes(pool) == hosts
        await cluster.done("DELETE", f"{POOLS}/slice")


async def test_a_pool_keeps_its_groups_and_gets_one_for_each_new_zone(cluster: Api) -> None:
    async def groups(*zones: str) -> dict[str, str]:
        await cluster.done("PUT", f"{POOLS}/cpu", {"locations": list(zones)})
        urls = (await cluster.call("GET", f"{POOLS}/cpu"))["instanceGroupUrls"]
        return dict(zip(zones, urls, strict=True))

    await cluster.done("POST", POOLS, {"nodePool": {"name": "cpu", "initialNodeCount": 1}})
    three = await groups("us-central1-a", "us-central1-b", "us-central1-c")
    assert len(set(three.values())) == 3
    assert await groups("us-central1-a") == {"us-central1-a": three["us-central1-a"]}
    two = await groups("us-central1-a", "us-central1-b")
    assert two["us-central1-a"] == three["us-central1-a"]
    assert two["us-central1-b"] != three["us-central1-b"]


async def test_identities_stay_over_a_restart(tmp_path: Path) -> None:
    async def read(api: Api) -> list[Any]:
        return [await api.call("GET", path) for path in (POOLS, f"{COMPUTE}/zones/us-central1-b/instanceGroupManagers")]

    path = tmp_path / "state.db"
    async with serving(Store(path), MemoryBackend()) as api:
        await api.add_network()
        await api.add_cluster()
        await api.done("POST", POOLS, {"nodePool": slice_pool()})
        before = await read(api)
    async with serving(Store(path), MemoryBackend()) as api:
        await resume(api.app)
        assert await read(api) == before


CREATED: list[tuple[str, str, dict[str, Any], tuple[str, ...]]] = [
    (f"{COMPUTE}/global/networks", "other", {"name": "other", "autoCreateSubnetworks": False}, ("id",)),
    (
        f"{REGION}/subnetworks",
        "more",
        {"name": "more", "network": NETWORK, "ipCidrRange": "10.8.0.0/20"},
        ("id", "fingerprint"),
    ),
    (f"{REGION}/routers", "nat", {"name": "nat", "network": NETWORK}, ("id",)),
    (
        f"{COMPUTE}/global/firewalls",
        "in",
        {"name": "in", "network": NETWORK, "allowed": [{"IPProtocol": "tcp"}]},
        ("id",),
    ),
    (f"{REGION}/resourcePolicies", "near", {"name": "near", "groupPlacementPolicy": {}}, ("id",)),
    (ACCOUNTS, "robot-1@acme.iam.gserviceaccount.com", {"accountId": "robot-1"}, ("uniqueId", "etag")),
    (POOLS, "cpu", {"nodePool": {"name": "cpu", "initialNodeCount": 1}}, ("instanceGroupUrls", "etag")),
    (CLUSTERS, "c2", {"cluster": cluster_body("c2")}, ("id", "etag", "instanceGroupUrls")),
]


@pytest.mark.parametrize(
    ("parent", "name", "body", "fields"), CREATED, ids=[made[0].rpartition("/")[2] for made in CREATED]
)
async def test_a_recreated_resource_has_a_new_identity(
    cluster: Api, parent: str, name: str, body: dict[str, Any], fields: tuple[str, ...]
) -> None:
    async def change(method: str, path: str, body: dict[str, Any] | None = None) -> None:
        answer = await cluster.call(method, path, body)
        if path.startswith(CLUSTERS):
            await cluster.wait(answer)

    lives = []
    for _ in range(2):
        await change("POST", parent, body)
        lives.append(await cluster.call("GET", f"{parent}/{name}"))
        await change("DELETE", f"{parent}/{name}")
    first, second = lives
    assert [field for field in fields if first[field] == second[field]] == []
