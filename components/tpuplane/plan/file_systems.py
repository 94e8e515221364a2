"""The file systems of a platform: instances of Managed Lustre and Filestore, access to them, and claims of teams."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tpuplane.labels import PLATFORM_LABEL
from tpuplane.plan.queue_model import ClaimPlan
from tpuplane.spec import PlatformSpec
from tpuplane.spec.cluster.existing_checks import Place
from tpuplane.spec.core.rules import spec_data
from tpuplane.spec.file_system_checks import FileSystem, file_systems, filesystem, instance_name, mounting, networks
from tpuplane.spec.file_systems import LustreSpec


@dataclass(frozen=True, slots=True)
class ServicesAccessPlan:
    """Private services access of the platform's network, through which pods reach the instances of Managed Lustre."""

    name: str  # of the range and of the firewall rule
    service: str
    prefix_length: int  # of the range
    port: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InstancePlan:
    """One instance of either service."""

    key: str
    name: str
    capacity_gib: int
    labels: dict[str, str]
    protected: bool
    readers: tuple[str, ...] = field(compare=False)  # teams; their claims are compared
    writers: tuple[str, ...] = field(compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class LustrePlan(InstancePlan):
    """One instance of Managed Lustre."""

    zone: str
    network: str  # path of the VPC
    own_network: bool  # the VPC is the platform's
    filesystem: str
    throughput: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FilestorePlan(InstancePlan):
    """One instance of Filestore."""

    location: str
    tier: str
    network: str  # name of the VPC
    share: str


def lustre_plans(spec: PlatformSpec) -> Iterator[LustrePlan]:
    """The instances of Managed Lustre in the order of the file."""
    for key, own in spec.storage.lustre.items():
        (network,) = networks(spec, own)
        yield LustrePlan(
            **_common(spec, key, own),
            zone=own.zone,
            network=f"projects/{network.project}/global/networks/{network.name}",
            own_network=network == Place(spec.project, spec.name),
            filesystem=filesystem(spec, key),
            throughput=own.throughput,
        )


def filestore_plans(spec: PlatformSpec) -> Iterator[FilestorePlan]:
    """The instances of Filestore in the order of the file."""
    for key, own in spec.storage.filestore.items():
        (network,) = networks(spec, own)
        yield FilestorePlan(
            **_common(spec, key, own), location=own.location, tier=own.tier, network=network.name, share=own.share
        )


def _common(spec: PlatformSpec, key: str, own: FileSystem) -> dict[str, Any]:
    return {
        "key": key,
        "name": instance_name(spec, key, own),
        "capacity_gib": own.capacity_gib,
        "labels": {**spec.labels, PLATFORM_LABEL: spec.name},
        "protected": own.deletion_protection,
        "readers": own.readers,
        "writers": own.writers,
    }


def services_access_plan(spec: PlatformSpec) -> ServicesAccessPlan | None:
    """The access of the platform's network; None if no instance is in it. An existing network is never changed."""
    wanted = any(plan.own_network for plan in lustre_plans(spec))
    return ServicesAccessPlan(f"{spec.name}-services", **spec_data("lustre")["network"]) if wanted else None


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
