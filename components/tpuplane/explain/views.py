"""Planned teams, compute classes and add-ons, one value each for `explain`."""

from collections.abc import Sequence
from types import SimpleNamespace

from tpuplane.labels import GPU, TPU
from tpuplane.plan import PlatformPlan
from tpuplane.plan.queue_model import FlavorQuotaPlan, QueuesPlan, TeamPlan
from tpuplane.plan.summary import UNITS, counted

View = SimpleNamespace
"""The planned values of a team, class or add-on in the cluster of this `name`, by `of` of the data."""


def team_views(platform: PlatformPlan, team: str) -> Sequence[View]:
    """The team in each of its clusters."""
    return [
        View(
            name=cluster.name,
            quota=tuple(word for quota in _quotas(cluster.queues, it) for word in _quota(quota)),
            flavors=tuple(quota.flavor for quota in _quotas(cluster.queues, it)),
            local_queues=tuple(f"{own.name}/{queue}" for own in it.namespaces for queue in it.local_queues),
            access=tuple(f"{member.kind} {member.name}" for member in it.members),
        )
        for cluster in platform.clusters
        if cluster.queues is not None
        for it in cluster.queues.teams
        if it.name == team
    ]


def class_views(platform: PlatformPlan, name: str) -> Sequence[View]:
    """The compute class in each cluster that has it."""
    return [
        View(name=cluster.name, ways=tuple(f"{index}. {way}" for index, way in enumerate(it.priorities, 1)))
        for cluster in platform.clusters
        for it in cluster.compute_classes
        if it.name == name
    ]


def addon_views(platform: PlatformPlan, cluster: str, key: str) -> Sequence[View]:
    """The add-on of a cluster; nothing if the platform does not install it."""
    return [
        View(name=it.name, release=f"{addon.chart.name} {addon.chart.version}", after=addon.after)
        for it in platform.clusters
        for addon in it.addons
        if (it.key, addon.key) == (cluster, key)
    ]


def _quotas(queues: QueuesPlan, team: TeamPlan) -> Sequence[FlavorQuotaPlan]:
    return [quota for queue in queues.cluster_queues if queue.team == team.name for quota in queue.flavors]


def _quota(quota: FlavorQuotaPlan) -> Sequence[str]:
    """Chips or GPUs; cores for the system pool."""
    amounts = {it.resource: it.nominal for it in quota.resources if it.nominal}
    shown = [it for it in (TPU, GPU) if it in amounts] or [it for it in ("cpu",) if it in amounts]
    return [f"{counted(amounts[it], UNITS[it])} of {quota.flavor}" for it in shown]
