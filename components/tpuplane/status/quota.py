"""The quota that a queue of Kueue can get: its own, and what other queues of its cohort lend. Pure.

Source: https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/#cohort
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tpuplane.status.kueue_objects import ClusterQueue, Flavor, FlavorQuotas, Resource
from tpuplane.status.objects import Taint

_NONE = Resource()
_UNLIMITED = 10**18


@dataclass(frozen=True)
class Quota:
    """The quota of a queue for one resource of one flavor, in thousandths."""

    nominal: int
    borrowing: int | None
    """How much the queue may borrow; None: unlimited."""
    lent: int
    """How much other queues lend, without their limits on lending: `kept` more."""
    kept: int
    used: int
    """By the queue."""
    taken: int
    """Of the lent quota, by other queues."""

    @property
    def most(self) -> int:
        """The largest request that the queue can ever admit."""
        return self.nominal + min(_UNLIMITED if self.borrowing is None else self.borrowing, self.lent)

    @property
    def unused(self) -> int:
        """The largest request that the queue can admit now."""
        own = self.nominal + (_UNLIMITED if self.borrowing is None else self.borrowing) - self.used
        return min(own, self.nominal + self.lent - self.used - self.taken)


@dataclass(frozen=True)
class Offer:
    """A flavor of a queue."""

    name: str
    labels: Mapping[str, str]
    tolerations: Sequence[Taint]
    placed: bool
    """Whether Kueue assigns existing hosts."""
    quotas: Mapping[str, Quota]


def offers(
    queue: ClusterQueue, queues: Iterable[ClusterQueue], cohorts: Iterable[ClusterQueue], flavors: Iterable[Flavor]
) -> list[list[Offer]]:
    """The flavors of a queue by resource group, in the order in which Kueue tries them."""
    above = {it.name: it.cohort for it in cohorts}
    of_cohort = _root(queue.cohort, above)
    near = [it for it in queues if it.name != queue.name and of_cohort and _root(it.cohort, above) == of_cohort]
    shared = [it for it in cohorts if of_cohort and _root(it.name, above) == of_cohort]
    known = {it.name: it for it in flavors}

    def quota(flavor: str, own: Resource) -> Quota:
        lent = kept = taken = 0
        for it in (*near, *shared):
            has = _resource([of for of in it.flavors if of.name == flavor], own.name)
            lends = has.nominal_quota if has.lending_limit is None else min(has.nominal_quota, has.lending_limit)
            lent, kept = lent + lends, kept + has.nominal_quota - lends
            used = _resource([use for use in it.reserved if use.name == flavor], own.name).total
            taken += max(0, used - (has.nominal_quota - lends))
        used = _resource([use for use in queue.reserved if use.name == flavor], own.name).total
        return Quota(own.nominal_quota, own.borrowing_limit if of_cohort else 0, lent, kept, used, taken)

    return [
        [
            Offer(
                known[it.name].name,
                known[it.name].node_labels,
                known[it.name].tolerations,
                bool(known[it.name].topology),
                {own.name: quota(it.name, own) for own in it.resources},
            )
            for it in group.flavors
            if it.name in known
        ]
        for group in queue.groups
    ]


def _root(cohort: str, above: Mapping[str, str]) -> str:
    passed: set[str] = set()
    while above.get(cohort) and cohort not in passed:
        passed.add(cohort)
        cohort = above[cohort]
    return cohort


def _resource(flavors: Iterable[FlavorQuotas], name: str) -> Resource:
    return next((it for flavor in flavors for it in flavor.resources if it.name == name), _NONE)
