"""The limits of node auto-provisioning: what the whole cluster may have. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tpuplane_twin.elasticity.groups import Costs, Group
from tpuplane_twin.gcp.views import ClusterView


@dataclass(frozen=True, slots=True)
class Limits:
    """Amounts that are left, by resource as the limits name them: cpu, memory in GB, chips by accelerator label.

    GKE counts every node of the cluster, of whatever pool. What has no limit is not counted.
    """

    left: Mapping[str, int]
    tpu_types: frozenset[str] = frozenset()
    """The TPU types with a limit."""

    @classmethod
    def of(cls, cluster: Mapping[str, Any], used: Iterable[tuple[Costs, int]]) -> Limits:
        """What is left in a cluster with `used`: what a node of each pool counts for, and how many it has."""
        view = ClusterView(cluster)
        if not view.auto_provisioning:
            return cls({})
        most = {it["resourceType"]: int(it["maximum"]) for it in view.resource_limits}
        taken: Counter[str] = Counter()
        for costs, nodes in used:
            for resource, amount in costs.items():
                taken[resource] += nodes * amount
        return cls(
            {resource: amount - taken[resource] for resource, amount in most.items()},
            frozenset(most) - {"cpu", "memory"},
        )

    def nodes(self, costs: Costs) -> int | None:
        """How many such nodes may still come; None where no limit says."""
        rooms = [max(0, self.left[it]) // amount for it, amount in costs.items() if it in self.left and amount]
        return min(rooms, default=None)

    def exceeded(self, costs: Costs, nodes: int) -> list[str]:
        """The resources of which there is too little left for so many nodes."""
        return sorted(it for it, amount in costs.items() if it in self.left and amount * nodes > self.left[it])

    def without(self, costs: Costs, nodes: int) -> Limits:
        """What is left when so many nodes have come."""
        left = {it: amount - nodes * costs.get(it, 0) for it, amount in self.left.items()}
        return Limits(left, self.tpu_types)

    def cap(self, group: Group) -> Group:
        """The group with no more room than the limits leave."""
        return group.capped(self.nodes(group.costs))
