"""Decides whether a job can start, by its pods, the hosts and the quota of its queue. Pure."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from tpuplane.labels import (
    ACCELERATOR_LABEL,
    CLASS_LABEL,
    GKE_POOL_LABEL,
    GPU,
    GPU_LABEL,
    HOSTNAME,
    MACHINE_LABEL,
    POOL_LABEL,
    TPU,
    UNITS,
    plural,
)
from tpuplane.quantities import singular, whole_or_part
from tpuplane.status.fitting import PERMANENT, Block, Host, Hosts, Pods, amount, too_large
from tpuplane.status.objects import Expression
from tpuplane.status.pools import slice_of
from tpuplane.status.quota import Offer, Quota
from tpuplane.status.reasons import of_any_flavor, untried_text

DEVICES = (TPU, GPU)
_LABELS = {TPU: ACCELERATOR_LABEL, GPU: GPU_LABEL}
SHOWN = 3
"""Names in a message or a change."""


class Obstacle(NamedTuple):
    """Why a job cannot start: the first reason that stops one of its pod sets."""

    block: Block
    number: int
    """The index of the pod set."""
    group: int = 0
    """The index of the resource group of the queue."""
    flavor: int | None = None
    """The index of the flavor in its group; None outside of queues."""


@dataclass(frozen=True)
class Case:
    """A job, with everything that decides whether it can start."""

    pods: Sequence[Pods]
    hosts: Hosts
    offers: Sequence[Sequence[Offer]] = ()
    """Flavors of the queue by resource group; empty outside of queues."""
    classes: frozenset[str] | None = frozenset()
    """Compute classes, whose hosts the cluster autoscaler can create; None if they were not read."""
    holders: Mapping[str, Collection[str]] = field(default_factory=dict)
    """The other jobs on each host."""
    again: tuple[str, "Case"] | None = None
    """If Kueue pinned the pods to hosts: a change by which it chooses others, and the case after it."""
    at_maximum: bool = False
    """Whether the cluster autoscaler could add hosts only if a pool had a larger maximum."""

    def with_pods(self, pods: Pods, **change: Any) -> "Case":
        """The case after a change of one of its pod sets."""
        return replace(self, pods=[replace(pods, **change) if own is pods else own for own in self.pods])

    def with_quotas(self, offer: Offer, change: Callable[[str, Quota], Quota]) -> "Case":
        """The case after a change of each quota of a flavor: in a platform, they are those of a number of slices."""
        changed = replace(offer, quotas={name: change(name, own) for name, own in offer.quotas.items()})
        return replace(self, offers=[[changed if own is offer else own for own in group] for group in self.offers])

    def obstacle(self) -> Obstacle | None:
        """The obstacle that lasts longest; None if all pods fit."""
        obstacles = [obstacle for number, pods in enumerate(self.pods) if (obstacle := self._of_set(number, pods))]
        first = min(obstacles, key=lambda obstacle: obstacle.block.depth, default=None)
        if first and first.block.reason == "busy" and self.again and HOSTNAME in self.pods[first.number].selector:
            return first._replace(block=self._pinned([host for each in obstacles for host in each.block.hosts]))
        return first

    def in_flavor(self, why: str, first: Obstacle) -> str:
        """Kueue's reason, with what the flavor of the obstacle lacks: Kueue can name another flavor or resource.

        It names chips or GPUs if the flavor lacks these too, and hosts if these are only not free.
        """
        if first.flavor is None:
            return why
        name = self.offers[first.group][first.flavor].name
        if first.block.reason not in PERMANENT and of_any_flavor(why):
            return untried_text([name])
        if first.block.resource not in DEVICES:
            return why
        flavor, unit = re.escape(name), UNITS[first.block.resource]
        limit = r"(?:, but its queue can get at most \S+, including borrowed \S+)?"
        wants = r"(?:needs \S+ more free|requests \S+)"
        if re.search(rf"{wants} {unit}s? of {flavor}(?![\w.-])", why):
            return why
        return re.sub(rf"{wants} \S+ of {flavor}(?![\w.-]){limit}", lambda _: first.block.message, why)

    def _pinned(self, hosts: Sequence[Host]) -> Block:
        """The reason of pods that Kueue pinned to hosts of other pods."""
        taken = [f"{host.name} ({some(self.holders.get(host.name, ())) or 'other pods'})" for host in hosts]
        return Block("pinned", f"Kueue pinned its pods to hosts that other pods occupy: {some(taken)}", hosts=hosts)

    def asked(self, pods: Pods, resource: str) -> int:
        """The requests for a resource, in thousandths, of all pods with the same node selector as `pods`."""
        return self._requests.get(frozenset(pods.selector.items()), Counter())[resource]

    @cached_property
    def _requests(self) -> Mapping[frozenset[tuple[str, str]], Counter[str]]:
        """The requests of all pods by their node selector."""
        requests: dict[frozenset[tuple[str, str]], Counter[str]] = defaultdict(Counter)
        for pod_set in self.pods:
            for resource, asked in pod_set.requests.items():
                requests[frozenset(pod_set.selector.items())][resource] += pod_set.count * asked
        return requests

    def _of_set(self, number: int, pods: Pods) -> Obstacle | None:
        if not self.offers:
            block = self._on_hosts(pods)
            return Obstacle(block, number) if block else None
        worst: list[Obstacle] = []
        for group, flavors in enumerate(self.offers):
            blocks = [block for offer in flavors if (block := self._with(pods, offer))]
            if blocks and len(blocks) == len(flavors):
                usable = ((_has_devices(offer, pods), _match(offer, pods)) for offer in flavors)
                ranks = [(block.depth, *use, block.rank) for block, use in zip(blocks, usable, strict=True)]
                index = ranks.index(max(ranks))
                worst.append(Obstacle(blocks[index], number, group, index))
        return min(worst, key=lambda obstacle: obstacle.block.depth, default=None)

    def _with(self, pods: Pods, offer: Offer) -> Block | None:
        """The first reason with a flavor: of its hosts, or of its quota."""
        if wrong := contradiction(pods, offer) or self._without_devices(pods, offer) or self._elsewhere(pods, offer):
            return wrong
        blocks = [self._quota(pods, offer)]
        if offer.placed:
            selector, tolerations = {**pods.selector, **offer.labels}, [*pods.tolerations, *offer.tolerations]
            blocks.append(self._on_hosts(replace(pods, selector=selector, tolerations=tolerations)))
        else:
            blocks.append(self._too_small(pods, offer))
        return min(filter(None, blocks), key=lambda block: block.depth, default=None)

    def _without_devices(self, pods: Pods, offer: Offer) -> Block | None:
        """Chips or GPUs that the hosts of a flavor do not have, by its labels and its existing hosts."""
        for device in (device for device in DEVICES if pods.requests.get(device) and device in offer.quotas):
            if _LABELS[device] not in offer.labels:
                none = (hosts := self.hosts_of(offer)) and not any(host.capacity.get(device) for host in hosts)
                if none or offer.quotas[device].most <= 0:
                    message = f"requests {plural(device)}, and the flavor {offer.name} has none"
                    return Block("labels", message, list(pods.selector))
        return None

    def _too_small(self, pods: Pods, offer: Offer) -> Block | None:
        """The request that no host of a flavor of one machine type meets. New hosts are as large as existing ones.

        A host has no chips or GPUs until its device plugin runs.
        """
        if not offer.labels.keys() & {MACHINE_LABEL, POOL_LABEL}:
            return None
        devices = [device for device in DEVICES if pods.requests.get(device)]
        hosts = [host for host in self.hosts_of(offer) if all(host.capacity.get(device) for device in devices)]
        if not hosts and (shape := slice_of(offer.labels)):
            known = {**pods.requests, TPU: 1000 * shape.machine.chips}
            hosts = [Host("", offer.labels, (), known, known)]
        return too_large(pods, hosts) if hosts and not any(pods.number(host.capacity) for host in hosts) else None

    def hosts_of(self, offer: Offer) -> list[Host]:
        """The existing hosts of a flavor."""
        return [host for host in self.hosts.all if offer.labels.items() <= host.labels.items()]

    def _elsewhere(self, pods: Pods, offer: Offer) -> Block | None:
        """A selected pool whose hosts are not of a flavor with new hosts. New hosts of the pool are not either."""
        for key in (key for key in (POOL_LABEL, GKE_POOL_LABEL) if key in pods.selector and not offer.placed):
            labels = [host.labels for host in self.hosts.all if host.labels.get(key) == pods.selector[key]]
            if labels and not any(offer.labels.items() <= own.items() for own in labels):
                message = f"selects {key}={pods.selector[key]}, whose hosts are not of the flavor {offer.name}"
                return Block("labels", message, list(pods.selector))
        return None

    def _on_hosts(self, pods: Pods) -> Block | None:
        block = self.hosts.block(pods)
        name = pods.selector.get(CLASS_LABEL)
        created = name is not None and (self.classes is None or name in self.classes)
        return None if created and block and block.reason != "size" else block

    def _quota(self, pods: Pods, offer: Offer) -> Block | None:
        """The quota of all pods that select the flavor's hosts."""
        shared = offer.quotas.keys() & pods.requests.keys()
        resources = sorted(shared, key=lambda resource: (resource not in DEVICES, resource))
        for reason in ("quota", "used"):
            for resource in resources:
                quota, asked = offer.quotas[resource], self.asked(pods, resource)
                most = quota.further if reason == "quota" else quota.unused
                if asked > most:
                    has, more = amount(resource, max(0, quota.most)), whole_or_part(asked - most)
                    message = (
                        f"requests {amount(resource, asked + quota.held)} of {offer.name}, but its queue can get {has}"
                    )
                    if reason == "used":  # as in the plain words for Kueue's message
                        message = singular(f"needs {more} more free {plural(resource)} of {offer.name}")
                    return Block(reason, message, resource=resource, most=most)
        return None


def some(names: Iterable[str]) -> str:
    """The first names, and how many more there are."""
    every = sorted(names)
    return ", ".join(every[:SHOWN]) + (f" and {len(every) - SHOWN} more" if len(every) > SHOWN else "")


def contradiction(pods: Pods, offer: Offer) -> Block | None:
    """The labels of a flavor for which Kueue never gives it to the pods; None if it may."""
    if other := [key for key, value in offer.labels.items() if pods.selector.get(key, value) != value]:
        asked = ", ".join(f"{key}={pods.selector[key]}" for key in other)
        has = ", ".join(f"{key}={offer.labels[key]}" for key in other)
        return Block("labels", f"selects {asked}, but the flavor {offer.name} has {has}", list(pods.selector))
    if barred := _barred(pods, offer.labels):
        asked = "; ".join(expression.text for expression in barred)
        has = ", ".join(f"{key}={offer.labels[key]}" for key in dict.fromkeys(each.key for each in barred))
        return Block("labels", f"requires {asked}, but the flavor {offer.name} has {has}")
    return None


def _barred(pods: Pods, labels: Mapping[str, str]) -> list[Expression]:
    """The expressions by which Kueue gives the pods no flavor with these labels. It ignores other labels."""
    own = [[expression for expression in term if expression.key in labels] for term in pods.expressions]
    unmet = [[expression for expression in term if not expression.accepts(labels)] for term in own]
    return min(unmet, key=len, default=[])


def _has_devices(offer: Offer, pods: Pods) -> bool:
    """Whether a queue can get the chips or GPUs of a flavor that the pods request."""
    requested = (device for device in DEVICES if device in pods.requests and device in offer.quotas)
    return all(offer.quotas[device].most > 0 for device in requested)


def _match(offer: Offer, pods: Pods) -> tuple[int, int]:
    """How well a flavor matches: 1 if the pods select one of its labels, 0 if none, -N if N labels contradict it.

    The second number orders contradicted flavors: how many labels agree.
    """
    own = [offer.labels[key] == value for key, value in pods.selector.items() if key in offer.labels]
    if not contradiction(pods, offer):
        return int(any(own)), 0
    return -max(1, own.count(False)), 0 if all(own) else own.count(True)
