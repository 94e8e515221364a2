"""The pods of a group of workers on TPU and GPU hosts."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Annotated, Any, Self

from pydantic import Field, model_validator
from pydantic.alias_generators import to_camel

from tpuplane.data_files import filled, read_data
from tpuplane.gpu import GpuError, GpuMachine
from tpuplane.labels import CLASS_LABEL, MACHINE_LABEL, RESERVATION_LABEL, bought_labels
from tpuplane.quantities import canonical
from tpuplane.spec.core.fields import Spec, reject, text
from tpuplane.spec.pools.hosts import Capacity
from tpuplane.tpu import MachineType, SliceError
from tpuplane.workloads.names import LabelName

Manifest = dict[str, Any]

PARTS: dict[str, Any] = read_data("tpuplane.workloads", "manifests")
"""Templates of parts of manifests."""

SHARE = 0.8
"""The share of CPUs and memory for workloads, on every machine type with TPUs or GPUs. GKE's own pods need the rest
(https://cloud.google.com/kubernetes-engine/docs/concepts/plan-node-sizes)."""

INT32 = 2**31 - 1
"""The largest number in objects of KubeRay, JobSet and Kubernetes."""

MOST_REPLICAS = 100_000
"""The most slices, or pods on GPU nodes, of a group. Operators count pods in 32 bits; a slice has up to 1,536 pods."""


class PodsSpec(Spec):
    """Equal pods, each on a host with accelerators or on a part of one.

    A change to a field replaces a Multislice or a RayJob. A RayService switches to a new cluster. The running pods of a
    RayCluster do not change, unless it is in a queue.
    """

    machine_type: str | None = None
    """Machine type of the hosts. Default: the same as for a pool."""

    image: Annotated[str, *text("image")]
    """Container image."""

    capacity: Capacity | None = None
    """Run only on hosts with this capacity. Default: on all hosts. `reservation` needs the name of the reservation.
    With `on-demand`, a multi-host Ray slice can still run on reserved hosts, unless a queue prevents it, because GKE's
    TPU webhook overwrites the affinity of its pods."""

    reservation: Annotated[str, Field(min_length=1)] | None = None
    """Run only on hosts of this reservation. Only with capacity: reservation."""

    compute_class: LabelName | None = None
    """Run on nodes of this compute class. Default: on pools with the labels of the hosts. Not together with
    `capacity`."""

    cpu: Annotated[int, Field(ge=1)] | None = None
    """CPUs of each pod. Default: 80% of its part of the host."""

    memory_gb: Annotated[int, Field(ge=1)] | None = None
    """Memory of each pod, in GB of 2^30 bytes. Default: 80% of its part of the host."""

    env: dict[Annotated[str, *text("environmentName")], str] = Field(default_factory=dict)
    """Environment of the container. GKE sets variables such as TPU_WORKER_ID, which give a pod its place in a slice."""

    @property
    @abstractmethod
    def host(self) -> MachineType | GpuMachine:
        """The machine type. Raises `SliceError` or `GpuError` if none matches."""

    @property
    @abstractmethod
    def devices(self) -> tuple[str, int]:
        """The resource that a pod requests in addition to CPUs and memory, which is also the key of the nodes' taint,
        and its amount."""

    @property
    @abstractmethod
    def device_labels(self) -> dict[str, str]:
        """GKE's labels of nodes with these accelerators."""

    @property
    def per_host(self) -> int:
        """Pods on one host."""
        return 1

    @property
    def host_ipc(self) -> bool:
        """Whether the pods share memory with processes of the host."""
        return False

    @property
    def absent_labels(self) -> tuple[str, ...]:
        """Labels that the nodes must not have. Reserved and on-demand hosts have the same provisioning label."""
        return (RESERVATION_LABEL,) if self.capacity == "on-demand" else ()

    @model_validator(mode="after")
    def _check_pods(self) -> Self:
        try:
            host, parts = self.host, self.per_host
        except (SliceError, GpuError) as error:
            raise reject(f"{to_camel(error.field)}: {error}") from None
        if self.compute_class is not None and self.capacity is not None:
            raise reject("capacity: not allowed with computeClass, which sets it; remove one")
        if (self.capacity == "reservation") != (self.reservation is not None):
            raise reject("reservation: required with capacity: reservation, and only with it; name it, or remove it")
        owner = host.name if parts == 1 else f"{host.name} for each of its {parts} pods"
        for field, asked, whole in (("cpu", self.cpu, host.vcpus), ("memoryGb", self.memory_gb, host.memory_gb)):
            if asked is not None and asked >= whole / parts:
                allowed = f"less than the {whole / parts:g} of {owner}"
                raise reject(f"{field}: {asked} leaves no room for GKE's own pods; allowed: {allowed}")
        return self


def pod_spec(
    group: PodsSpec, container: str, extra: Manifest | None = None, env: Sequence[dict[str, Any]] = ()
) -> Manifest:
    """`spec` of a pod of the group. `extra` has further fields of its container, `env` further variables."""
    host, parts = group.host, group.per_host
    device, count = group.devices
    resources = {
        "cpu": _quantity(group.cpu or host.vcpus * SHARE / parts, "", "m", 1000),
        "memory": _quantity(group.memory_gb or host.memory_gb * SHARE / parts, "Gi", "Mi", 1024),
        device: str(count),
    }
    # Kueue omits an empty list when it writes the object, which would be a difference in the next preview.
    env = [*({"name": name, "value": value} for name, value in group.env.items()), *env]
    values = {
        "$selector": node_selector(group),
        "$device": device,
        "$container": container,
        "$image": group.image,
        "$env": env or None,
        "$resources": resources,
        "$hostIpc": group.host_ipc or None,
        "$affinity": affinity_without(*group.absent_labels) if group.absent_labels else None,
    }
    pod: Manifest = filled(PARTS["pod"], values)
    pod["containers"][0] |= extra or {}
    return pod


def affinity_without(*labels: str) -> Manifest:
    """`affinity` to nodes that have none of these labels."""
    absent = [{"key": label, "operator": "DoesNotExist"} for label in labels]
    required = {"nodeSelectorTerms": [{"matchExpressions": absent}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


def node_selector(group: PodsSpec) -> dict[str, str]:
    """The labels of the group's nodes. They are GKE's labels, so the group can run on pools of other tools."""
    labels = dict(group.device_labels)
    if group.machine_type is not None:
        labels[MACHINE_LABEL] = group.machine_type
    if group.compute_class is not None:
        labels[CLASS_LABEL] = group.compute_class
    elif group.capacity is not None:
        labels |= bought_labels(group.capacity, group.reservation)
    return labels


def _quantity(amount: float, unit: str, smaller: str, factor: int) -> str:
    """Kubernetes' notation, rounded down; in the smaller unit if the amount is less than one."""
    return canonical(f"{int(amount)}{unit}" if amount >= 1 else f"{int(amount * factor)}{smaller}")
