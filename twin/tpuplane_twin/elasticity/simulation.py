"""A simulation of the scheduler: nodes, free resources, and placements that can be undone."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence

from tpuplane_twin.elasticity.objects import PORT, Node, Pod
from tpuplane_twin.elasticity.selectors import PodTerm

Mark = tuple[int, int]
_ANYWHERE = 1000  # a host port, one per node


class Simulation:
    """The scheduler's filters over a cluster: selectors, affinity, taints, resources, host ports, pod affinity.

    Topology spread constraints, volumes and resource claims are ignored. Obstacles are the scheduler's messages.
    """

    def __init__(self, nodes: Iterable[Node], pods: Iterable[Pod]) -> None:
        self.nodes: list[Node] = []
        self.placed: list[tuple[Pod, int]] = []
        self._free: list[dict[str, int]] = []
        self._index: dict[str, int] = {}
        self._static: dict[tuple[int, int], str | None] = {}
        # Pods with equal constraints share a number: by `kind` without resources, by `shape` with them.
        self._numbers: dict[object, int] = {}
        self._kind_of: dict[str, int] = {}
        self._shape_of: dict[str, int] = {}
        self._unfit: dict[int, set[int]] = defaultdict(set)
        self._bound: list[tuple[Pod, int]] = []
        # Pods of a term in each domain (counted on demand), and domains of anti-affinity terms.
        self._occupied: dict[PodTerm, Counter[str]] = {}
        self._guarded: dict[PodTerm, Counter[str]] = defaultdict(Counter)
        for node in nodes:
            self.add(node)
        for pod in pods:
            at = self._index.get(pod.node)
            if at is not None:
                self._bound.append((pod, at))
                self._count(pod, at, 1)

    def add(self, node: Node) -> int:
        """Add a node; the result is its number."""
        self.nodes.append(node)
        self._free.append(dict(node.allocatable))
        self._index[node.name] = len(self.nodes) - 1
        return len(self.nodes) - 1

    def mark(self) -> Mark:
        """The current state, for `rewind`."""
        return len(self.nodes), len(self.placed)

    def rewind(self, mark: Mark) -> None:
        """Undo all nodes and placements since `mark`."""
        nodes, placed = mark
        for pod, at in self.placed[placed:]:
            self._count(pod, at, -1)
        del self.placed[placed:]
        self._unfit.clear()
        for node in self.nodes[nodes:]:
            del self._index[node.name]
        for key in [key for key in self._static if key[1] >= nodes]:
            del self._static[key]
        del self.nodes[nodes:], self._free[nodes:]

    def place(self, pod: Pod, candidates: Iterable[int]) -> int | None:
        """Place the pod on the first of these nodes where it fits; None if it fits nowhere."""
        # Until `rewind`, a node without room for one pod has none for an equal one.
        unfit = self._unfit[self._number(pod, pod.shape, self._shape_of)]
        for at in candidates:
            if at in unfit:
                continue
            if self.mismatch(pod, at):
                unfit.add(at)
            elif self._company(pod, at) is None:
                self.placed.append((pod, at))
                self._count(pod, at, 1)
                return at
        return None

    def place_together(self, pods: Sequence[Pod], candidates: Sequence[int]) -> bool:
        """Place all these pods on these nodes, or none."""
        mark = self.mark()
        if all(self.place(pod, candidates) is not None for pod in pods):
            return True
        self.rewind(mark)
        return False

    def obstacle(self, pod: Pod, at: int) -> str | None:
        """Why the pod does not fit on the node, or None."""
        return self.mismatch(pod, at) or self._company(pod, at)

    def mismatch(self, pod: Pod, at: int) -> str | None:
        """Why the pod does not fit on the node, apart from pod affinity, or None."""
        return self._fixed_obstacle(pod, at) or self._shortage(pod, at)

    def _number(self, pod: Pod, traits: Callable[[], object], known: dict[str, int]) -> int:
        number = known.get(pod.uid)
        if number is None:
            number = known[pod.uid] = self._numbers.setdefault(traits(), len(self._numbers))
        return number

    def _fixed_obstacle(self, pod: Pod, at: int) -> str | None:
        """Obstacles that do not depend on other pods, cached for all pods of a kind."""
        key = (self._number(pod, pod.kind, self._kind_of), at)
        if key not in self._static:
            self._static[key] = self._look(pod, self.nodes[at])
        return self._static[key]

    @staticmethod
    def _look(pod: Pod, node: Node) -> str | None:
        if not node.usable:
            return "node(s) were unschedulable"
        taint = pod.repelled_by(node)
        if taint is not None:
            return f"node(s) had untolerated taint {{{taint.key}: {taint.value}}}"
        return None if pod.wants(node) else "node(s) didn't match Pod's node affinity/selector"

    def _shortage(self, pod: Pod, at: int) -> str | None:
        free = self._free[at]
        for resource, amount in pod.requests.items():
            port = resource.startswith(PORT)
            if amount > free.get(resource, _ANYWHERE if port else 0):
                if port:
                    return "node(s) didn't have free ports for the requested pod ports"
                return "Too many pods" if resource == "pods" else f"Insufficient {resource}"
        return None

    def _company(self, pod: Pod, at: int) -> str | None:
        for term in pod.affinity:
            domain, occupied = self._domain(term, at), self._where(term)
            # The first pod of a group may be placed anywhere.
            first = not occupied.total() and term.matches(pod.namespace, pod.labels)
            if not domain or not (occupied[domain] or first):
                return "node(s) didn't match pod affinity rules"
        for term in pod.anti_affinity:
            if self._where(term)[self._domain(term, at)]:
                return "node(s) didn't match pod anti-affinity rules"
        for term, domains in self._guarded.items():
            if domains[self._domain(term, at)] and term.matches(pod.namespace, pod.labels):
                return "node(s) didn't satisfy existing pods anti-affinity rules"
        return None

    def _domain(self, term: PodTerm, at: int) -> str:
        return self.nodes[at].labels.get(term.topology_key, "")

    def _where(self, term: PodTerm) -> Counter[str]:
        """How many pods of the term are in each domain."""
        if term not in self._occupied:
            self._occupied[term] = Counter(
                domain
                for pod, at in (*self._bound, *self.placed)
                if (domain := self._domain(term, at)) and term.matches(pod.namespace, pod.labels)
            )
        return self._occupied[term]

    def _count(self, pod: Pod, at: int, change: int) -> None:
        """Count the pod on the node, or with -1 no longer: its resources, and what terms of pod affinity see."""
        free = self._free[at]
        for resource, amount in pod.requests.items():
            default = _ANYWHERE if resource.startswith(PORT) else 0
            free[resource] = free.get(resource, default) - change * amount
        for term, occupied in self._occupied.items():
            domain = self._domain(term, at)
            if domain and term.matches(pod.namespace, pod.labels):
                occupied[domain] += change
        for term in pod.anti_affinity:
            domain = self._domain(term, at)
            if domain:
                self._guarded[term][domain] += change
