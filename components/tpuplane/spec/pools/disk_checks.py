"""The check of boot disks: those that a machine type supports, or all if they are unknown."""

from collections.abc import Iterator, Sequence

from tpuplane.spec.core.errors import Mistake, Path, choice
from tpuplane.spec.core.rules import spec_data


def check_boot_disk(at: Path, disk: str | None, owner: str, allowed: Sequence[str] = ()) -> Iterator[Mistake]:
    """Reject a disk type that `owner`, such as v6e hosts, does not support. Without `allowed`, all types are valid."""
    known = allowed or spec_data("rules")["diskTypes"]
    if disk is not None and disk not in known:
        yield Mistake(at, choice(disk, f"a boot disk of {owner}", known))
