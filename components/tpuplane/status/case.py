"""Whether a job can start: its pods, the hosts, and the quota of its queue. Pure."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from tpuplane.labels import CLASS_LABEL, GPU, TPU
from tpuplane.status.fitting import HOSTNAME, Block, Host, Hosts, Pods, amount
from tpuplane.status.quota import Offer

DEVICES = (TPU, GPU)
SHOWN = 3
"""Names in a message or a change."""


class Found(NamedTuple):
    """Why a job cannot start: the first reason of one of its sets of equal pods."""

    block: Block
    number: int
    """Of the set of pods."""
    group: int = 0
    """Of the resource group, and the number of the flavor in it, if the job is in a queue."""
    flavor: int | None = None


@dataclass(frozen=True)
class Case:
    """A job, and everything that decides whether it can start."""

    pods: Sequence[Pods]
    hosts: Hosts
    offers: Sequence[Sequence[Offer]] = ()
    """Flavors of the queue by resource group; empty outside of queues."""
    classes: frozenset[str] | None = frozenset()
    """Compute classes, whose hosts the cluster autoscaler can create; None if they were not read."""
    holders: Mapping[str, Collection[str]] = field(default_factory=dict)
    """The jobs on each host."""
    again: tuple[str, "Case"] | None = None
    """If Kueue pinned the pods to hosts: a change by which it chooses others, and the case after it."""
    at_maximum: bool = False
    """Whether the cluster autoscaler could add hosts only if a pool had a larger maximum."""

    def found(self) -> Found | None:
        """The most permanent reason; None if all pods fit."""
        each = [it for number, pods in enumerate(self.pods) if (it := self._of_set(number, pods))]
        first = min(each, key=lambda it: it.block.depth, default=None)
        if first and first.block.reason == "busy" and self.again and HOSTNAME in self.pods[first.number].selector:
            return first._replace(block=self._pinned([host for it in each for host in it.block.hosts]))
        return first

    def _pinned(self, hosts: Sequence[Host]) -> Block:
        """The reason of pods that Kueue pinned to hosts of other pods."""
        said = [f"{it.name} ({some(self.holders.get(it.name, ())) or 'other pods'})" for it in hosts]
        return Block("pinned", f"Kueue pinned its pods to hosts that other pods occupy: {some(said)}", hosts=hosts)

    def asked(self, pods: Pods, resource: str) -> int:
        """The requests of all pods with the node selector of these, in thousandths."""
        return sum(it.count * it.requests.get(resource, 0) for it in self.pods if it.selector == pods.selector)

    def _of_set(self, number: int, pods: Pods) -> Found | None:
        if not self.offers:
            block = self._on_hosts(pods)
            return Found(block, number) if block else None
        worst: list[Found] = []
        for group, flavors in enumerate(self.offers):
            tried = [(block, index) for index, it in enumerate(flavors) if (block := self._with(pods, it))]
            if tried and len(tried) == len(flavors):
                block, index = max(tried, key=lambda it: (it[0].depth, _has_devices(flavors[it[1]], pods)))
                worst.append(Found(block, number, group, index))
        return min(worst, key=lambda it: it.block.depth, default=None)

    def _with(self, pods: Pods, offer: Offer) -> Block | None:
        """The first reason with a flavor: of its hosts, or of its quota."""
        other = [key for key, value in offer.labels.items() if pods.selector.get(key, value) != value]
        if other:
            asked, has = (", ".join(f"{key}={of[key]}" for key in other) for of in (pods.selector, offer.labels))
            return Block("labels", f"selects {asked}, but the flavor {offer.name} has {has}", list(pods.selector))
        merged = {**pods.selector, **offer.labels}
        block = (
            self._on_hosts(replace(pods, selector=merged, tolerations=[*pods.tolerations, *offer.tolerations]))
            if offer.placed
            else None
        )
        quota = self._quota(pods, offer)
        return min((it for it in (block, quota) if it), key=lambda it: it.depth, default=None)

    def _on_hosts(self, pods: Pods) -> Block | None:
        block = self.hosts.block(pods)
        named = pods.selector.get(CLASS_LABEL)
        made = named is not None and (self.classes is None or named in self.classes)
        return None if made and block and block.reason != "size" else block

    def _quota(self, pods: Pods, offer: Offer) -> Block | None:
        """The quota of all pods that select the flavor's hosts."""
        for resource in sorted(offer.quotas.keys() & pods.requests.keys(), key=lambda it: it not in DEVICES):
            quota, asked = offer.quotas[resource], self.asked(pods, resource)
            for reason, most in (("quota", quota.most), ("used", quota.unused)):
                if asked > most:
                    has = amount(resource, max(0, most))
                    said = f"requests {amount(resource, asked)} of {offer.name}, but its queue can get {has}"
                    return Block(reason, said, resource=resource, most=most)
        return None


def some(names: Iterable[str]) -> str:
    """The first names, and how many more there are."""
    every = sorted(names)
    return ", ".join(every[:SHOWN]) + (f" and {len(every) - SHOWN} more" if len(every) > SHOWN else "")


def _has_devices(offer: Offer, pods: Pods) -> bool:
    """Whether a queue can get the chips or GPUs of a flavor that the pods request."""
    return all(offer.quotas[it].most > 0 for it in DEVICES if it in pods.requests and it in offer.quotas)
