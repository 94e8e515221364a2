"""Whether pods fit on the hosts of a cluster, and the first reason why they do not. Pure.

It follows the scheduler's filters for labels, taints, resources and cordons. It leaves out affinity between pods,
volumes and ports. Source: https://kubernetes.io/docs/reference/scheduling/config/#scheduling-plugins
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

from tpuplane.labels import UNITS
from tpuplane.quantities import whole_or_part
from tpuplane.status.objects import Expression, Node, Pod, PodSpec, Taint

HOSTNAME = "kubernetes.io/hostname"
PERMANENT = ("labels", "taints", "size", "quota", "hosts")
"""Reasons that no other job's end removes, in the order in which they are judged."""
_ORDER = (*PERMANENT, "down", "pinned", "used", "busy")
_SHOWN = 6  # values of a label in a message
_ENOUGH = 10**6  # pods on a host that limits none of their requests
_CORDON = ("node.kubernetes.io/unschedulable", "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


@dataclass(frozen=True)
class Host:
    """A node, and what the pods on it leave free, in thousandths."""

    name: str
    labels: Mapping[str, str]
    taints: Sequence[Taint]
    capacity: Mapping[str, int]
    free: Mapping[str, int]
    ready: bool = True
    cordoned: bool = False


@dataclass(frozen=True)
class Pods:
    """Equal pods that start together: `domain` is a label whose value groups of `size` of them must share."""

    count: int
    selector: Mapping[str, str]
    expressions: Sequence[Sequence[Expression]]
    """One of these must hold; empty: no requirement."""
    tolerations: Sequence[Taint]
    requests: Mapping[str, int]
    domain: str = ""
    size: int = 1

    @classmethod
    def of(cls, count: int, spec: PodSpec, domain: str = "", size: int = 1) -> "Pods":
        """The pods of a spec. As in GKE, they tolerate the taints of the devices that they request."""
        requests = spec.requests
        devices = [Taint(key=it, operator="Exists") for it in requests if "/" in it]
        terms = [it.match_expressions for it in spec.terms]
        return cls(count, spec.node_selector, terms, [*spec.tolerations, *devices], requests, domain, size)

    @classmethod
    def joined(cls, equal: Sequence["Pods"]) -> "Pods":
        """Several equal pods."""
        return replace(equal[0], count=sum(it.count for it in equal))

    @property
    def key(self) -> str:
        """Equal for pods with the same requirements."""
        requests = sorted(self.requests.items())
        return repr((sorted(self.selector.items()), self.expressions, self.tolerations, requests, self.domain))

    def labelled(self, labels: Mapping[str, str]) -> bool:
        """Whether hosts with these labels are selected."""
        return self.selector.items() <= labels.items() and (
            not self.expressions or any(all(it.accepts(labels) for it in term) for term in self.expressions)
        )

    def repelled_by(self, host: Host) -> list[Taint]:
        """The taints of a host that the pods do not tolerate."""
        hard = (it for it in host.taints if it.effect != "PreferNoSchedule" and it.key not in _CORDON)
        return [it for it in hard if not any(own.tolerates(it) for own in self.tolerations)]

    def number(self, amounts: Mapping[str, int]) -> int:
        """How many of them fit into these amounts."""
        return min((amounts.get(it, 0) // asked for it, asked in self.requests.items() if asked), default=_ENOUGH)

    def suit(self, host: Host) -> bool:
        """Whether one of them would fit on the host if it were empty."""
        return self.labelled(host.labels) and not self.repelled_by(host) and self.number(host.capacity) > 0

    def room(self, hosts: Iterable[Host], *, free: bool = False) -> int:
        """How many of them fit on these hosts together, in whole groups."""
        return sum(number - number % self.size for number in self.by_domain(hosts, free=free))

    def by_domain(self, hosts: Iterable[Host], *, free: bool = False) -> Collection[int]:
        """How many of them fit on the hosts of each domain together."""
        domains: Counter[str] = Counter()
        for it in hosts:
            domain = it.labels.get(self.domain, "") if self.domain else ""
            domains[domain] += min(self.number(it.free if free else it.capacity), self.count)
        return domains.values()


class Block(NamedTuple):
    """The first reason why pods do not fit."""

    reason: str
    """One of labels, taints, size, quota, hosts, down, pinned (by Kueue, to taken hosts), used (quota), busy."""
    message: str
    labels: Collection[str] = ()
    """The labels of the selector that no host has together."""
    resource: str = ""
    most: int = 0
    """The largest request that fits: of a pod in thousandths for `size` and `quota`, else the number of pods."""
    hosts: Sequence[Host] = ()

    @property
    def depth(self) -> int:
        """How late the reason is judged."""
        return _ORDER.index(self.reason)


class Hosts:
    """The hosts of a cluster."""

    def __init__(self, hosts: Iterable[Host]) -> None:
        self.all = list(hosts)

    @classmethod
    def of(cls, nodes: Iterable[Node], pods: Iterable[Pod]) -> "Hosts":
        """The nodes, with the requests of the pods on them."""
        used: dict[str, Counter[str]] = defaultdict(Counter)
        for pod in pods:
            if pod.spec.node_name:
                used[pod.spec.node_name].update(pod.spec.requests)
        return cls(
            Host(
                it.name,
                {HOSTNAME: it.name, **it.labels},
                it.taints,
                has := it.allocatable or it.capacity,
                {name: amount - used[it.name][name] for name, amount in has.items()},
                it.is_true("Ready"),
                it.unschedulable,
            )
            for it in nodes
        )

    @cached_property
    def labels(self) -> list[Mapping[str, str]]:
        """The labels of all hosts."""
        return [it.labels for it in self.all]

    def block(self, pods: Pods) -> Block | None:
        """The first reason why the pods do not fit on these hosts now; None if they fit."""
        selected = [it for it in self.all if pods.labelled(it.labels)]
        if not selected:
            return self._no_labels(pods)
        tolerated = [it for it in selected if not pods.repelled_by(it)]
        if not tolerated:
            names = sorted({f"{it.key}={it.value}" for host in selected for it in pods.repelled_by(host)})
            return Block(
                "taints", f"its hosts have taints that it does not tolerate: {', '.join(names)}", hosts=selected
            )
        return self._room(pods, tolerated)

    def _room(self, pods: Pods, tolerated: Sequence[Host]) -> Block | None:
        """The first reason of resources and of the state of hosts."""
        large = [it for it in tolerated if pods.number(it.capacity)]
        if not large:
            return _too_large(pods, tolerated)
        if (most := pods.room(large)) < pods.count:
            return Block("hosts", _only(pods, "hosts", most), most=most, hosts=large)
        usable = [it for it in large if it.ready and not it.cordoned]
        if (most := pods.room(usable)) < pods.count:
            down = [it for it in large if it not in usable]
            states = (f"{it.name} is {'cordoned' if it.ready else 'not ready'}" for it in down)
            return Block("down", ", ".join(states), most=most, hosts=down)
        if (most := pods.room(usable, free=True)) < pods.count:
            return Block("busy", _only(pods, "free hosts", most), most=most, hosts=usable)
        return None

    def _no_labels(self, pods: Pods) -> Block:
        """The fewest labels of the selector that no host has together."""
        for size in range(1, len(pods.selector) + 1):
            for some in combinations(sorted(pods.selector.items()), size):
                if not any(it.items() >= dict(some).items() for it in self.labels):
                    return Block("labels", self._combination(some), [key for key, _ in some])
        which = "no host of its node selector" if pods.selector else "no host"
        said = (f"{which} has {it.text}{self._have(it.key, pods)}" for it in self.unmet(pods))
        return Block("labels", "; ".join(said) or f"{which} has the labels of its node affinity together")

    def unmet(self, pods: Pods) -> list[Expression]:
        """The expressions of the node affinity that no host of the node selector fulfils."""
        every = {it.text: it for term in pods.expressions for it in term}
        selected = [it for it in self.labels if pods.selector.items() <= it.items()]
        return [it for it in every.values() if not any(it.accepts(labels) for labels in selected)]

    def _have(self, key: str, pods: Pods) -> str:
        values = self.values(key, pods.selector.items())
        return f"; they have {key}={_some(values)}" if values else ""

    def _combination(self, some: Sequence[tuple[str, str]]) -> str:
        said = " together with ".join(f"{key}={value}" for key, value in some)
        found = ((key, self.values(key, some)) for key, _ in some)
        have = "; ".join(f"{key}={_some(values)}" for key, values in found if values)
        with_others = "hosts with the other label have" if len(some) == 2 else "hosts have"
        return f"no host has {said}{f'; {with_others} {have}' if have else ''}"

    def values(self, key: str, selector: Iterable[tuple[str, str]]) -> list[str]:
        """The values of a label of the hosts with the rest of a selector."""
        rest = {(name, value) for name, value in selector if name != key}
        return sorted({it[key] for it in self.labels if key in it and rest <= it.items()})


def _some(values: Sequence[str]) -> str:
    """The first values: a cluster can have thousands of host names."""
    more = [f"and {len(values) - _SHOWN} more"] if len(values) > _SHOWN + 1 else values[_SHOWN:]
    return ", ".join([*values[:_SHOWN], *more])


def _only(pods: Pods, what: str, most: int) -> str:
    together = f" in groups of {pods.size} with one {pods.domain}" if pods.domain else ""
    return f"{what} have room for {most} of {pods.count} pods{together}"


def _too_large(pods: Pods, hosts: Sequence[Host]) -> Block:
    """The request that no host fulfils, or that only hosts fulfil that lack another one."""
    most = {name: max(it.capacity.get(name, 0) for it in hosts) for name in pods.requests}
    lacking = [name for name, asked in pods.requests.items() if asked > most[name]] or list(pods.requests)
    first = max(lacking, key=lambda it: "/" in it)
    asked = amount(first, pods.requests[first])
    have = whole_or_part(most[first]) if first in UNITS else amount(first, most[first]).partition(" of ")[0]
    return Block(
        "size",
        f"requests {asked} in each pod, but its hosts have {have}",
        resource=first,
        most=most[first],
        hosts=hosts,
    )


def amount(resource: str, thousandths: int) -> str:
    """An amount with its unit: 4 chips, 1.5 cores, 16 GiB."""
    if resource in UNITS:
        number = whole_or_part(thousandths)
        return f"{number} {UNITS[resource].removesuffix('s') if number == 1 else UNITS[resource]}"
    if resource in ("memory", "ephemeral-storage"):  # rounded down: what a host has must not become more
        return f"{thousandths * 100 // 1000 // 2**30 / 100:g} GiB of {resource}"
    return f"{whole_or_part(thousandths)} {resource}"
