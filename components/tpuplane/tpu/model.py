"""What the catalogue knows, as frozen values: machine types, generations, prices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tpuplane.tpu.topology import TopologyRule, chip_count

Placement = Literal["none", "compact", "workload-policy"]
PriceModel = Literal["on-demand", "spot", "flex-start", "calendar", "cud-1y", "cud-3y"]

_UNITS = {"GB": 10**9, "GiB": 2**30}


@dataclass(frozen=True, slots=True)
class MachineType:
    """A Compute Engine machine type with TPU chips: one VM, one host, one Kubernetes node."""

    name: str
    chips: int
    vcpus: int
    memory_gb: int
    layout: str
    """How the chips of one VM are wired: `2x2`, `2x2x1`."""
    single_host_topology: str | None
    """The one topology that a single VM makes; None where the machine only comes in multi-host slices."""
    single_host_only: bool = False
    """True for machines whose VMs are never joined to a larger slice."""
    min_cpu_platform: str | None = None
    sources: tuple[str, ...] = ()
    """Keys of `Catalogue.sources`."""

    def hosts(self, topology: str) -> int | None:
        """VMs of this type in a slice of `topology`; None where the machine cannot make that slice."""
        if topology == self.single_host_topology:
            return 1
        hosts, rest = divmod(chip_count(topology), self.chips)
        return None if self.single_host_only or rest or hosts < 2 else hosts


@dataclass(frozen=True, slots=True)
class ChipFacts:
    """One chip's data sheet; None where Google publishes no number."""

    hbm: str
    """Memory as the data sheet prints it: `95 GiB`, `32 GB`."""
    hbm_gbps: int
    """Memory bandwidth, GB/s."""
    peak_bf16_tflops: int
    tensorcores: int
    peak_int8_tops: int | None = None
    peak_fp8_tflops: int | None = None
    sparsecores: int | None = None
    ici_gbps_bidirectional: int | None = None
    """Inter-chip interconnect, GB/s per chip, both directions together."""
    dcn_gbps: int | None = None
    """Data-centre network, Gbit/s per chip."""

    @property
    def hbm_bytes(self) -> int:
        """Memory of one chip in bytes."""
        amount, unit = self.hbm.split()
        return int(amount) * _UNITS[unit]


@dataclass(frozen=True, slots=True)
class AcceleratorTypeName:
    """How Cloud TPU names slices of a generation: PREFIX-N."""

    prefixes: tuple[str, ...]
    """The first is Google's own; the others are read, never written."""
    cores_per_chip: int
    """N counts TensorCores, so N = chips * cores_per_chip; 1 where N counts chips."""

    def of_chips(self, chips: int) -> str:
        """The name of a slice with this many chips."""
        return f"{self.prefixes[0]}-{chips * self.cores_per_chip}"


@dataclass(frozen=True, slots=True)
class Generation:
    """One TPU generation as GKE offers it: a node label and the machines and topologies behind it."""

    name: str
    product: str
    label: str
    """Value of the node label `cloud.google.com/gke-tpu-accelerator`; also names the auto-provisioning limit."""
    machines: tuple[MachineType, ...]
    topologies: tuple[str, ...]
    """The documented topologies, smallest first."""
    rule: TopologyRule | None
    """Admits further topologies; None for 2-D generations, where the table is all there is."""
    chip: ChipFacts
    accelerator_type: AcceleratorTypeName
    placement: Placement
    """How multi-host slices are placed: "compact" with the topology, or by "workload-policy". "none": the generation
    has single-host slices only."""
    aliases: tuple[str, ...] = ()
    """Other names that `Slice.of` accepts, besides `label`."""
    pod_chips: int | None = None
    """Chips in one physical pod."""
    multislice: bool = True
    """Whether several multi-host slices can be joined over the data-centre network."""
    flex_start: bool = True
    """Whether flex-start (Dynamic Workload Scheduler) offers it."""
    queued_provisioning: bool = False
    """Whether flex-start is known to take ProvisioningRequests for it."""
    boot_disk_types: tuple[str, ...] = ()
    """Boot disks that GKE accepts, preferred first; empty where no restriction is known."""
    min_gke_version: str | None = None
    """Oldest GKE version for Standard clusters; None where Google's tables were not found to give one."""
    min_gke_version_autopilot: str | None = None
    """The same for Autopilot, where it differs."""
    nap_min_version: str | None = None
    """Oldest GKE version whose node auto-provisioning makes such pools."""
    not_on_gke: tuple[tuple[str, str], ...] = ()
    """Machine types that other tools mention, and why they are not offered."""
    sources: tuple[str, ...] = ()
    """Keys of `Catalogue.sources`."""

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def dimensions(self) -> int:
        """Numbers in a topology: 2 for v3, v5e and v6e, 3 for v4, v5p and tpu7x."""
        return self.topologies[0].count("x") + 1

    @property
    def max_chips(self) -> int:
        """Chips of the largest slice."""
        return self.rule.max_chips if self.rule else chip_count(self.topologies[-1])

    def accepts(self, topology: str) -> bool:
        """Whether a slice of exactly this topology exists."""
        return topology in self.topologies or (self.rule is not None and self.rule.admits(topology))

    def machines_for(self, topology: str) -> tuple[MachineType, ...]:
        """Machines that make `topology`, the default first: the one that also makes larger slices, if any does."""
        fitting = [machine for machine in self.machines if machine.hosts(topology) is not None]
        return tuple(sorted(fitting, key=lambda machine: machine.single_host_only))


@dataclass(frozen=True, slots=True)
class Price:
    """A list price: what Google asked on a day, not what a bill will say."""

    generation: str
    region: str
    model: PriceModel
    usd_per_chip_hour: float
    as_of: str | None
    """ISO date as precise as the reading (`2026-10`); None: undated, older than every dated one."""
    source: str
    """Key of `Catalogue.sources`."""


@dataclass(frozen=True, slots=True)
class Availability:
    """Where one generation is offered, by strength of evidence. Never a promise of capacity."""

    documented: tuple[str, ...] = ()
    """Zones of Google's own tables."""
    listed: tuple[str, ...] = ()
    """Further zones where an API reported the hardware; some are open to chosen customers only."""
    regions: tuple[str, ...] = ()
    """Regions where Compute Engine lists the machine types, in a zone unknown."""
    flex_start: tuple[str, ...] = ()
    """Zones that offer it by flex-start."""

    @property
    def zones(self) -> tuple[str, ...]:
        """Every zone known by name, documented ones first."""
        return self.documented + self.listed
