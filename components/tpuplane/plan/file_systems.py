"""The claims of teams for file systems."""

from collections.abc import Iterator

from tpuplane.plan.queue_model import ClaimPlan
from tpuplane.spec import PlatformSpec
from tpuplane.spec.core.rules import spec_data
from tpuplane.spec.file_system_checks import FileSystem, file_systems, filesystem, instance_name, mounting
from tpuplane.spec.lustre import LustreSpec


def file_system_claims(spec: PlatformSpec, key: str, team: str, namespace: str) -> Iterator[ClaimPlan]:
    """The claims in a namespace of a team, if the cluster `key` has the driver that mounts them."""
    for (*_, name), own in file_systems(spec).items():
        if key in mounting(spec, own, team):
            yield _claim(spec, str(name), own, namespace, read_only=team in own.readers)


def _claim(spec: PlatformSpec, name: str, own: FileSystem, namespace: str, *, read_only: bool) -> ClaimPlan:
    volume, instance = spec_data(own.driver)["volume"], instance_name(spec, name, own)
    if isinstance(own, LustreSpec):
        handle = {"project": spec.project, "zone": own.zone}
        attributes, zone, depends_on = {"filesystem": filesystem(spec, name)}, own.zone, str(own.throughput)
    else:
        handle = {"location": own.location, "share": own.share}
        attributes, zone, depends_on = {"volume": own.share}, "", own.tier
    return ClaimPlan(
        name=name,
        volume=f"{namespace}.{name}",  # neither name can have a dot
        handle=volume["handle"].format(name=instance, **handle),
        driver=volume["driver"],
        size=volume["size"],
        mode=volume["modes"]["readers" if read_only else "writers"],
        storage_class="",
        options=(),
        attributes=attributes,
        kind=own.driver,
        zone=zone,
        address_depends_on=depends_on,
        read_only=read_only,
    )
