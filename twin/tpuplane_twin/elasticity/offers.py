"""Possible new node pools for pods that fit nowhere: their configuration and names. Pure."""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from tpuplane.tpu import Generation, MachineType, SliceError, catalogue

from tpuplane_twin.gcp.views import PoolView

Json = dict[str, Any]

CLASS = "cloud.google.com/compute-class"
RECYCLE_LEAD = "cloud.google.com/gke-node-recycle-lead-time-seconds"
CAPACITY_WAIT = "cloud.google.com/gke-capacity-check-wait-time-seconds"
RESERVATION_KEY = "compute.googleapis.com/reservation-name"
# GKE's limits: nodes of an auto-provisioned pool in a zone, and characters of the machine type in a pool's name.
_MAX_NODES = 1000
_MAX_MACHINE = 14
_LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class Offer:
    """A possible new TPU node pool in one zone. Each multi-host slice is one pool."""

    machine: MachineType
    generation: Generation
    topology: str
    zone: str
    capacity: str = "on-demand"
    reservation: str = ""
    policy: str = ""
    """The resource policy that places the nodes."""
    max_run_seconds: int | None = None
    recycle_lead_seconds: int | None = None
    wait_seconds: int = 0
    compute_class: str = ""
    tainted: bool = True
    """Whether only pods of the compute class tolerate the nodes."""
    rank: int = 0
    """Its rank in the compute class: 0 is the highest priority."""
    labels: tuple[tuple[str, str], ...] = ()
    taints: tuple[tuple[str, str, str], ...] = ()
    """Key, value, and effect in the format of Google's API."""

    @property
    def hosts(self) -> int:
        """Hosts of one slice."""
        return self.machine.hosts(self.topology) or 1

    @property
    def signature(self) -> str:
        """Equal for pools with the same capacity."""
        own = (self.machine.name, self.topology, self.zone, self.capacity, self.reservation, self.compute_class)
        return "/".join((*own, self.policy) if self.policy else own)

    def name(self, taken: Collection[str]) -> str:
        """A free name in GKE's format, such as `nap-ct6e-standa-4t-spot-k3v9x0qa`. It is deterministic."""
        stem = f"nap-{_cropped(self.machine.name)}-{'spot-' if self.capacity == 'spot' else ''}"
        number = 0
        while (name := stem + _digits(f"{self.signature}#{number}")) in taken:
            number += 1
        return name

    def body(self, name: str, defaults: Mapping[str, Any]) -> Json:
        """The NodePool of the create request; `defaults` are the cluster's for auto-provisioned pools."""
        flex = self.capacity == "flex-start"
        management = {"autoRepair": True, "autoUpgrade": True, **defaults.get("management", {})}
        pool: Json = {
            "name": name,
            "locations": [self.zone],
            "config": self._config(defaults),
            "autoscaling": {
                "enabled": True,
                "autoprovisioned": True,
                "minNodeCount": 0,
                "maxNodeCount": self.hosts if self.hosts > 1 else _MAX_NODES,
                "locationPolicy": "ANY",
            },
            "management": {**management, "autoRepair": management["autoRepair"] and not flex},
            "upgradeSettings": defaults.get("upgradeSettings", {"strategy": "SURGE", "maxUnavailable": 1}),
        }
        topology = {"tpuTopology": self.topology} if self.hosts > 1 else {}
        if placed := {"policyName": self.policy} if self.policy else topology and {"type": "COMPACT"}:
            pool["placementPolicy"] = {**placed, **topology}
        return pool

    def _config(self, defaults: Mapping[str, Any]) -> Json:
        kept = ("serviceAccount", "oauthScopes", "imageType", "shieldedInstanceConfig", "bootDiskKmsKey", "diskSizeGb")
        disks, disk = self.generation.boot_disk_types, defaults.get("diskType", "pd-balanced")
        config: Json = {
            **{field: defaults[field] for field in kept if field in defaults},
            "machineType": self.machine.name,
            "diskType": disks[0] if disks and disk not in disks else disk,
            "labels": self._node_labels(),
        }
        if self.capacity == "spot":
            config["spot"] = True
        if self.capacity == "flex-start":
            config["flexStart"] = True
            config["reservationAffinity"] = {"consumeReservationType": "NO_RESERVATION"}
        if self.max_run_seconds is not None:
            config["maxRunDuration"] = f"{self.max_run_seconds}s"
        if self.reservation:
            config["reservationAffinity"] = {
                "consumeReservationType": "SPECIFIC_RESERVATION",
                "key": RESERVATION_KEY,
                "values": [self.reservation],
            }
        taints = self.taints + (
            ((CLASS, self.compute_class, "NO_SCHEDULE"),) if self.compute_class and self.tainted else ()
        )
        if taints:
            config["taints"] = [{"key": key, "value": value, "effect": effect} for key, value, effect in taints]
        return config

    def _node_labels(self) -> dict[str, str]:
        labels = dict(self.labels)
        if self.compute_class:
            labels[CLASS] = self.compute_class
        if self.recycle_lead_seconds is not None:
            labels[RECYCLE_LEAD] = str(self.recycle_lead_seconds)
        if self.wait_seconds:
            labels[CAPACITY_WAIT] = str(self.wait_seconds)
        return labels


def signature_of(pool: PoolView, topology: str | None) -> str:
    """The signature of an existing pool, as `Offer.signature`."""
    reservation = next(iter(pool.reservation_names), "") if pool.capacity == "reservation" else ""
    named = pool.node_labels.get(CLASS, "")
    return "/".join((pool.machine_type, topology or "", pool.zones[0], pool.capacity, reservation, named))


def reservation_path(name: str, project: str | None, block: str | None, sub_block: str | None) -> str:
    """A reservation, or a block of it, as a node pool names it."""
    path = f"projects/{project}/reservations/{name}" if project else name
    path += f"/reservationBlocks/{block}" if block else ""
    return path + (f"/reservationSubBlocks/{sub_block}" if sub_block else "")


def machine_for(generation: Generation, topology: str, chips: int) -> MachineType | None:
    """The machine type with this number of chips for slices of the topology, or None."""
    if not generation.accepts(topology):
        return None
    fitting = (
        machine for machine in generation.machines if machine.chips == chips and machine.hosts(topology) is not None
    )
    return next(fitting, None)


def generation_called(label: str) -> Generation | None:
    """The generation with this accelerator label, or None."""
    try:
        found = catalogue().generation(label)
    except SliceError:
        return None
    return found if found.label == label else None


def _cropped(machine: str) -> str:
    """The machine type cropped to 14 characters, as by GKE: at the end of the middle part."""
    excess, parts = len(machine) - _MAX_MACHINE, machine.split("-")
    if excess <= 0:
        return machine
    if len(parts) == 3 and len(parts[1]) > excess:
        return f"{parts[0]}-{parts[1][:-excess]}-{parts[2]}"
    return machine[excess:]


def _digits(text: str) -> str:
    number, digits = int(hashlib.sha256(text.encode()).hexdigest(), 16), ""
    for _ in range(8):
        number, rest = divmod(number, len(_LETTERS))
        digits += _LETTERS[rest]
    return digits
