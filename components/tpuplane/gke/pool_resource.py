"""The GKE node pool of one plan, and its hosts: machine, disks, identity and capacity."""

from collections.abc import Mapping

import pulumi
import pulumi_gcp as gcp

from tpuplane.gke.arguments import ClusterRef
from tpuplane.gke.deletion_guard import guard_of
from tpuplane.gke.resource_options import waiting_like
from tpuplane.labels import CLASS_LABEL
from tpuplane.plan.pools import NodePoolPlan

CLOUD_PLATFORM_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
"""Access is decided by the roles of the nodes' own service account, as Google advises, not by scopes."""


def node_config(plan: NodePoolPlan, cluster: ClusterRef) -> gcp.container.NodePoolNodeConfigArgsDict:
    """The node config of one plan in its cluster."""
    # GKE itself taints TPU nodes with google.com/tpu and GPU nodes with nvidia.com/gpu, and labels them by their
    # hardware. The provider reports no drift on taints that are not declared, so they are not declared.
    config: gcp.container.NodePoolNodeConfigArgsDict = {
        "machine_type": plan.machine_type,
        "image_type": "COS_CONTAINERD",
        "disk_type": plan.disk_type,
        "disk_size_gb": plan.node.disk_size_gb,
        "spot": plan.capacity == "spot",
        "service_account": cluster["service_account"],
        "oauth_scopes": [CLOUD_PLATFORM_SCOPE],
        "workload_metadata_config": {"mode": "GKE_METADATA"},
        "shielded_instance_config": {"enable_secure_boot": True, "enable_integrity_monitoring": True},
        "metadata": {"disable-legacy-endpoints": "true"},
        "gvnic": {"enabled": True},
        "labels": plan.node_labels,
        "resource_labels": plan.resource_labels,
    }
    if "boot_disk_key" in cluster:
        config["boot_disk_kms_key"] = cluster["boot_disk_key"]
    if plan.compute_class is not None:
        config["taints"] = [{"key": CLASS_LABEL, "value": plan.compute_class, "effect": "NO_SCHEDULE"}]
    if plan.local_ssds is not None:
        config["ephemeral_storage_local_ssd_config"] = {"local_ssd_count": plan.local_ssds}
    if plan.node.image_streaming:
        config["gcfs_config"] = {"enabled": True}
    if plan.node.network_tags:
        config["tags"] = list(plan.node.network_tags)
    if plan.node.secondary_boot_disks:
        config["secondary_boot_disks"] = [
            {"disk_image": disk.disk_image, "mode": "CONTAINER_IMAGE_CACHE"}
            if disk.mode == "CONTAINER_IMAGE_CACHE"
            else {"disk_image": disk.disk_image}
            for disk in plan.node.secondary_boot_disks
        ]
    return {**config, **_capacity(plan), **_gpus(plan)}


def _capacity(plan: NodePoolPlan) -> gcp.container.NodePoolNodeConfigArgsDict:
    """Settings for a reservation or flex-start; empty for on-demand and spot."""
    config: gcp.container.NodePoolNodeConfigArgsDict = {}
    if plan.reservation is not None:
        config["reservation_affinity"] = {
            "consume_reservation_type": "SPECIFIC_RESERVATION",
            "key": "compute.googleapis.com/reservation-name",
            "values": [plan.reservation],
        }
    if plan.flex_start is not None:
        config["flex_start"] = True
        config["max_run_duration"] = f"{plan.flex_start.max_run_seconds}s"
        config["reservation_affinity"] = {"consume_reservation_type": "NO_RESERVATION"}
    if plan.host_maintenance is not None:
        config["host_maintenance_policy"] = {"maintenance_interval": plan.host_maintenance}
    return config


def _gpus(plan: NodePoolPlan) -> gcp.container.NodePoolNodeConfigArgsDict:
    if (gpu := plan.gpu) is None:
        return {}
    accelerator: gcp.container.NodePoolNodeConfigGuestAcceleratorArgsDict = {
        "type": gpu.machine.accelerator.name,
        "count": gpu.machine.gpus,
        "gpu_driver_installation_config": {"gpu_driver_version": gpu.driver},
    }
    if gpu.partition_size is not None:
        accelerator["gpu_partition_size"] = gpu.partition_size
    if gpu.sharing is not None:
        accelerator["gpu_sharing_config"] = {
            "gpu_sharing_strategy": gpu.sharing.strategy,
            "max_shared_clients_per_gpu": gpu.sharing.max_clients,
        }
    return {"guest_accelerators": [accelerator]}


def node_pool(
    name: str,
    plan: NodePoolPlan,
    cluster: ClusterRef,
    policies: Mapping[str, pulumi.Input[str]],
    *,
    parent: pulumi.Resource,
    opts: pulumi.ResourceOptions | None,
) -> gcp.container.NodePool:
    """Register the GKE node pool of one plan. `policies` are the workload policies by the name in the plans."""
    scaling, guard = plan.autoscaling, guard_of(cluster)
    # The guard allows the deletion of pools that are removed from the program. An adopted pool may have work that
    # tpuplane does not know, so Pulumi rejects its deletion.
    protect = bool(guard and guard.protected and plan.imported)
    sizes = ("initial_node_count", "node_count") if scaling else ()
    pool = gcp.container.NodePool(
        name,
        name=plan.name,
        project=cluster["project"],
        cluster=cluster["name"],
        location=cluster["location"],
        node_locations=list(plan.zones),
        node_count=plan.node_count,
        # The initial size only, because the autoscaler changes it.
        initial_node_count=scaling.min_nodes if scaling else None,
        # Limits in each zone, not in total, because GKE compares a slice with the limit of a zone.
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
                # The name is explicit, and the chips of a slice are rarely available twice.
                delete_before_replace=True,
                ignore_changes=[*sizes, *plan.kept] or None,
                custom_timeouts=pulumi.CustomTimeouts(create="60m", update="120m", delete="60m"),
                hooks=guard.hooks if guard else None,
                protect=protect or None,  # None: the option of the component
            ),
        ),
    )
    if guard:
        guard.watch(pool)
    return pool


def _network(plan: NodePoolPlan) -> gcp.container.NodePoolNetworkConfigArgsDict:
    config: gcp.container.NodePoolNetworkConfigArgsDict = {"enable_private_nodes": True}
    if plan.node.extra_networks:
        config["additional_node_network_configs"] = [
            {"network": extra.network, "subnetwork": extra.subnetwork} for extra in plan.node.extra_networks
        ]
    return config


def _placement(
    plan: NodePoolPlan, policies: Mapping[str, pulumi.Input[str]]
) -> gcp.container.NodePoolPlacementPolicyArgsDict | None:
    if plan.placement_topology is None:
        return {"type": "COMPACT"} if plan.compact else None
    if plan.workload_policy is None:
        return {"type": "COMPACT", "tpu_topology": plan.placement_topology}
    # GKE rejects a compact placement for these machines and stores their policy without a type. Any type here
    # would differ from what it reports and replace the slice at every update (vllm-project/ci-infra pull 547).
    placement: gcp.container.NodePoolPlacementPolicyArgsDict = {
        "type": "",
        "policy_name": policies[plan.workload_policy],
    }
    # Dynamic slicing gives the hosts of a cube their topology.
    return placement if plan.dynamic_slicing else {**placement, "tpu_topology": plan.placement_topology}
