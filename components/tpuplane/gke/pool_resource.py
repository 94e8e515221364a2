"""The GKE node pool of one plan, whatever its hosts have."""

from collections.abc import Mapping

import pulumi
import pulumi_gcp as gcp

from tpuplane.gke.cluster_ref import ClusterRef
from tpuplane.gke.deletion_guard import guard_of
from tpuplane.gke.node_config import node_config
from tpuplane.gke.options import waiting_like
from tpuplane.plan.pools import NodePoolPlan


def node_pool(
    name: str,
    plan: NodePoolPlan,
    cluster: ClusterRef,
    policies: Mapping[str, pulumi.Input[str]],
    *,
    parent: pulumi.Resource,
    opts: pulumi.ResourceOptions | None,
) -> gcp.container.NodePool:
    """Register the GKE node pool of one plan; `policies` are the workload policies that plans name."""
    scaling, guard = plan.autoscaling, guard_of(cluster)
    pool = gcp.container.NodePool(
        name,
        name=plan.name,
        project=cluster["project"],
        cluster=cluster["name"],
        location=cluster["location"],
        node_locations=list(plan.zones),
        node_count=plan.node_count,
        # The autoscaler owns the size from the first minute on; this is only where it starts.
        initial_node_count=scaling.min_nodes if scaling else None,
        # Limits per zone, never totals: GKE checks a slice against the per-zone maximum.
        autoscaling={
            "min_node_count": scaling.min_nodes,
            "max_node_count": scaling.max_nodes,
            "location_policy": scaling.location_policy,
        }
        if scaling
        else None,
        max_pods_per_node=plan.max_pods_per_node,
        placement_policy=_placement(plan, policies),
        management={"auto_repair": plan.auto_repair, "auto_upgrade": plan.auto_upgrade},
        upgrade_settings={
            "strategy": "SURGE",
            "max_surge": plan.upgrade.max_surge,
            "max_unavailable": plan.upgrade.max_unavailable,
        },
        queued_provisioning={"enabled": True} if plan.flex_start and plan.flex_start.queued else None,
        network_config=_network(plan),
        node_config=node_config(plan, cluster),
        opts=waiting_like(
            opts,
            pulumi.ResourceOptions(
                parent=parent,
                replace_on_changes=list(plan.replace_on),
                # The name is explicit, and a slice's chips are rarely there twice.
                delete_before_replace=True,
                ignore_changes=["initial_node_count", "node_count"] if scaling else None,
                custom_timeouts=pulumi.CustomTimeouts(create="60m", update="120m", delete="60m"),
                hooks=guard.hooks if guard else None,
            ),
        ),
    )
    if guard:
        guard.watch_pool(pool)
    return pool


def _network(plan: NodePoolPlan) -> gcp.container.NodePoolNetworkConfigArgsDict:
    config: gcp.container.NodePoolNetworkConfigArgsDict = {"enable_private_nodes": True}
    if plan.extra_networks:
        config["additional_node_network_configs"] = [
            {"network": extra.network, "subnetwork": extra.subnetwork} for extra in plan.extra_networks
        ]
    return config


def _placement(
    plan: NodePoolPlan, policies: Mapping[str, pulumi.Input[str]]
) -> gcp.container.NodePoolPlacementPolicyArgsDict | None:
    if plan.placement_topology is None:
        return {"type": "COMPACT"} if plan.compact else None
    if plan.workload_policy is None:
        return {"type": "COMPACT", "tpu_topology": plan.placement_topology}
    # GKE refuses a compact placement for these machines and stores their policy without a type. Any type here
    # would differ from what it reports and replace the slice at every update (vllm-project/ci-infra pull 547).
    return {
        "type": "",
        "policy_name": policies[plan.workload_policy],
        "tpu_topology": plan.placement_topology,
    }
