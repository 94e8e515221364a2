"""Node pools as the autoscaler sees them: limits, present nodes, and what another node would be like. Pure."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tpuplane_twin.cluster.nodes import Place, Pool
from tpuplane_twin.elasticity.objects import Node
from tpuplane_twin.elasticity.offers import CAPACITY_WAIT, CLASS, RECYCLE_LEAD, Offer, signature_of
from tpuplane_twin.gcp.backend import Numbers, node_numbers, sized
from tpuplane_twin.gcp.container.names import GROUPS, group_names, group_urls
from tpuplane_twin.gcp.views import ClusterView

_HOSTNAME = "kubernetes.io/hostname"
_GIB = 1024**3

Costs = Mapping[str, int]
"""What a node counts for against the limits of the cluster: cpu, memory in GB, chips by accelerator label."""
# What a template says of addresses is looked at by nobody.
_NO_NETWORK = ipaddress.IPv4Network("127.0.0.0/24")


@dataclass(frozen=True)
class Group:
    """One autoscaled node pool.

    `hosts` is more than 1 where the pool is one slice, which comes and goes whole. Limits are in nodes, those of
    `totals` over all zones, the others per zone; exactly one pair counts, as in the API.
    """

    key: str
    name: str
    numbers: Numbers
    minimum: int
    maximum: int
    totals: tuple[int, int] | None
    hosts: int
    balanced: bool
    spot: bool
    queued: bool
    templates: Mapping[str, Node]
    links: Mapping[str, str]
    costs: Costs
    machine: str
    capacity: str
    reservation: str
    signature: str
    """The same for pools that are had or not had together."""
    labels: Mapping[str, str]
    """The labels that the pool itself gives its nodes."""
    autoprovisioned: bool = False
    """Whether the cluster autoscaler made it, and deletes it when it is empty."""
    max_run_seconds: int | None = None
    offer: Offer | None = None
    """What it would be, where it is not there yet."""
    headroom: int | None = None
    """Nodes that the limits of the cluster still allow; None: any number."""

    @classmethod
    def parse(cls, key: str, pool: dict[str, Any], cluster: dict[str, Any]) -> Group:
        """The group of a pool with autoscaling, from the API's JSON of the pool and its cluster.

        Raises `UnknownMachine` for a machine type of which nothing is known.
        """
        shape, limits = Pool(pool, cluster), pool["autoscaling"]
        zones = shape.zones
        low, high = shape.limit("minNodeCount"), shape.limit("maxNodeCount")
        total = shape.limit("totalMinNodeCount"), shape.limit("totalMaxNodeCount")
        return cls(
            key=key,
            name=shape.name,
            numbers=node_numbers(pool),
            minimum=low,
            maximum=high,
            totals=total if any(total) else None,
            # The API lets a slice be autoscaled to nothing else than its hosts.
            hosts=high if shape.is_slice else 1,
            balanced=limits.get("locationPolicy") == "BALANCED",
            spot=shape.capacity == "spot",
            costs=costs(pool, cluster),
            machine=shape.machine.name,
            capacity=shape.capacity,
            reservation=next(iter(shape.reservation_names), ""),
            signature=signature_of(shape, shape.topology),
            labels=shape.node_labels,
            autoprovisioned=bool(limits.get("autoprovisioned")),
            max_run_seconds=shape.max_run_seconds,
            queued=shape.queued,
            templates={
                zone: Node.parse(shape.node(Place(zone, 0), shape.new_name(zone), _NO_NETWORK)) for zone in zones
            },
            links={
                zone: link.replace("instanceGroupManagers", "instanceGroups")
                for zone, link in zip(zones, pool["instanceGroupUrls"], strict=True)
            },
        )

    @classmethod
    def offered(cls, offer: Offer, cluster_key: str, cluster: dict[str, Any], taken: Collection[str]) -> Group:
        """The group of a pool that could be made, empty; `taken` are names that it cannot have."""
        name = offer.name(taken)
        key = f"{cluster_key}/nodePools/{name}"
        pool = offer.body(name, ClusterView(cluster).auto_provisioning_defaults)
        pool[GROUPS] = group_names(cluster["name"], pool)
        pool["instanceGroupUrls"] = list(group_urls(key, pool).values())
        return replace(cls.parse(key, pool, cluster), offer=offer)

    @property
    def compute_class(self) -> str:
        """The compute class that its nodes are for, empty where there is none."""
        return self.labels.get(CLASS, "")

    @property
    def wait_seconds(self) -> int:
        """For how long capacity is waited for before the next priority's turn."""
        return int(self.labels.get(CAPACITY_WAIT, 0))

    @property
    def recycle_lead_seconds(self) -> int | None:
        """How long before their end its nodes are replaced; None: not at all."""
        lead = self.labels.get(RECYCLE_LEAD)
        return None if lead is None else int(lead)

    @property
    def tpu(self) -> tuple[str, int, str]:
        """Accelerator label, chips per node and topology; empty and 0 without TPUs."""
        labels = next(iter(self.templates.values())).labels
        label = labels.get("cloud.google.com/gke-tpu-accelerator", "")
        return label, self.costs.get(label, 0), labels.get("cloud.google.com/gke-tpu-topology", "")

    @property
    def gpu(self) -> tuple[str, int]:
        """Accelerator label and GPUs per node; empty and 0 without GPUs."""
        labels = next(iter(self.templates.values())).labels
        label = labels.get("cloud.google.com/gke-accelerator", "")
        return label, int(labels["cloud.google.com/gke-accelerator-count"]) if label else 0

    def capped(self, nodes: int | None) -> Group:
        """With no more room than that."""
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
        """Whether it comes and goes as a whole."""
        return self.hosts > 1

    def room(self, zone: str) -> int:
        """How many nodes may come in that zone."""
        have, allowed = len(self.numbers[zone]), self.maximum if self.headroom is None else self.headroom
        if self.is_slice:
            return self.hosts if have == 0 and allowed >= self.hosts else 0
        room = self.totals[1] - self.size if self.totals else self.maximum - have
        return max(0, room if self.headroom is None else min(room, allowed))

    def spare(self, zone: str) -> int:
        """How many nodes may go from that zone."""
        have = len(self.numbers[zone])
        if self.is_slice:
            return have if self.minimum == 0 else 0
        return min(have, max(0, self.size - self.totals[0] if self.totals else have - self.minimum))

    @property
    def can_shrink(self) -> bool:
        """Whether any node may go."""
        return any(self.spare(zone) for zone in self.zones)

    def grown(self, zone: str, nodes: int) -> Group:
        """With so many more nodes in that zone."""
        grown = self.with_numbers(zone, sized(self.numbers[zone], len(self.numbers[zone]) + nodes))
        return grown.capped(None if self.headroom is None else self.headroom - nodes)

    def without(self, place: str) -> Group:
        """Without the node at that place ("zone/number")."""
        zone, _, number = place.rpartition("/")
        return self.with_numbers(zone, [it for it in self.numbers[zone] if it != int(number)])

    def with_numbers(self, zone: str, numbers: list[int]) -> Group:
        """With these nodes in that zone."""
        return replace(self, numbers={**self.numbers, zone: numbers})

    def has(self, node: Node) -> bool:
        """Whether that is one of its nodes, and not one that is going."""
        zone, _, number = node.place.rpartition("/")
        return node.pool == self.name and number.isdigit() and int(number) in self.numbers.get(zone, [])

    def growing_zones(self) -> list[str]:
        """The zones with room, the next one to grow first: by size if balanced, else as listed."""
        zones = [zone for zone in self.zones if self.room(zone)]
        return sorted(zones, key=lambda zone: len(self.numbers[zone])) if self.balanced else zones

    def future(self, zone: str, number: int) -> Node:
        """The node that would be, or is about to be, at that place."""
        template = self.templates[zone]
        name = f"{self.name}/{zone}/{number}"
        labels = {**template.labels, _HOSTNAME: name, "metadata.name": name}
        return replace(template, name=name, labels=labels, place=f"{zone}/{number}")


def costs(pool: dict[str, Any], cluster: dict[str, Any]) -> Costs:
    """What a node of a pool counts for against the limits. Raises `UnknownMachine`."""
    machine = Pool(pool, cluster).machine
    tpu = {machine.tpu.label: machine.tpu.chips} if machine.tpu is not None else {}
    return {"cpu": machine.vcpus, "memory": machine.memory // _GIB, **tpu}
