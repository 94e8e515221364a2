"""The storage of a platform: instances of Managed Lustre and Filestore with access to them, and buckets."""

from collections.abc import Sequence
from typing import Any

import pulumi
import pulumi_gcp as gcp

from tpuplane.gke.network import PlannedNetwork
from tpuplane.plan.file_systems import FilestorePlan, InstancePlan, LustrePlan, ServicesAccessPlan
from tpuplane.plan.storage import BucketPlan


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


class Buckets(pulumi.ComponentResource):
    """Private buckets with uniform access. A bucket with objects is never deleted."""

    def __init__(
        self,
        name: str,
        project: str,
        plans: Sequence[BucketPlan],
        clusters: Sequence[pulumi.Resource],
        opts: pulumi.ResourceOptions,
    ) -> None:
        """Create them. `clusters` are those of the same program.

        Google rejects a grant to a namespace before the first cluster with Workload Identity exists, because this
        cluster creates the identity pool of the project.
        """
        super().__init__("tpuplane:index:Buckets", name, {}, opts)
        after_clusters = pulumi.ResourceOptions(parent=self, depends_on=list(clusters))
        number = ""
        if any(plan.grants for plan in plans):
            number = gcp.organizations.get_project(project, opts=pulumi.InvokeOptions(parent=self)).number
        for plan in plans:
            bucket = plan.name if plan.existing else self._bucket(f"{name}-{plan.key}", project, plan).name
            for grant in plan.grants:
                gcp.storage.BucketIAMMember(
                    f"{name}-{plan.key}-{grant.owner}-{grant.role.rpartition('.')[2]}",
                    bucket=bucket,
                    role=grant.role,
                    member=grant.member.format(number=number),
                    opts=after_clusters,
                )
        self.register_outputs({})

    def _bucket(self, name: str, project: str, plan: BucketPlan) -> gcp.storage.Bucket:
        age = plan.delete_after_days
        return gcp.storage.Bucket(
            name,
            name=plan.name,
            project=project,
            location=plan.location.upper(),  # as Google writes it, so that a refresh finds no difference
            storage_class=plan.storage_class,
            uniform_bucket_level_access=True,
            public_access_prevention="enforced",
            hierarchical_namespace={"enabled": True} if plan.hierarchical else None,
            versioning=None if plan.hierarchical else {"enabled": True},
            soft_delete_policy={"retention_duration_seconds": plan.soft_delete_seconds},
            lifecycle_rules=[{"action": {"type": "Delete"}, "condition": {"age": age}}] if age else [],
            labels=plan.labels,
            opts=pulumi.ResourceOptions(parent=self, protect=plan.protected or None),
        )
