"""A GKE node pool as Kubernetes nodes: names, labels, taints and capacity as GKE's own nodes have them. Pure."""

import datetime as dt
import hashlib
import ipaddress
import json
import secrets
import string
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from typing import Any

from tpuplane.data_files import read_data
from tpuplane.labels import GKE_POOL_LABEL, GPU, TPU
from tpuplane.tpu import region_of

from tpuplane_twin.cluster.addresses import node_address
from tpuplane_twin.cluster.api import Object
from tpuplane_twin.cluster.capacity import GPU_TAINT, Gpus, capacity_labels, capacity_taints
from tpuplane_twin.cluster.machines import Machine, ephemeral_storage, machine
from tpuplane_twin.gcp.backend import node_numbers
from tpuplane_twin.gcp.container.names import instance_name
from tpuplane_twin.gcp.views import ClusterView, PoolView

# On nodes that were made for a ProvisioningRequest: the name of its resize request.
REQUEST_LABEL = "autoscaling.gke.io/provisioning-request"
ORDINAL = "twin.tpuplane.dev/ordinal"
SHAPE = "twin.tpuplane.dev/shape"
SETTINGS = "twin.tpuplane.dev/settings"

_EFFECTS = {"NO_SCHEDULE": "NoSchedule", "PREFER_NO_SCHEDULE": "PreferNoSchedule", "NO_EXECUTE": "NoExecute"}
_ALPHABET = string.ascii_lowercase + string.digits


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
        """The machine type. Raises `UnknownMachine`."""
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
        """Whether the pool is one multi-host slice, whose hosts come and go together."""
        tpu = self.machine.tpu
        return tpu is not None and self.topology != tpu.single_host_topology

    @property
    def shape(self) -> str:
        """A digest of what cannot change on a living node; another shape is another node."""
        config = self.config
        disk = [config.get(key) for key in ("diskSizeGb", "diskType", "imageType", "spot", "serviceAccount")]
        if self.gpus is not None:
            disk += [self.gpus.accelerator, self._local_ssds]
        return _digest([self.machine.name, self.topology, self.gke_version, self.pods, disk])

    @property
    def settings(self) -> str:
        """A digest of what GKE changes on living nodes: labels and taints."""
        return _digest([self.labels(Place("", 0), ""), self.taints])

    @property
    def taints(self) -> list[dict[str, str]]:
        """The pool's own taints and GKE's for TPUs and GPUs."""
        taints = [
            {"key": taint["key"], "value": taint.get("value", ""), "effect": _EFFECTS[taint["effect"]]}
            for taint in self.config.get("taints", [])
        ]
        if self.machine.tpu is not None and not any(taint["key"] == TPU for taint in taints):
            taints.append({"key": TPU, "value": "present", "effect": "NoSchedule"})
        if self.gpus is not None and not any(taint["key"] == GPU for taint in taints):
            taints.append(GPU_TAINT)
        return taints + capacity_taints(self)

    def labels(self, place: Place, name: str) -> dict[str, str]:
        """The labels of the node called `name` at `place`."""
        config, machine_type = self.config, self.machine
        labels = {
            **config.get("labels", {}),
            "beta.kubernetes.io/arch": machine_type.architecture,
            "beta.kubernetes.io/instance-type": machine_type.name,
            "beta.kubernetes.io/os": "linux",
            "cloud.google.com/gke-boot-disk": config.get("diskType", "pd-balanced"),
            "cloud.google.com/gke-container-runtime": "containerd",
            "cloud.google.com/gke-cpu-scaling-level": str(machine_type.vcpus),
            "cloud.google.com/gke-logging-variant": "DEFAULT",
            "cloud.google.com/gke-max-pods-per-node": str(self.pods),
            "cloud.google.com/gke-memory-gb-scaling-level": str(machine_type.memory // 1024**3),
            GKE_POOL_LABEL: self.name,
            "cloud.google.com/gke-os-distribution": _distribution(config),
            **capacity_labels(self, self.cluster),
            "cloud.google.com/gke-stack-type": "IPV4",
            "cloud.google.com/machine-family": machine_type.family,
            "failure-domain.beta.kubernetes.io/region": region_of(place.zone),
            "failure-domain.beta.kubernetes.io/zone": place.zone,
            "kubernetes.io/arch": machine_type.architecture,
            "kubernetes.io/hostname": name,
            "kubernetes.io/os": "linux",
            "node.kubernetes.io/instance-type": machine_type.name,
            "topology.gke.io/zone": place.zone,
            "topology.kubernetes.io/region": region_of(place.zone),
            "topology.kubernetes.io/zone": place.zone,
        }
        if config.get("workloadMetadataConfig", {}).get("mode") == "GKE_METADATA":
            labels["iam.gke.io/gke-metadata-server-enabled"] = "true"
        if self.gpus is not None:
            labels |= self.gpus.labels
        if machine_type.tpu is not None:
            labels["cloud.google.com/gke-accelerator-count"] = str(machine_type.tpu.chips)
            labels["cloud.google.com/gke-tpu-accelerator"] = machine_type.accelerator
            if self.topology is not None:
                labels["cloud.google.com/gke-tpu-topology"] = self.topology
        return labels

    @property
    def _local_ssds(self) -> int:
        return int(self.config.get("ephemeralStorageLocalSsdConfig", {}).get("localSsdCount", 0))

    def new_name(self, zone: str, taken: Collection[str] = ()) -> str:
        """A name for a new node in `zone` that is not among `taken`: Google gives every instance a new one."""
        (group,) = (url for url in self.raw["instanceGroupUrls"] if f"/zones/{zone}/" in url)
        drawn = iter(lambda: instance_name(group, "".join(secrets.choice(_ALPHABET) for _ in range(4))), "")
        return next(name for name in drawn if name not in taken)

    def node(self, place: Place, name: str, network: ipaddress.IPv4Network) -> Object:
        """The node called `name` at `place`, Ready, with its pods in `network`."""
        now = dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": name,
                "labels": self.labels(place, name),
                "annotations": {ORDINAL: str(place), SHAPE: self.shape, SETTINGS: self.settings},
            },
            "spec": {
                "podCIDR": str(network),
                "podCIDRs": [str(network)],
                "providerID": f"gce://{self._project}/{place.zone}/{name}",
                "taints": self.taints,
            },
            "status": {
                "phase": "Running",
                **self._resources(),
                "addresses": [
                    {"type": "InternalIP", "address": node_address(network)},
                    {"type": "Hostname", "address": name},
                ],
                "conditions": [
                    {**condition, "lastHeartbeatTime": now, "lastTransitionTime": now}
                    for condition in _healthy()["conditions"]
                ],
                "nodeInfo": {
                    **_healthy()["nodeInfo"],
                    "architecture": self.machine.architecture,
                    "kubeProxyVersion": f"v{self.version}",
                    "kubeletVersion": f"v{self.version}",
                    "machineID": _digest([name]),
                },
            },
        }

    def _resources(self) -> Object:
        machine_type = self.machine
        disk, disk_for_pods = ephemeral_storage(self.config.get("diskSizeGb"), self._local_ssds)
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
                "cpu": f"{machine_type.allocatable_cpu}m",
                "memory": f"{machine_type.allocatable_memory // 1024}Ki",
                "ephemeral-storage": str(disk_for_pods),
                "pods": str(self.pods),
                **devices,
            },
        }

    @property
    def _project(self) -> str:
        parts = ClusterView(self.cluster).link.split("/")
        return parts[parts.index("projects") + 1] if "projects" in parts else "-"


def _distribution(config: dict[str, Any]) -> str:
    return "ubuntu" if str(config.get("imageType", "")).upper().startswith("UBUNTU") else "cos"


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


@cache
def _healthy() -> dict[str, Any]:
    return dict(read_data("tpuplane_twin.cluster", "node"))
