"""Views of ProvisioningRequests, for tests of the autoscaler's decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tpuplane_twin.cluster.nodes import REQUEST_LABEL
from tpuplane_twin.elasticity.decision import Decision, View, decide
from tpuplane_twin.elasticity.groups import Group
from tpuplane_twin.elasticity.objects import Node, Pod
from tpuplane_twin.elasticity.queued import Queue
from tpuplane_twin.elasticity.requests import Request, pods_of

from tests.support.elasticity.elastic_objects import group, nodes, pod_json

Json = dict[str, Any]
TPU = "google.com/tpu"
TOLERATIONS = [{"operator": "Exists"}]
BOOKING = 60.0


def queued_slice(name: str = "later", size: int = 0) -> Group:
    """A v6e 4x4 slice with queued provisioning."""
    return group(
        name,
        "ct6e-standard-4t",
        initialNodeCount=size,
        placementPolicy={"type": "COMPACT", "tpuTopology": "4x4"},
        autoscaling={"enabled": True, "maxNodeCount": 4},
        queuedProvisioning={"enabled": True},
    )


def queued_hosts(most: int, name: str = "small") -> Group:
    """Single-host v6e 2x4 slices with queued provisioning."""
    limits = {"enabled": True, "maxNodeCount": most}
    return group(name, "ct6e-standard-8t", autoscaling=limits, queuedProvisioning={"enabled": True})


def template(chips: int = 4, topology: str = "4x4") -> Json:
    """A PodTemplate's `template`, as Kueue writes it for an admitted pod set."""
    selector = {"cloud.google.com/gke-tpu-topology": topology, "cloud.google.com/gke-queued": "true"}
    spec = {"nodeSelector": selector, "tolerations": TOLERATIONS}
    made = pod_json("t", requests={TPU: chips}, spec=spec)
    return {"metadata": {"labels": {"app": "t"}}, "spec": made["spec"]}


def request(name: str, *reached: str, pods: int = 4, **fields: Any) -> Request:
    """A request for so many hosts, in the state that these true conditions make."""
    found = Request.parse(
        {
            "metadata": {
                "name": name,
                "namespace": "research",
                "uid": name,
                "creationTimestamp": fields.pop("at", "1"),
            },
            "spec": {
                "provisioningClassName": fields.pop("of", "queued-provisioning.gke.io"),
                "podSets": [{"podTemplateRef": {"name": "t"}, "count": pods}],
                "parameters": fields.pop("parameters", {}),
            },
            "status": {
                "conditions": [
                    {"type": condition_type, "status": "True", "reason": condition_type, "message": condition_type}
                    for condition_type in reached
                ],
                "provisioningClassDetails": fields.pop("details", {}),
            },
        }
    )
    assert found is not None
    return found


def served(name: str, *reached: str, pool: str = "later", **fields: Any) -> Request:
    """A request that a pool was found for."""
    return request(name, "Accepted", *reached, details={"NodePoolName": pool, "SelectedZone": "us-east5-b"}, **fields)


def asks(asked_for: Request, **fields: Any) -> tuple[Pod, ...]:
    found = pods_of(asked_for, {"t": template(**fields)})
    assert found is not None
    return found


def answered(
    requests: Sequence[Request],
    *groups: Group,
    now: float = 0.0,
    pods: Mapping[str, tuple[Pod, ...] | None] | None = None,
    resting: frozenset[str] = frozenset(),
    there: Sequence[Node] | None = None,
    running: Sequence[Pod] = (),
    since: Mapping[str, float] | None = None,
    delay: float = 60.0,
) -> Decision:
    """What is decided `now` for requests that came at 0."""
    asked = {each_request.uid: asks(each_request) for each_request in requests} if pods is None else dict(pods)
    times = {(each_request.uid, each_request.state): 0.0 for each_request in requests}
    queue = Queue(requests, asked, times, resting, BOOKING)
    view = View(nodes(*groups) if there is None else there, running, groups, queue=queue)
    return decide(view, since or {}, now, delay)


def said(decision: Decision) -> dict[str, list[tuple[str, bool, str]]]:
    """Type, status and reason of what each request is to say."""
    return {
        answer.request.name: [(condition.type, condition.status, condition.reason) for condition in answer.conditions]
        for answer in decision.answers.said
    }


def made_for(asked_for: Request, pool: Group) -> list[Node]:
    """The pool's nodes, labelled as the request's."""
    return [replace(node, labels={**node.labels, REQUEST_LABEL: asked_for.resize_request}) for node in nodes(pool)]
