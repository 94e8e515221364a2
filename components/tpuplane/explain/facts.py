"""Facts about planned objects. They select the reasons and fill in their texts, by the paths of their attributes."""

from collections.abc import Sequence
from typing import Any

from tpuplane.cpu import CpuError, cpu_catalogue
from tpuplane.explain.reasons import Facts, zone_offers
from tpuplane.gpu import gpu_catalogue
from tpuplane.plan import ClusterPlan, NodePoolPlan
from tpuplane.plan.summary import PoolSummary, RangeUse
from tpuplane.spec import ClusterSpec, GpuPoolSpec, PlatformSpec, PoolSpec
from tpuplane.spec.cluster.network_checks import pod_block
from tpuplane.spec.core.locations import is_zone
from tpuplane.spec.pools.hosts import HostsSpec
from tpuplane.spec.queues.teams import TeamSpec
from tpuplane.tpu import catalogue


def pool_facts(spec: PoolSpec, cluster: ClusterPlan, members: Sequence[NodePoolPlan]) -> Facts:
    """Facts of a pool of slices; `members` are its node pools."""
    generation = spec.slice.generation
    machines, disks = generation.machines_for(spec.slice.topology), generation.boot_disk_types
    (pool,) = PoolSummary.of(members)
    offer = catalogue().zone_offers(pool.zone, generation.name)
    return Facts(
        **_of_hosts(spec, cluster, members[0]),
        slice=spec.slice,
        pool=pool,
        machines=len(machines),
        machine_choices=" or ".join(machine.name for machine in machines),
        disks=len(disks),
        disk_types=" and ".join(disks) or "any known boot disk",
        zone_offer=zone_offers()[offer] if offer else "not on record",
        zone_sources=catalogue().offer_sources(offer) if offer else (),
    )


def gpu_pool_facts(spec: GpuPoolSpec, cluster: ClusterPlan, pool: NodePoolPlan) -> Facts:
    """Facts of a pool of GPU nodes."""
    machine = spec.machine
    alike = [
        other.name
        for other in gpu_catalogue().machines
        if (other.accelerator, other.gpus) == (machine.accelerator, machine.gpus)
    ]
    return Facts(
        **_of_hosts(spec, cluster, pool),
        machine=machine,
        machines=len(alike),
        machine_choices=", ".join(alike),
        max_clients=spec.sharing.max_clients if spec.sharing else 1,
        disks=len(machine.boot_disks),
        disk_types=", ".join(machine.boot_disks),
    )


def _of_hosts(spec: HostsSpec, cluster: ClusterPlan, plan: NodePoolPlan) -> dict[str, Any]:
    return {
        "described": spec,
        "written": spec.model_fields_set,
        "plan": plan,
        "cluster": cluster,
        "zonal": is_zone(cluster.location),
        "pod_block": pod_block(spec.max_pods_per_node),
    }


def system_facts(spec: ClusterSpec, cluster: ClusterPlan, plan: NodePoolPlan) -> Facts:
    """Facts of a cluster's system pool."""
    machines = cpu_catalogue()
    return Facts(
        described=spec.system_pool,
        written=spec.system_pool.model_fields_set,
        plan=plan,
        cluster=cluster,
        zonal=is_zone(cluster.location),
        usual_machines=machines.system_machine(cluster.region) == machines.system_machine(""),
        disk_types=" and ".join(_boot_disks(plan.machine_type)) or "Hyperdisk",
    )


def _boot_disks(machine: str) -> tuple[str, ...]:
    try:
        return cpu_catalogue().family_of(machine).boot_disks
    except CpuError:  # only an adopted pool can have a machine type that is not in the catalogue
        return ()


def team_facts(spec: TeamSpec, platform: PlatformSpec) -> Facts:
    """Facts of a team."""
    return Facts(
        written=spec.model_fields_set,
        team=spec,
        usual_queue=spec.queue == TeamSpec.model_fields["queue"].default,
        members=len(spec.members),
        order=", ".join(platform.queues.capacity_order),
    )


def cluster_facts(spec: ClusterSpec, cluster: ClusterPlan) -> Facts:
    """Facts of a cluster."""
    return Facts(
        described=spec,
        written=spec.model_fields_set,
        cluster=cluster,
        zonal=is_zone(cluster.location),
        ranges={use.name: use for use in RangeUse.of(cluster)},
        authorized=len(cluster.control_plane.authorized_networks),
        ray_written="ray" in spec.addons.model_fields_set,
        classes=len(cluster.compute_classes),
        addons=len(cluster.addons),
    )
