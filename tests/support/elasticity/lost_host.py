"""Six kinds of work on slices of two hosts each, next to another team's work, and the loss of one host of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from tpuplane.plan import ClusterPlan, plan
from tpuplane.spec import parse_platform

from tests.support.cluster import operators
from tests.support.elasticity.elastic_twin import CLUSTER, POOL, ZONE, ElasticTwin, is_ready, tpu_spec
from tests.support.elasticity.queued_team import delete_objects, kueue_objects, make_objects, node_pool
from tests.support.eventually import eventually

Json = dict[str, Any]
Pods = dict[str, list[Json]]

TEAM, NEIGHBOUR = "hosts", "neighbour"
KINDS = ("job", "jobset", "rayjob")
TOPOLOGY = {"kueue.x-k8s.io/podset-required-topology": POOL}
_SELECTOR, _HOSTS = "kubernetes.io/hostname", 2
_URLS = {
    "job": "/apis/batch/v1/namespaces/{}/jobs",
    "jobset": "/apis/jobset.x-k8s.io/v1alpha2/namespaces/{}/jobsets",
    "rayjob": "/apis/ray.io/v1/namespaces/{}/rayjobs",
}


@dataclass(frozen=True)
class Work:
    """A job on one slice, without resource requests, as users write it."""

    kind: str
    topology: bool
    team: str = TEAM

    @property
    def name(self) -> str:
        return f"{self.kind}-{'with' if self.topology else 'without'}"

    @property
    def key(self) -> str:
        return f"{self.team}/{self.name}"

    @property
    def url(self) -> str:
        return _URLS[self.kind].format(self.team)

    def body(self) -> Json:
        metadata = {"name": self.name, "labels": {"kueue.x-k8s.io/queue-name": "default"}}
        template = {"metadata": {"annotations": TOPOLOGY if self.topology else {}}, "spec": _pod()}
        job = {"completions": _HOSTS, "parallelism": _HOSTS, "completionMode": "Indexed"}
        match self.kind:
            case "job":
                spec: Json = {**job, "suspend": True, "template": template}
                return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}
            case "jobset":
                if not self.topology:
                    metadata["annotations"] = {"alpha.jobset.sigs.k8s.io/exclusive-topology": POOL}
                replicated = {"name": "slice", "template": {"spec": {**job, "backoffLimit": 0, "template": template}}}
                spec = {"failurePolicy": {"maxRestarts": 9}, "replicatedJobs": [replicated]}
                return {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": metadata, "spec": spec}
        head = {"containers": [{"name": "head", "image": "ray", "resources": {"limits": {"cpu": "1"}}}]}
        group = {"groupName": "slice", "replicas": 1, "numOfHosts": _HOSTS, "rayStartParams": {}, "template": template}
        spec = {
            "entrypoint": "python train.py",
            "shutdownAfterJobFinishes": True,
            "rayClusterSpec": {
                "headGroupSpec": {"rayStartParams": {}, "template": {"spec": head}},
                "workerGroupSpecs": [group],
            },
        }
        return {"apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": metadata, "spec": spec}


WORKS = [Work(kind, topology) for kind, topology in product(KINDS, (True, False))]
OTHERS = Work("job", topology=False, team=NEIGHBOUR)


def _pod() -> Json:
    spec = tpu_spec("2x4", 4)
    (container,) = spec["containers"]
    del container["resources"]["requests"]
    return {**spec, "restartPolicy": "Never"}


def planned() -> ClusterPlan:
    """A slice for each of the jobs, and none that is free."""
    shape = {"generation": "v6e", "topology": "2x4", "machineType": "ct6e-standard-4t", "zone": ZONE}
    pools = {"trainer": {**shape, "slices": len(WORKS) + 1}}
    quotas = {TEAM: len(WORKS), NEIGHBOUR: 1}
    teams = {
        team: {"clusters": {"main": {"pools": {"trainer": {"slices": slices}}}}} for team, slices in quotas.items()
    }
    cluster = {"location": ZONE, "addons": {"kueue": {}, "jobset": {}}, "pools": pools}
    spec = {"name": "lost", "project": "acme-lab", "teams": teams, "clusters": {"main": cluster}}
    return plan(parse_platform(spec)).clusters[0]


class LostHosts:
    """The teams on a twin, and what becomes of their pods."""

    def __init__(self, twin: ElasticTwin) -> None:
        self.twin, self.cluster = twin, planned()
        self._objects = list(kueue_objects(self.cluster))

    async def make(self) -> None:
        for name in (TEAM, NEIGHBOUR):
            await self.twin.kubernetes.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
            await eventually(lambda name=name: operators.takes_work(self.twin.kubernetes, name))
        system = self.cluster.system_pool
        assert system is not None
        heads = {"name": "heads", "initialNodeCount": 1, "locations": [ZONE]}
        config = {"machineType": "e2-standard-16", "labels": system.node_labels}
        await self.twin.google("POST", f"/v1beta1/{CLUSTER}/nodePools", {"nodePool": {**heads, "config": config}})
        for pool in self.cluster.tpu_pools:
            await self.twin.google("POST", f"/v1beta1/{CLUSTER}/nodePools", {"nodePool": node_pool(pool)})
        await make_objects(self.twin, self._objects)

    async def remove(self) -> None:
        for name in (TEAM, NEIGHBOUR):
            await self.twin.kubernetes.delete("Namespace", name)
        await eventually(self._empty)
        await delete_objects(self.twin, self._objects)
        for name in ("heads", *(pool.name for pool in self.cluster.tpu_pools)):
            await self.twin.delete_pool(name)

    async def _empty(self) -> bool:
        found = [await self.twin.kubernetes.list("Workload", name) for name in (TEAM, NEIGHBOUR)]
        return not any(found)

    async def submit(self, work: Work) -> None:
        await self.twin.kubernetes.request("POST", work.url, body=work.body())

    async def delete(self, works: Iterable[Work]) -> None:
        for work in works:
            params = {"propagationPolicy": "Background"}
            await self.twin.kubernetes.request("DELETE", f"{work.url}/{work.name}", params=params)
        await eventually(self._empty)

    async def pods(self) -> Pods:
        """The pods with chips that have not ended, by their job. No host is for pods of two jobs."""
        found: Pods = {work.key: [] for work in (*WORKS, OTHERS)}
        for team in (TEAM, NEIGHBOUR):
            for pod in await self.twin.kubernetes.list("Pod", team):
                job = next(key for key in found if f"{team}/{pod['metadata']['name']}".startswith(f"{key}-"))
                if _has_chips(pod) and pod["status"].get("phase") not in ("Succeeded", "Failed"):
                    found[job].append(pod)
        users: dict[str, set[str]] = {}
        for job, pods in found.items():
            for pod in pods:
                if host := host_of(pod):
                    users.setdefault(host, set()).add(job)
        assert {host: jobs for host, jobs in users.items() if len(jobs) > 1} == {}
        return found

    async def running(self, works: Iterable[Work]) -> Pods:
        """The pods of the jobs once all of them run, each job on one slice."""
        wanted = {work.key for work in works}

        async def look() -> Pods:
            pods = {job: items for job, items in (await self.pods()).items() if job in wanted}
            return pods if all(len(pod) == _HOSTS and all(map(is_ready, pod)) for pod in pods.values()) else {}

        pods = await eventually(look, pause=0.5)
        for job, items in pods.items():
            assert len({str(host_of(pod)).rsplit("-", 1)[0] for pod in items}) == 1, f"{job} is on two slices"
        return pods

    async def waiting(self, works: Sequence[Work], lost: set[str]) -> None:
        """Wait until none of the jobs runs as a whole or has a lost host, and Kueue has taken its quota."""

        async def look() -> list[str]:
            pods = await self.pods()
            mine = {work.key: pods[work.key] for work in works}
            whole = [job for job, items in mine.items() if sum(map(is_ready, items)) == _HOSTS]
            there = [pod["metadata"]["name"] for items in mine.values() for pod in items if host_of(pod) in lost]
            admitted = [work.name for work in works if await self._has_quota(work)]
            return [*whole, *there, *admitted]

        await eventually(look, lambda left: not left, pause=0.5)

    async def _has_quota(self, work: Work) -> bool:
        for workload in await self.twin.kubernetes.list("Workload", TEAM):
            if any(owner["name"] == work.name for owner in workload["metadata"]["ownerReferences"]):
                return bool(workload.get("status", {}).get("admission"))
        return False


def host_of(pod: Json) -> str | None:
    """The host on which the pod is, or must be."""
    found: str | None = pod["spec"].get("nodeName") or (pod["spec"].get("nodeSelector") or {}).get(_SELECTOR)
    return found


def _has_chips(pod: Json) -> bool:
    return any(
        "google.com/tpu" in container.get("resources", {}).get("limits", {}) for container in pod["spec"]["containers"]
    )
