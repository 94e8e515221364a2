"""File systems in the description: instances of Managed Lustre and Filestore, and the teams that may use them."""

from collections.abc import Iterable, Sequence
from typing import Annotated, ClassVar, Literal

from tpuplane.spec.core.changes import Change, InPlace, T
from tpuplane.spec.core.fields import Name, ResourceName, Spec, Zone, text
from tpuplane.spec.core.rules import spec_data


def _capacities(rows: Iterable[Sequence[int]]) -> list[range]:
    """The capacities in GiB of rows with the first one, the last one and the step."""
    return [range(first, last + 1, step) for first, last, step in rows]


LUSTRE_CAPACITIES = {throughput: _capacities(rows) for throughput, rows in spec_data("lustre")["tiers"].items()}
"""The capacities in GiB by the throughput in MBps per TiB. An instance grows within its range."""
_TIERS = spec_data("filestore")["tiers"]
FILESTORE_CAPACITIES = {tier: _capacities(found["capacities"]) for tier, found in _TIERS.items()}
"""The capacities in GiB by the tier. An instance changes its capacity within its range."""
SHARES: dict[str, int] = {tier: found["share"] for tier, found in _TIERS.items()}
"""The most characters in the name of a share by the tier."""
SHRINKING = frozenset(tier for tier, found in _TIERS.items() if found["shrinks"])
"""Tiers whose instances can also have less capacity than before."""

_REPLACES = "A change deletes the instance with its files and creates another one."
_ReplacesLustre = Annotated[T, Change("deletes", _REPLACES, source="lustre")]
_ReplacesFilestore = Annotated[T, Change("deletes", _REPLACES, source="filestore")]
_GROWS = "Changed in place to a larger capacity of the same range. Google rejects any other capacity."
_RESIZES = "Changed in place within the range of the tier. Basic tiers only grow. Google rejects any other capacity."


def can_have(capacity: int, ranges: Iterable[range], before: int | None = None, *, shrinks: bool = False) -> bool:
    """Whether an instance can have a capacity in GiB of these ranges.

    An instance with the capacity `before` stays in its range, and gets a smaller capacity only if it `shrinks`.
    """
    if before is None:
        return any(capacity in steps for steps in ranges)
    return any(capacity in steps and before in steps for steps in ranges) and (shrinks or capacity >= before)


def in_steps(ranges: Iterable[range]) -> str:
    """Capacities as text, for a message."""
    return ", or ".join(f"{steps[0]} to {steps[-1]} in steps of {steps.step}" for steps in ranges)


def allowed(ranges: Iterable[range], before: int | None = None, *, shrinks: bool = False) -> str:
    """What `can_have` accepts, as the end of a message."""
    if before is not None:
        ranges = [steps if shrinks else range(before, steps.stop, steps.step) for steps in ranges if before in steps]
    return f"allowed: {in_steps(ranges)}" + ("" if before is None else f" (it has {before})")


class LustreSpec(Spec):
    """A Managed Lustre instance in the network of its teams' clusters. Deleting it deletes its files."""

    driver: ClassVar[Literal["lustre"]] = "lustre"
    shrinks: ClassVar[bool] = False

    zone: _ReplacesLustre[Zone]
    """Zone of the instance: one with pools of its teams."""

    capacity_gib: Annotated[int, Change("in-place", _GROWS, source="lustre_capacity")]
    """Capacity in GiB, in the steps of its throughput. It can grow within its range, but not into the next range."""

    throughput: _ReplacesLustre[int]
    """Throughput in MBps per TiB of capacity: 125, 250, 500 or 1000."""

    filesystem: _ReplacesLustre[Annotated[str, *text("filesystem")] | None] = None
    """Name of the filesystem, which no other instance of the platform may have: a node cannot mount two filesystems
    with the same name. Default: the first eight letters and digits of the key."""

    name: _ReplacesLustre[ResourceName | None] = None
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
        return LUSTRE_CAPACITIES.get(self.throughput, [])


class FilestoreSpec(Spec):
    """A Filestore instance with one share, in the network of its teams' clusters. Deleting it deletes its files."""

    driver: ClassVar[Literal["filestore"]] = "filestore"

    location: _ReplacesFilestore[str]
    """Zone of the instance, or its region for the tier REGIONAL: a place in the region of its teams' clusters."""

    tier: _ReplacesFilestore[Literal["BASIC_HDD", "BASIC_SSD", "ZONAL", "REGIONAL"]]
    """Service tier. The throughput of ZONAL and REGIONAL grows with their capacity. REGIONAL survives a lost zone."""

    capacity_gib: Annotated[int, Change("in-place", _RESIZES, source="filestore_capacity")]
    """Capacity in GiB, in the steps of its tier."""

    share: _ReplacesFilestore[Annotated[str, *text("share")]] = "share"
    """Name of the share. Default share."""

    name: _ReplacesFilestore[ResourceName | None] = None
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
        return self.location

    @property
    def ranges(self) -> list[range]:
        """The capacities of its tier."""
        return FILESTORE_CAPACITIES[self.tier]

    @property
    def shrinks(self) -> bool:
        """Whether it can also have less capacity than before."""
        return self.tier in SHRINKING
