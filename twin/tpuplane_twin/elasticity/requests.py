"""ProvisioningRequests as the autoscaler sees them, and GKE's conditions of them. Pure.

States, reasons and messages are those of GKE's own cluster autoscaler (GoogleCloudPlatform/cluster-autoscaler,
pkg/provisioningrequests).
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Literal, Self

from tpuplane.data_files import read_data

from tpuplane_twin.elasticity.objects import Pod

Object = Mapping[str, Any]
State = Literal["Pending", "Accepted", "Provisioned", "BookingExpired", "CapacityRevoked", "Failed"]

CLASS_NAME = "queued-provisioning.gke.io"
"""The class of requests for queued provisioning; requests of other classes are ignored."""
LIFETIME_SECONDS = 604_800
"""The default lifetime of a request's nodes."""

_FURTHEST_FIRST: tuple[State, ...] = ("CapacityRevoked", "BookingExpired", "Failed", "Provisioned", "Accepted")
_NAME_LENGTHS = (18, 26, 8)  # of namespace, request and digest in a resize request's name, 63 in all at most
_data = cache(partial(read_data, "tpuplane_twin.elasticity", "requests"))


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition of a request."""

    type: str
    status: bool
    reason: str
    message: str


def condition(name: str) -> Condition:
    """The condition of this name in `data/requests.yaml`."""
    return Condition(**_data()["conditions"][name])


def failed(reason: str, message: str) -> Condition:
    """The request has failed; Kueue creates another one."""
    return Condition("Failed", True, reason, message)


def out_of_capacity(error: str) -> Condition:
    """The request waits for capacity; it does not fail."""
    reason = "QuotaExceeded" if "quota" in error.lower() else "ResourcePoolExhausted"
    return Condition("Provisioned", False, reason, error)


@dataclass(frozen=True, slots=True)
class Request:
    """A ProvisioningRequest of GKE's class. `pod_sets` are names of PodTemplates and how many pods of each."""

    namespace: str
    name: str
    uid: str
    created: str
    state: State
    pod_sets: tuple[tuple[str, int], ...]
    parameters: Mapping[str, str]
    details: Mapping[str, str]
    conditions: tuple[Condition, ...] = ()
    provisioned: str = ""
    """When it got its nodes, or empty."""

    @classmethod
    def parse(cls, item: Object) -> Self | None:
        """Read a request; None for one of another class."""
        metadata, spec, status = item["metadata"], item["spec"], item.get("status", {})
        if spec["provisioningClassName"] != CLASS_NAME:
            return None
        found = status.get("conditions", ())
        conditions = tuple(
            Condition(state["type"], state["status"] == "True", state["reason"], state["message"]) for state in found
        )
        reached = {state["type"]: state.get("lastTransitionTime", "") for state in found if state["status"] == "True"}
        return cls(
            namespace=metadata["namespace"],
            name=metadata["name"],
            uid=metadata["uid"],
            created=metadata.get("creationTimestamp", ""),
            state=next((state for state in _FURTHEST_FIRST if state in reached), "Pending"),
            pod_sets=tuple((pod_set["podTemplateRef"]["name"], pod_set["count"]) for pod_set in spec["podSets"]),
            parameters=spec.get("parameters", {}),
            details=status.get("provisioningClassDetails", {}),
            conditions=conditions,
            provisioned=reached.get("Provisioned", ""),
        )

    @property
    def pool(self) -> str:
        """The node pool that serves it, once it is accepted."""
        return self.details.get("NodePoolName", "")

    @property
    def zone(self) -> str:
        """The zone that serves it, once it is accepted."""
        return self.details.get("SelectedZone", "")

    @property
    def resize_request(self) -> str:
        """The name of its resize request, a label of its nodes."""
        digest = hashlib.sha256(f"{self.namespace}/{self.name}".encode()).hexdigest()
        parts = (part[:most] for part, most in zip((self.namespace, self.name, digest), _NAME_LENGTHS, strict=True))
        return "gke-" + "-".join(part.strip("-.") for part in parts)

    @property
    def lifetime(self) -> int:
        """Lifetime of its nodes in seconds."""
        return self._seconds("maxRunDurationSeconds") or LIFETIME_SECONDS

    @property
    def patience(self) -> int | None:
        """Seconds until it fails without nodes; None: it waits."""
        return self._seconds("ValidUntilSeconds")

    @property
    def over(self) -> bool:
        """Whether it is finished."""
        return self.state in ("Failed", "CapacityRevoked")

    def _seconds(self, parameter: str) -> int | None:
        text = self.parameters.get(parameter, "")
        return int(text) if text.isdecimal() and int(text) else None


def pods_of(request: Request, templates: Mapping[str, Object]) -> tuple[Pod, ...] | None:
    """The pods of a request, from its PodTemplates by name; None if a template is missing."""
    pods: list[Pod] = []
    for name, count in request.pod_sets:
        template = templates.get(name)
        if template is None:
            return None
        for number in range(count):
            key = f"{name}-{number}"
            metadata = {**template.get("metadata", {}), "namespace": request.namespace, "name": key, "uid": key}
            found = Pod.parse({"metadata": metadata, "spec": template["spec"]})
            if found is not None:
                pods.append(found)
    return tuple(pods)
