"""`Slice`: a valid combination of generation, topology and machine type, and its properties."""

from dataclasses import dataclass
from typing import Self

from tpuplane.labels import ACCELERATOR_LABEL, COUNT_LABEL, TOPOLOGY_LABEL
from tpuplane.tpu.catalogue import catalogue
from tpuplane.tpu.errors import SliceError
from tpuplane.tpu.model import Generation, MachineType, Placement
from tpuplane.tpu.nearest import nearest_names, nearest_topologies
from tpuplane.tpu.topology import chip_count, grid, parse


@dataclass(frozen=True, slots=True)
class Slice:
    """Hosts joined by the inter-chip interconnect. `Slice.of` creates only valid slices."""

    generation: Generation
    topology: str
    machine: MachineType

    @classmethod
    def of(cls, generation: str, topology: str, machine_type: str | None = None) -> Self:
        """The slice of a generation, by name, label (`tpu-v6e-slice`) or alias (`trillium`), and a topology. Raises
        `SliceError`.

        A machine type is needed only if two support the topology: `2x4` of v5e and v6e is two hosts of `…-4t` (the
        default) or one of `…-8t`.
        """
        gen = catalogue().generation(generation)
        if not gen.accepts(topology):
            raise _topology_error(gen, topology)
        machines = gen.machines_for(topology)
        if machine_type is None:
            return cls(gen, topology, machines[0])
        for machine in machines:
            if machine.name == machine_type:
                return cls(gen, topology, machine)
        allowed, cause = tuple(machine.name for machine in machines), _machine_cause(gen, topology, machine_type)
        nearest = nearest_names(machine_type, allowed, count=1) or allowed[:1]
        raise SliceError("machine_type", machine_type, cause, allowed=allowed, nearest=nearest)

    @classmethod
    def for_nodes(
        cls, accelerator: str, topology: str, machine_type: str | None = None, *, chips_per_node: int | None = None
    ) -> Self:
        """The slice that the labels of GKE's nodes describe. Raises `SliceError`.

        They are `cloud.google.com/gke-tpu-accelerator`, `cloud.google.com/gke-tpu-topology` and, if it is known,
        `node.kubernetes.io/instance-type`. `chips_per_node`, of `cloud.google.com/gke-accelerator-count` or of a pod's
        request for `google.com/tpu`, selects the machine type if two support the topology.
        """
        found = cls.of(accelerator, topology, machine_type)
        if chips_per_node is None or found.machine.chips == chips_per_node:
            return found
        machines = found.generation.machines_for(topology)
        for machine in machines:
            if machine_type is None and machine.chips == chips_per_node:
                return cls(found.generation, topology, machine)
        allowed, cause = tuple(str(machine.chips) for machine in machines), f"chips per node do not match {found}"
        raise SliceError("machine_type", str(chips_per_node), cause, allowed=allowed, nearest=allowed[:1])

    @property
    def chips(self) -> int:
        """Chips in the slice."""
        return chip_count(self.topology)

    @property
    def hosts(self) -> int:
        """VMs, and so Kubernetes nodes, in the slice."""
        return self.chips // self.machine.chips

    @property
    def multi_host(self) -> bool:
        """Whether the slice spans several hosts. GKE then makes the node pool exactly one slice."""
        return self.hosts > 1

    @property
    def sub_slices(self) -> tuple[str, ...]:
        """The topologies of its multi-host parts, largest first; none if it has no such parts."""
        known = (shape for shape in reversed(self.generation.sub_slices) if self.machine.chips < chip_count(shape))
        return tuple(shape for shape in known if chip_count(shape) < self.chips) if self.multi_host else ()

    def part(self, topology: str, host: int) -> int:
        """The number of the sub-slice of this topology that has a host. Hosts are counted in rows."""
        whole, own, part = map(grid, (self.topology, self.machine.layout, topology))
        row, column = divmod(host, whole[1] // own[1])
        return row * own[0] // part[0] * (whole[1] // part[1]) + column * own[1] // part[1]

    @property
    def placement(self) -> Placement:
        """The placement of the node pool; "none" for a single host."""
        return self.generation.placement if self.multi_host else "none"

    @property
    def accelerator_type(self) -> str:
        """Cloud TPU's name: `v5p-32` for a v5p slice of 16 chips."""
        return f"{self.generation.accelerator_type}-{self.chips * self.generation.cores_per_chip}"

    @property
    def node_labels(self) -> dict[str, str]:
        """GKE's labels of the slice's nodes, which select them for Pods."""
        return {
            ACCELERATOR_LABEL: self.generation.label,
            TOPOLOGY_LABEL: self.topology,
            COUNT_LABEL: str(self.machine.chips),
        }

    @property
    def chips_per_host_bounds(self) -> str:
        """Layout of a host's chips in the form of TPU_CHIPS_PER_HOST_BOUNDS: `2,2,1`."""
        return _bounds(grid(self.machine.layout))

    @property
    def host_bounds(self) -> str:
        """Layout of the slice's hosts in the form of TPU_HOST_BOUNDS: `2,2,1` for the 4 hosts of a v6e 4x4."""
        host = grid(self.machine.layout)
        return _bounds(tuple(chips // per_host for chips, per_host in zip(grid(self.topology), host, strict=True)))

    def __str__(self) -> str:
        return f"{self.generation.name} {self.topology}"


def _bounds(numbers: tuple[int, ...]) -> str:
    return ",".join(map(str, numbers))


def _topology_error(gen: Generation, topology: str) -> SliceError:
    dims = parse(topology)
    detail = None
    if dims is None:
        form = "AxB" if gen.dimensions == 2 else "AxBxC"
        detail = f"write {form}, for example {gen.topologies[-1]}"
    elif len(dims) != gen.dimensions:
        detail = f"it needs {gen.dimensions} numbers"
    elif gen.rule:
        detail = gen.rule.broken_by(dims)
    listed = gen.topologies
    allowed_text = None
    if gen.rule:
        below_a_cube = [shape for shape in listed if not gen.rule.admits(shape)]
        allowed_text = f"{', '.join(below_a_cube)}, and {gen.rule}"
    cause, nearest = f"is not a {gen.name} topology", nearest_topologies(gen, topology)
    cause += f" ({detail})" if detail else ""
    return SliceError("topology", topology, cause, allowed=listed, allowed_text=allowed_text, nearest=nearest)


def _machine_cause(gen: Generation, topology: str, machine_type: str) -> str:
    try:
        owner, machine = catalogue().machine(machine_type)
    except SliceError:
        reason = dict(gen.not_on_gke).get(machine_type)
        return f"is not a {gen.name} machine type" + (f" on GKE ({reason})" if reason else "")
    if owner.name != gen.name:
        return f"is a {owner.name} machine type and does not support {gen.name} {topology}"
    if machine.single_host_only:
        return f"supports only {gen.name} {machine.single_host_topology}, not {topology}"
    return f"has {machine.chips} chips per host and does not support {gen.name} {topology}"
