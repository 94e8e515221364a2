"""Pods and nodes with the fields that the autoscaler reads from the API server's JSON: small and immutable. Pure."""

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

from tpuplane.labels import GKE_POOL_LABEL
from tpuplane.quantities import thousandths
from tpuplane.status.objects import Taint

from tpuplane_twin.cluster.api import has_condition
from tpuplane_twin.cluster.nodes import ORDINAL
from tpuplane_twin.cluster.pools import is_broken
from tpuplane_twin.elasticity.selectors import PodTerm, Selector, node_affinity, node_selector, pod_terms, selects

Object = Mapping[str, Any]
Resources = Mapping[str, int]
"""Amounts in thousandths, by resource. A host port is a resource with one unit per node."""

PORT = "hostPort/"
_PREFIX = "cluster-autoscaler.kubernetes.io/"
_SAFE_TO_EVICT = f"{_PREFIX}safe-to-evict"
_NO_SCALE_DOWN = f"{_PREFIX}scale-down-disabled"
_MIRROR = "kubernetes.io/config.mirror"


@dataclass(frozen=True, slots=True)
class Node:
    """A node, or a possible node of a pool. `place` is "zone/number" within its pool."""

    name: str
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    allocatable: Resources
    usable: bool = True
    removable: bool = True
    broken: bool = False
    """Whether GKE's auto-repair creates it again."""
    place: str = ""
    uid: str = ""
    created: str = ""

    @property
    def pool(self) -> str:
        """The name of its node pool."""
        return self.labels.get(GKE_POOL_LABEL, "")

    @classmethod
    def parse(cls, node: dict[str, Any]) -> Self:
        """Read a node. It is usable if it is Ready and not cordoned."""
        metadata, spec, status = node["metadata"], node["spec"], node["status"]
        annotations = metadata.get("annotations", {})
        ready = has_condition(node, "Ready")
        return cls(
            name=metadata["name"],
            labels={**metadata.get("labels", {}), "metadata.name": metadata["name"]},
            taints=tuple(taint for taint in _taints(spec, "taints") if taint.effect != "PreferNoSchedule"),
            allocatable={key: thousandths(amount) for key, amount in status.get("allocatable", {}).items()},
            usable=ready and not spec.get("unschedulable", False),
            removable=annotations.get(_NO_SCALE_DOWN) != "true",
            broken=is_broken(node),
            place=annotations.get(ORDINAL, ""),
            uid=metadata.get("uid", ""),
            created=metadata.get("creationTimestamp", ""),
        )


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod that uses a node's resources or waits for a node."""

    namespace: str
    name: str
    uid: str
    created: str
    node: str
    labels: Mapping[str, str]
    requests: Resources
    selector: Selector
    node_terms: tuple[Selector, ...] | None
    tolerations: tuple[Taint, ...]
    affinity: tuple[PodTerm, ...]
    anti_affinity: tuple[PodTerm, ...]
    owner: str
    daemon: bool
    mirror: bool
    safe_to_evict: str
    unschedulable: bool

    @property
    def key(self) -> str:
        """Namespace and name."""
        return f"{self.namespace}/{self.name}"

    def kind(self) -> object:
        """Equal for pods with the same scheduling constraints, without resources."""
        return (self.selector, self.node_terms, self.tolerations)

    def shape(self) -> object:
        """Equal for pods with the same scheduling constraints and resources."""
        return (self.kind(), frozenset(self.requests.items()))

    @property
    def counts(self) -> bool:
        """Whether it makes its node needed; pods that run on every node do not."""
        return not self.daemon and not self.mirror

    def wants(self, node: Node) -> bool:
        """Whether node selector and node affinity allow the node."""
        if not selects(self.selector, node.labels):
            return False
        return self.node_terms is None or any(selects(term, node.labels) for term in self.node_terms)

    def repelled_by(self, node: Node) -> Taint | None:
        """A taint of the node that it does not tolerate."""
        return next((taint for taint in node.taints if not any(own.tolerates(taint) for own in self.tolerations)), None)

    @classmethod
    def parse(cls, pod: Object) -> Self | None:
        """Read a pod; None for a finished one, which uses no resources."""
        metadata, spec, status = pod["metadata"], pod["spec"], pod.get("status", {})
        if status.get("phase") in ("Succeeded", "Failed"):
            return None
        annotations, namespace = metadata.get("annotations", {}), metadata["namespace"]
        owner: Object = next((owner for owner in metadata.get("ownerReferences", []) if owner.get("controller")), {})
        affinity = spec.get("affinity") or {}
        return cls(
            namespace=namespace,
            name=metadata["name"],
            uid=metadata["uid"],
            created=metadata.get("creationTimestamp", ""),
            node=spec.get("nodeName", ""),
            labels=metadata.get("labels", {}),
            requests=_requests(spec),
            selector=node_selector(spec),
            node_terms=node_affinity(affinity),
            tolerations=tuple(_taints(spec, "tolerations")),
            affinity=pod_terms(affinity, "podAffinity", namespace),
            anti_affinity=pod_terms(affinity, "podAntiAffinity", namespace),
            owner=owner.get("uid", ""),
            daemon=owner.get("kind") == "DaemonSet",
            mirror=_MIRROR in annotations,
            safe_to_evict=annotations.get(_SAFE_TO_EVICT, ""),
            unschedulable=_unschedulable(metadata, spec, status) and owner.get("kind") != "DaemonSet",
        )


def _taints(spec: Object, field: str) -> Iterator[Taint]:
    for own in spec.get(field, []):
        yield _taint(
            own.get("key") or "", own.get("operator") or "Equal", own.get("value") or "", own.get("effect") or ""
        )


@lru_cache(maxsize=4096)
def _taint(key: str, operator: str, value: str, effect: str) -> Taint:
    """One object for equal taints: each change of each node and pod is read."""
    return Taint(key=key, operator=operator, value=value, effect=effect)


def _unschedulable(metadata: Object, spec: Object, status: Object) -> bool:
    # A pod with a nominated node gets the place of pods that are being preempted.
    if spec.get("nodeName") or metadata.get("deletionTimestamp") or status.get("nominatedNodeName"):
        return False
    return has_condition({"status": status}, "PodScheduled", "False", "Unschedulable")


def _requests(spec: Object) -> Resources:
    """The scheduler's count: the sum of containers and sidecars, or the largest step of initialization."""
    running = Counter({"pods": 1000})
    for container in spec["containers"]:
        running.update(_amounts(container))
    peak: Counter[str] = Counter()
    sidecars: Counter[str] = Counter()
    for container in spec.get("initContainers", []):
        amounts = _amounts(container)
        if container.get("restartPolicy") == "Always":
            sidecars.update(amounts)
            amounts = Counter()
        peak |= sidecars + amounts
    total = (running + sidecars) | peak
    for name, amount in (spec.get("resources", {}).get("requests") or {}).items():
        total[name] = thousandths(amount)
    total.update({name: thousandths(amount) for name, amount in (spec.get("overhead") or {}).items()})
    total.update(_ports([*spec["containers"], *spec.get("initContainers", [])]))
    return dict(total)


def _amounts(container: Object) -> Counter[str]:
    requests = container.get("resources", {}).get("requests") or {}
    return Counter({name: thousandths(amount) for name, amount in requests.items()})


def _ports(containers: Iterable[Object]) -> dict[str, int]:
    return {
        f"{PORT}{port.get('protocol', 'TCP')}/{port['hostPort']}": 1000
        for container in containers
        for port in container.get("ports", [])
        if port.get("hostPort")
    }


def age(stamp: str, wall: float) -> float:
    """Seconds since a creation time of Kubernetes, at `wall` of the machine's clock; 0 for none and for the future."""
    if not stamp:
        return 0.0
    return max(0.0, wall - dt.datetime.fromisoformat(stamp).timestamp())


def births(nodes: Iterable[Node], known: Mapping[str, float], now: float, wall: float) -> dict[str, float]:
    """The creation time of each node by name, in seconds of the caller's clock, which shows `now` at `wall`.

    So ages continue when the twin is started again.
    """
    return {node.name: known.get(node.name, now - age(node.created, wall)) for node in nodes}
