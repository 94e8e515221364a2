"""The pools that can grow for pending pods: existing and possible new ones. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tpuplane_twin.elasticity.demand import Provisioning, asked, demand
from tpuplane_twin.elasticity.failures import scopes
from tpuplane_twin.elasticity.groups import Group
from tpuplane_twin.elasticity.objects import Pod
from tpuplane_twin.elasticity.offers import CLASS, Offer

BACKOFF = "in backoff after failed scale-up"


class Pools:
    """The pools during the planning, with planned growth, remaining limits and possible new pools."""

    def __init__(
        self,
        groups: Sequence[Group],
        waiting: Sequence[Sequence[Pod]],
        backoff: frozenset[str],
        where: Provisioning,
        awaited: frozenset[str],
        below: int | None,
    ) -> None:
        self._below = below
        self._where = where
        self._limits = where.limits
        self._backoff = backoff
        offers, self._reasons = demand([pod for gang in waiting for pod in gang], where)
        self._groups = {group.key: self._usable(group) for group in sorted(groups, key=lambda group: group.key)}
        self.before = {group.key: group for group in groups}
        self._fresh: dict[str, Group] = {}
        for offer in offers:
            self._offer(offer)
        self._awaited = awaited
        self._held: dict[str, int] = {}
        for group in (*self._groups.values(), *self._fresh.values()):
            if group.signature in awaited and group.compute_class:
                held = self._held.get(group.compute_class, where.rank(group))
                self._held[group.compute_class] = min(held, where.rank(group))

    @property
    def existing(self) -> list[Group]:
        """The existing pools, and those that the plan creates, with planned growth."""
        return list(self._groups.values())

    def candidates(self) -> Iterator[Group]:
        """The pools that may grow now."""
        for group in (*self._groups.values(), *self._fresh.values()):
            held = self._held.get(group.compute_class)
            rank = self._where.rank(group)
            late = (held is not None and rank > held) or (self._below is not None and rank >= self._below)
            if not late and not group.pool.queued and not self.blocked(group) and self._where.wanted(group):
                yield group

    def order(self, group: Group) -> tuple[int, bool]:
        """The sort key before the score: higher priorities first, then existing pools."""
        return self._where.rank(group), group.offer is not None

    def get(self, key: str) -> Group:
        """The pool with its planned growth."""
        found = self._groups.get(key)
        return found if found is not None else next(group for group in self._fresh.values() if group.key == key)

    def put(self, group: Group) -> None:
        """Record the growth of a pool, which lowers the limits of all pools."""
        before = self.get(group.key)
        self._limits = self._limits.without(group.costs, group.size - before.size)
        self._groups[group.key] = group
        self._groups = {key: self._limits.cap(group) for key, group in self._groups.items()}
        fresh, self._fresh = self._fresh, {}
        for offer in (group.offer for group in fresh.values()):
            if offer is not None:
                self._offer(offer)

    def blocked(self, group: Group) -> bool:
        """Whether the pool is in back-off in all of its zones."""
        return group.shut == group.zones

    def awaits(self, pod: Pod) -> bool:
        """Whether the pod waits for the capacity of a pool, which it has asked for."""
        return any(
            group.signature in self._awaited and pod.wants(node) and pod.repelled_by(node) is None
            for group in (*self._groups.values(), *self._fresh.values())
            for node in group.templates.values()
        )

    def limit_reached(self, group: Group) -> str:
        """The cluster autoscaler's message for an exhausted limit."""
        names = self._limits.exceeded(group.costs, group.hosts)
        return f"max cluster {', '.join(names)} limit reached"

    def why_nothing_is_made(self, pod: Pod) -> str:
        """Why no pool is created for the pod; empty if it requests none."""
        if pod.key in self._reasons:
            return self._reasons[pod.key]
        name = asked(pod, CLASS) or ""
        mine = [
            group
            for group in self._fresh.values()
            if group.compute_class == name
            if any(pod.wants(node) and pod.repelled_by(node) is None for node in group.templates.values())
        ]
        if not mine:
            return ""
        if all(map(self.blocked, mine)):
            return BACKOFF
        full = [group for group in mine if not group.growing_zones()]
        return self.limit_reached(full[0]) if full else "not all pods that must share one node pool fit"

    def _offer(self, offer: Offer) -> None:
        taken = {*self._where.names, *(group.name for group in self._groups.values())}
        made = Group.offered(offer, self._where.key, dict(self._where.cluster), taken)
        self.before.setdefault(made.key, made)
        self._fresh[offer.signature] = self._usable(made)

    def _usable(self, group: Group) -> Group:
        """The pool with the room that limits and back-offs leave."""
        rule = self._where.rule(group)
        shut = tuple(zone for zone in group.zones if not self._backoff.isdisjoint(scopes(group, zone, rule)))
        return self._limits.cap(replace(group, shut=shut))
