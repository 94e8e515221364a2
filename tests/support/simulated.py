"""The objects of large clusters, as an API server lists them: hosts, jobs of teams, queues, and what waits and why."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator
from typing import Any

from tpuplane.labels import CAPACITY_LABEL, GKE_POOL_LABEL, MACHINE_LABEL, POOL_LABEL, TPU, bought_labels
from tpuplane.plan import plan
from tpuplane.spec import load_stack
from tpuplane.tpu import Slice

from tests.support import REPOSITORY
from tests.support.status.api_server import KUEUE

Lists = dict[str, list[dict[str, Any]]]
Pool = tuple[str, str, int, dict[str, str], dict[str, str]]  # name, pool, hosts, labels, devices of a host

TEAMS = ("research", "product", "vision", "speech", "robotics", "evals")
VERSION = "1.35.4-gke.1000000"
NOW = "2026-11-23T10:00:00Z"
WAITS = (
    "couldn't assign flavors to pod set slice: insufficient unused quota for google.com/tpu in flavor {}, "
    "{} more needed"
)
NEVER = (
    "couldn't assign flavors to pod set slice: insufficient quota for google.com/tpu in flavor {}, "
    "previously considered podsets requests (0) + current podset request (2048) > maximum capacity (1024)"
)
UNPLACED = "0/{} nodes are available: {} Insufficient google.com/tpu. preemption: none"
STOCKOUT = "Node scale up in zones us-central1-b associated with this pod failed: GCE_STOCKOUT."


def prod(stack: str = "prod") -> dict[str, Lists]:
    """The clusters of a stack at its minimum, by context: 594 TPU hosts of the stack prod."""
    return {
        f"gke_acme_{cluster.location}_{cluster.name}": lists(
            _pools(filter(None, (*cluster.pools, cluster.system_pool))), seed=at
        )
        for at, cluster in enumerate(plan(load_stack(REPOSITORY / f"stacks/Pulumi.{stack}.yaml")).clusters)
    }


def google(clusters: dict[str, Lists]) -> dict[str, Any]:
    """What Google's API answers about these clusters, with a pool after a stockout and one that is upgraded."""
    found: list[dict[str, Any]] = []
    operations: list[dict[str, Any]] = []
    for at, (context, lists_) in enumerate(clusters.items()):
        _, _, place, name = context.split("_")
        names = sorted({node["metadata"]["labels"][GKE_POOL_LABEL] for node in lists_["/api/v1/nodes"]})
        pools: list[dict[str, Any]] = [
            {"name": pool_name, "status": "RUNNING", "version": VERSION} for pool_name in names
        ]
        link = f"https://container.googleapis.com/v1beta1/projects/1/locations/{place}/clusters/{name}/nodePools"
        if at == 0:
            extra = {"placementPolicy": {"tpuTopology": "4x4"}, "locations": [f"{place}-b"], "initialNodeCount": 4}
            config = {"machineType": "ct6e-standard-4t", "labels": {POOL_LABEL: "spare"}}
            said = [{"message": STOCKOUT, "canonicalCode": "RESOURCE_EXHAUSTED"}]
            pools.append({"name": "spare-0", "status": "ERROR", "conditions": said, "config": config, **extra})
            pools[-2]["status"] = "RECONCILING"
            failed = {"status": "DONE", "endTime": NOW, "error": {"code": 8, "message": STOCKOUT}}
            kinds = (("spare-0", "CREATE_NODE_POOL", failed),)
            for pool, kind, state in (*kinds, (pools[-2]["name"], "UPGRADE_NODES", {"status": "RUNNING"})):
                operations.append({"operationType": kind, "targetLink": f"{link}/{pool}", "startTime": NOW, **state})
        own = {"name": name, "location": place, "status": "RUNNING", "currentMasterVersion": VERSION}
        found.append({**own, "releaseChannel": {"channel": "REGULAR"}, "nodePools": pools})
    path = "v1beta1/projects/acme/locations/-"
    return {f"{path}/clusters": {"clusters": found}, f"{path}/operations": {"operations": operations}}


def huge(slices: int = 199) -> dict[str, Lists]:
    """One cluster with 12,736 hosts in 199 slices of v6e 16x16."""
    shape = Slice.of("v6e", "16x16")
    own = {**shape.node_labels, MACHINE_LABEL: shape.machine.name, "topology.kubernetes.io/zone": "us-east5-b"}
    labels = {**own, **bought_labels("spot"), CAPACITY_LABEL: "spot", POOL_LABEL: "pretrain"}
    devices = {TPU: str(shape.machine.chips)}
    made: list[Pool] = [(f"pretrain-{at}", "pretrain", shape.hosts, labels, devices) for at in range(slices)]
    return {"gke_acme_us-east5_huge": lists(made, seed=1)}


def _pools(node_pools: Iterable[Any]) -> Iterator[Pool]:
    for node_pool in node_pools:
        labels = {
            **node_pool.node_labels,
            **(node_pool.slice.node_labels if node_pool.slice else node_pool.gpu.node_labels if node_pool.gpu else {}),
            **bought_labels(node_pool.capacity, node_pool.reservation),
            MACHINE_LABEL: node_pool.machine_type,
            "topology.kubernetes.io/zone": node_pool.zones[0],
        }
        devices = {node_pool.resource: str(node_pool.node_accelerators)} if node_pool.slice or node_pool.gpu else {}
        yield node_pool.name, node_pool.pool, node_pool.min_nodes * len(node_pool.zones), labels, devices


def lists(pools: Iterable[Pool], seed: int) -> Lists:
    """A cluster whose teams hold most of its pools. Some hosts are not ready, cordoned or missing."""
    chance = random.Random(seed)
    nodes: list[dict[str, Any]] = []
    pods: list[dict[str, Any]] = []
    workloads: list[dict[str, Any]] = []
    used = dict.fromkeys(TEAMS, 0)
    for name, pool, count, labels, devices in pools:
        hosts = [_node(f"gke-{name}-{at:04}", {**labels, GKE_POOL_LABEL: name}, devices, chance) for at in range(count)]
        if count > 8 and chance.random() < 0.05:
            hosts.pop()
        nodes += hosts
        if TPU in devices and count and chance.random() < 0.8:
            team = chance.choice(TEAMS[: 2 + seed % 5])
            used[team] += count * int(devices[TPU])
            job = f"{pool}-{chance.choice(('sweep', 'run', 'ablate'))}-{len(workloads)}"
            workloads.append(_workload(team, job, count, devices[TPU], pool, admitted=True))
            pods += [_pod(team, job, f"{job}-{at}", devices, host["metadata"]["name"]) for at, host in enumerate(hosts)]
    flavor = "v6e-16x16"
    for at, team in enumerate(TEAMS[:4]):
        workloads.append(_workload(team, f"waits-{at}", 64, "4", flavor, admitted=False))
    stuck = _workload(TEAMS[0], "too-large", 512, "4", flavor, admitted=False)
    stuck["status"]["conditions"][0]["message"] = NEVER.format(flavor)
    workloads.append(stuck)
    lost = _pod("default", "lonely", "lonely-0", {TPU: "4"}, None)
    lost["status"]["conditions"] = [
        {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": UNPLACED.format(len(nodes), len(nodes)),
        }
    ]
    return {
        "/api/v1/nodes": nodes,
        "/api/v1/pods": [*pods, lost],
        "/api/v1/events": [_event(lost, "FailedScaleUp", STOCKOUT)],
        KUEUE + "clusterqueues": [_queue(team, flavor, used[team]) for team in TEAMS],
        KUEUE + "localqueues": [
            {"metadata": {"name": "default", "namespace": team, "uid": team}, "spec": {"clusterQueue": team}}
            for team in TEAMS
        ],
        KUEUE + "workloads": workloads,
    }


def _node(name: str, labels: dict[str, str], devices: dict[str, str], chance: random.Random) -> dict[str, Any]:
    luck = chance.random()
    ready = {"type": "Ready", "status": "True"}
    if luck < 0.004:
        ready = {"type": "Ready", "status": "Unknown", "message": "Kubelet stopped posting node status."}
    return {
        "metadata": {"name": name, "uid": name, "labels": labels},
        "spec": {"unschedulable": True} if luck > 0.996 else {},
        "status": {"conditions": [ready], "capacity": {"cpu": "180", "memory": "700Gi", **devices}},
    }


_numbers = itertools.count()


def _pod(team: str, job: str, name: str, devices: dict[str, str], node: str | None) -> dict[str, Any]:
    container = {"name": "train", "resources": {"limits": devices, "requests": devices}}
    labels = {"jobset.sigs.k8s.io/jobset-name": job}
    return {
        "metadata": {
            "name": name,
            "namespace": team,
            "uid": f"pod-{next(_numbers)}",
            "labels": labels,
            "ownerReferences": [{"kind": "JobSet", "name": job, "uid": job, "controller": True}],
            "annotations": {} if node is None else {"kueue.x-k8s.io/workload": f"jobset-{job}"},
        },
        "spec": {"containers": [container], **({"nodeName": node} if node else {})},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }


def _workload(team: str, job: str, pods: int, chips: str, flavor: str, *, admitted: bool) -> dict[str, Any]:
    kind, status, message = (
        ("Admitted", "True", "") if admitted else ("QuotaReserved", "False", WAITS.format(flavor, 256))
    )
    container = {"resources": {"limits": {TPU: chips}}}
    assigned = [{"name": "slice", "count": pods, "flavors": {TPU: flavor}}]
    return {
        "metadata": {
            "name": f"jobset-{job}",
            "namespace": team,
            "uid": f"workload-{next(_numbers)}",
            "creationTimestamp": NOW,
            "ownerReferences": [{"kind": "JobSet", "name": job, "uid": job}],
        },
        "spec": {
            "queueName": "default",
            "priority": 500,
            "priorityClassRef": {"name": "normal"},
            "podSets": [{"name": "slice", "count": pods, "template": {"spec": {"containers": [container]}}}],
        },
        "status": {
            "conditions": [{"type": kind, "status": status, "message": message, "lastTransitionTime": NOW}],
            **({"admission": {"podSetAssignments": assigned}} if admitted else {}),
        },
    }


def _queue(team: str, flavor: str, used: int) -> dict[str, Any]:
    nominal = max(256, used * 3 // 4 // 256 * 256)
    return {
        "metadata": {"name": team, "uid": team},
        "spec": {
            "cohortName": "acme",
            "resourceGroups": [{"flavors": [{"name": flavor, "resources": [{"name": TPU, "nominalQuota": nominal}]}]}],
        },
        "status": {
            "conditions": [{"type": "Active", "status": "True"}],
            "flavorsReservation": [
                {"name": flavor, "resources": [{"name": TPU, "total": used, "borrowed": max(0, used - nominal)}]}
            ],
        },
    }


def _event(pod: dict[str, Any], reason: str, message: str) -> dict[str, Any]:
    about = {"kind": "Pod", **{key: pod["metadata"][key] for key in ("namespace", "name", "uid")}}
    metadata = {
        "name": f"event-{reason}",
        "namespace": pod["metadata"]["namespace"],
        "uid": f"event-{reason}",
        "resourceVersion": "1",
    }
    return {
        "metadata": metadata,
        "type": "Warning",
        "involvedObject": about,
        "reason": reason,
        "message": message,
        "lastTimestamp": NOW,
    }
