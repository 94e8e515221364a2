"""Node pools as the autoscaler sees them: limits, nodes, and templates of new nodes. Pure."""

import ipaddress
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from tpuplane.labels import ACCELERATOR_LABEL, COUNT_LABEL, GPU_LABEL, HOSTNAME, TOPOLOGY_LABEL

from tpuplane_twin.clock.times import constant
from tpuplane_twin.cluster.nodes import Place, Pool
from tpuplane_twin.elasticity.objects import Node
from tpuplane_twin.elasticity.offers import CAPACITY_WAIT, CLASS, RECYCLE_LEAD, Offer, signature_of
from tpuplane_twin.gcp.backend import Numbers, node_numbers, sized
from tpuplane_twin.gcp.container.names import GROUPS, group_names, group_urls
from tpuplane_twin.gcp.views import ClusterView

_GIB = 1024**3

Costs = Mapping[str, int]
"""A node's share of the cluster's limits: cpu, memory in GB, chips by accelerator label."""
# Templates need no valid addresses.
_NO_NETWORK = ipaddress.IPv4Network("127.0.0.0/24")


@dataclass(frozen=True)
class Group:
    """One autoscaled node pool.

    `hosts` is more than 1 if the pool is one slice, whose hosts are created and deleted together. Limits are in nodes:
    `totals` over all zones, the others per zone. One of the two applies, as in the API.
    """

    key: str
    name: str
    pool: Pool
    numbers: Numbers
    minimum: int
    maximum: int
    totals: tuple[int, int] | None
    hosts: int
    templates: Mapping[str, Node]
    links: Mapping[str, str]
    costs: Costs
    signature: str
    """Equal for pools with the same capacity."""
    offer: Offer | None = None
    """The description of a pool that does not exist yet."""
    headroom: int | None = None
    """Nodes that the limits of the cluster still allow; None: unlimited."""
    shut: tuple[str, ...] = ()
    """Zones in back-off, which gain no nodes."""

    @classmethod
    def parse(cls, key: str, pool: dict[str, Any], cluster: dict[str, Any]) -> Self:
        """The group of a pool with autoscaling, from the API's JSON of the pool and its cluster.

        Raises `ClusterError` for an unknown machine type.
        """
        shape = Pool(pool, cluster)
        total = shape.total_min_nodes, shape.total_max_nodes
        return cls(
            key=key,
            name=shape.name,
            pool=shape,
            numbers=node_numbers(pool),
            minimum=shape.min_nodes,
            maximum=shape.max_nodes,
            totals=total if any(total) else None,
            # The API accepts no other maximum for a slice than its hosts.
            hosts=shape.max_nodes if shape.is_slice else 1,
            costs=costs(pool, cluster),
            signature=signature_of(shape, shape.topology),
            templates={
                zone: Node.parse(shape.node(Place(zone, 0), shape.new_name(zone), _NO_NETWORK)) for zone in shape.zones
            },
            links={
                zone: link.replace("instanceGroupManagers", "instanceGroups")
                for zone, link in zip(shape.zones, pool["instanceGroupUrls"], strict=True)
            },
        )

    @classmethod
    def offered(cls, offer: Offer, cluster_key: str, cluster: dict[str, Any], taken: Collection[str]) -> Self:
        """The empty group of a possible pool; `taken` are the names of other pools."""
        name = offer.name(taken)
        key = f"{cluster_key}/nodePools/{name}"
        pool = offer.body(name, ClusterView(cluster).auto_provisioning_defaults)
        pool[GROUPS] = group_names(cluster["name"], pool)
        pool["instanceGroupUrls"] = list(group_urls(key, pool).values())
        return replace(cls.parse(key, pool, cluster), offer=offer)

    @property
    def compute_class(self) -> str:
        """The compute class of its nodes, empty without one."""
        return str(self.pool.node_labels.get(CLASS, ""))

    @property
    def wait_seconds(self) -> int:
        """How long it waits for capacity before the next priority is tried, in seconds of GKE."""
        usual = constant("flex-start-wait") if self.pool.capacity == "flex-start" else 0
        # A single TPU host has no time of its own (gke_manager.go, EvaluateCapacityCheckWaitTimeSeconds).
        own = None if self.hosts == 1 and self.tpu[0] else self._seconds(CAPACITY_WAIT)
        return int(usual) if own is None else own

    @property
    def recycle_lead_seconds(self) -> int | None:
        """How long before they expire its nodes are replaced; None: never."""
        return self._seconds(RECYCLE_LEAD)

    def _seconds(self, label: str) -> int | None:
        """A label of its nodes as a number; None where it is missing or another text, as a user can write it."""
        text = self.pool.node_labels.get(label, "")
        return int(text) if text.isdecimal() else None

    @property
    def tpu(self) -> tuple[str, int, str]:
        """Accelerator label, chips per node and topology; empty and 0 without TPUs."""
        labels = next(iter(self.templates.values())).labels
        label = labels.get(ACCELERATOR_LABEL, "")
        return label, self.costs.get(label, 0), labels.get(TOPOLOGY_LABEL, "")

    @property
    def gpu(self) -> tuple[str, int]:
        """Accelerator label and GPUs per node; empty and 0 without GPUs."""
        labels = next(iter(self.templates.values())).labels
        label = labels.get(GPU_LABEL, "")
        return label, int(labels[COUNT_LABEL]) if label else 0

    def capped(self, nodes: int | None) -> Self:
        """The group with a limit for new nodes."""
        return self if nodes == self.headroom else replace(self, headroom=nodes)

    @property
    def zones(self) -> tuple[str, ...]:
        """Its zones, in the pool's order."""
        return tuple(self.numbers)

    @property
    def size(self) -> int:
        """Its nodes over all zones."""
        return sum(map(len, self.numbers.values()))

    @property
    def is_slice(self) -> bool:
        """Whether it is one multi-host slice."""
        return self.hosts > 1

    def room(self, zone: str) -> int:
        """How many nodes the zone can gain."""
        have, allowed = len(self.numbers[zone]), self.maximum if self.headroom is None else self.headroom
        if zone in self.shut:
            return 0
        if self.is_slice:
            return self.hosts if have == 0 and allowed >= self.hosts else 0
        room = self.totals[1] - self.size if self.totals else self.maximum - have
        return max(0, room if self.headroom is None else min(room, allowed))

    def spare(self, zone: str) -> int:
        """How many nodes the zone can lose."""
        have = len(self.numbers[zone])
        if self.is_slice:
            return have if self.minimum == 0 else 0
        return min(have, max(0, self.size - self.totals[0] if self.totals else have - self.minimum))

    @property
    def can_shrink(self) -> bool:
        """Whether it is above its minimum."""
        return any(self.spare(zone) for zone in self.zones)

    def grown(self, zone: str, nodes: int) -> Self:
        """The group with more nodes in a zone."""
        grown = self.with_numbers(zone, sized(self.numbers[zone], len(self.numbers[zone]) + nodes))
        return grown.capped(None if self.headroom is None else self.headroom - nodes)

    def without(self, place: str) -> Self:
        """The group without the node at a place ("zone/number")."""
        zone, _, number = place.rpartition("/")
        return self.with_numbers(zone, [kept for kept in self.numbers[zone] if kept != int(number)])

    def with_numbers(self, zone: str, numbers: list[int]) -> Self:
        """The group with these nodes in a zone."""
        return replace(self, numbers={**self.numbers, zone: numbers})

    def has(self, node: Node) -> bool:
        """Whether the node belongs to the group and is not being deleted."""
        zone, _, number = node.place.rpartition("/")
        return node.pool == self.name and number.isdecimal() and int(number) in self.numbers.get(zone, [])

    def growing_zones(self) -> list[str]:
        """The zones with room in the order of growth: by size if balanced, else as listed."""
        zones = [zone for zone in self.zones if self.room(zone)]
        balanced = self.pool.location_policy == "BALANCED"
        return sorted(zones, key=lambda zone: len(self.numbers[zone])) if balanced else zones

    def future(self, zone: str, number: int) -> Node:
        """The future node at a place."""
        template = self.templates[zone]
        name = f"{self.name}/{zone}/{number}"
        labels = {**template.labels, HOSTNAME: name, "metadata.name": name}
        return replace(template, name=name, labels=labels, place=f"{zone}/{number}")


def costs(pool: dict[str, Any], cluster: dict[str, Any]) -> Costs:
    """The costs of a node of a pool. Raises `ClusterError`."""
    machine = Pool(pool, cluster).machine
    tpu = {machine.generation.label: machine.tpu.chips} if machine.generation and machine.tpu else {}
    return {"cpu": machine.vcpus, "memory": machine.memory // _GIB, **tpu}
