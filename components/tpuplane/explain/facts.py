"""Facts about planned objects. They select the reasons and fill in their texts."""

from collections.abc import Sequence

from tpuplane.cpu import cpu_catalogue
from tpuplane.explain.reasons import Facts, zone_offers
from tpuplane.gpu import gpu_catalogue
from tpuplane.plan import ClusterPlan, NodePoolPlan
from tpuplane.plan.summary import PoolSummary, RangeUse
from tpuplane.spec import ClusterSpec, GpuPoolSpec, PlatformSpec, PoolSpec
from tpuplane.spec.cluster.network_checks import pod_block
from tpuplane.spec.core.locations import is_zone
from tpuplane.spec.queues.teams import TeamSpec
from tpuplane.tpu import catalogue

_RANGES = {"node": "nodes", "pod": "pods"}


def pool_facts(spec: PoolSpec, cluster: ClusterPlan, members: Sequence[NodePoolPlan]) -> Facts:
    """Facts of a pool of slices; `members` are its node pools."""
    shape = spec.slice
    generation, machine = shape.generation, shape.machine
    machines = generation.machines_for(shape.topology)
    (pool,) = PoolSummary.of(members)
    offer = catalogue().zone_offers(pool.zone, generation.name)
    return {
        "written": spec.model_fields_set,
        "multi_host": shape.multi_host,
        "autoscaled": members[0].autoscaling is not None,
        "capacity": pool.capacity,
        "slices": pool.max_slices,
        "min_slices": pool.min_slices,
        "generation": generation.name,
        "topology": shape.topology,
        "chips": shape.chips,
        "hosts": shape.hosts,
        "placement": shape.placement,
        "machine": machine.name,
        "machine_chips": machine.chips,
        "one_machine": len(machines) == 1,
        "machine_choices": " or ".join(choice.name for choice in machines),
        "disk_choices": len(generation.boot_disk_types),
        "disk_restricted": bool(generation.boot_disk_types),
        "disk_types": " and ".join(generation.boot_disk_types) or "any known boot disk",
        "zonal": is_zone(cluster.location),
        "region": cluster.region,
        "zone_offer": zone_offers()[offer] if offer else "not on record",
        "in_class": members[0].compute_class is not None,
        "pod_block": pod_block(spec.max_pods_per_node),
        "release_channel": cluster.settings.release_channel,
        "in_channel": cluster.settings.release_channel != "UNSPECIFIED",
        "@generation": generation.sources,
        "@machine": machine.sources,
        "@zone": catalogue().offer_sources(offer) if offer else (),
    }


def gpu_pool_facts(spec: GpuPoolSpec, cluster: ClusterPlan, pool: NodePoolPlan) -> Facts:
    """Facts of a pool of GPU nodes."""
    machine = spec.machine
    alike = [
        it.name for it in gpu_catalogue().machines if (it.accelerator, it.gpus) == (machine.accelerator, machine.gpus)
    ]
    return {
        "written": spec.model_fields_set,
        "autoscaled": pool.autoscaling is not None,
        "capacity": pool.capacity,
        "accelerator": machine.accelerator.name,
        "gpus": machine.gpus,
        "machine": machine.name,
        "one_machine": len(alike) == 1,
        "machine_choices": ", ".join(alike),
        "max_clients": spec.sharing.max_clients if spec.sharing else 1,
        "bundled_ssds": bool(machine.local_ssds),
        "one_disk": len(machine.boot_disks) == 1,
        "disk_types": ", ".join(machine.boot_disks),
        "zonal": is_zone(cluster.location),
        "region": cluster.region,
        "pod_block": pod_block(spec.max_pods_per_node),
        "release_channel": cluster.settings.release_channel,
        "in_channel": cluster.settings.release_channel != "UNSPECIFIED",
        "@machine": machine.sources,
    }


def system_facts(spec: ClusterSpec, cluster: ClusterPlan) -> Facts:
    """Facts of a cluster's system pool."""
    machines = cpu_catalogue()
    machine = spec.system_pool.machine_type or machines.system_machine(cluster.region)
    family = machines.family_of(machine)
    return {
        "written": spec.system_pool.model_fields_set,
        "zonal": is_zone(cluster.location),
        "region": cluster.region,
        "usual_machines": machines.system_machine(cluster.region) == machines.system_machine(""),
        "machine": machine,
        "disk_types": " and ".join(family.boot_disks) or "Hyperdisk",
    }


def team_facts(spec: TeamSpec, platform: PlatformSpec) -> Facts:
    """Facts of a team."""
    return {
        "written": spec.model_fields_set,
        "queue": spec.queue,
        "usual_queue": spec.queue == TeamSpec.model_fields["queue"].default,
        "any_member": bool(spec.members),
        "order": ", ".join(platform.queues.capacity_order),
    }


def cluster_facts(spec: ClusterSpec, cluster: ClusterPlan) -> Facts:
    """Facts of a cluster."""
    ranges = {use.name: use for use in RangeUse.of(cluster)}
    room = {f"{what}_room": f"{ranges[name].size:,}" if name in ranges else "?" for what, name in _RANGES.items()}
    return {
        **room,
        "written": spec.model_fields_set,
        "zonal": is_zone(cluster.location),
        "region": cluster.region,
        "public_endpoint": cluster.control_plane.public_endpoint,
        "own_master_cidr": cluster.control_plane.master_cidr is not None,
        "authorized": bool(cluster.control_plane.authorized_networks),
        "node_addresses": f"{cluster.node_addresses:,}",
        "pod_addresses": f"{cluster.pod_addresses:,}",
        "ray_written": "ray" in spec.addons.model_fields_set,
        "any_class": bool(cluster.compute_classes),
        "any_addon": bool(cluster.addons),
    }
