"""Google's API, one real control plane behind it, and the cluster autoscaler on a clock of the test's own."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, TypeVar

import aiohttp
from tpuplane_twin.clock.clock import Clock
from tpuplane_twin.cluster.api import Api
from tpuplane_twin.daemon.fleet import Fleet
from tpuplane_twin.elasticity.elasticity import Elasticity
from tpuplane_twin.gcp.backend import BackendError, node_counts
from tpuplane_twin.machine.processes import ProcessManager
from tpuplane_twin.tools import Tools

from tests.support.eventually import eventually

Json = dict[str, Any]
T = TypeVar("T")

TOKEN = "the-twins-own-token"
LOCATION = "us-east5"
ZONE = "us-east5-b"
PROJECT = "projects/acme"
CLUSTER = f"{PROJECT}/locations/{LOCATION}/clusters/elastic"
COMPUTE = f"/compute/v1/{PROJECT}"
ACCELERATOR = "cloud.google.com/gke-tpu-accelerator"
TOPOLOGY = "cloud.google.com/gke-tpu-topology"
POOL = "cloud.google.com/gke-nodepool"


class ScarceFleet(Fleet):
    """A fleet for whose pools at most so many machines are available."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.stock: dict[str, int] = {}

    async def apply_node_pool(self, cluster: Json, pool: Json) -> None:
        wanted = sum(node_counts(pool).values())
        if wanted > self.stock.get(pool["name"], wanted):
            raise BackendError(f"ZONE_RESOURCE_POOL_EXHAUSTED: {pool['name']}.")
        await super().apply_node_pool(cluster, pool)


@dataclass
class ElasticTwin:
    """What runs, and how the tests work with it."""

    url: str
    session: aiohttp.ClientSession
    elasticity: Elasticity
    clock: Clock
    tools: Tools
    processes: ProcessManager
    fleet: ScarceFleet

    @property
    def kubernetes(self) -> Api:
        """The client of the cluster, once that runs."""
        found = self.fleet.client({"name": "elastic", "location": LOCATION, "selfLink": f"/{CLUSTER}"})
        assert found is not None
        return found

    async def google(self, method: str, path: str, body: Json | None = None) -> Json:
        """A request to Google's API; a change is waited for, and must succeed."""
        async with self.session.request(method, self.url + path, json=body) as response:
            answer: Json = await response.json()
            assert response.status == 200, answer
        while method != "GET" and "container" in answer.get("selfLink", "") and answer["status"] != "DONE":
            await asyncio.sleep(0.05)
            answer = await self.google("GET", f"/v1beta1/{PROJECT}/locations/{LOCATION}/operations/{answer['name']}")
        assert "statusMessage" not in answer, answer
        return answer

    async def add_pool(self, name: str, machine: str, least: int, most: int, topology: str = "") -> None:
        """An autoscaled pool in one zone; with a topology it is a multi-host slice."""
        scaled = {"autoscaling": {"enabled": True, "minNodeCount": least, "maxNodeCount": most}}
        placed = {"placementPolicy": {"type": "COMPACT", "tpuTopology": topology}} if topology else {}
        await self._add(name, machine, scaled | placed)

    async def add_fixed_pool(self, name: str, machine: str, count: int) -> None:
        """A pool of `count` nodes in one zone. Tests lose these, and not the nodes of the operators."""
        await self._add(name, machine, {"initialNodeCount": count})

    async def _add(self, name: str, machine: str, fields: Json) -> None:
        pool = {
            "name": name,
            "config": {"machineType": machine},
            "locations": [ZONE],
            "management": {"autoRepair": True, "autoUpgrade": True},
            **fields,
        }
        await self.google("POST", f"/v1beta1/{CLUSTER}/nodePools", {"nodePool": pool})

    async def delete_pool(self, name: str) -> None:
        await self.google("DELETE", f"/v1beta1/{CLUSTER}/nodePools/{name}")

    async def pools(self) -> set[str]:
        """The names of all node pools."""
        answer = await self.google("GET", f"/v1beta1/{CLUSTER}/nodePools")
        return {pool["name"] for pool in answer["nodePools"]}

    async def pool(self, name: str) -> Json:
        """The pool's JSON, with the number of nodes that its instance group should have as `targetSize`."""
        pool = await self.google("GET", f"/v1beta1/{CLUSTER}/nodePools/{name}")
        groups = await self.google("GET", f"{COMPUTE}/zones/{ZONE}/instanceGroupManagers")
        (group,) = (
            instance_group
            for instance_group in groups["items"]
            if instance_group["selfLink"] in pool["instanceGroupUrls"]
        )
        return {**pool, "targetSize": group["targetSize"]}

    async def nodes(self, pool: str) -> list[str]:
        """The names of the pool's nodes."""
        found = await self.kubernetes.list("Node", labelSelector=f"{POOL}={pool}")
        return sorted(node["metadata"]["name"] for node in found)

    async def resized(self, pool: str, count: int) -> list[str]:
        """The pool's nodes once there are `count` of them."""

        async def look() -> bool:
            return len(await self.nodes(pool)) == count

        await eventually(look)
        return await self.nodes(pool)

    async def running(self, namespace: str, count: int) -> list[Json]:
        """The pods of the namespace once there are `count` and all are Ready."""

        async def look() -> list[list[Json]]:
            pods = await self.kubernetes.list("Pod", namespace)
            return [pods] if len(pods) == count and all(map(is_ready, pods)) else []

        (found,) = await eventually(look)
        return found

    async def ready(self, namespace: str, name: str) -> None:
        """Wait until the pod runs."""

        async def look() -> bool:
            return is_ready(await self.kubernetes.get("Pod", name, namespace) or {"status": {}})

        await eventually(look)

    async def events(self, namespace: str, name: str) -> list[tuple[str, str]]:
        """Reason and message of what the autoscaler has said of an object."""
        chosen = {"fieldSelector": f"involvedObject.name={name},source=cluster-autoscaler"}
        answer = await self.kubernetes.request("GET", f"/api/v1/namespaces/{namespace}/events", params=chosen)
        return [(event["reason"], event["message"]) for event in answer["items"]]

    async def told(self, namespace: str, name: str, reason: str) -> str:
        """What the autoscaler says of an object under that reason, once it has."""

        async def look() -> str:
            return next((text for why, text in await self.events(namespace, name) if why == reason), "")

        return await eventually(look)

    async def limit_quota(self, capacity: str = "", chips: int = 0) -> None:
        """Let the project have so many v6e chips; without a capacity, as many as it wants."""
        limit = {"region": LOCATION, "generation": "v6e", "capacity": capacity, "chips": chips} if capacity else None
        method = "POST" if limit else "DELETE"
        async with self.session.request(method, f"{self.url}/twin/quotas", json=limit) as answer:
            assert answer.status == 200, await answer.text()

    async def end_shortages(self) -> None:
        """Make all capacity available again, and leave no compute class; a test that failed may not have."""
        self.fleet.stock.clear()
        await self.google("DELETE", "/twin/stockouts")
        await self.limit_quota()
        for item in await self.kubernetes.list("ComputeClass"):
            await self.kubernetes.delete("ComputeClass", item["metadata"]["name"])

    def pass_time(self, seconds: float) -> None:
        self.clock.move(seconds)

    async def idle_since_noticed(self, pool: str, count: int) -> None:
        """Let time pass, again and again, until the autoscaler has made `count` nodes of the pool."""

        async def look() -> bool:
            self.pass_time(61)
            return len(await self.nodes(pool)) == count

        await eventually(look, pause=0.7)

    async def repaired(self, pool: str, count: int) -> None:
        """Let time pass until the pool has that many nodes."""

        async def look() -> bool:
            self.pass_time(11)
            return len(await self.nodes(pool)) == count

        await eventually(look, pause=0.7)


def is_ready(pod: Json) -> bool:
    return any(
        condition["type"] == "Ready" and condition["status"] == "True"
        for condition in pod["status"].get("conditions", [])
    )


def tpu_pod(name: str, topology: str, chips: int, **fields: Any) -> Json:
    """A v6e pod that asks for `chips`."""
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, **fields}, "spec": tpu_spec(topology, chips)}


def tpu_spec(topology: str, chips: int) -> Json:
    amount = {"google.com/tpu": str(chips)}
    return {
        "nodeSelector": {ACCELERATOR: "tpu-v6e-slice", TOPOLOGY: topology},
        "containers": [{"name": "main", "image": "main", "resources": {"requests": amount, "limits": amount}}],
    }


async def add_cluster(twin: ElasticTwin) -> None:
    """A network, the cluster in it, made as the official provider makes it, and a fixed pool for what needs no TPU."""
    await twin.google("POST", f"{COMPUTE}/global/networks", {"name": "net", "autoCreateSubnetworks": False})
    subnet = {
        "name": "sub",
        "network": f"{PROJECT}/global/networks/net",
        "ipCidrRange": "10.0.0.0/20",
        "secondaryIpRanges": [
            {"rangeName": "pods", "ipCidrRange": "10.16.0.0/14"},
            {"rangeName": "services", "ipCidrRange": "10.32.0.0/20"},
        ],
    }
    await twin.google("POST", f"{COMPUTE}/regions/{LOCATION}/subnetworks", subnet)
    cluster = {
        "name": "elastic",
        "locations": [ZONE],
        "network": f"{PROJECT}/global/networks/net",
        "subnetwork": f"{PROJECT}/regions/{LOCATION}/subnetworks/sub",
        "ipAllocationPolicy": {
            "useIpAliases": True,
            "clusterSecondaryRangeName": "pods",
            "servicesSecondaryRangeName": "services",
        },
        "addonsConfig": {"rayOperatorConfig": {"enabled": True}},
        "nodePools": [{"name": "system", "initialNodeCount": 1, "config": {"machineType": "e2-standard-16"}}],
    }
    await twin.google("POST", f"/v1beta1/{CLUSTER.rpartition('/')[0]}", {"cluster": cluster})
