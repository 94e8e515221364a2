"""The labels of nodes, as far as a stack shows them."""

import re
from collections.abc import Mapping
from typing import Any

from tpuplane.cpu import cpu_catalogue
from tpuplane.labels import (
    ACCELERATOR_LABEL,
    CLASS_LABEL,
    GKE_POOL_LABEL,
    GPU,
    GPU_LABEL,
    MACHINE_LABEL,
    PROVISIONING_LABEL,
    QUEUED_LABEL,
    REGION_LABEL,
    RESERVATION_LABEL,
    TOPOLOGY_LABEL,
    TPU,
    ZONE_LABEL,
    bought_labels,
)
from tpuplane.spec.core.locations import is_zone, region_of

from tpuplane_policies.core.resources import Resource
from tpuplane_policies.core.values import UNKNOWN, Truth, Value
from tpuplane_policies.rules import pools as of_pools
from tpuplane_policies.rules.places import zones

SHAPE_LABELS = {TPU: (ACCELERATOR_LABEL, TOPOLOGY_LABEL), GPU: (GPU_LABEL, MACHINE_LABEL)}
"""The node labels that relate quota of a resource to pools."""
FAMILY_LABEL, IMAGE_LABEL = "cloud.google.com/machine-family", "cloud.google.com/gke-os-distribution"
OTHER_LABEL = "use a label that the pool sets, or exempt the flavor"
_DERIVED = dict.fromkeys(
    (
        *(ACCELERATOR_LABEL, TOPOLOGY_LABEL, GPU_LABEL, QUEUED_LABEL, RESERVATION_LABEL, CLASS_LABEL),
        *(key for capacity in ("spot", "flex-start") for key in bought_labels(capacity)),
    )
)
"""Labels that a pool does not have if `node_labels` derives no value."""
_BY_GKE = re.compile(r"(cloud\.google\.com|([a-z0-9-]+\.)*(kubernetes|gke)\.io)/.*")
"""Labels that GKE and Kubernetes set."""


def have(nodes: Mapping[str, Any], flavor: Value) -> Truth:
    """Whether nodes have the labels of a flavor. It is unknown if that depends on labels that only GKE knows."""
    wrong = [key for key, value in flavor.get({}).items() if nodes.get(key) != value]
    hidden = [key for key in wrong if nodes.get(key, UNKNOWN) is UNKNOWN and _BY_GKE.fullmatch(key)]
    if not wrong or len(hidden) < len(wrong):
        return Truth(not wrong)
    return Truth(None, tuple(Value(UNKNOWN, f"nodes' {key}", flavor.resource, remedy=OTHER_LABEL) for key in hidden))


def node_labels(pool: Resource) -> dict[str, Any]:
    """The known labels of a pool's nodes: its own and GKE's. None for those that its nodes do not have."""
    accelerated = of_pools.tpu_slice(pool) or of_pools.gpu_machine(pool)
    labels = {**_DERIVED, **pool["nodeConfig.labels"].get({}), **_gpu_label(pool)}
    labels |= {**(accelerated.node_labels if accelerated else {}), **_machine_labels(pool), **_place_labels(pool)}
    labels[GKE_POOL_LABEL] = pool["name"].get("")
    bought = of_pools.capacities(pool) or ["on-demand"]
    if "preemptible" not in bought:
        labels[PROVISIONING_LABEL] = next((each for each in bought if each in ("spot", "flex-start")), "standard")
    for capacity in bought:
        reserved = pool["nodeConfig.reservationAffinity.values"].get([]) if capacity == "reservation" else []
        labels |= bought_labels(capacity, next(iter(reserved), None))
    if pool["queuedProvisioning.enabled"].is_true:
        labels[QUEUED_LABEL] = "true"
    if of_pools.is_cube(pool):
        labels[TOPOLOGY_LABEL] = None  # its hosts have a topology only while they are in a slice
    return labels


def _gpu_label(pool: Resource) -> dict[str, Any]:
    """The label of GPUs; UNKNOWN for those of a machine type that the catalogue does not describe."""
    if not of_pools.has_gpus(pool):
        return {}
    return {GPU_LABEL: next((model for model, count in of_pools.gpus(pool) if model and count), UNKNOWN)}


def _machine_labels(pool: Resource) -> dict[str, Any]:
    """Those of the machine type and the image."""
    machine, image = str(pool["nodeConfig.machineType"].get("")), str(pool["nodeConfig.imageType"].get("")).upper()
    labels = {} if image.startswith("WINDOWS") else {"kubernetes.io/os": "linux"}
    if image.startswith(("COS", "UBUNTU")):
        labels[IMAGE_LABEL] = "cos" if image.startswith("COS") else "ubuntu"
    if machine:
        name = "n1" if machine.startswith("custom-") else machine.partition("-")[0]
        labels |= {MACHINE_LABEL: machine, FAMILY_LABEL: name}
        family = cpu_catalogue().families.get(name)
        if family or of_pools.tpu_hosts(pool) or of_pools.gpu_machine(pool):
            labels["kubernetes.io/arch"] = "arm64" if family and family.arm else "amd64"
    return labels


def _place_labels(pool: Resource) -> dict[str, Any]:
    """The region, and the zone of a pool in one zone."""
    known = [at.raw for at in zones(pool).each()]
    if not known or not isinstance(known[0], str):
        return {}
    labels = {REGION_LABEL: region_of(known[0])}
    if len(known) == 1 and is_zone(known[0]):
        labels[ZONE_LABEL] = known[0]
    return labels
