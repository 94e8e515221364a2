"""The checks of disks: names, sizes and speeds."""

from collections.abc import Iterator

from tpuplane.spec.core.errors import Mistake, Path, dotted, shown
from tpuplane.spec.core.rules import broken, spec_data
from tpuplane.spec.file_system_checks import file_systems
from tpuplane.spec.platform import PlatformSpec


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
        for field, value in (("sizeGib", disk.size_gib), ("iops", disk.iops), ("throughput", disk.throughput)):
            if value is None:
                continue
            if field not in limits:
                yield broken("disk-speed", (*at, field), type=disk.type)
                continue
            low, high = limits[field]
            if not low <= value <= high:
                yield broken("disk-range", (*at, field), value=value, type=disk.type, allowed=f"{low} to {high}")
