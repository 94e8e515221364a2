"""Whether pods fit on the hosts of a cluster, and the first reason why they do not. Pure.

The checks are the scheduler's filters for labels, taints, resources and cordons, without affinity between pods, volumes
and ports. Source: https://kubernetes.io/docs/reference/scheduling/config/#scheduling-plugins
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

from tpuplane.labels import GPU, HOSTNAME, MAINTENANCE_LABEL, MODE_LABEL, TOPOLOGY_LABEL, TPU, UNITS
from tpuplane.quantities import counted, whole_or_part
from tpuplane.status.objects import Expression, Node, Pod, PodSpec, Taint
from tpuplane.status.pools import without_devices

PERMANENT = ("labels", "taints", "size", "quota", "hosts")
"""Reasons that remain when other jobs end, in the order in which they are checked."""
_ORDER = (*PERMANENT, "down", "pinned", "used", "busy")
_SHOWN = 6  # values of a label in a message
_ENOUGH = 10**6  # pods on a host that limits none of their requests
_CORDON = "node.kubernetes.io/unschedulable"
_TEMPORARY = (
    "node.kubernetes.io/",
    "node.cloudprovider.kubernetes.io/",
    "cloud.google.com/impending-node-termination",
    "ToBeDeletedByClusterAutoscaler",
)
"""Starts of the keys of taints that Kubernetes and GKE remove themselves. Sources:
https://kubernetes.io/docs/reference/labels-annotations-taints/,
https://cloud.google.com/kubernetes-engine/docs/how-to/handle-disruption-gpu-tpu"""


@dataclass(frozen=True)
class Host:
    """A node, with its capacity and its free resources in thousandths."""

    name: str
    labels: Mapping[str, str]
    taints: Sequence[Taint]
    capacity: Mapping[str, int]
    free: Mapping[str, int]
    ready: bool = True
    cordoned: bool = False
    fault: str = ""
    """Why the node is not ready for pods although its kubelet is: its devices."""
    own: Mapping[str, int] = field(default_factory=dict)
    """The requests of the pods of the job on it, in thousandths. The end of other jobs does not release them."""

    @property
    def room(self) -> Mapping[str, int]:
        """What the job can still get here when other jobs have ended, in thousandths."""
        return _left(self.capacity, self.own)

    @property
    def usable(self) -> bool:
        """Whether the host takes pods."""
        return self.ready and not self.cordoned

    @property
    def maintained(self) -> bool:
        """Whether the host is not ready because of its maintenance, which GKE ends."""
        return not self.ready and MAINTENANCE_LABEL in self.labels

    @property
    def state(self) -> str:
        """Why the host takes no pods."""
        return "under maintenance" if self.maintained else "cordoned" if self.ready else "not ready"


@dataclass(frozen=True)
class Pods:
    """Equal pods that start together. Each group of `size` pods needs nodes with one value of the label `domain`.

    All pods need nodes with one value of the label `within`.
    """

    count: int
    selector: Mapping[str, str]
    expressions: Sequence[Sequence[Expression]]
    """Terms of node affinity. All expressions of one term must hold; empty: no requirement."""
    tolerations: Sequence[Taint]
    requests: Mapping[str, int]
    domain: str = ""
    size: int = 1
    within: str = ""
    slice: int = 1
    """The pods of a slice, which has several groups if it is made of cubes."""

    @classmethod
    def of(cls, count: int, spec: PodSpec, domain: str = "", size: int = 1, within: str = "") -> "Pods":
        """The pods of a spec. As in GKE, they tolerate the taints of the devices that they request."""
        requests = spec.requests
        devices = [Taint(key=resource, operator="Exists") for resource in requests if "/" in resource]
        terms = [term.requirements for term in spec.terms]
        return cls(count, spec.node_selector, terms, [*spec.tolerations, *devices], requests, domain, size, within)

    @classmethod
    def joined(cls, equal: Sequence["Pods"]) -> "Pods":
        """One set of pods from several sets of equal pods."""
        return replace(equal[0], count=sum(pods.count for pods in equal))

    @property
    def key(self) -> str:
        """Equal for pods with the same requirements."""
        requests = sorted(self.requests.items())
        return repr(
            (sorted(self.selector.items()), self.expressions, self.tolerations, requests, self.domain, self.within)
        )

    @property
    def levels(self) -> list[Expression]:
        """The labels by which Kueue divides hosts into domains. Kueue gives the pods no flavor without them."""
        return [Expression(key=key, operator="Exists") for key in (self.domain, self.within) if key]

    def labelled(self, labels: Mapping[str, str]) -> bool:
        """Whether the pods select hosts with these labels, which are in domains."""
        terms = (all(expression.accepts(labels) for expression in term) for term in self.expressions or [[]])
        divided = {self.domain, self.within} - {""} <= labels.keys()
        return divided and self.selector.items() <= labels.items() and any(terms)

    def repelled_by(self, host: Host) -> list[Taint]:
        """The taints of a host that the pods do not tolerate."""
        hard = (taint for taint in host.taints if _hard(taint) and not taint.key.startswith(_TEMPORARY))
        return [taint for taint in hard if not any(toleration.tolerates(taint) for toleration in self.tolerations)]

    def number(self, amounts: Mapping[str, int]) -> int:
        """How many of the pods fit into these amounts, which are in thousandths."""
        numbers = (amounts.get(resource, 0) // asked for resource, asked in self.requests.items() if asked)
        return max(0, min(numbers, default=_ENOUGH))

    def suit(self, host: Host) -> bool:
        """Whether one of the pods fits on the empty host."""
        return self.labelled(host.labels) and not self.repelled_by(host) and self.number(host.capacity) > 0

    def room(self, hosts: Iterable[Host], *, free: bool = False) -> int:
        """How many of the pods fit on these hosts, in whole groups. With `free`, other pods keep their resources."""
        return max(self.rooms(hosts, free=free).values(), default=0)

    def rooms(self, hosts: Iterable[Host], *, free: bool = False) -> Counter[str]:
        """The room for whole groups by the values of the label `within`."""
        rooms: Counter[str] = Counter()
        for (within, _), number in self.by_domain(hosts, free=free).items():
            rooms[within] += number - number % self.size
        return rooms

    def by_domain(self, hosts: Iterable[Host], *, free: bool = False) -> Counter[tuple[str, str]]:
        """How many of the pods fit on the hosts of each domain, by the values of the labels `within` and `domain`."""
        domains: Counter[tuple[str, str]] = Counter()
        for host in hosts:
            key = host.labels.get(self.within, ""), host.labels.get(self.domain, "")
            domains[key] += min(self.number(host.free if free else host.capacity), self.count)
        return domains


class Block(NamedTuple):
    """The first reason why pods do not fit."""

    reason: str
    """One of labels, taints, size, quota, hosts, down, pinned (by Kueue, to taken hosts), used (quota), busy."""
    message: str
    labels: Collection[str] = ()
    """The labels of the selector that no host has together."""
    resource: str = ""
    most: int = 0
    """For `size`, `quota` and `used` the largest request that fits, in thousandths; otherwise the number of pods."""
    hosts: Sequence[Host] = ()

    @property
    def depth(self) -> int:
        """The position of the reason in the order of checks."""
        return _ORDER.index(self.reason)

    @property
    def rank(self) -> tuple[int, int]:
        """The depth; at the same depth, more chips or GPUs that a job can get."""
        return self.depth, self.most if self.resource in (TPU, GPU) else 0


class Hosts:
    """The hosts of a cluster."""

    def __init__(self, hosts: Iterable[Host]) -> None:
        self.all = list(hosts)

    @classmethod
    def of(cls, nodes: Iterable[Node], pods: Iterable[Pod], of_job: Collection[str] = ()) -> "Hosts":
        """The nodes, with the requests of the pods on them. `of_job` are the uids of the pods of the job."""
        used: dict[str, Counter[str]] = defaultdict(Counter)
        own: dict[str, Counter[str]] = defaultdict(Counter)
        for pod in pods:
            if pod.spec.node_name:
                used[pod.spec.node_name].update(pod.spec.requests)
                if pod.uid in of_job:
                    own[pod.spec.node_name].update(pod.spec.requests)
        return cls(_host(node, used[node.name], own.get(node.name, {})) for node in nodes)

    @cached_property
    def labels(self) -> list[Mapping[str, str]]:
        """The labels of all hosts."""
        return [host.labels for host in self.all]

    @cached_property
    def _named(self) -> Mapping[str, list[Host]]:
        """The hosts by the label of their name. Kueue can select a host for each of thousands of pods."""
        named: dict[str, list[Host]] = defaultdict(list)
        for host in self.all:
            named[host.labels.get(HOSTNAME, "")].append(host)
        return named

    def block(self, pods: Pods) -> Block | None:
        """The first reason why the pods do not fit on these hosts now; None if they fit."""
        near = self._named.get(pods.selector[HOSTNAME], []) if HOSTNAME in pods.selector else self.all
        if not (selected := [host for host in near if pods.labelled(host.labels)]):
            return self._no_labels(pods)
        if not (tolerated := [host for host in selected if not pods.repelled_by(host)]):
            names = sorted({f"{taint.key}={taint.value}" for host in selected for taint in pods.repelled_by(host)})
            message = f"its hosts have taints that it does not tolerate: {', '.join(names)}"
            return Block("taints", message, hosts=selected)
        return self._room(pods, tolerated)

    def _room(self, pods: Pods, tolerated: Sequence[Host]) -> Block | None:
        """The first reason from the resources and the states of hosts."""
        if not (large := [host for host in tolerated if pods.number(host.capacity)]):
            return too_large(pods, tolerated)
        if (most := pods.room(large)) < pods.count:
            return Block("hosts", _only(pods, "hosts", most), most=most, hosts=large)
        usable = [host for host in large if host.usable]
        if (most := pods.room(usable)) < pods.count:
            down = [host for host in large if host not in usable]
            states = (host.fault or f"{host.name} is {host.state}" for host in down)
            return Block("down", ", ".join(states), most=most, hosts=down)
        if (most := pods.room(usable, free=True)) < pods.count:
            return Block("busy", _only(pods, "free hosts", most), most=most, hosts=large)
        return None

    def _no_labels(self, pods: Pods) -> Block:
        """The fewest labels of the selector that no host has together."""
        for size in range(1, len(pods.selector) + 1):
            for some in combinations(sorted(pods.selector.items()), size):
                if not any(labels.items() >= dict(some).items() for labels in self.labels):
                    return Block("labels", self._combination(some), [key for key, _ in some])
        which = "no host of its node selector" if pods.selector else "no host"
        wanted = ((each, each.key if each.operator == "Exists" else each.text) for each in self.unmet(pods))
        messages = (f"{which} has {text}{self._have(unmet.key, pods)}" for unmet, text in wanted)
        return Block("labels", "; ".join(messages) or f"{which} has the labels of its node affinity together")

    def unmet(self, pods: Pods) -> list[Expression]:
        """The levels and expressions of the node affinity that no host with the labels of the node selector meets."""
        every = {expression.text: expression for term in (pods.levels, *pods.expressions) for expression in term}
        selected = [labels for labels in self.labels if pods.selector.items() <= labels.items()]
        named = (each for each in every.values() if each.key)  # an empty term has none
        return [unmet for unmet in named if not any(unmet.accepts(labels) for labels in selected)]

    def _have(self, key: str, pods: Pods) -> str:
        values = self.values(key, pods.selector.items())
        return f"; they have {key}={_some(values)}" if values else ""

    def _combination(self, some: Sequence[tuple[str, str]]) -> str:
        combination = " together with ".join(f"{key}={value}" for key, value in some)
        known_values = ((key, self.values(key, some)) for key, _ in some)
        have = "; ".join(f"{key}={_some(values)}" for key, values in known_values if values)
        with_others = "hosts with the other label have" if len(some) == 2 else "hosts have"
        return f"no host has {combination}{f'; {with_others} {have}' if have else ''}"

    def values(self, key: str, selector: Iterable[tuple[str, str]]) -> list[str]:
        """The values that a label has on hosts with the other labels of a selector.

        Hosts of cubes have a topology only while they are in the slice of a job.
        """
        rest = {(name, value) for name, value in selector if name != key}
        own = (labels for labels in self.labels if not (key == TOPOLOGY_LABEL and MODE_LABEL in labels))
        return sorted({labels[key] for labels in own if key in labels and rest <= labels.items()})


def _host(node: Node, used: Mapping[str, int], own: Mapping[str, int]) -> Host:
    """The host. It is not ready while it has a temporary taint, or devices that its kubelet does not offer."""
    temporary = (taint.key != _CORDON and taint.key.startswith(_TEMPORARY) for taint in node.taints if _hard(taint))
    ready, fault = node.is_true("Ready") and not any(temporary), without_devices(node)
    capacity = node.offered
    return Host(
        node.name,
        {HOSTNAME: node.name, **node.labels},
        node.taints,
        capacity,
        _left(capacity, used),
        ready and not fault,
        node.unschedulable,
        fault if ready else "",
        own,
    )


def _left(amounts: Mapping[str, int], used: Mapping[str, int]) -> Mapping[str, int]:
    return {name: amount - used.get(name, 0) for name, amount in amounts.items()}


def _hard(taint: Taint) -> bool:
    return taint.effect != "PreferNoSchedule"


def _some(values: Sequence[str]) -> str:
    """The first values: a cluster can have thousands of host names."""
    more = [f"and {len(values) - _SHOWN} more"] if len(values) > _SHOWN + 1 else values[_SHOWN:]
    return ", ".join([*values[:_SHOWN], *more])


def _only(pods: Pods, hosts: str, most: int) -> str:
    together = f"; each group of {pods.size} must be on nodes with the same {pods.domain}" if pods.domain else ""
    near = f"; all must be on nodes with the same {pods.within}" if pods.within else ""
    return f"{hosts} have room for {most} of {counted(pods.count, 'pod')}{together}{near}"


def too_large(pods: Pods, hosts: Sequence[Host]) -> Block:
    """The request that no host can meet, or one of several requests that no host can meet together."""
    most = {name: max(host.capacity.get(name, 0) for host in hosts) for name in pods.requests}
    lacking = [name for name, asked in pods.requests.items() if asked > most[name]] or list(pods.requests)
    first = max(lacking, key=lambda resource: "/" in resource)
    asked = amount(first, pods.requests[first])
    have = whole_or_part(most[first]) if first in UNITS else amount(first, most[first]).partition(" of ")[0]
    message = f"requests {asked} in each pod, but its hosts have {have}"
    return Block("size", message, resource=first, most=most[first], hosts=hosts)


def amount(resource: str, thousandths: int) -> str:
    """An amount of a resource, in thousandths, as text with its unit: 4 chips, 1.5 cpu, 16 GiB of memory."""
    if resource in UNITS:
        return counted(whole_or_part(thousandths), UNITS[resource])
    if resource in ("memory", "ephemeral-storage"):  # rounded down: never more than a host has
        return f"{thousandths * 100 // 1000 // 2**30 / 100:g} GiB of {resource}"
    return f"{whole_or_part(thousandths)} {resource}"
