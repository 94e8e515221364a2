"""The checks of disks: names, sizes and speeds."""

from collections.abc import Iterator

from tpuplane.spec.core.errors import Mistake, Path, dotted, shown
from tpuplane.spec.core.rules import broken, spec_data
from tpuplane.spec.disk_rates import RateFields, check_rates
from tpuplane.spec.file_system_checks import file_systems
from tpuplane.spec.platform import PlatformSpec

_FIELDS = RateFields("sizeGib", "iops", "throughput")


def check_disks(spec: PlatformSpec) -> Iterator[Mistake]:
    """Every mistake of the disks."""
    data = spec_data("disks")
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
