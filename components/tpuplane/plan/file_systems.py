"""The claims of teams for file systems."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal

from tpuplane.plan.queue_model import ClaimPlan
from tpuplane.spec import PlatformSpec
from tpuplane.spec.core.rules import spec_data
from tpuplane.spec.file_system_checks import FileSystem, filesystem, instance_name, mounting


def file_system_claims(spec: PlatformSpec, key: str, team: str, namespace: str) -> Iterator[ClaimPlan]:
    """The claims in a namespace of a team, if the cluster `key` has the driver that mounts them."""
    for name, lustre in spec.storage.lustre.items():
        if key in mounting(spec, lustre, team):
            instance = instance_name(spec, name, lustre)
            yield replace(
                _claim("lustre", name, team, namespace, lustre),
                handle=_volume("lustre")["handle"].format(project=spec.project, zone=lustre.zone, name=instance),
                attributes={"filesystem": filesystem(spec, name)},
                zone=lustre.zone,
                address_depends_on=str(lustre.throughput),
            )
    for name, filestore in spec.storage.filestore.items():
        if key in mounting(spec, filestore, team):
            instance, share = instance_name(spec, name, filestore), filestore.share
            handle = {"location": filestore.location, "name": instance, "share": share}
            yield replace(
                _claim("filestore", name, team, namespace, filestore),
                handle=_volume("filestore")["handle"].format(**handle),
                attributes={"volume": share},
                address_depends_on=filestore.tier,
            )


def _claim(kind: Literal["lustre", "filestore"], name: str, team: str, namespace: str, own: FileSystem) -> ClaimPlan:
    volume, reads = _volume(kind), team in own.readers
    return ClaimPlan(
        name=name,
        volume=f"{namespace}.{name}",  # neither name can have a dot
        handle="",
        driver=volume["driver"],
        size=volume["size"],
        mode=volume["modes"]["readers" if reads else "writers"],
        storage_class="",
        options=(),
        attributes={},
        kind=kind,
        read_only=reads,
    )


def _volume(kind: str) -> dict[str, Any]:
    return dict(spec_data(kind)["volume"])
