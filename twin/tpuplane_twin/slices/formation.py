"""What GKE's slice controller decides: the states of partitions and Slices, and the labels of hosts. Emulated. Pure.

Google does not publish its source. The rules are those of the pages "Use dynamic slicing with a custom scheduler"
(https://docs.cloud.google.com/kubernetes-engine/docs/how-to/create-dynamic-slices) and "Schedule dynamic slices with
Kueue and TAS" (…/how-to/use-gke-dynamic-slicing), and of GKE's reference "Slice". The messages are the twin's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tpuplane.labels import (
    BLOCK_LABEL,
    DYNAMIC_SLICE_LABEL,
    RESERVATION_LABEL,
    TOPOLOGY_LABEL,
    TPU,
    partition_label,
    partition_state_label,
)
from tpuplane.tpu import catalogue
from tpuplane.tpu.topology import chip_count

from tpuplane_twin.clock.times import Times
from tpuplane_twin.cluster.api import Object, has_condition
from tpuplane_twin.cluster.pools import NOT_FORMED

LINKS = "twin.tpuplane.dev/links"
"""The annotation of hosts with a fault of their links: `degraded` (the cube is DEGRADED), or `stuck` (slices on the
hosts neither form nor end)."""
FINALIZER = "accelerator.gke.io/slice-finalizer"
RETRY = "slice.gke.io/retry-on-failure"
ACTIVE = ("ACTIVE", "ACTIVE_DEGRADED")
SHAPES = catalogue().generation("tpu7x").partitions
CHIPS = 4
"""The chips of a host: tpu7x-standard-4t is the only machine type of cubes."""
_CUBE = SHAPES[0]


@dataclass(frozen=True)
class Host:
    """A host of a cube. It is healthy if it is Ready and its chips are reported."""

    name: str
    labels: Mapping[str, str]
    healthy: bool
    links: str

    @classmethod
    def parse(cls, node: Object) -> Host:
        """The host of a node."""
        metadata, chips = node["metadata"], node["status"].get("allocatable", {}).get(TPU, "0")
        links = metadata.get("annotations", {}).get(LINKS, "")
        return cls(metadata["name"], metadata["labels"], has_condition(node, "Ready") and chips != "0", links)


@dataclass(frozen=True)
class Slice:
    """A Slice at one moment."""

    name: str
    topology: str
    ids: list[str]
    annotations: Mapping[str, str]
    deleted: bool
    condition: Mapping[str, Any]  # Ready; empty before it has one
    aged: float = 0.0  # seconds of the clock in its state
    unready: float = 0.0  # and since it is not Ready

    @classmethod
    def parse(cls, item: Object) -> Slice:
        """The Slice of an object."""
        metadata, spec = item["metadata"], item["spec"]
        found = item.get("status", {}).get("conditions", ())
        ready: Mapping[str, Any] = next((state for state in found if state["type"] == "Ready"), {})
        deleted, annotations = "deletionTimestamp" in metadata, metadata.get("annotations", {})
        return cls(metadata["name"], spec["topology"], spec["partitionIds"], annotations, deleted, ready)

    @property
    def state(self) -> str:
        """The reason of its condition, such as ACTIVE; empty before it has one."""
        return str(self.condition.get("reason", ""))

    @property
    def formed(self) -> bool:
        """Whether it uses its partitions."""
        return self.state not in NOT_FORMED

    def after(self, answer: tuple[str, str] | None) -> Slice:
        """The Slice with its next state and message."""
        return self if answer is None else replace(self, condition={"reason": answer[0], "message": answer[1]})

    def hosts(self, hosts: Iterable[Host]) -> list[Host]:
        """Its hosts: those of its partitions."""
        label = partition_label(level(self.topology))
        return [host for host in hosts if host.labels.get(label) in self.ids]


def level(topology: str) -> str:
    """The topology of the partitions of a slice: its own for a part of a cube, otherwise that of cubes."""
    return topology if topology in SHAPES else _CUBE


def following(found: Slice, slices: Iterable[Slice], hosts: Sequence[Host], times: Times) -> tuple[str, str] | None:
    """The next state of a Slice and its message; None while it keeps its state."""
    own = found.hosts(hosts)
    if found.deleted:
        return _ending(found, own, times)
    if found.state in NOT_FORMED:
        return _beginning(found, slices, own)
    if found.state == "ACTIVATING":
        return _forming(found, own, times)
    return _holding(found, own) if found.state in ACTIVE else None


def next_times(found: Slice, times: Times) -> Iterator[float]:
    """The seconds of the clock until each time at which the Slice, or its Workload, can change without other events."""
    ages = {"slice-activation": found.unready}
    if found.state == "DEACTIVATING":
        ages = {"slice-deformation": found.aged}
    elif found.state == "ACTIVATING":
        ages |= {"slice-formation": found.aged, "slice-formation-timeout": found.aged}
    left = (times.seconds(name) - age for name, age in ages.items() if found.state not in ACTIVE)
    yield from (seconds for seconds in left if seconds > 0)


def _beginning(found: Slice, slices: Iterable[Slice], own: Sequence[Host]) -> tuple[str, str] | None:
    if not found.state:
        return "SliceNotCreated", "The slice is not created yet"
    if found.state == "SliceCreationFailed" and found.annotations.get(RETRY) != "true":
        return None
    if obstacle := _obstacle(found, slices, own):
        return "SliceCreationFailed", obstacle
    for label in (BLOCK_LABEL, RESERVATION_LABEL):
        if len(places := {host.labels.get(label, "") for host in own}) > 1:
            return "FAILED", f"The partitions have several values of {label}: {', '.join(sorted(places))}"
    return "ACTIVATING", "The links of the slice are being formed"


def _forming(found: Slice, own: Sequence[Host], times: Times) -> tuple[str, str] | None:
    if _lost(found, own) or _bad(own) or _stuck(own):
        late = found.aged >= times.seconds("slice-formation-timeout")
        return ("FAILED", "The formation of the slice timed out") if late else None
    return _active(own) if found.aged >= times.seconds("slice-formation") else None


def _holding(found: Slice, own: Sequence[Host]) -> tuple[str, str] | None:
    lost = _lost(found, own)
    if (bad := _bad(own)) or lost:
        return "FAILED", f"Hosts of the slice are not healthy: {bad or f'{lost} do not exist'}"
    return _active(own)


def _ending(found: Slice, own: Sequence[Host], times: Times) -> tuple[str, str] | None:
    if not found.formed or found.state == "INCOMPLETE":
        return None
    if found.state != "DEACTIVATING":
        return "DEACTIVATING", "The links of the slice are being removed"
    done = not _stuck(own) and found.aged >= times.seconds("slice-deformation")
    return ("INCOMPLETE", "The links of the slice are removed") if done else None


def _lost(found: Slice, own: Sequence[Host]) -> int:
    """The number of its hosts that do not exist."""
    return chip_count(found.topology) // CHIPS - len(own)


def _bad(own: Iterable[Host]) -> str:
    return ", ".join(host.name for host in own if not host.healthy)


def _stuck(own: Iterable[Host]) -> bool:
    return any(host.links == "stuck" for host in own)


def _active(own: Iterable[Host]) -> tuple[str, str]:
    degraded = any(host.links == "degraded" for host in own)
    return "ACTIVE_DEGRADED" if degraded else "ACTIVE", "The slice is formed"


def _obstacle(found: Slice, slices: Iterable[Slice], own: Sequence[Host]) -> str:
    """Why the slice cannot be created now; empty if it can."""
    wanted, names = chip_count(found.topology) // CHIPS, {host.name for host in own}
    if len(own) < wanted:
        return f"{len(own)} of the {wanted} nodes of the partitions exist"
    if bad := _bad(own):
        return f"Nodes of the partitions are not healthy: {bad}"
    for other in slices:
        if other.name != found.name and other.formed and names & {host.name for host in other.hosts(own)}:
            return f"Partitions are used by the Slice {other.name}"
    return ""


def states(hosts: Iterable[Host]) -> dict[tuple[str, str], str]:
    """The state of each partition by its label and ID."""
    parts: dict[tuple[str, str], list[Host]] = {}
    for host in hosts:
        for label in map(partition_label, SHAPES):
            if label in host.labels:
                parts.setdefault((label, host.labels[label]), []).append(host)
    sizes = {partition_label(shape): chip_count(shape) // CHIPS for shape in SHAPES}
    return {key: _state(key[0], members, sizes[key[0]]) for key, members in parts.items()}


def _state(label: str, members: Sequence[Host], size: int) -> str:
    if len(members) < size:
        return "INCOMPLETE"
    if not all(host.healthy for host in members):
        return "UNHEALTHY"
    # Only cubes have this state.
    degraded = label == partition_label(_CUBE) and any(host.links == "degraded" for host in members)
    return "DEGRADED" if degraded else "HEALTHY"


def labels(hosts: Sequence[Host], slices: Iterable[Slice]) -> dict[str, dict[str, str | None]]:
    """The labels of each host by its name: the states of its partitions, and the slice that it is in while that is
    active; None for a label that it must not have."""
    known, result = states(hosts), {}
    inside: dict[str, Slice] = {}
    for found in slices:
        if found.state in ACTIVE and not found.deleted:
            inside |= {host.name: found for host in found.hosts(hosts)}
    for host in hosts:
        own = inside.get(host.name)
        parts = {shape: (partition_label(shape), host.labels.get(partition_label(shape), "")) for shape in SHAPES}
        result[host.name] = {
            TOPOLOGY_LABEL: own.topology if own else None,
            DYNAMIC_SLICE_LABEL: own.name if own else None,
            **{partition_state_label(shape): known.get(part) for shape, part in parts.items()},
        }
    return result
