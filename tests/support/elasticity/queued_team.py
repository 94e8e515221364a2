"""A team with queued pools: node pools through Google's API, and Kueue's objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Any

from tpuplane.addons.kueue_objects import (
    API_VERSION,
    check_spec,
    cluster_queue_spec,
    cohort_spec,
    flavor_spec,
    provisioning_spec,
)
from tpuplane.plan import ClusterPlan, plan
from tpuplane.plan.pools import NodePoolPlan
from tpuplane.spec import parse_platform
from tpuplane_twin.cluster.api import ApiError, accepting
from tpuplane_twin.cluster.nodes import REQUEST_LABEL

from tests.support.elasticity.elastic_twin import CLUSTER, ZONE, ElasticTwin
from tests.support.eventually import eventually

Json = dict[str, Any]
TEAM = "research"
KUEUE = f"/apis/{API_VERSION}"
_PLURALS = {"Topology": "topologies"}


def planned() -> ClusterPlan:
    """A team with two v6e 4x4 slices of a queued pool, each for twelve hours."""
    pool = {
        "generation": "v6e",
        "topology": "4x4",
        "zone": ZONE,
        "capacity": "flex-start",
        "flexStart": {"queued": True, "maxRunDuration": "12h"},
        "autoscaling": {"maxSlices": 2},
    }
    return plan(
        parse_platform(
            {
                "name": "lab",
                "project": "acme-lab",
                "teams": {TEAM: {"clusters": {"main": {"pools": {"later": {"slices": 2}}}}}},
                "clusters": {"main": {"location": ZONE, "addons": {"kueue": {}}, "pools": {"later": pool}}},
            }
        )
    ).clusters[0]


def node_pool(pool: NodePoolPlan) -> Json:
    """The request that creates the pool: a fixed one, or one with queued provisioning."""
    config = {"machineType": pool.machine_type, "diskType": pool.disk_type, "labels": pool.node_labels}
    request = {
        "name": pool.name,
        "locations": list(pool.zones),
        "config": config,
        "placementPolicy": {"type": "COMPACT", "tpuTopology": pool.placement_topology},
        "management": {"autoRepair": pool.auto_repair, "autoUpgrade": True},
    }
    if pool.flex_start is None:
        return {**request, "initialNodeCount": pool.node_count}
    assert pool.autoscaling is not None
    return {
        **request,
        "config": {
            **config,
            "flexStart": True,
            "maxRunDuration": f"{pool.flex_start.max_run_seconds}s",
            "reservationAffinity": {"consumeReservationType": "NO_RESERVATION"},
        },
        "queuedProvisioning": {"enabled": pool.flex_start.queued},
        "autoscaling": {
            "enabled": True,
            "minNodeCount": pool.autoscaling.min_nodes,
            "maxNodeCount": pool.autoscaling.max_nodes,
            "locationPolicy": pool.autoscaling.location_policy,
        },
    }


def kueue_objects(cluster: ClusterPlan) -> Iterator[Json]:
    """What Kueue gets, in an order in which it can be made."""
    queues = cluster.queues
    assert queues is not None
    for topology in queues.topologies:
        yield _object("Topology", topology.name, {"levels": [{"nodeLabel": label} for label in topology.levels]})
    for flavor in queues.flavors:
        yield _object("ResourceFlavor", flavor.name, flavor_spec(flavor))
    for flavor in queues.flavors:
        if flavor.provisioning is not None:
            config, name = "ProvisioningRequestConfig", flavor.name
            yield _object(config, name, provisioning_spec(flavor.provisioning))
            yield _object("AdmissionCheck", name, check_spec("provisioning-request", config, name))
    yield _object("Cohort", queues.cohort, cohort_spec(queues))
    for queue in queues.cluster_queues:
        yield _object("ClusterQueue", queue.name, cluster_queue_spec(queues, queue))
    for team in queues.teams:
        for own, (local, queue) in product(team.namespaces, team.local_queues.items()):
            yield _object("LocalQueue", local, {"clusterQueue": queue}, own.name)


def _object(kind: str, name: str, spec: Json, namespace: str | None = None) -> Json:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "spec": spec}


def _url(item: Json) -> str:
    namespace = item["metadata"].get("namespace")
    plural = _PLURALS.get(item["kind"], item["kind"].lower() + "s")
    return "/".join([KUEUE, *(["namespaces", namespace] if namespace else []), plural])


async def make_objects(twin: ElasticTwin, objects: Iterable[Json]) -> None:
    for item in objects:
        await twin.kubernetes.request("POST", _url(item), body=item)


async def delete_objects(twin: ElasticTwin, objects: Sequence[Json]) -> None:
    """Kueue keeps a flavor that a queue uses: each goes after what refers to it."""
    for item in reversed(objects):
        with accepting(404):  # with its namespace
            await twin.kubernetes.request("DELETE", f"{_url(item)}/{item['metadata']['name']}")


class QueuedTeam:
    """The team on a twin."""

    def __init__(self, twin: ElasticTwin, cluster: ClusterPlan) -> None:
        self.twin, self.namespace, self.cluster = twin, TEAM, cluster
        self._objects = list(kueue_objects(cluster))

    async def make(self) -> None:
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}}
        await self.twin.kubernetes.create(namespace)
        for pool in self.cluster.tpu_pools:
            await self.twin.google("POST", f"/v1beta1/{CLUSTER}/nodePools", {"nodePool": node_pool(pool)})
        await make_objects(self.twin, self._objects)

    async def clear(self) -> None:
        """Without work, and without the nodes that came for it."""
        jobs = f"/apis/batch/v1/namespaces/{self.namespace}/jobs"
        await self.twin.kubernetes.request("DELETE", jobs, params={"propagationPolicy": "Background"})

        async def empty() -> bool:
            return not await self.twin.kubernetes.list("Workload", self.namespace)

        await eventually(empty)
        for pool in self.cluster.tpu_pools:
            await self.twin.idle_since_noticed(pool.name, 0)

    async def remove(self) -> None:
        await delete_objects(self.twin, self._objects)
        for pool in self.cluster.tpu_pools:
            await self.twin.delete_pool(pool.name)
        await self.twin.kubernetes.delete("Namespace", self.namespace)

    async def submit(self, name: str, hosts: int = 4, seconds: int | None = None) -> None:
        """A job of so many hosts; each pod ends after `seconds`, or never."""
        chips = {"google.com/tpu": "4"}
        delay = {} if seconds is None else {"pod-complete.stage.kwok.x-k8s.io/delay": f"{seconds}s"}
        pods: Json = {
            "metadata": {
                "annotations": {**delay, "kueue.x-k8s.io/podset-required-topology": "cloud.google.com/gke-nodepool"}
            },
            "spec": {
                "restartPolicy": "Never",
                "containers": [{"name": "main", "image": "main", "resources": {"requests": chips, "limits": chips}}],
            },
        }
        job = {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": name, "labels": {"kueue.x-k8s.io/queue-name": "default"}},
            "spec": {
                "suspend": True,
                "completions": hosts,
                "parallelism": hosts,
                "completionMode": "Indexed",
                "template": pods,
            },
        }

        async def submitted() -> bool:
            """On a busy machine, Kueue's pod can be without a success of its probe for a moment."""
            try:
                await self.twin.kubernetes.request("POST", f"/apis/batch/v1/namespaces/{self.namespace}/jobs", body=job)
            except ApiError as error:
                if "no endpoints available" not in str(error):
                    raise
                return False
            return True

        await eventually(submitted)

    async def workload(self) -> Json:
        """The only workload, once Kueue has made it."""

        async def look() -> list[Json]:
            return await self.twin.kubernetes.list("Workload", self.namespace)

        (found,) = await eventually(look)
        return found

    async def condition(self, kind: str) -> str:
        """The message of the workload's condition, once that is true."""

        async def look() -> str:
            conditions = (await self.workload()).get("status", {}).get("conditions", [])
            return next(
                (
                    condition["message"]
                    for condition in conditions
                    if condition["type"] == kind and condition["status"] == "True"
                ),
                "",
            )

        return await eventually(look)

    async def check(self, *words: str) -> Json:
        """The state of the workload's admission check, once its message has one of these words in it."""

        async def look() -> Json | None:
            checks = (await self.workload()).get("status", {}).get("admissionChecks", [])
            return next((check for check in checks if any(word in check.get("message", "") for word in words)), None)

        found = await eventually(look)
        assert found is not None
        return found

    async def request(self, kind: str, reason: str = "") -> Json:
        """The newest ProvisioningRequest, once its condition of that type is true, or has that reason."""

        async def look() -> Json | None:
            found = await self.twin.kubernetes.list("ProvisioningRequest", self.namespace)
            newest = max(found, key=lambda manifest: str(manifest["metadata"]["name"]), default={})
            conditions = {condition["type"]: condition for condition in newest.get("status", {}).get("conditions", [])}
            manifest = conditions.get(kind, {"status": "", "reason": ""})
            return newest if (manifest["reason"] == reason if reason else manifest["status"] == "True") else None

        item = await eventually(look)
        assert item is not None
        return item

    async def expired(self) -> None:
        """Let time pass, again and again, until nodes are kept for the newest request no longer."""

        async def look() -> bool:
            self.twin.pass_time(61)
            found = await self.twin.kubernetes.list("ProvisioningRequest", self.namespace)
            conditions = [condition for item in found for condition in item.get("status", {}).get("conditions", ())]
            return any(
                (condition["type"], condition["status"]) == ("BookingExpired", "True") for condition in conditions
            )

        await eventually(look, pause=0.7)

    async def labelled(self, request: Json) -> list[str]:
        """The nodes that were made for the request."""
        name = request["status"]["provisioningClassDetails"]["ResizeRequestName"]
        nodes = await self.twin.kubernetes.list("Node", labelSelector=f"{REQUEST_LABEL}={name}")
        return sorted(node["metadata"]["name"] for node in nodes)
