"""The Filestore instances of a platform."""

from collections.abc import Sequence

import pulumi
import pulumi_gcp as gcp

from tpuplane.plan.filestore import FilestorePlan


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
            opts=pulumi.ResourceOptions(
                parent=parent,
                depends_on=[network] if network is not None else [],
                protect=plan.protected or None,
                delete_before_replace=True,  # names are explicit
            ),
        )
        addresses[plan.key] = instance.networks.apply(lambda networks: (networks[0].ip_addresses or [""])[0])
    return addresses
