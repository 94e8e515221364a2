"""The Managed Lustre instances of a platform, and the access to them from its network."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from tpuplane.labels import PLATFORM_LABEL
from tpuplane.spec import PlatformSpec
from tpuplane.spec.cluster.existing_checks import Place
from tpuplane.spec.core.rules import spec_data
from tpuplane.spec.file_system_checks import filesystem, instance_name, networks


@dataclass(frozen=True, slots=True)
class ServicesAccessPlan:
    """Private services access of the platform's network, through which pods reach the instances."""

    name: str  # of the range and of the firewall rule
    service: str
    prefix_length: int  # of the range
    port: str


@dataclass(frozen=True, slots=True)
class LustrePlan:
    """One instance."""

    key: str
    name: str
    zone: str
    network: str  # path of the VPC
    own_network: bool  # the VPC is the platform's
    filesystem: str
    capacity_gib: int
    throughput: int
    labels: dict[str, str]
    protected: bool
    readers: tuple[str, ...] = field(compare=False)  # teams; their claims are compared
    writers: tuple[str, ...] = field(compare=False)


def lustre_plans(spec: PlatformSpec) -> Iterator[LustrePlan]:
    """The instances in the order of the file."""
    for key, own in spec.storage.lustre.items():
        (network,) = networks(spec, own)
        yield LustrePlan(
            key=key,
            name=instance_name(spec, key, own),
            zone=own.zone,
            network=f"projects/{network.project}/global/networks/{network.name}",
            own_network=network == Place(spec.project, spec.name),
            filesystem=filesystem(spec, key),
            capacity_gib=own.capacity_gib,
            throughput=own.throughput,
            labels={**spec.labels, PLATFORM_LABEL: spec.name},
            protected=own.deletion_protection,
            readers=own.readers,
            writers=own.writers,
        )


def services_access_plan(spec: PlatformSpec) -> ServicesAccessPlan | None:
    """The access of the platform's network; None if no instance is in it. An existing network is never changed."""
    wanted = any(plan.own_network for plan in lustre_plans(spec))
    return ServicesAccessPlan(f"{spec.name}-services", **spec_data("lustre")["network"]) if wanted else None
