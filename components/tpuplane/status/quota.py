"""The quota that a queue of Kueue can get: its own, and the quota that other queues of its cohort lend. Pure.

Source: https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/#cohort
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tpuplane.status.kueue_objects import ClusterQueue, Flavor, FlavorQuotas, Resource, Workload
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
    """How much other queues lend."""
    kept: int
    """How much more they would lend without lending limits."""
    used: int
    """How much jobs of the queue use."""
    taken: int
    """How much of the lent quota other queues use."""
    held: int = 0
    """How much of `used` the job itself has, by its other workloads."""

    @property
    def most(self) -> int:
        """The largest request that the queue can ever admit."""
        return self.nominal + min(_UNLIMITED if self.borrowing is None else self.borrowing, self.lent)

    @property
    def further(self) -> int:
        """The largest request that the queue can ever admit while the job keeps what it has."""
        return self.most - self.held

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
    queue: ClusterQueue,
    queues: Iterable[ClusterQueue],
    cohorts: Iterable[ClusterQueue],
    flavors: Iterable[Flavor],
    of_job: Sequence[Workload] = (),
) -> list[list[Offer]]:
    """The flavors of a queue by resource group, in the order in which Kueue tries them.

    `of_job` are the other workloads of the job with quota of this queue.
    """
    above = {cohort.name: cohort.cohort for cohort in cohorts}
    of_cohort = _root(queue.cohort, above)
    near = [peer for peer in queues if peer.name != queue.name and of_cohort and _root(peer.cohort, above) == of_cohort]
    shared = [cohort for cohort in cohorts if of_cohort and _root(cohort.name, above) == of_cohort]
    known = {flavor.name: flavor for flavor in flavors}

    def quota(flavor: str, own: Resource) -> Quota:
        lent = kept = taken = 0
        for lender in (*near, *shared):
            has = _resource(lender.flavors, flavor, own.name)
            lends = has.nominal_quota if has.lending_limit is None else min(has.nominal_quota, has.lending_limit)
            lent, kept = lent + lends, kept + has.nominal_quota - lends
            used = _resource(lender.reserved, flavor, own.name).total
            taken += max(0, used - (has.nominal_quota - lends))
        used = _resource(queue.reserved, flavor, own.name).total
        held = sum(workload.holds(flavor, own.name) for workload in of_job)
        return Quota(own.nominal_quota, own.borrowing_limit if of_cohort else 0, lent, kept, used, taken, held)

    return [
        [
            Offer(
                hosts.name,
                hosts.node_labels,
                hosts.tolerations,
                bool(hosts.topology),
                {own.name: quota(hosts.name, own) for own in flavor.resources},
            )
            for flavor in group.flavors
            if (hosts := known.get(flavor.name))
        ]
        for group in queue.groups
    ]


def _root(cohort: str, above: Mapping[str, str]) -> str:
    passed: set[str] = set()
    while above.get(cohort) and cohort not in passed:
        passed.add(cohort)
        cohort = above[cohort]
    return cohort


def _resource(flavors: Iterable[FlavorQuotas], flavor: str, name: str) -> Resource:
    own = (resource for quotas in flavors if quotas.name == flavor for resource in quotas.resources)
    return next((resource for resource in own if resource.name == name), _NONE)
