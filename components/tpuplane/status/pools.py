"""Node pools and their slices, from the labels that GKE sets on nodes. Pools without nodes are not visible. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from tpuplane.labels import (
    ACCELERATOR_LABEL,
    ANNOUNCED_LABEL,
    CAPACITY_LABEL,
    DYNAMIC_SLICE_LABEL,
    GKE_POOL_LABEL,
    GPU,
    GPU_LABEL,
    MACHINE_LABEL,
    MAINTENANCE_LABEL,
    MODE_LABEL,
    PROVISIONING_LABEL,
    RESERVATION_LABEL,
    TOPOLOGY_LABEL,
    TPU,
    UNITS,
    ZONE_LABEL,
)  # fmt: skip
from tpuplane.quantities import are, counted
from tpuplane.status.objects import Node
from tpuplane.tpu import Slice, SliceError, catalogue

_SET = ("cloud.google.com/gke-", "tpuplane-")  # labels of a node pool


def describe_pools(nodes: Iterable[Node], held: Mapping[str, Iterable[str]]) -> list[dict[str, Any]]:
    """Each node pool with its slice, hosts and jobs: pools without chips first, each kind by name.

    `held` has the jobs with chips or GPUs of each node.
    """
    members: dict[str, list[Node]] = defaultdict(list)
    for node in nodes:
        members[node.pool].append(node)
    return by_kind(_pool(name, _labels(pool_nodes), pool_nodes, held) for name, pool_nodes in members.items())


def by_kind(pools: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The pools, those without TPUs or GPUs first, each kind by name."""
    devices = ("slice", "gpu", "chips", "gpus")
    return sorted(pools, key=lambda pool: (any(pool[key] for key in devices), pool["name"]))


def empty_pool(name: str, labels: Mapping[str, str], zones: Sequence[str], hosts: int) -> dict[str, Any]:
    """The row of a node pool without nodes, with the labels that its nodes would have. `hosts` are expected now."""
    row = _pool(name, labels, (), {})
    missing = [_missing(hosts, hosts)] if hosts else []
    return {**row, "zones": sorted(zones), "hosts": hosts, "problems": missing}


def slice_of(labels: Mapping[str, str], chips: int | None = None) -> Slice | None:
    """The slice that labels of a node or a node selector describe, with `chips` on a host; None if it is unknown."""
    try:
        accelerator, cube = labels[ACCELERATOR_LABEL], MODE_LABEL in labels
        # While hosts of a cube are in a slice, they have the topology of the slice.
        topology = catalogue().generation(accelerator).partitions[0] if cube else labels[TOPOLOGY_LABEL]
        return Slice.for_nodes(accelerator, topology, labels.get(MACHINE_LABEL), chips_per_node=chips)
    except (IndexError, KeyError, SliceError):
        return None


def _labels(nodes: Sequence[Node]) -> dict[str, str]:
    """The labels of at least half of the nodes, each with its first value, because single nodes can lack labels."""
    counts = Counter(key for node in nodes for key in node.labels)
    labels: dict[str, str] = {}
    for node in nodes:
        labels = {key: value for key, value in node.labels.items() if 2 * counts[key] >= len(nodes)} | labels
    return labels


def _pool(
    name: str, labels: Mapping[str, str], nodes: Sequence[Node], held: Mapping[str, Iterable[str]]
) -> dict[str, Any]:
    shape = slice_of(labels)
    multi_host = shape is not None and shape.multi_host
    # A multi-host pool is one slice, so its number of hosts is known.
    hosts = shape.hosts if name and shape is not None and multi_host else len(nodes)
    chips, gpus = (sum(node.capacity.get(resource, 0) for node in nodes) // 1000 for resource in (TPU, GPU))
    of_catalogue = " ".join(filter(None, map(labels.get, (ACCELERATOR_LABEL, TOPOLOGY_LABEL))))
    problems = [*maintenance(nodes), *_problems(nodes, hosts), *_unlabelled(name, labels, nodes)]
    return {
        "name": name,
        "slice": str(shape or of_catalogue),
        "generation": shape.generation.name if shape else "",
        "multiHost": multi_host,
        "gpu": labels.get(GPU_LABEL, ""),
        "machineType": labels.get(MACHINE_LABEL, ""),
        "zones": sorted({node.labels.get(ZONE_LABEL, "") for node in nodes}),
        "capacity": _capacity(labels),
        "version": ", ".join(sorted({node.kubelet for node in nodes} - {""})),
        "state": "",
        "message": "",
        "since": min((node.created for node in nodes), default=""),
        "declared": None,
        "chips": chips,
        "gpus": gpus,
        "hosts": hosts,
        "hostsReady": sum(node.is_true("Ready") for node in nodes),
        "problems": problems,
        "heldBy": sorted({job for node in nodes for job in held.get(node.name, ())}),
    }


def _capacity(labels: Mapping[str, str]) -> str:
    """The capacity of the hosts. GKE's label is standard for reserved and on-demand hosts."""
    bought = labels.get(PROVISIONING_LABEL, "")
    if bought == "standard":
        bought = "reservation" if RESERVATION_LABEL in labels else "on-demand"
    return labels.get(CAPACITY_LABEL, bought)


def _missing(number: int, hosts: int) -> str:
    return f"{number} of {are(hosts, 'host')} missing"


def _problems(nodes: Sequence[Node], hosts: int) -> list[str]:
    """Hosts of the pool that are missing, not ready, without usable devices, or cordoned, in this order."""
    problems = [_missing(hosts - len(nodes), hosts)] if len(nodes) < hosts else []
    faults = {node.name: unready(node) or without_devices(node) for node in nodes}
    problems += filter(None, faults.values())
    return problems + [f"{node.name} is cordoned" for node in nodes if node.unschedulable and not faults[node.name]]


def maintenance(nodes: Sequence[Node]) -> Iterator[str]:
    """How many of these nodes are under maintenance, and for how many it is announced, by its time."""
    for state, number in Counter(filter(None, map(_maintained, nodes))).items():
        yield f"maintenance of {number} of {counted(len(nodes), 'host')} {state}"


def _maintained(node: Node) -> str:
    if MAINTENANCE_LABEL in node.labels:
        return "has begun"
    time = node.labels.get(ANNOUNCED_LABEL, "")
    if time.isdecimal() and len(time) < 12:  # until the year 5138
        time = f"{datetime.fromtimestamp(int(time), UTC):%Y-%m-%dT%H:%M:%SZ}"
    return time and f"begins at {time}"


def unready(node: Node) -> str:
    """Why the node is not ready; empty if it is."""
    ready = node.condition("Ready")
    why = ready.message or ready.reason or "its kubelet has not reported"
    return "" if ready.status == "True" else f"{node.name} is not ready: {why}"


def without_devices(node: Node) -> str:
    """Which of its chips or GPUs the kubelet does not offer, because they or their device plugin fail; else empty."""
    has = {name: node.capacity.get(name, 0) for name in (TPU, GPU)} if node.allocatable else {}
    offers = {name: (node.allocatable.get(name, 0), amount) for name, amount in has.items()}
    lost = (
        f"{offered // 1000} of {counted(amount // 1000, UNITS[name])}"
        for name, (offered, amount) in offers.items()
        if offered < amount
    )
    return f"{node.name} offers {text}" if (text := ", ".join(lost)) else ""


def _unlabelled(pool: str, labels: Mapping[str, str], nodes: Sequence[Node]) -> Iterator[str]:
    """Nodes without a label that GKE sets on each node of a pool, or on each TPU host. GKE does not set it again."""
    of_pool = {key for key in labels if pool and key.startswith(_SET)}
    for node in nodes:
        of_host = {ACCELERATOR_LABEL, TOPOLOGY_LABEL} if node.capacity.get(TPU) else set()
        if MODE_LABEL in labels:  # dynamic slicing sets and removes these
            of_host, of_pool = {ACCELERATOR_LABEL}, of_pool - {TOPOLOGY_LABEL, DYNAMIC_SLICE_LABEL}
        lost = sorted((of_pool | of_host) - node.labels.keys())
        if not pool and (of_host or any(key.startswith(_SET) for key in node.labels)):
            lost = [GKE_POOL_LABEL, *lost]
        if lost:
            # The hosts of a pool differ in the number of their sub-slice.
            values = (f"{key}={labels[key] if key in of_pool and key[-3:] != '-id' else 'VALUE'}" for key in lost)
            again = f"kubectl label node {node.name} {' '.join(values)}"
            yield f"{node.name} has lost the label {', '.join(lost)}; set it again: {again}"
