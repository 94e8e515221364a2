"""New node pools for pods that fit nowhere: by node auto-provisioning and by compute classes. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tpuplane.labels import ACCELERATOR_LABEL, PROVISIONING_LABEL, TOPOLOGY_LABEL, TPU, ZONE_LABEL
from tpuplane.tpu import Generation, catalogue

from tpuplane_twin.elasticity.classes import ComputeClass
from tpuplane_twin.elasticity.groups import Group
from tpuplane_twin.elasticity.limits import Limits
from tpuplane_twin.elasticity.objects import Pod
from tpuplane_twin.elasticity.offers import CLASS, Offer, generation_called, machine_for, reservation_path
from tpuplane_twin.gcp.views import ClusterView

_PREFIX = "cloud.google.com"


class _NotMade(Exception):
    """No pool is created for the pod. The message is that of the cluster autoscaler."""


@dataclass(frozen=True)
class Provisioning:
    """The rules for new pools of a cluster. `key` is the cluster's resource name."""

    key: str = ""
    cluster: Mapping[str, Any] = field(default_factory=dict)
    classes: Mapping[str, ComputeClass] = field(default_factory=dict)
    limits: Limits = field(default_factory=lambda: Limits({}))
    names: frozenset[str] = frozenset()
    """Names of all node pools of the cluster."""
    reservations: Mapping[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    """The existing reservations by project and name."""

    @property
    def enabled(self) -> bool:
        """Whether node auto-provisioning is on."""
        return ClusterView(self.cluster).auto_provisioning

    @property
    def default_class(self) -> str | None:
        """The class of pods that request none. GKE does not change such pods, so its nodes have no taint.

        https://docs.cloud.google.com/kubernetes-engine/docs/how-to/run-pods-default-compute-classes
        """
        return "default" if ClusterView(self.cluster).default_compute_class else None

    @property
    def zones(self) -> tuple[str, ...]:
        """The zones for new pools."""
        view = ClusterView(self.cluster)
        return tuple(view.auto_provisioning_zones or view.zones)

    def rank(self, group: Group) -> int:
        """The rank of a pool in its compute class: 0 is the highest priority, and the rank without a class."""
        if group.offer is not None:
            return group.offer.rank
        found = self.classes.get(group.compute_class)
        return found.rank(group) if found is not None else 0

    def rule(self, group: Group) -> str:
        """The priority that a stockout of the pool suspends, or empty: see `ComputeClass.rule`."""
        found = self.classes.get(group.compute_class)
        return found.rule(group) if found is not None else ""

    def wanted(self, group: Group) -> bool:
        """Whether a pool may grow; one that matches no priority of its class only if the class allows it."""
        found = self.classes.get(group.compute_class)
        return found is None or found.anyway or self.rank(group) < found.last


def demand(pods: Sequence[Pod], where: Provisioning) -> tuple[list[Offer], dict[str, str]]:
    """The possible new pools for `pods`, which fit nowhere, and the reasons for pods without any."""
    offers: dict[str, Offer] = {}
    reasons: dict[str, str] = {}
    seen: dict[object, str] = {}
    for pod in pods:
        kind = pod.shape()
        if kind not in seen:
            seen[kind] = ""
            try:
                for offer in list(_offers(pod, where)):
                    offers.setdefault(offer.signature, offer)
            except _NotMade as error:
                seen[kind] = str(error)
        if seen[kind]:
            reasons[pod.key] = seen[kind]
    return list(offers.values()), reasons


def asked(pod: Pod, key: str) -> str | None:
    """The only value of a label that the pod's selectors allow; None if there are several or none."""
    requirements = list(pod.selector)
    if pod.node_terms is not None and len(pod.node_terms) == 1:
        requirements += pod.node_terms[0]
    values = (
        term.values for term in requirements if term.key == key and term.operator == "In" and len(term.values) == 1
    )
    return next((value for (value,) in values), None)


def _offers(pod: Pod, where: Provisioning) -> Iterator[Offer]:
    name = asked(pod, CLASS) or where.default_class
    found = where.classes.get(name or "")
    if name is None or (name == where.default_class and found is None):
        if where.enabled:
            yield from _by_selectors(pod, where)
        return
    if found is None:
        raise _NotMade(f"ComputeClass {name} of type {CLASS} not found")
    if not found.creates and not found.anyway:
        raise _NotMade(f"NAP disabled for ComputeClass {name} of type {CLASS}")
    if found.creates:
        for priority in found.priorities:
            for offer in filter(_can_be_made, priority.offers(name, where.zones)):
                yield replace(offer, tainted=name != where.default_class)
    if found.anyway and where.enabled:
        for offer in _by_selectors(pod, where):
            yield replace(offer, compute_class=name, rank=found.last, tainted=name != where.default_class)


def _by_selectors(pod: Pod, where: Provisioning) -> Iterator[Offer]:
    """Node auto-provisioning: the pod's selectors describe the pool."""
    label, topology = asked(pod, ACCELERATOR_LABEL), asked(pod, TOPOLOGY_LABEL)
    chips = pod.requests.get(TPU, 0) // 1000
    if label is None or topology is None or not chips:
        return
    generation = generation_called(label)
    if generation is None or generation.nap_min_version is None:
        raise _NotMade(f'TPU type "{label}" not supported')
    if label not in where.limits.tpu_types:
        raise _NotMade(f'TPU type "{label}" doesn\'t have a limit defined')
    machine = machine_for(generation, topology, chips)
    if machine is None:
        raise _NotMade(f"Accelerator count {chips} is not supported for TPU type {label} with topology {topology}")
    capacity, reservation = _capacity(pod)
    run = asked(pod, f"{_PREFIX}/gke-max-run-duration-seconds")
    found = [
        Offer(
            machine=machine,
            generation=generation,
            topology=topology,
            zone=zone,
            capacity=capacity,
            reservation=reservation,
            max_run_seconds=int(run) if run and run.isdecimal() else None,
        )
        for zone in where.zones
        if asked(pod, ZONE_LABEL) in (None, zone)
    ]
    makeable = [offer for offer in found if _can_be_made(offer)]
    if not makeable:
        raise _NotMade(_nowhere(generation, topology, capacity, where.zones))
    yield from makeable


def _capacity(pod: Pod) -> tuple[str, str]:
    """The provisioning model that the pod requests, and its reservation."""
    spot = asked(pod, f"{_PREFIX}/gke-spot") == "true" or asked(pod, PROVISIONING_LABEL) == "spot"
    flex = asked(pod, f"{_PREFIX}/gke-flex-start") == "true" or asked(pod, PROVISIONING_LABEL) == "flex-start"
    name = asked(pod, f"{_PREFIX}/reservation-name")
    if flex and spot:
        raise _NotMade("pod has misconfigured Flex Start node selectors: Flex Start is incompatible with Spot")
    if name is None:
        return ("spot" if spot else "flex-start" if flex else "on-demand"), ""
    if spot or flex:
        raise _NotMade("a reservation is incompatible with Spot and Flex Start node selectors")
    project, block, sub_block = (
        asked(pod, f"{_PREFIX}/reservation-{part}") for part in ("project", "blocks", "subblocks")
    )
    return "reservation", reservation_path(name, project, block, sub_block)


def _can_be_made(offer: Offer) -> bool:
    """Whether the zone offers the machine by that provisioning model, and the twin can place the slice."""
    if offer.hosts > 1 and offer.generation.placement == "workload-policy" and not offer.policy:
        return False
    if offer.capacity == "flex-start":
        return offer.zone in catalogue().zones(offer.generation.name, flex_start=True)
    return catalogue().zone_offers(offer.zone, offer.generation.name) is not None


def _nowhere(generation: Generation, topology: str, capacity: str, zones: tuple[str, ...]) -> str:
    if generation.placement == "workload-policy":
        return f"multi-host slices of {generation.label} need a workload policy, which the twin does not make by itself"
    return f"no autoprovisioning location ({', '.join(zones)}) offers {generation.label} {topology} as {capacity}"
