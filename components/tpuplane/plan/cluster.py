"""A cluster alone: how it is made, and its CPU pool. Its pools, queues and add-ons come from the platform."""

from __future__ import annotations

from tpuplane.plan.auto_provisioning import auto_provisioning_plan
from tpuplane.plan.context import Context
from tpuplane.plan.maintenance import maintenance_plan
from tpuplane.plan.model import ClusterPlan, ServiceAccountPlan
from tpuplane.plan.options import keys_plan, monitoring
from tpuplane.plan.pools import system_pool
from tpuplane.spec import ClusterSpec
from tpuplane.spec.locations import region_of, system_zones
from tpuplane.spec.networks import address_needs

# The least that a GKE node needs (logs, metrics), and pulling images
# (https://cloud.google.com/kubernetes-engine/docs/how-to/hardening-your-cluster).
_NODE_ROLES = ("roles/container.defaultNodeServiceAccount", "roles/artifactregistry.reader")


def cluster_plan(key: str, name: str, cluster: ClusterSpec, context: Context) -> ClusterPlan:
    """The cluster called `name` in Google Cloud, with nothing in it but its CPU pool."""
    needs, found = address_needs(cluster), cluster.network.existing
    return ClusterPlan(
        key=key,
        name=name,
        location=cluster.location,
        region=region_of(cluster.location),
        node_zones=system_zones(cluster.location),
        release_channel=cluster.release_channel,
        min_master_version=cluster.version,
        network=None if cluster.existing else found,
        pods_range=found.pods_range if found else "pods",
        services_range=found.services_range if found else "services",
        node_addresses=needs.nodes,
        pod_addresses=needs.pods,
        control_plane=cluster.control_plane,
        security=cluster.security,
        keys=keys_plan(cluster),
        storage=cluster.storage,
        monitoring=monitoring(cluster),
        cost_allocation=cluster.cost_allocation,
        node_service_account=cluster.node_service_account,
        ray_operator=cluster.addons.ray.mode == "gke-addon",
        deletion_protection=cluster.deletion_protection,
        resource_labels=dict(context.labels),
        system_pool=None if cluster.existing else system_pool(cluster.system_pool, context),
        maintenance=maintenance_plan(cluster.maintenance),
        existing=cluster.existing,
        auto_provisioning=auto_provisioning_plan(cluster),
    )


def node_account(account_id: str, cluster: str) -> ServiceAccountPlan:
    """The service account of the nodes of a cluster, made with it."""
    return ServiceAccountPlan(account_id, f"Nodes of GKE cluster {cluster}", _NODE_ROLES)
