"""The I/O operations and the throughput that a Hyperdisk can have."""

from collections.abc import Iterator
from typing import NamedTuple

from tpuplane.spec.core.errors import Mistake, Path
from tpuplane.spec.core.rules import broken, spec_data


class RateFields(NamedTuple):
    """The names of the fields of a disk."""

    size: str
    iops: str
    throughput: str


def check_rates(at: Path, fields: RateFields, size: int, iops: int | None, throughput: int | None) -> Iterator[Mistake]:
    """The size of a Hyperdisk limits its operations, and these limit its throughput."""
    limits = spec_data("disks")["types"]["hyperdisk-balanced"]
    (least, most), per_gib = limits["iops"], limits["iopsPerGib"]
    allowed = min(least, size * per_gib), min(most, size * per_gib)
    if iops is not None and not allowed[0] <= iops <= allowed[1]:
        remedy = f"raise {fields.size} to {-(-iops // per_gib)}" if allowed[1] < iops <= most else ""
        yield _rate((*at, fields.iops), iops, f"{size} GiB", allowed, remedy)
        return
    possible = allowed[1]
    (least, most), (fewest, highest) = limits["throughput"], limits["iopsPerMib"]
    if iops is None:
        limit, allowed = f"{size} GiB", (least, min(most, possible // fewest))
    else:
        limit = f"{iops} I/O operations per second"
        allowed = max(least, -(-iops // highest)), min(most, iops // fewest)
    if throughput is not None and not allowed[0] <= throughput <= allowed[1]:
        needed = throughput * fewest
        enough = f"{fields.size} to {-(-needed // per_gib)}" if iops is None else f"{fields.iops} to {needed}"
        remedy = f"raise {enough}" if allowed[1] < throughput <= most else ""
        yield _rate((*at, fields.throughput), throughput, limit, allowed, remedy)


def _rate(at: Path, value: int, limit: str, allowed: tuple[int, int], remedy: str) -> Mistake:
    between = " to ".join(map(str, dict.fromkeys(allowed)))
    return broken("disk-rate", at, value=value, limit=limit, allowed=f"{between}; {remedy}" if remedy else between)
