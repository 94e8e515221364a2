"""An existing cluster, written with pulumi_gcp alone."""

from dataclasses import dataclass

import pulumi
import pulumi_gcp as gcp

# What a GKE node needs to report, and to pull images.
ROLES = ("roles/container.defaultNodeServiceAccount", "roles/artifactregistry.reader")


@dataclass(frozen=True)
class TheirCluster:
    """A cluster, the account of its nodes, and that account's roles."""

    cluster: gcp.container.Cluster
    nodes: gcp.serviceaccount.Account
    roles: list[gcp.projects.IAMMember]


def make_cluster(project: str, region: str, options: pulumi.ResourceOptions) -> TheirCluster:
    """Make the network, the nodes' account and the cluster."""
    vpc = gcp.compute.Network("acme", name="acme", auto_create_subnetworks=False, opts=options)
    subnet = gcp.compute.Subnetwork(
        "acme",
        name="acme",
        region=region,
        network=vpc.id,
        ip_cidr_range="10.100.0.0/20",
        secondary_ip_ranges=[
            {"range_name": "gke-pods", "ip_cidr_range": "10.104.0.0/14"},
            {"range_name": "gke-services", "ip_cidr_range": "10.101.0.0/20"},
        ],
        private_ip_google_access=True,
        opts=options,
    )
    nodes = gcp.serviceaccount.Account("nodes", account_id="acme-nodes", project=project, opts=options)
    roles = [
        gcp.projects.IAMMember(
            role.removeprefix("roles/"),
            project=project,
            role=role,
            member=pulumi.Output.concat("serviceAccount:", nodes.email),
            opts=options,
        )
        for role in ROLES
    ]
    cluster = gcp.container.Cluster(
        "acme",
        name="acme",
        location=region,
        release_channel={"channel": "REGULAR"},
        min_master_version="1.35",
        network=vpc.id,
        subnetwork=subnet.id,
        ip_allocation_policy={
            "cluster_secondary_range_name": "gke-pods",
            "services_secondary_range_name": "gke-services",
        },
        private_cluster_config={"enable_private_nodes": True},
        workload_identity_config={"workload_pool": f"{project}.svc.id.goog"},
        initial_node_count=1,
        node_config={"machine_type": "e2-standard-4", "service_account": nodes.email},
        deletion_protection=False,
        opts=pulumi.ResourceOptions.merge(options, pulumi.ResourceOptions(depends_on=roles)),
    )
    return TheirCluster(cluster, nodes, roles)
