"""Node pools and their slices, from GKE's labels of nodes. Kubernetes does not know pools without nodes. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tpuplane.labels import CAPACITY_LABEL, GPU, MACHINE_LABEL, RESERVATION_LABEL, TPU
from tpuplane.status.holders import jobs_by_node
from tpuplane.status.objects import Node, Pod
from tpuplane.tpu import Slice, SliceError

ACCELERATOR_LABEL = "cloud.google.com/gke-tpu-accelerator"
TOPOLOGY_LABEL = "cloud.google.com/gke-tpu-topology"
_GPU = "cloud.google.com/gke-accelerator"
_ZONE = "topology.kubernetes.io/zone"
_PROVISIONING = "cloud.google.com/gke-provisioning"


def describe_pools(nodes: Iterable[Node], pods: Iterable[Pod]) -> list[dict[str, Any]]:
    """Each node pool with its slice, hosts and jobs: first pools without chips, then by name."""
    members: dict[str, list[Node]] = defaultdict(list)
    for node in nodes:
        members[node.pool].append(node)
    held = jobs_by_node(pods)
    pools = [_pool(name, those, held) for name, those in members.items()]
    return sorted(pools, key=lambda pool: (pool["chips"] + pool["gpus"] > 0, pool["name"]))


def slice_of(labels: Mapping[str, str], chips: int | None = None) -> Slice | None:
    """The slice of a node's labels, or of a node selector with the chips of a host; None if it is unknown."""
    try:
        shape = labels[ACCELERATOR_LABEL], labels[TOPOLOGY_LABEL]
        return Slice.for_nodes(*shape, labels.get(MACHINE_LABEL), chips_per_node=chips)
    except (KeyError, SliceError):
        return None


def _pool(name: str, nodes: Sequence[Node], held: Mapping[str, Iterable[str]]) -> dict[str, Any]:
    labels = nodes[0].labels
    shape = slice_of(labels)
    multi_host = shape is not None and shape.multi_host
    # A multi-host pool is one slice, so its number of hosts is known.
    hosts = shape.hosts if shape is not None and multi_host else len(nodes)
    chips, gpus = (sum(it.capacity.get(resource, 0) for it in nodes) // 1000 for resource in (TPU, GPU))
    of_catalogue = " ".join(filter(None, map(labels.get, (ACCELERATOR_LABEL, TOPOLOGY_LABEL))))
    return {
        "name": name,
        "slice": str(shape or of_catalogue),
        "generation": shape.generation.name if shape else "",
        "multiHost": multi_host,
        "gpu": labels.get(_GPU, ""),
        "machineType": labels.get(MACHINE_LABEL, ""),
        "zones": sorted({it.labels.get(_ZONE, "") for it in nodes}),
        "capacity": _capacity(labels),
        "chips": chips,
        "gpus": gpus,
        "hosts": hosts,
        "hostsReady": sum(it.is_true("Ready") for it in nodes),
        "problems": _problems(nodes, hosts),
        "heldBy": sorted({job for it in nodes for job in held.get(it.name, ())}),
    }


def _capacity(labels: Mapping[str, str]) -> str:
    """The capacity of the hosts. GKE's label is standard for reserved and on-demand hosts."""
    bought = labels.get(_PROVISIONING, "")
    if bought == "standard":
        bought = "reservation" if RESERVATION_LABEL in labels else "on-demand"
    return labels.get(CAPACITY_LABEL, bought)


def _problems(nodes: Sequence[Node], hosts: int) -> list[str]:
    """Hosts of the pool that are missing, not ready or cordoned."""
    found = [f"{hosts - len(nodes)} of {hosts} hosts are missing"] if len(nodes) < hosts else []
    for node in nodes:
        ready = node.condition("Ready")
        if ready.status != "True":
            found.append(f"{node.name} is not ready: {ready.message or ready.reason or 'its kubelet has not reported'}")
        elif node.unschedulable:
            found.append(f"{node.name} is cordoned")
    return found
