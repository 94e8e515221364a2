"""The objects of the catalogue: machine types, generations, prices."""

from dataclasses import dataclass
from typing import Literal

from tpuplane.tpu.topology import TopologyRule, chip_count

Placement = Literal["none", "compact", "workload-policy"]
PriceModel = Literal["on-demand", "spot", "flex-start", "calendar", "cud-1y", "cud-3y"]


@dataclass(frozen=True, slots=True)
class MachineType:
    """A Compute Engine machine type with TPU chips: one VM, one host, one Kubernetes node."""

    name: str
    chips: int
    vcpus: int
    memory_gb: int
    layout: str
    """The layout of the chips of one VM: `2x2`, `2x2x1`."""
    single_host_topology: str | None
    """The topology of a single VM; None if the machine type supports only multi-host slices."""
    single_host_only: bool = False
    """True if VMs of this type are never part of a multi-host slice."""
    sources: tuple[str, ...] = ()
    """Keys of `Catalogue.sources`."""

    def hosts(self, topology: str) -> int | None:
        """VMs of this type in a slice of `topology`; None if the machine type does not support that slice."""
        if topology == self.single_host_topology:
            return 1
        hosts, rest = divmod(chip_count(topology), self.chips)
        return None if self.single_host_only or rest or hosts < 2 else hosts


@dataclass(frozen=True, slots=True)
class Generation:
    """A TPU generation in GKE, with its node label, machine types and topologies."""

    name: str
    product: str
    label: str
    """Value of the node label `cloud.google.com/gke-tpu-accelerator`, and name of the auto-provisioning limit."""
    machines: tuple[MachineType, ...]
    topologies: tuple[str, ...]
    """The documented topologies, smallest first."""
    rule: TopologyRule | None
    """Admits further topologies; None for 2-D generations, which have only the documented ones."""
    accelerator_type: str
    """The beginning of Cloud TPU's names of its slices, TYPE-N."""
    cores_per_chip: int
    """N counts TensorCores, so N = chips * cores_per_chip; 1 if N counts chips."""
    placement: Placement
    """Placement of multi-host slices: "compact" with the topology, or "workload-policy". "none": the generation has
    only single-host slices."""
    aliases: tuple[str, ...] = ()
    """Other names that `Slice.of` accepts, in addition to `label`."""
    multislice: bool = True
    """Whether multislice can join multi-host slices over the data-centre network."""
    flex_start: bool = True
    """Whether flex-start (Dynamic Workload Scheduler) offers it."""
    queued_provisioning: bool = False
    """Whether flex-start is known to accept ProvisioningRequests for it."""
    boot_disk_types: tuple[str, ...] = ()
    """Boot disks that GKE accepts, preferred first; empty if no restriction is known."""
    min_gke_version: str | None = None
    """Oldest GKE version for Standard clusters; None if Google's tables have none."""
    nap_min_version: str | None = None
    """Oldest GKE version with node auto-provisioning of such pools."""
    partitions: tuple[str, ...] = ()
    """Topologies of the parts of a cube that dynamic slicing makes into slices, largest first. GKE's device plugin
    labels them. Each one contains the next one."""
    sub_slices: tuple[str, ...] = ()
    """Topologies of parts of larger slices that GKE's device plugin labels, smallest first. Each one contains the one
    before it."""
    not_on_gke: tuple[tuple[str, str], ...] = ()
    """Machine types that are not available in GKE, with the reason."""
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
        """Machine types for `topology`. The first is the default: the one that also supports larger slices, if any."""
        fitting = [machine for machine in self.machines if machine.hosts(topology) is not None]
        return tuple(sorted(fitting, key=lambda machine: machine.single_host_only))


@dataclass(frozen=True, slots=True)
class Price:
    """Google's list price on a day. Bills can differ."""

    generation: str
    region: str
    model: PriceModel
    usd_per_chip_hour: float
    as_of: str | None
    """ISO date with the known precision (`2026-10`); None: no date, older than every price with a date."""
    source: str
    """Key of `Catalogue.sources`."""


@dataclass(frozen=True, slots=True)
class Availability:
    """The zones of a generation, by evidence. Capacity is not guaranteed."""

    documented: tuple[str, ...] = ()
    """Zones in Google's tables."""
    listed: tuple[str, ...] = ()
    """Further zones where an API reported the hardware. Some are only for selected customers."""
    regions: tuple[str, ...] = ()
    """Regions where Compute Engine lists the machine types in an unknown zone."""
    flex_start: tuple[str, ...] = ()
    """Zones with flex-start."""

    @property
    def zones(self) -> tuple[str, ...]:
        """Every known zone, documented ones first."""
        return self.documented + self.listed
