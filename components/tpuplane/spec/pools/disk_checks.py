"""Boot disks: those that a machine takes, and those that exist where that is not known."""

from collections.abc import Iterator, Sequence

from tpuplane.spec.core.errors import Mistake, Path, choice
from tpuplane.spec.core.rules import spec_data


def check_boot_disk(at: Path, disk: str | None, of: str, allowed: Sequence[str] = ()) -> Iterator[Mistake]:
    """Reject a disk type that `of`, such as v6e hosts, does not take. Without `allowed`, every disk type is taken."""
    known = allowed or spec_data("rules")["diskTypes"]
    if disk is not None and disk not in known:
        yield Mistake(at, choice(disk, f"a boot disk of {of}", known))
