"""Node pools and their slices, from GKE's labels of nodes. Kubernetes does not know pools without nodes. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tpuplane.labels import CAPACITY_LABEL, GKE_POOL_LABEL, GPU, MACHINE_LABEL, RESERVATION_LABEL, TPU
from tpuplane.status.objects import Node
from tpuplane.tpu import Slice, SliceError

ACCELERATOR_LABEL = "cloud.google.com/gke-tpu-accelerator"
TOPOLOGY_LABEL = "cloud.google.com/gke-tpu-topology"
GPU_LABEL = "cloud.google.com/gke-accelerator"
_ZONE = "topology.kubernetes.io/zone"
_SET = ("cloud.google.com/gke-", "tpuplane-")  # labels of a node pool
_PROVISIONING = "cloud.google.com/gke-provisioning"


def describe_pools(nodes: Iterable[Node], held: Mapping[str, Iterable[str]]) -> list[dict[str, Any]]:
    """Each node pool with its slice, hosts and jobs: first pools without chips, then by name.

    `held` has the jobs with chips or GPUs of each node.
    """
    members: dict[str, list[Node]] = defaultdict(list)
    for node in nodes:
        members[node.pool].append(node)
    return by_kind(_pool(name, _labels(those), those, held) for name, those in members.items())


def by_kind(pools: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """First pools without TPUs or GPUs, then by name."""
    return sorted(pools, key=lambda it: (bool(it["slice"] or it["gpu"] or it["chips"] + it["gpus"]), it["name"]))


def empty_pool(name: str, labels: Mapping[str, str], zones: Sequence[str], hosts: int) -> dict[str, Any]:
    """The row of a node pool without nodes, with the labels that its nodes would have. `hosts` are expected now."""
    row = _pool(name, labels, (), {})
    missing = [f"{hosts} of {hosts} hosts are missing"] if hosts else []
    return {**row, "zones": sorted(zones), "hosts": hosts, "problems": missing}


def slice_of(labels: Mapping[str, str], chips: int | None = None) -> Slice | None:
    """The slice of a node's labels, or of a node selector with the chips of a host; None if it is unknown."""
    try:
        shape = labels[ACCELERATOR_LABEL], labels[TOPOLOGY_LABEL]
        return Slice.for_nodes(*shape, labels.get(MACHINE_LABEL), chips_per_node=chips)
    except (KeyError, SliceError):
        return None


def _labels(nodes: Sequence[Node]) -> dict[str, str]:
    """The labels that more than half of the nodes have, of each label the first value: one can lack some."""
    counts = Counter(key for it in nodes for key in it.labels)
    found: dict[str, str] = {}
    for node in nodes:
        found = {key: it for key, it in node.labels.items() if 2 * counts[key] >= len(nodes)} | found
    return found


def _pool(
    name: str, labels: Mapping[str, str], nodes: Sequence[Node], held: Mapping[str, Iterable[str]]
) -> dict[str, Any]:
    shape = slice_of(labels)
    multi_host = shape is not None and shape.multi_host
    # A multi-host pool is one slice, so its number of hosts is known.
    hosts = shape.hosts if name and shape is not None and multi_host else len(nodes)
    chips, gpus = (sum(it.capacity.get(resource, 0) for it in nodes) // 1000 for resource in (TPU, GPU))
    of_catalogue = " ".join(filter(None, map(labels.get, (ACCELERATOR_LABEL, TOPOLOGY_LABEL))))
    return {
        "name": name,
        "slice": str(shape or of_catalogue),
        "generation": shape.generation.name if shape else "",
        "multiHost": multi_host,
        "gpu": labels.get(GPU_LABEL, ""),
        "machineType": labels.get(MACHINE_LABEL, ""),
        "zones": sorted({it.labels.get(_ZONE, "") for it in nodes}),
        "capacity": _capacity(labels),
        "version": ", ".join(sorted({it.kubelet for it in nodes} - {""})),
        "state": "",
        "message": "",
        "since": min((it.created for it in nodes), default=""),
        "declared": None,
        "chips": chips,
        "gpus": gpus,
        "hosts": hosts,
        "hostsReady": sum(it.is_true("Ready") for it in nodes),
        "problems": [*_problems(nodes, hosts), *_unlabelled(name, labels, nodes)],
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


def _unlabelled(pool: str, labels: Mapping[str, str], nodes: Sequence[Node]) -> Iterator[str]:
    """Nodes without a label that GKE sets on each node of a pool, or on each TPU host. GKE does not set it again."""
    of_pool = {key for key in labels if pool and key.startswith(_SET)}
    for node in nodes:
        of_host = {ACCELERATOR_LABEL, TOPOLOGY_LABEL} if node.capacity.get(TPU) else set()
        lost = sorted((of_pool | of_host) - node.labels.keys())
        if not pool and (of_host or any(key.startswith(_SET) for key in node.labels)):
            lost = [GKE_POOL_LABEL, *lost]
        if lost:
            values = (f"{key}={labels[key] if key in of_pool else 'VALUE'}" for key in lost)
            again = f"kubectl label node {node.name} {' '.join(values)}"
            yield f"{node.name} has lost the label {', '.join(lost)}; set it again: {again}"
