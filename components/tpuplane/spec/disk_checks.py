"""The checks of disks: names, sizes, and the I/O operations and throughput that a Hyperdisk can have."""

from collections.abc import Iterator
from typing import NamedTuple

from tpuplane.spec.core.errors import Mistake, Path, dotted, shown
from tpuplane.spec.core.rules import broken, spec_data
from tpuplane.spec.file_system_checks import file_systems
from tpuplane.spec.platform import PlatformSpec


class RateFields(NamedTuple):
    """The names of the fields of a disk."""

    size: str
    iops: str
    throughput: str


_FIELDS = RateFields("sizeGib", "iops", "throughput")


def check_disks(spec: PlatformSpec) -> Iterator[Mistake]:
    """Every mistake of the disks."""
    data = spec_data("disks")
    if spec.storage.disks and not any(cluster.storage.persistent_disk for cluster in spec.clusters.values()):
        yield broken("disk-driver", ("storage", "disks"))
    others: dict[str, Path] = {key: ("storage", "buckets", key) for key in spec.storage.buckets}
    others |= {str(path[2]): path for path in file_systems(spec)}
    for key, disk in spec.storage.disks.items():
        at, limits = ("storage", "disks", key), data["types"][disk.type]
        if key in data["reserved"]:
            yield broken("disk-reserved", at, value=shown(key))
        if key in others:
            yield broken("file-system-key", at, other=dotted(others[key]))
        low, high = limits["sizeGib"]
        if not low <= disk.size_gib <= high:
            parts = {"value": disk.size_gib, "type": disk.type, "allowed": f"{low} to {high}"}
            yield broken("disk-range", (*at, "sizeGib"), **parts)
        elif "iops" in limits:
            yield from check_rates(at, _FIELDS, disk.size_gib, disk.iops, disk.throughput)
        else:
            for field, value in (("iops", disk.iops), ("throughput", disk.throughput)):
                if value is not None:
                    yield broken("disk-speed", (*at, field), type=disk.type)


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
