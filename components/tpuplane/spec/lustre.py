"""Managed Lustre in the description: parallel file systems in a zone, and the teams that may use them."""

from typing import Annotated, ClassVar, Literal

from tpuplane.spec.capacities import capacities
from tpuplane.spec.core.changes import Change, InPlace, T
from tpuplane.spec.core.fields import Name, ResourceName, Spec, Zone, text
from tpuplane.spec.core.rules import spec_data

CAPACITIES = {throughput: capacities(rows) for throughput, rows in spec_data("lustre")["tiers"].items()}
"""The capacities in GiB by the throughput in MBps per TiB. An instance grows within its range."""

_REPLACES = "A change deletes the instance with its files and creates another one."
_ReplacesInstance = Annotated[T, Change("deletes", _REPLACES, source="lustre")]
_GROWS = "Changed in place to a larger capacity of the same range. Google rejects any other capacity."


class LustreSpec(Spec):
    """A Managed Lustre instance in the network of its teams' clusters. Deleting it deletes its files."""

    driver: ClassVar[Literal["lustre"]] = "lustre"
    shrinks: ClassVar[bool] = False

    zone: _ReplacesInstance[Zone]
    """Zone of the instance: one with pools of its teams."""

    capacity_gib: Annotated[int, Change("in-place", _GROWS, source="lustre_capacity")]
    """Capacity in GiB, in the steps of its throughput. It can grow within its range, but not into the next range."""

    throughput: _ReplacesInstance[int]
    """Throughput in MBps per TiB of capacity: 125, 250, 500 or 1000."""

    filesystem: _ReplacesInstance[Annotated[str, *text("filesystem")] | None] = None
    """Name of the filesystem, which no other instance of the platform may have: a node cannot mount two filesystems
    with the same name. Default: the first eight letters and digits of the key."""

    name: _ReplacesInstance[ResourceName | None] = None
    """Name of the instance in Google Cloud. Default: `<platform>-<key>`."""

    readers: InPlace[tuple[Name, ...]] = ()
    """Teams whose pods may read files. Default: none."""

    writers: InPlace[tuple[Name, ...]] = ()
    """Teams whose pods may read, write and delete files. Default: none. At least one reader or writer is required."""

    deletion_protection: InPlace[bool] = True
    """Pulumi rejects the deletion of the instance. Default true."""

    @property
    def place(self) -> str:
        """The location of the instance."""
        return self.zone

    @property
    def ranges(self) -> list[range]:
        """The capacities of its throughput; none if the throughput is not one of a tier."""
        return CAPACITIES.get(self.throughput, [])
