"""The decisions about ProvisioningRequests: which pool serves each, which wait, fail or expire. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tpuplane_twin.cluster.nodes import REQUEST_LABEL
from tpuplane_twin.elasticity.groups import Group
from tpuplane_twin.elasticity.limits import Limits
from tpuplane_twin.elasticity.objects import Node, Pod
from tpuplane_twin.elasticity.queued_placement import Fit, Misfit, explain, fit, needed
from tpuplane_twin.elasticity.requests import Condition, Request, State, condition, failed
from tpuplane_twin.elasticity.scale_down import Shrinkage, shrunk_by

GRACE_SECONDS = 120.0
"""GKE's time before a request fails that no pool can serve."""


@dataclass(frozen=True, slots=True)
class Answer:
    """New conditions of a request."""

    request: Request
    conditions: tuple[Condition, ...]
    details: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Provision:
    """The nodes of an accepted request, in a zone of a pool."""

    request: Request
    group: Group
    zone: str
    nodes: int


@dataclass(slots=True)
class Answers:
    """The plan: new conditions, nodes to create, and expired nodes."""

    said: list[Answer] = field(default_factory=list)
    provisions: list[Provision] = field(default_factory=list)
    revoked: list[Shrinkage] = field(default_factory=list)


@dataclass(frozen=True)
class Queue:
    """The requests of a cluster at one moment."""

    requests: Sequence[Request] = ()
    pods: Mapping[str, tuple[Pod, ...] | None] = field(default_factory=dict)
    """The pods of a request by its uid; None until their templates exist."""
    since: Mapping[tuple[str, State], float] = field(default_factory=dict)
    """When a request was first seen in a state, by uid and state, in seconds of the caller's clock.

    `Provisioned` has the time of the condition.
    """
    resting: frozenset[str] = frozenset()
    """The uids of requests whose nodes could not be created a moment ago."""
    booking_seconds: float = 0.0
    """How long nodes are kept for the pods of a request."""
    asked: Mapping[str, float] = field(default_factory=dict)
    """The creation time of a request by its uid, in seconds of the caller's clock, if known."""

    @property
    def open(self) -> bool:
        """Whether any request is unfinished."""
        return any(not request.over for request in self.requests)

    def at(self, request: Request, state: State) -> float:
        """When the request was first seen in the state."""
        return self.since.get((request.uid, state), self.since[request.uid, request.state])

    def asked_at(self, request: Request) -> float:
        """When the request was created, or first seen."""
        return self.asked.get(request.uid, self.at(request, "Pending"))

    def dues(self) -> Iterator[float]:
        """When to check requests again without changes."""
        for request in self.requests:
            if request.state in ("Pending", "Accepted"):
                yield self.at(request, request.state) + GRACE_SECONDS
                if request.patience is not None:
                    yield self.asked_at(request) + request.patience
            elif request.state == "Provisioned":
                yield self.at(request, "Provisioned") + self.booking_seconds
            elif request.state == "BookingExpired":
                yield self.at(request, "Provisioned") + request.lifetime

    def books(self, node: Node) -> bool:
        """Whether the node is kept for the pods of a request."""
        label = node.labels.get(REQUEST_LABEL)
        for request in self.requests:
            if label is None and request.state == "Accepted" and request.pool == node.pool:
                return True
            if label is not None and request.state in ("Accepted", "Provisioned") and request.resize_request == label:
                return True
        return False


def plan_answers(queue: Queue, nodes: Sequence[Node], groups: Sequence[Group], limits: Limits, now: float) -> Answers:
    """The plan. Accepted requests keep their place; then pending requests follow, oldest first."""
    answers = Answers()
    present = {group.name: group for group in groups}
    pools = {name: limits.cap(group) for name, group in present.items() if group.pool.queued}
    for request in sorted(queue.requests, key=lambda found: (found.state == "Pending", found.created, found.name)):
        answer: Condition | None = None
        if request.state in ("Pending", "Accepted"):
            answer = _late(queue, request, now)
            if answer is None and request.state == "Pending":
                answer = _receive(answers, queue, request, pools, now)
            elif answer is None:
                answer = _serve(answers, queue, request, pools, present, now)
        elif request.state == "Provisioned" and now - queue.at(request, "Provisioned") >= queue.booking_seconds:
            answer = condition("booking expired")
        elif request.state == "BookingExpired" and now - queue.at(request, "Provisioned") >= request.lifetime:
            answer = condition("capacity revoked")
            own = [node for node in nodes if node.labels.get(REQUEST_LABEL) == request.resize_request]
            answers.revoked += [gone for group in groups if (gone := shrunk_by(group, own)) is not None]
        if answer is not None:
            answers.said.append(Answer(request, (answer,)))
    return answers


def _late(queue: Queue, request: Request, now: float) -> Condition | None:
    if request.patience is None or now - queue.asked_at(request) < request.patience:
        return None
    return condition("late")


def _receive(answers: Answers, queue: Queue, request: Request, pools: dict[str, Group], now: float) -> Condition | None:
    """Accept a request for the pool with the fewest idle chips, or return why not."""
    pods = queue.pods.get(request.uid)
    if pods is None:
        reason, message = "MissingPodTemplates", "Provisioning Request failed because there were missing pod templates"
        found: dict[str, Fit | Misfit] = {}
    else:
        found = {name: fit(group, pods) for name, group in sorted(pools.items())}
        reason, message = explain({name: answer for name, answer in found.items() if isinstance(answer, Misfit)})
    options = [(answer.idle_chips, name, answer) for name, answer in found.items() if isinstance(answer, Fit)]
    if not options:
        waited = now - queue.at(request, "Pending")
        return failed(reason, message) if waited >= GRACE_SECONDS else condition("not accepted")
    _, name, best = min(options, key=lambda option: option[:2])
    group = pools[name]
    pools[name] = group.grown(best.zone, best.nodes)
    details = {
        "AcceleratorType": group.tpu[0] or group.gpu[0],
        "NodeGroupName": group.links[best.zone].rpartition("/")[2],
        "NodePoolAutoProvisioned": "false",
        "NodePoolName": name,
        "ProvisioningMode": "resize_request",
        "ResizeRequestName": request.resize_request,
        "SelectedZone": best.zone,
    }
    answers.said.append(Answer(request, (condition("accepted"), condition("not provisioned")), details))
    return None


def _serve(
    answers: Answers, queue: Queue, request: Request, pools: dict[str, Group], present: Mapping[str, Group], now: float
) -> Condition | None:
    """Provision an accepted request, one per pool at a time; wait for a missing pool."""
    group, pods = pools.get(request.pool), queue.pods.get(request.uid)
    nodes = needed(group, request.zone, pods) if group is not None and pods is not None else 0
    if group is None or not nodes:
        if now - queue.at(request, "Accepted") < GRACE_SECONDS:
            return None
        return condition("lost")
    pools[group.name] = group.grown(request.zone, nodes)
    served = {provision.group.name for provision in answers.provisions}
    if request.uid not in queue.resting and group.name not in served:
        answers.provisions.append(Provision(request, present[group.name], request.zone, nodes))
    return None
