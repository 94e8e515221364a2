"""The instances of Managed Lustre and Filestore of a platform, and their network's access to Managed Lustre."""

from collections.abc import Sequence
from typing import Any

import pulumi
import pulumi_gcp as gcp

from tpuplane.gke.network import PlannedNetwork
from tpuplane.plan.file_systems import FilestorePlan, InstancePlan, LustrePlan, ServicesAccessPlan


def make_access(name: str, project: str, plan: ServicesAccessPlan, network: PlannedNetwork) -> list[pulumi.Resource]:
    """Give a VPC private services access: a range outside its subnetworks, and a connection with Google's services."""
    # Google chooses a range that no existing subnetwork has. Names are explicit.
    subnets = [*network.subnets.values(), *network.proxies]
    own = pulumi.ResourceOptions(parent=network, depends_on=subnets, delete_before_replace=True)
    common: dict[str, Any] = {"name": plan.name, "project": project, "network": network.network.id, "opts": own}
    internal: dict[str, Any] = {"address_type": "INTERNAL", "prefix_length": plan.prefix_length}
    found = gcp.compute.GlobalAddress(f"{name}-range", **common, **internal, purpose="VPC_PEERING")
    firewall = gcp.compute.Firewall(
        f"{name}-firewall",
        direction="INGRESS",
        allows=[{"protocol": "tcp", "ports": [plan.port]}],
        source_ranges=[pulumi.Output.concat(found.address, "/", str(plan.prefix_length))],
        **common,
    )
    connection = gcp.servicenetworking.Connection(
        f"{name}-connection",
        network=network.network.id,
        service=plan.service,
        reserved_peering_ranges=[found.name],
        opts=own,
    )
    return [firewall, connection]


def make_lustre(
    name: str, project: str, plans: Sequence[LustrePlan], access: Sequence[pulumi.Resource], parent: pulumi.Resource
) -> dict[str, pulumi.Output[str]]:
    """Create the instances, after the access of their network. Returns their IP addresses, by their keys."""
    addresses = {}
    for plan in plans:
        instance = gcp.lustre.Instance(
            f"{name}-{plan.key}",
            instance_id=plan.name,
            project=project,
            location=plan.zone,
            network=plan.network,
            filesystem=plan.filesystem,
            capacity_gib=str(plan.capacity_gib),
            per_unit_storage_throughput=str(plan.throughput),
            labels=plan.labels,
            opts=_options(plan, parent, access if plan.own_network else []),
        )
        addresses[plan.key] = instance.mount_point.apply(lambda mount_point: mount_point.partition("@")[0])
    return addresses


def make_filestore(
    name: str, project: str, plans: Sequence[FilestorePlan], network: pulumi.Resource | None, parent: pulumi.Resource
) -> dict[str, pulumi.Output[str]]:
    """Create the instances, after the platform's network. Returns their IP addresses, by their keys."""
    addresses = {}
    for plan in plans:
        instance = gcp.filestore.Instance(
            f"{name}-{plan.key}",
            name=plan.name,
            project=project,
            location=plan.location,
            tier=plan.tier,
            file_shares={"name": plan.share, "capacity_gb": plan.capacity_gib},
            networks=[{"network": plan.network, "modes": ["MODE_IPV4"], "connect_mode": "DIRECT_PEERING"}],
            labels=plan.labels,
            opts=_options(plan, parent, [network] if network is not None else []),
        )
        addresses[plan.key] = instance.networks.apply(lambda networks: (networks[0].ip_addresses or [""])[0])
    return addresses


def _options(plan: InstancePlan, parent: pulumi.Resource, after: Sequence[pulumi.Resource]) -> pulumi.ResourceOptions:
    # Names are explicit.
    return pulumi.ResourceOptions(
        parent=parent, depends_on=list(after), protect=plan.protected or None, delete_before_replace=True
    )
