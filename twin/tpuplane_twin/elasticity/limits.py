"""The limits of node auto-provisioning for the whole cluster. Pure."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from tpuplane_twin.elasticity.groups import Costs, Group
from tpuplane_twin.gcp.views import ClusterView


@dataclass(frozen=True, slots=True)
class Limits:
    """Remaining amounts by resource: cpu, memory in GB, chips by accelerator label.

    GKE counts the nodes of all pools. Resources without limit are not counted.
    """

    left: Mapping[str, int]
    tpu_types: frozenset[str] = frozenset()
    """The TPU types with a limit."""

    @classmethod
    def of(cls, cluster: Mapping[str, Any], used: Iterable[tuple[Costs, int]]) -> Self:
        """The remaining amounts of a cluster; `used` has a node's costs and the number of nodes of each pool."""
        view = ClusterView(cluster)
        if not view.auto_provisioning:
            return cls({})
        most = {limit["resourceType"]: int(limit["maximum"]) for limit in view.resource_limits}
        taken: Counter[str] = Counter()
        for costs, nodes in used:
            for resource, amount in costs.items():
                taken[resource] += nodes * amount
        return cls(
            {resource: amount - taken[resource] for resource, amount in most.items()},
            frozenset(most) - {"cpu", "memory"},
        )

    def nodes(self, costs: Costs) -> int | None:
        """How many such nodes can still be created; None: unlimited."""
        rooms = [max(0, self.left[kind]) // amount for kind, amount in costs.items() if kind in self.left and amount]
        return min(rooms, default=None)

    def exceeded(self, costs: Costs, nodes: int) -> list[str]:
        """The resources whose limits are too low for this number of nodes."""
        return sorted(kind for kind, amount in costs.items() if amount * nodes > self.left.get(kind, math.inf))

    def without(self, costs: Costs, nodes: int) -> Self:
        """The limits after the creation of nodes."""
        left = {kind: amount - nodes * costs.get(kind, 0) for kind, amount in self.left.items()}
        return replace(self, left=left)

    def cap(self, group: Group) -> Group:
        """The group with the room that the limits leave."""
        return group.capped(self.nodes(group.costs))
