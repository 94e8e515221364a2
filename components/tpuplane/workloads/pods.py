"""The pods of a group of workers: what is alike on TPU and on GPU hosts, and how a pod is written."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Annotated, Any, Protocol

from pydantic import Field, model_validator
from pydantic.alias_generators import to_camel

from tpuplane.gpu import GpuError
from tpuplane.labels import CLASS_LABEL, MACHINE_LABEL, RESERVATION_LABEL, bought_labels
from tpuplane.quantities import canonical
from tpuplane.spec.core.fields import Spec, refuse
from tpuplane.spec.pools.hosts import Capacity
from tpuplane.tpu import SliceError
from tpuplane.workloads.names import LabelName

Manifest = dict[str, Any]

# A host runs GKE's own pods too (https://cloud.google.com/kubernetes-engine/docs/concepts/plan-node-sizes): the part of
# its CPUs and memory that is left for work, on every machine with TPUs or GPUs that GKE offers.
_SHARE = 0.8

INT32 = 2**31 - 1
"""The most that a number of KubeRay's, JobSet's and Kubernetes' own objects can be."""

MOST_REPLICAS = 100_000
"""The most slices, or pods on GPU nodes, of a group: operators count pods in 32 bits, and a slice has up to 1,536."""


class Host(Protocol):
    """What a group of pods must know of the machine type of its hosts."""

    @property
    def name(self) -> str:
        """Compute Engine's name."""

    @property
    def vcpus(self) -> int:
        """Virtual CPUs."""

    @property
    def memory_gb(self) -> int:
        """Memory in GB of 2^30 bytes."""


class PodsSpec(Spec):
    """Equal pods, each on a host with accelerators or on its part of one.

    A change of any of them replaces a Multislice or a RayJob. A RayService changes over to a new cluster. A
    RayCluster's running pods stay as they are, unless it is in a queue.
    """

    machine_type: str | None = None
    """Machine type of the hosts. Default: as for a pool."""

    image: Annotated[str, Field(min_length=1)]
    """Container image."""

    capacity: Capacity | None = None
    """Run on hosts bought in this way only. Default: on any. `reservation` needs the reservation's name. `on-demand`
    does not keep a Ray slice of several hosts off reserved ones, unless a queue does: GKE's TPU webhook writes its own
    affinity over that of such pods."""

    reservation: Annotated[str, Field(min_length=1)] | None = None
    """Run on hosts of this reservation only. Only with capacity: reservation."""

    compute_class: LabelName | None = None
    """Run where this compute class puts it. Default: on pools with the hosts' labels. Not together with `capacity`."""

    cpu: Annotated[int, Field(ge=1)] | None = None
    """CPUs of each pod. Default: four fifths of its part of the host."""

    memory_gb: Annotated[int, Field(ge=1)] | None = None
    """Memory of each pod, in GB of 2^30 bytes. Default: four fifths of its part of the host."""

    env: dict[str, str] = Field(default_factory=dict)
    """Environment of the container. What places a pod in its slice (TPU_WORKER_ID and the like) comes from GKE."""

    @property
    @abstractmethod
    def host(self) -> Host:
        """The machine. Raises `SliceError` or `GpuError` where none is as described."""

    @property
    @abstractmethod
    def devices(self) -> tuple[str, int]:
        """What a pod asks for beside CPUs and memory, and how many; the nodes' taint is called the same."""

    @property
    @abstractmethod
    def device_labels(self) -> dict[str, str]:
        """GKE's labels of nodes with these accelerators."""

    @property
    def per_host(self) -> int:
        """Pods for which one host has room."""
        return 1

    @property
    def absent_labels(self) -> tuple[str, ...]:
        """Labels that the nodes must not have. GKE calls reserved hosts standard, as on-demand ones."""
        return (RESERVATION_LABEL,) if self.capacity == "on-demand" else ()

    @model_validator(mode="after")
    def _check_pods(self) -> PodsSpec:
        try:
            host, parts = self.host, self.per_host
        except (SliceError, GpuError) as error:
            raise refuse(f"{to_camel(error.field)}: {error}") from None
        if self.compute_class is not None and self.capacity is not None:
            raise refuse("capacity: stands beside computeClass, which decides it; remove one")
        if (self.capacity == "reservation") != (self.reservation is not None):
            raise refuse("reservation: goes with capacity: reservation and nothing else; name it, or remove it")
        for field, asked, has in (
            ("cpu", self.cpu, host.vcpus / parts),
            ("memoryGb", self.memory_gb, host.memory_gb / parts),
        ):
            if asked is not None and asked >= has:
                of = host.name if parts == 1 else f"{host.name} that each of its {parts} pods has"
                raise refuse(
                    f"{field}: {asked} leaves nothing for GKE's own pods; allowed: less than the {has:g} of {of}"
                )
        return self


def pod_spec(
    group: PodsSpec, container: str, extra: Manifest | None = None, env: Sequence[dict[str, Any]] = ()
) -> Manifest:
    """`spec` of one pod of the group; `extra` is laid over its only container, `env` follows the group's."""
    host, parts = group.host, group.per_host
    device, count = group.devices
    resources = {
        "cpu": _quantity(group.cpu or host.vcpus * _SHARE / parts, "", "m", 1000),
        "memory": _quantity(group.memory_gb or host.memory_gb * _SHARE / parts, "Gi", "Mi", 1024),
        device: str(count),
    }
    # Kueue leaves out an empty list when it writes the object, and a list that is gone would be a change.
    env = [*({"name": name, "value": value} for name, value in group.env.items()), *env]
    pod: Manifest = {
        "nodeSelector": node_selector(group),
        "tolerations": [{"key": device, "operator": "Exists", "effect": "NoSchedule"}],
        "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [
            {
                "name": container,
                "image": group.image,
                **({"env": env} if env else {}),
                "resources": {"requests": resources, "limits": resources},
                "securityContext": {"allowPrivilegeEscalation": False},
                **(extra or {}),
            }
        ],
    }
    if group.absent_labels:
        pod["affinity"] = affinity_without(*group.absent_labels)
    return pod


def affinity_without(*labels: str) -> Manifest:
    """`affinity` to nodes that have none of these labels."""
    absent = [{"key": label, "operator": "DoesNotExist"} for label in labels]
    required = {"nodeSelectorTerms": [{"matchExpressions": absent}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


def node_selector(group: PodsSpec) -> dict[str, str]:
    """The labels of the group's nodes: GKE's own, so that it runs on pools that anyone made."""
    labels = dict(group.device_labels)
    if group.machine_type is not None:
        labels[MACHINE_LABEL] = group.machine_type
    if group.compute_class is not None:
        labels[CLASS_LABEL] = group.compute_class
    elif group.capacity is not None:
        labels |= bought_labels(group.capacity, group.reservation)
    return labels


def _quantity(amount: float, unit: str, smaller: str, factor: int) -> str:
    """Kubernetes' notation, rounded down; in the smaller unit where it is less than one."""
    return canonical(f"{int(amount)}{unit}" if amount >= 1 else f"{int(amount * factor)}{smaller}")
