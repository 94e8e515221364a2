"""Nodes of a slice and pods on them, as an API server has them."""

from __future__ import annotations

from typing import Any

from tpuplane.tpu import Slice

READY = {"type": "Ready", "status": "True"}
LOST = {"type": "Ready", "status": "Unknown", "message": "Kubelet stopped posting node status."}


def node(name: str, pool: str, **labels: str) -> dict[str, Any]:
    own = {"cloud.google.com/gke-nodepool": pool, "topology.kubernetes.io/zone": "us-east5-b", **labels}
    return {"metadata": {"name": name, "labels": own}, "spec": {}, "status": {"conditions": [READY], "capacity": {}}}


def host(name: str, pool: str, shape: Slice, **labels: str) -> dict[str, Any]:
    machine = {"node.kubernetes.io/instance-type": shape.machine.name}
    made = node(name, pool, **shape.node_labels, **machine, **labels)
    made["status"]["capacity"]["google.com/tpu"] = str(shape.machine.chips)
    return made


def pod(namespace: str, name: str, on: str, chips: int, owner: str = "") -> dict[str, Any]:
    container = {"resources": {"limits": {"google.com/tpu": chips} if chips else {}}}
    owners = [{"kind": "JobSet", "name": owner, "uid": owner}] if owner else []
    metadata = {"name": name, "namespace": namespace, "uid": f"{namespace}/{name}", "ownerReferences": owners}
    return {"metadata": metadata, "spec": {"nodeName": on, "containers": [container]}}


SLICE = Slice.of("v6e", "4x4")
HOSTS = [host(f"h{index}", "trainer-0", SLICE, **{"tpuplane-capacity": "reservation"}) for index in range(4)]
