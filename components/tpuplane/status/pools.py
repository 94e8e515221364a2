"""Node pools and their slices, from GKE's labels of nodes. Kubernetes does not know pools without nodes. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tpuplane.labels import CAPACITY_LABEL, GKE_POOL_LABEL, GPU, MACHINE_LABEL, RESERVATION_LABEL, TPU
from tpuplane.quantities import thousandths
from tpuplane.status.holders import jobs_by_pool
from tpuplane.status.objects import Object, condition, is_true
from tpuplane.tpu import Slice, SliceError

_ACCELERATOR = "cloud.google.com/gke-tpu-accelerator"
_TOPOLOGY = "cloud.google.com/gke-tpu-topology"
_GPU = "cloud.google.com/gke-accelerator"
_ZONE = "topology.kubernetes.io/zone"
_PROVISIONING = "cloud.google.com/gke-provisioning"


def describe_pools(nodes: Iterable[Object], pods: Iterable[Object]) -> list[dict[str, Any]]:
    """Each node pool with its slice, hosts and jobs: first pools without chips, then by name."""
    nodes = list(nodes)
    members: dict[str, list[Object]] = defaultdict(list)
    for node in nodes:
        members[node["metadata"].get("labels", {}).get(GKE_POOL_LABEL, "")].append(node)
    held = jobs_by_pool(pods, nodes)
    pools = [_pool(name, those, held.get(name, [])) for name, those in members.items()]
    return sorted(pools, key=lambda pool: (pool["chips"] + pool["gpus"] > 0, pool["name"]))


def _pool(name: str, nodes: Sequence[Object], held: list[str]) -> dict[str, Any]:
    labels = nodes[0]["metadata"].get("labels", {})
    shape = _slice(nodes[0])
    multi_host = shape is not None and shape.multi_host
    # A multi-host pool is one slice, so its number of hosts is known.
    hosts = shape.hosts if shape is not None and multi_host else len(nodes)
    return {
        "name": name,
        "slice": str(shape) if shape else " ".join(filter(None, map(labels.get, (_ACCELERATOR, _TOPOLOGY)))),
        "generation": shape.generation.name if shape else "",
        "multiHost": multi_host,
        "gpu": labels.get(_GPU, ""),
        "machineType": labels.get(MACHINE_LABEL, ""),
        "zones": sorted({it["metadata"].get("labels", {}).get(_ZONE, "") for it in nodes}),
        "capacity": _capacity(labels),
        "chips": _offered(nodes, TPU),
        "gpus": _offered(nodes, GPU),
        "hosts": hosts,
        "hostsReady": sum(is_true(node, "Ready") for node in nodes),
        "problems": _problems(nodes, hosts),
        "heldBy": held,
    }


def _slice(node: Object) -> Slice | None:
    """The slice of the node; None for a node without chips, or with chips that are not in the catalogue."""
    labels = node["metadata"].get("labels", {})
    if _ACCELERATOR not in labels or _TOPOLOGY not in labels:
        return None
    try:
        return Slice.for_nodes(labels[_ACCELERATOR], labels[_TOPOLOGY], labels.get(MACHINE_LABEL))
    except SliceError:
        return None


def _capacity(labels: Mapping[str, str]) -> str:
    """The capacity of the hosts. GKE's label is standard for reserved and on-demand hosts."""
    if CAPACITY_LABEL in labels:
        return labels[CAPACITY_LABEL]
    bought = labels.get(_PROVISIONING, "")
    if bought == "standard":
        return "reservation" if RESERVATION_LABEL in labels else "on-demand"
    return bought


def _offered(nodes: Iterable[Object], resource: str) -> int:
    return sum(thousandths(node.get("status", {}).get("capacity", {}).get(resource, 0)) for node in nodes) // 1000


def _problems(nodes: Sequence[Object], hosts: int) -> list[str]:
    """Hosts of the pool that are missing, not ready or cordoned."""
    found = [f"{hosts - len(nodes)} of {hosts} hosts are missing"] if len(nodes) < hosts else []
    for node in nodes:
        ready = condition(node, "Ready")
        if ready.get("status") != "True":
            why = ready.get("message") or ready.get("reason") or "its kubelet has not reported"
            found.append(f"{node['metadata']['name']} is not ready: {why}")
        elif node["spec"].get("unschedulable"):
            found.append(f"{node['metadata']['name']} is cordoned")
    return found
