"""Filestore in the description: NFS file systems, and the teams that may use them."""

from typing import Annotated, ClassVar, Literal

from tpuplane.spec.capacities import capacities
from tpuplane.spec.core.changes import Change, InPlace, T
from tpuplane.spec.core.fields import Name, ResourceName, Spec, text
from tpuplane.spec.core.rules import spec_data

_TIERS = spec_data("filestore")["tiers"]
CAPACITIES = {tier: capacities(found["capacities"]) for tier, found in _TIERS.items()}
"""The capacities in GiB by the tier. An instance changes its capacity within its range."""
SHARES: dict[str, int] = {tier: found["share"] for tier, found in _TIERS.items()}
"""The most characters in the name of a share by the tier."""
SHRINKING = frozenset(tier for tier, found in _TIERS.items() if found["shrinks"])
"""Tiers whose instances can also have less capacity than before."""

_REPLACES = "A change deletes the instance with its files and creates another one."
_ReplacesInstance = Annotated[T, Change("deletes", _REPLACES, source="filestore")]
_RESIZES = "Changed in place within the range of the tier. Basic tiers only grow. Google rejects any other capacity."


class FilestoreSpec(Spec):
    """A Filestore instance with one share, in the network of its teams' clusters. Deleting it deletes its files."""

    driver: ClassVar[Literal["filestore"]] = "filestore"

    location: _ReplacesInstance[str]
    """Zone of the instance, or its region for the tier REGIONAL: a place in the region of its teams' clusters."""

    tier: _ReplacesInstance[Literal["BASIC_HDD", "BASIC_SSD", "ZONAL", "REGIONAL"]]
    """Service tier. The throughput of ZONAL and REGIONAL grows with their capacity. REGIONAL survives a lost zone."""

    capacity_gib: Annotated[int, Change("in-place", _RESIZES, source="filestore_capacity")]
    """Capacity in GiB, in the steps of its tier."""

    share: _ReplacesInstance[Annotated[str, *text("share")]] = "share"
    """Name of the share. Default share."""

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
        return self.location

    @property
    def ranges(self) -> list[range]:
        """The capacities of its tier."""
        return CAPACITIES[self.tier]

    @property
    def shrinks(self) -> bool:
        """Whether it can also have less capacity than before."""
        return self.tier in SHRINKING
