"""A GKE node pool as Kubernetes nodes: names, labels, taints and capacity as GKE's own nodes have them. Pure."""

import hashlib
import ipaddress
import json
import secrets
import string
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from tpuplane.data_files import formatted, read_data
from tpuplane.labels import ACCELERATOR_LABEL, COUNT_LABEL, GPU, TOPOLOGY_LABEL, TPU, sub_slice_label
from tpuplane.tpu import Slice
from tpuplane.tpu.catalogue import region_of

from tpuplane_twin.cluster.addresses import node_address
from tpuplane_twin.cluster.api import Object, timestamp
from tpuplane_twin.cluster.capacity import Gpus, capacity_labels
from tpuplane_twin.cluster.machines import allocatable_cpu, allocatable_memory, architecture, ephemeral_storage, machine
from tpuplane_twin.gcp.backend import node_numbers
from tpuplane_twin.gcp.container.answers import own_taints
from tpuplane_twin.gcp.container.names import instance_name
from tpuplane_twin.gcp.locations import Machine
from tpuplane_twin.gcp.views import ClusterView, PoolView

# On nodes that were made for a ProvisioningRequest: the name of its resize request.
REQUEST_LABEL = "autoscaling.gke.io/provisioning-request"
ORDINAL = "twin.tpuplane.dev/ordinal"
SHAPE = "twin.tpuplane.dev/shape"
SETTINGS = "twin.tpuplane.dev/settings"
FAULT = "twin.tpuplane.dev/fault"
"""The annotation of what kwok must leave as it is: nodes without kubelet, and the pods on them."""

_EFFECTS = {"NO_SCHEDULE": "NoSchedule", "PREFER_NO_SCHEDULE": "PreferNoSchedule", "NO_EXECUTE": "NoExecute"}
_ALPHABET = string.ascii_lowercase + string.digits
_data = cache(partial(read_data, "tpuplane_twin.cluster", "node"))


@dataclass(frozen=True, slots=True)
class Place:
    """Where a node belongs: its zone and its number in that zone's instance group."""

    zone: str
    number: int

    def __str__(self) -> str:
        return f"{self.zone}/{self.number}"


@dataclass(frozen=True)
class Pool(PoolView):
    """What the nodes of one pool have in common, from Google's REST JSON of the pool and its cluster."""

    cluster: dict[str, Any]

    @property
    def machine(self) -> Machine:
        """The machine type. Raises `ClusterError`."""
        return machine(self.machine_type)

    @property
    def gke_version(self) -> str:
        """The nodes' GKE version."""
        return self.version or ClusterView(self.cluster).version

    @property
    def pods(self) -> int:
        """Pods per node."""
        return self.pods_per_node or ClusterView(self.cluster).pods_per_node

    @property
    def gpus(self) -> Gpus | None:
        """The GPUs of each node; None for a pool without."""
        return Gpus.of(self.config)

    @property
    def topology(self) -> str | None:
        """The TPU topology of a slice; None for a pool without TPUs."""
        if self.machine.tpu is None:
            return None
        return self.placement_topology or self.machine.tpu.single_host_topology

    @property
    def places(self) -> list[Place]:
        """Every node that the pool should have now."""
        return [Place(zone, number) for zone, numbers in node_numbers(self.raw).items() for number in numbers]

    @property
    def is_slice(self) -> bool:
        """Whether the pool is one multi-host slice, whose hosts come and go together. GKE replaces the hosts of a
        cube for dynamic slicing one by one."""
        tpu = self.machine.tpu
        return tpu is not None and not self.cube and self.topology != tpu.single_host_topology

    @property
    def shape(self) -> str:
        """A digest of what cannot change on a living node; another shape is another node."""
        config = self.config
        disk = [config.get(key) for key in ("diskSizeGb", "diskType", "imageType", "spot", "serviceAccount")]
        if self.gpus is not None:
            disk += [self.gpus.accelerator, self.local_ssds]
        return _digest([self.machine.name, self.topology, self.gke_version, self.pods, disk])

    @property
    def settings(self) -> str:
        """A digest of what GKE changes on living nodes: labels and taints."""
        return _digest([self.labels(Place("", 0), ""), self.taints])

    @property
    def taints(self) -> list[dict[str, str]]:
        """The pool's own taints and GKE's."""
        return [
            {"key": taint["key"], "value": taint.get("value", ""), "effect": _EFFECTS[taint["effect"]]}
            for taint in (*self.config.get("taints", ()), *own_taints(self))
        ]

    def labels(self, place: Place, name: str) -> dict[str, str]:
        """The labels of the node called `name` at `place`."""
        config, machine_type = self.config, self.machine
        disk, distribution = config.get("diskType", "pd-balanced"), _distribution(config)
        facts = self._facts(place, name) | {"disk": disk, "distribution": distribution}
        labels: dict[str, str] = config.get("labels", {}) | formatted(_data()["labels"], facts)
        labels |= capacity_labels(self, self.cluster, place.number)
        if config.get("workloadMetadataConfig", {}).get("mode") == "GKE_METADATA":
            labels["iam.gke.io/gke-metadata-server-enabled"] = "true"
        if self.gpus is not None:
            labels |= self.gpus.labels
        if machine_type.generation is not None and machine_type.tpu is not None:
            labels[COUNT_LABEL] = str(machine_type.tpu.chips)
            labels[ACCELERATOR_LABEL] = machine_type.generation.label
            # Dynamic slicing gives the hosts of a cube their topology.
            if self.topology is not None and not self.cube:
                labels[TOPOLOGY_LABEL] = self.topology
                labels |= self._sub_slices(machine_type.generation.name, self.topology, place.number)
        return labels

    def _sub_slices(self, generation: str, topology: str, host: int) -> dict[str, str]:
        """The labels of the device plugin: the whole slice and its parts that have the host."""
        whole = Slice.of(generation, topology, self.machine_type)
        named = {
            shape: _digest([ClusterView(self.cluster).link, self.name, shape, whole.part(shape, host)]) * 2
            for shape in (topology, *whole.sub_slices)
            if shape in whole.generation.sub_slices and whole.multi_host
        }
        return {sub_slice_label(shape): name for shape, name in named.items()}

    def new_name(self, zone: str, taken: Collection[str] = ()) -> str:
        """A name for a new node in `zone` that is not among `taken`: Google gives every instance a new one."""
        (group,) = (url for url in self.raw["instanceGroupUrls"] if f"/zones/{zone}/" in url)
        drawn = iter(lambda: instance_name(group, "".join(secrets.choice(_ALPHABET) for _ in range(4))), "")
        return next(name for name in drawn if name not in taken)

    def node(self, place: Place, name: str, network: ipaddress.IPv4Network) -> Object:
        """The node called `name` at `place`, Ready, with its pods in `network`."""
        facts = {"address": node_address(network), "network": network, "moment": timestamp(), "id": _digest([name])}
        made: Object = formatted(_data()["node"], self._facts(place, name) | facts)
        made["metadata"]["labels"] = self.labels(place, name)
        made["metadata"]["annotations"] = {ORDINAL: str(place), SHAPE: self.shape, SETTINGS: self.settings}
        made["spec"]["taints"] = self.taints
        made["status"] |= self._resources()
        return made

    def _facts(self, place: Place, name: str) -> dict[str, object]:
        """What the data has in braces."""
        return {
            "pool": self,
            "machine": self.machine,
            "architecture": architecture(self.machine),
            "memory": self.machine.memory // 1024**3,
            "name": name,
            "zone": place.zone,
            "region": region_of(place.zone),
        }

    def _resources(self) -> Object:
        machine_type = self.machine
        disk, disk_for_pods = ephemeral_storage(self.config.get("diskSizeGb"), self.local_ssds)
        devices = {TPU: str(machine_type.tpu.chips)} if machine_type.tpu is not None else {}
        if self.gpus is not None:
            devices[GPU] = str(self.gpus.offered)
        return {
            "capacity": {
                "cpu": str(machine_type.vcpus),
                "memory": f"{machine_type.memory // 1024}Ki",
                "ephemeral-storage": f"{disk // 1024}Ki",
                "pods": str(self.pods),
                **devices,
            },
            "allocatable": {
                "cpu": f"{allocatable_cpu(machine_type, self.pods)}m",
                "memory": f"{allocatable_memory(machine_type) // 1024}Ki",
                "ephemeral-storage": str(disk_for_pods),
                "pods": str(self.pods),
                **devices,
            },
        }

    @property
    def project(self) -> str:
        """The project, "-" if the cluster has no link."""
        parts = ClusterView(self.cluster).link.split("/")
        return parts[parts.index("projects") + 1] if "projects" in parts else "-"


def _distribution(config: dict[str, Any]) -> str:
    return "ubuntu" if str(config.get("imageType", "")).upper().startswith("UBUNTU") else "cos"


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]
