"""The Filestore instances of a platform."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from tpuplane.labels import PLATFORM_LABEL
from tpuplane.spec import PlatformSpec
from tpuplane.spec.file_system_checks import instance_name, networks


@dataclass(frozen=True, slots=True)
class FilestorePlan:
    """One instance."""

    key: str
    name: str
    location: str
    tier: str
    network: str  # name of the VPC
    share: str
    capacity_gib: int
    labels: dict[str, str]
    protected: bool
    readers: tuple[str, ...] = field(compare=False)  # teams; their claims are compared
    writers: tuple[str, ...] = field(compare=False)


def filestore_plans(spec: PlatformSpec) -> Iterator[FilestorePlan]:
    """The instances in the order of the file."""
    for key, own in spec.storage.filestore.items():
        (network,) = networks(spec, own)
        yield FilestorePlan(
            key=key,
            name=instance_name(spec, key, own),
            location=own.location,
            tier=own.tier,
            network=network.name,
            share=own.share,
            capacity_gib=own.capacity_gib,
            labels={**spec.labels, PLATFORM_LABEL: spec.name},
            protected=own.deletion_protection,
            readers=own.readers,
            writers=own.writers,
        )
