"""Planned teams, compute classes and add-ons, one value each for `explain`."""

from collections.abc import Sequence
from types import SimpleNamespace

from tpuplane.labels import GPU, TPU, UNITS
from tpuplane.plan import PlatformPlan
from tpuplane.plan.queue_model import FlavorQuotaPlan, QueuesPlan, TeamPlan
from tpuplane.quantities import counted

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
