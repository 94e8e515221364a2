"""The pods of a slice: how many, where they may run and what they ask for. All of it follows from the slice."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, model_validator

from tpuplane.spec.capacity import Capacity
from tpuplane.spec.fields import Name, Spec, refuse
from tpuplane.tpu import Slice, SliceError

TPU = "google.com/tpu"
Manifest = dict[str, Any]

# A host runs GKE's own pods too (https://cloud.google.com/kubernetes-engine/docs/concepts/plan-node-sizes): the part of
# its CPUs and memory that is left for a TPU pod, on every machine that GKE offers.
_SHARE = 0.8

_CAPACITY_LABELS: dict[Capacity, dict[str, str]] = {
    "on-demand": {"cloud.google.com/gke-provisioning": "standard"},
    "spot": {"cloud.google.com/gke-spot": "true"},
    "flex-start": {"cloud.google.com/gke-flex-start": "true"},
}


class SliceGroupSpec(Spec):
    """Pods on slices of one shape: one for each host, with all of the host's chips."""

    generation: str
    """TPU generation, such as v6e."""

    topology: str
    """Chips of one slice along each axis, such as 4x4."""

    machine_type: str | None = None
    """Machine type of the hosts. Default: as for a pool."""

    image: Annotated[str, Field(min_length=1)]
    """Container image."""

    capacity: Capacity | None = None
    """Run on slices bought in this way only. Default: on any. `reservation` needs the reservation's name."""

    reservation: str | None = None
    """Run on hosts of this reservation only. Only with capacity: reservation."""

    compute_class: Name | None = None
    """Run where this compute class puts it. Default: on pools with the slice's labels. Not together with `capacity`."""

    cpu: Annotated[int, Field(ge=1)] | None = None
    """CPUs of each pod. Default: four fifths of the host's."""

    memory_gb: Annotated[int, Field(ge=1)] | None = None
    """Memory of each pod, in GB of 2^30 bytes. Default: four fifths of the host's."""

    env: dict[str, str] = Field(default_factory=dict)
    """Environment of the container. What places a pod in its slice (TPU_WORKER_ID and the like) comes from GKE."""

    @model_validator(mode="after")
    def _check(self) -> SliceGroupSpec:
        try:
            shape = self.slice
        except SliceError as error:
            raise refuse(f"{error.field}: {error}") from None
        if self.compute_class is not None and self.capacity is not None:
            raise refuse("capacity: stands beside computeClass, which decides it; remove one")
        if (self.capacity == "reservation") != (self.reservation is not None):
            raise refuse("reservation: goes with capacity: reservation and nothing else; name it, or remove it")
        for field, asked, has in (
            ("cpu", self.cpu, shape.machine.vcpus),
            ("memoryGb", self.memory_gb, shape.machine.memory_gb),
        ):
            if asked is not None and asked >= has:
                raise refuse(
                    f"{field}: {asked} leaves nothing for GKE's own pods; allowed: less than the {has} of "
                    f"{shape.machine.name}"
                )
        return self

    @property
    def slice(self) -> Slice:
        """The shape of one slice."""
        return Slice.of(self.generation, self.topology, self.machine_type)


def slice_pod(group: SliceGroupSpec, container: str, extra: Manifest | None = None) -> Manifest:
    """`spec` of one pod of the group; `extra` is laid over its only container."""
    shape = group.slice
    resources = {
        "cpu": str(group.cpu or int(shape.machine.vcpus * _SHARE)),
        "memory": f"{group.memory_gb or int(shape.machine.memory_gb * _SHARE)}Gi",
        TPU: str(shape.machine.chips),
    }
    return {
        "nodeSelector": node_selector(group),
        "tolerations": [{"key": TPU, "operator": "Exists", "effect": "NoSchedule"}],
        "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [
            {
                "name": container,
                "image": group.image,
                "env": [{"name": name, "value": value} for name, value in group.env.items()],
                "resources": {"requests": resources, "limits": resources},
                "securityContext": {"allowPrivilegeEscalation": False},
                **(extra or {}),
            }
        ],
    }


def node_selector(group: SliceGroupSpec) -> dict[str, str]:
    """The labels of the group's nodes: GKE's own, so that it runs on pools that anyone made."""
    labels = {
        key: value for key, value in group.slice.node_labels.items() if key != "cloud.google.com/gke-accelerator-count"
    }
    if group.machine_type is not None:
        labels["node.kubernetes.io/instance-type"] = group.machine_type
    if group.compute_class is not None:
        labels["cloud.google.com/compute-class"] = group.compute_class
    elif group.reservation is not None:
        labels["cloud.google.com/reservation-name"] = group.reservation
    elif group.capacity is not None:
        labels |= _CAPACITY_LABELS[group.capacity]
    return labels
