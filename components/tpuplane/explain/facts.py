"""Facts about planned objects, which select reasons and fill in their texts; and values of teams, classes, add-ons."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from tpuplane.cpu import CpuError, cpu_catalogue
from tpuplane.explain.reasons import Facts, zone_offers
from tpuplane.gpu import gpu_catalogue
from tpuplane.labels import GPU, TPU, UNITS
from tpuplane.plan import ClusterPlan, NodePoolPlan, PlatformPlan
from tpuplane.plan.queue_model import FlavorQuotaPlan, QueuesPlan, TeamPlan
from tpuplane.plan.summary import PoolSummary, RangeUse
from tpuplane.quantities import counted
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


View = SimpleNamespace
"""The planned values of a team, class or add-on in the cluster of this `name`, by `of` of the data."""


def team_views(platform: PlatformPlan, name: str) -> Sequence[View]:
    """The team in each of its clusters."""
    return [
        View(
            name=cluster.name,
            quota=tuple(word for quota in _quotas(cluster.queues, team) for word in _quota(quota)),
            flavors=tuple(quota.flavor for quota in _quotas(cluster.queues, team)),
            local_queues=tuple(f"{space.name}/{queue}" for space in team.namespaces for queue in team.local_queues),
            access=tuple(f"{member.kind} {member.name}" for member in team.members),
        )
        for cluster in platform.clusters
        if cluster.queues is not None
        for team in cluster.queues.teams
        if team.name == name
    ]


def class_views(platform: PlatformPlan, name: str) -> Sequence[View]:
    """The compute class in each cluster that has it."""
    return [
        View(name=cluster.name, ways=tuple(f"{index}. {way}" for index, way in enumerate(own_class.priorities, 1)))
        for cluster in platform.clusters
        for own_class in cluster.compute_classes
        if own_class.name == name
    ]


def addon_views(platform: PlatformPlan, cluster: str, key: str) -> Sequence[View]:
    """The add-on of a cluster; nothing if the platform does not install it."""
    return [
        View(name=planned.name, release=f"{addon.chart.name} {addon.chart.version}", after=addon.after)
        for planned in platform.clusters
        for addon in planned.addons
        if (planned.key, addon.key) == (cluster, key)
    ]


def _quotas(queues: QueuesPlan, team: TeamPlan) -> Sequence[FlavorQuotaPlan]:
    return [quota for queue in queues.cluster_queues if queue.team == team.name for quota in queue.flavors]


def _quota(quota: FlavorQuotaPlan) -> Sequence[str]:
    """Chips or GPUs; cores for the system pool."""
    amounts = {resource.resource: resource.nominal for resource in quota.resources if resource.nominal}
    shown = [name for name in (TPU, GPU) if name in amounts] or amounts.keys() & {"cpu"}
    return [f"{counted(amounts[name], UNITS[name])} of {quota.flavor}" for name in shown]
