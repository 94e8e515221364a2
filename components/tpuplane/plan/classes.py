"""Compute classes: their objects in Kubernetes, with the names of the catalogue and of the node pools."""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tpuplane.labels import CLASS_LABEL
from tpuplane.plan.pools import Context, NodePoolPlan
from tpuplane.spec.classes.checks import slice_of
from tpuplane.spec.classes.compute_class import ComputeClassSpec
from tpuplane.spec.classes.nodes import ClassNodePoolConfigSpec
from tpuplane.spec.classes.priorities import ClassPrioritySpec
from tpuplane.spec.pools.hosts import HostsSpec
from tpuplane.spec.pools.machine_checks import gpu_machines


@dataclass(frozen=True, slots=True)
class ClassPriorityPlan:
    """One priority of a class for users: its capacity, and its nodes."""

    capacity: str  # "spot", "flex-start", "on-demand", "reservation", or "node pools"
    nodes: str  # "v6e 4x4", "a3-highgpu-8g", or the node pools' names

    def __str__(self) -> str:
        return f"{self.capacity} {self.nodes}"


@dataclass(frozen=True, slots=True)
class ComputeClassPlan:
    """One ComputeClass of a cluster. `spec` is the object's, without the service account and key of the cluster."""

    name: str
    spec: dict[str, Any]
    makes_pools: bool  # GKE creates node pools for it, with the account and the disk key of the cluster's other nodes
    default_namespaces: tuple[str, ...]
    priorities: tuple[ClassPriorityPlan, ...]


_OURS = {"clusters", "default_namespaces", "preset", "tpu", "reservation"}
_PRIORITY_OURS = {"nodepools", "tpu", "reservations"}
# Google's spelling of names that differs from pydantic's camel case.
_SPELLED = {
    "bootDiskKmsKey": "bootDiskKMSKey",
    "localSsdCount": "localSSDCount",
    "maxSharedClientsPerGpu": "maxSharedClientsPerGPU",
}


def in_classes(pools: Iterable[NodePoolPlan], owners: Mapping[str, str | None]) -> tuple[NodePoolPlan, ...]:
    """The node pools. Those of a class have its label. `owners` are the classes of pools by the keys of the pools."""
    return tuple(
        replace(pool, compute_class=owner, node_labels={**pool.node_labels, CLASS_LABEL: owner})
        if (owner := owners.get(pool.pool))
        else pool
        for pool in pools
    )


def compute_class(
    name: str, spec: ComputeClassSpec, context: Context, pools: Mapping[str, HostsSpec] | None = None
) -> ComputeClassPlan:
    """One class, in which priorities replace the preset. `pools` are the described pools of the cluster."""
    priorities = spec.priorities or ()
    made = any(switch and switch.enabled for switch in (spec.node_pool_auto_creation, spec.autopilot))
    body = {
        "priorities": [_priority(priority, context, pools or {}) for priority in priorities],
        **_plain(spec, _OURS | {"priorities"}),
    }
    if made or spec.node_pool_config is not None:
        # The nodes that GKE creates have the same hardening as declared nodes.
        body["nodePoolConfig"] = _plain(spec.node_pool_config or ClassNodePoolConfigSpec(), set())
    return ComputeClassPlan(
        name=name,
        spec=body,
        makes_pools=made,
        default_namespaces=spec.default_namespaces,
        priorities=tuple(map(_summary, priorities)),
    )


def _plain(model: Any, without: set[str]) -> dict[str, Any]:
    return dict(_respelled(model.model_dump(mode="json", by_alias=True, exclude_none=True, exclude=without)))


def _respelled(value: Any) -> Any:
    if isinstance(value, dict):
        return {_SPELLED.get(key, key): _respelled(item) for key, item in value.items()}
    return [_respelled(item) for item in value] if isinstance(value, list) else value


def _priority(priority: ClassPrioritySpec, context: Context, pools: Mapping[str, HostsSpec]) -> dict[str, Any]:
    body = _plain(priority, _PRIORITY_OURS)
    shape = slice_of(priority)
    if priority.nodepools is not None:
        # In an existing cluster, a priority names node pools without a description.
        names = (pools[key].names(key).every() if key in pools else (key,) for key in priority.nodepools)
        body["nodepools"] = list(itertools.chain.from_iterable(names))
    if shape is not None:
        body["tpu"] = {"type": shape.generation.label, "count": shape.machine.chips, "topology": shape.topology}
        body.setdefault("maxPodsPerNode", _PODS)
        disks = shape.generation.boot_disk_types  # the preferred one first; empty if the generation supports all
        body["storage"] = ({"bootDiskType": disks[0]} if disks else {}) | body.get("storage", {})
    machines = gpu_machines(priority)
    if not all("pd-balanced" in machine.boot_disks for machine in machines):  # GKE's default
        body["storage"] = {"bootDiskType": machines[0].boot_disks[0]} | body.get("storage", {})
    if priority.reservations is not None:
        body["reservations"] = _reservations(priority, context)
    return body


# As for declared pools: a TPU host runs one workload and system pods.
_PODS = 32


def _reservations(priority: ClassPrioritySpec, context: Context) -> dict[str, Any]:
    body = _plain(priority.reservations, set())
    for use in body.get("specific", ()):
        owner = context.reservations[use["name"]].project
        if owner is not None and owner != context.project:
            use["project"] = owner
    return body


def _summary(priority: ClassPrioritySpec) -> ClassPriorityPlan:
    if priority.nodepools is not None:
        return ClassPriorityPlan("node pools", ", ".join(priority.nodepools))
    drawn = priority.reservations
    if priority.spot:
        capacity = "spot"
    elif priority.flex_start is not None and priority.flex_start.enabled:
        capacity = "flex-start"
    elif drawn is not None and drawn.specific:
        capacity = f"reservation {', '.join(use.name for use in drawn.specific)}"
    else:
        capacity = "on-demand"
    if (shape := slice_of(priority)) is not None:
        nodes = str(shape)
    elif priority.gpu is not None and priority.gpu.type is not None:
        nodes = f"{priority.gpu.count or 1} {priority.gpu.type}"
    else:
        nodes = priority.machine_type or priority.machine_family or priority.pod_family or "any machine"
    return ClassPriorityPlan(capacity, nodes)
