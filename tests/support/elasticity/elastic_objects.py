"""Pods, nodes and pools as the API server and Google's API have them, for the tests of the autoscaler's decisions."""

from __future__ import annotations

from typing import Any

from tpuplane_twin.elasticity.groups import Group
from tpuplane_twin.elasticity.objects import Node, Pod

Json = dict[str, Any]
POOL = "cloud.google.com/gke-nodepool"
TOPOLOGY = "cloud.google.com/gke-tpu-topology"
CLUSTER: Json = {
    "name": "trainers",
    "location": "us-east5",
    "currentMasterVersion": "1.35.4-gke.1000000",
    "selfLink": "https://container.googleapis.com/v1beta1/projects/acme/locations/us-east5/clusters/trainers",
}


def pool(name: str, machine: str, *, zones: tuple[str, ...] = ("us-east5-b",), **fields: Any) -> Json:
    return {
        "name": name,
        "locations": list(zones),
        "initialNodeCount": 0,
        "config": {"machineType": machine},
        "autoscaling": {"enabled": True},
        "instanceGroupUrls": [f"https://gce/zones/{zone}/instanceGroupManagers/gke-{name}-grp" for zone in zones],
        **fields,
    }


def group(name: str, machine: str, *, cluster: Json = CLUSTER, **fields: Any) -> Group:
    return Group.parse(f"pools/{name}", pool(name, machine, **fields), cluster)


def slice_group(name: str = "slice", nodes: int = 0, topology: str = "4x4", hosts: int = 4) -> Group:
    """A v6e slice, autoscaled between nothing and all."""
    return group(
        name,
        "ct6e-standard-4t",
        initialNodeCount=nodes,
        placementPolicy={"type": "COMPACT", "tpuTopology": topology},
        autoscaling={"enabled": True, "maxNodeCount": hosts},
    )


def serving_group(nodes: int = 1, least: int = 1, most: int = 4, name: str = "serving") -> Group:
    """Single-host v6e 2x4 slices."""
    limits = {"enabled": True, "minNodeCount": least, "maxNodeCount": most}
    return group(name, "ct6e-standard-8t", initialNodeCount=nodes, autoscaling=limits)


def cpu_group(nodes: int = 0, zones: tuple[str, ...] = ("us-east5-b",), name: str = "cpu", **limits: Any) -> Group:
    """Machines of 4 vCPUs."""
    autoscaling = {"enabled": True, **(limits or {"maxNodeCount": 5})}
    return group(name, "e2-standard-4", zones=zones, initialNodeCount=nodes, autoscaling=autoscaling)


def nodes(*groups: Group) -> list[Node]:
    """The nodes that these pools have."""
    return [
        each_group.future(zone, n)
        for each_group in groups
        for zone, numbers in each_group.numbers.items()
        for n in numbers
    ]


def pod_json(name: str, *, node: str = "", **fields: Any) -> Json:
    """A pod of a ReplicaSet, waiting unless it has a node."""
    requests = {key: str(value) for key, value in fields.pop("requests", {"cpu": 1}).items()}
    spec = {
        "containers": [{"name": "c", "resources": {"requests": requests}}],
        "tolerations": [{"key": "google.com/tpu", "operator": "Exists"}] if "google.com/tpu" in requests else [],
        **fields.pop("spec", {}),
    }
    waiting = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    if node:
        spec["nodeName"] = node
    return {
        "metadata": {
            "name": name,
            "namespace": fields.pop("namespace", "default"),
            "uid": f"uid-{name}",
            "ownerReferences": [{"kind": fields.pop("owner", "ReplicaSet"), "uid": "owner", "controller": True}],
            **fields,
        },
        "status": {"phase": "Running"} if node else {"phase": "Pending", "conditions": [waiting]},
        "spec": spec,
    }


def pod(name: str, **fields: Any) -> Pod:
    parsed = Pod.parse(pod_json(name, **fields))
    assert parsed is not None
    return parsed


def tpu_pod(name: str, chips: int = 4, topology: str = "4x4", **fields: Any) -> Pod:
    spec = {"nodeSelector": {TOPOLOGY: topology}, **fields.pop("spec", {})}
    return pod(name, requests={"google.com/tpu": chips}, spec=spec, **fields)


def replica(name: str, hosts: int, topology: str = "4x4") -> list[Pod]:
    """A Ray worker group's replica, as the TPU webhook keeps it together and alone on a node pool."""

    def term(operator: str) -> Json:
        mine = {"key": "replica", "operator": operator, "values": [name]}
        everyone = {"key": "replica", "operator": "Exists"}
        return {"topologyKey": POOL, "labelSelector": {"matchExpressions": [mine, everyone]}}

    affinity = {
        kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term(operator)]}
        for kind, operator in (("podAffinity", "In"), ("podAntiAffinity", "NotIn"))
    }
    return [
        tpu_pod(f"{name}-{host}", topology=topology, labels={"replica": name}, spec={"affinity": affinity})
        for host in range(hosts)
    ]
