"""The queued pools that can serve a request: all its pods on new nodes in one zone of one pool. Pure.

Reasons and messages are those of GKE's cluster autoscaler (pkg/provisioningrequests/scaleup/reasons).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tpuplane.labels import TPU

from tpuplane_twin.elasticity.groups import Group
from tpuplane_twin.elasticity.objects import Pod
from tpuplane_twin.elasticity.simulation import Simulation

TOO_LARGE = "ProvisioningRequestSingleZoneInfeasible"
FULL = "NodepoolSizeReached"
LIMITED = "OutOfResources"
UNSCHEDULABLE = "ProvisioningRequestNotSchedulableInNodepool"
NO_POOL = "NoQueuedNodepoolAvailable"

# In the order in which GKE reports them.
_MESSAGES = {
    TOO_LARGE: "Provisioning Request cannot be scheduled in a single zone of a single nodepool",
    FULL: "Max nodepool size reached",
    LIMITED: "Max cluster limit reached",
    UNSCHEDULABLE: "Provisioning Request's pods cannot be scheduled in the nodepool",
}
_NO_POOL_MESSAGE = "No nodepool with QueuedProvisioning enabled is available for scale up"


@dataclass(frozen=True, slots=True)
class Misfit:
    """Why a pool cannot serve a request; `error` is the scheduler's message for its nodes."""

    reason: str
    error: str = ""


@dataclass(frozen=True, slots=True)
class Fit:
    """The number of new nodes in a zone that hold all pods of a request."""

    zone: str
    nodes: int
    idle_chips: int


def fit(group: Group, pods: Sequence[Pod]) -> Fit | Misfit:
    """How the pool serves the pods, or why it cannot."""
    for zone in group.growing_zones():
        nodes = needed(group, zone, pods, group.room(zone))
        if nodes:
            chips = nodes * group.templates[zone].allocatable.get(TPU, 0)
            return Fit(zone, nodes, chips - sum(pod.requests.get(TPU, 0) for pod in pods))
    if any(needed(group, zone, pods) for zone in group.zones):
        return Misfit(LIMITED if group.capped(None).growing_zones() else FULL)
    empty = Simulation(group.templates.values(), ())
    for pod in pods:
        errors = [empty.mismatch(pod, at) for at in range(len(empty.nodes))]
        if all(errors):
            return Misfit(UNSCHEDULABLE, str(errors[0]))
    return Misfit(TOO_LARGE)


def needed(group: Group, zone: str, pods: Sequence[Pod], room: int | None = None) -> int:
    """New nodes in the zone that hold all pods; 0 if `room`, or the whole pool, is too small."""
    if room is None:
        room = group.hosts if group.is_slice else group.totals[1] if group.totals else group.maximum
    simulation, own = Simulation((), ()), list[int]()
    for number in range(group.hosts if group.is_slice else 0):
        own.append(simulation.add(group.future(zone, number)))
    for pod in pods:
        if simulation.place(pod, own) is None:
            if group.is_slice:
                return 0
            own.append(simulation.add(group.future(zone, len(own))))
            if simulation.place(pod, own[-1:]) is None:
                return 0
    return len(own) if len(own) <= room else 0


def explain(misfits: Mapping[str, Misfit]) -> tuple[str, str]:
    """Reason and message for a request that no pool can serve."""
    for reason, message in _MESSAGES.items():
        found = {name: misfit.error for name, misfit in sorted(misfits.items()) if misfit.reason == reason}
        if reason == UNSCHEDULABLE and found:
            errors = ", ".join(f"{name} ({error})" for name, error in found.items())
            return reason, f"{message}. Predicate checking errors: {errors}"
        if found:
            return reason, f"{message}, affected nodepools: {', '.join(found)}"
    return NO_POOL, _NO_POOL_MESSAGE
