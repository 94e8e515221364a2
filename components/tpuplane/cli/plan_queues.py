"""Teams and queues of a plan: quotas by flavor, as a table and as plain values."""

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any, Literal

from tpuplane.cli.render import values_of
from tpuplane.labels import GPU, TPU, UNITS
from tpuplane.plan import ClusterPlan, PlatformPlan
from tpuplane.plan import queue_model as model
from tpuplane.quantities import counted

SHARED = "shared by all teams"
"""The name of the quota without a team."""

Row = tuple[str, ...]

HEADS = ("cluster, queue", "flavor", "of pools", "own", "borrows up to", "lends up to")


def quotas_of(platform: PlatformPlan) -> Iterator[Row]:
    """Rows with a quota: the cluster, then the columns of HEADS. The queue has its weight."""
    for cluster in platform.clusters:
        if (queues := cluster.queues) is None:
            continue
        flavors = {flavor.name: flavor for flavor in queues.flavors}
        for queue in queues.cluster_queues:
            for quota in queue.flavors:
                counted_in = _counted_in(quota, flavors[quota.flavor])
                limits = (_limit(counted_in, "borrowing_limit", "any"), _limit(counted_in, "lending_limit", "all"))
                weight = "" if queue.weight is None else f", weight {queue.weight:g}"
                yield (cluster.name, f"{queue.name}{weight}", *_cells(quota, flavors[quota.flavor]), *limits)
        for quota in queues.shared:
            yield (cluster.name, SHARED, *_cells(quota, flavors[quota.flavor]), "", "")


def quota_rows(platform: PlatformPlan) -> Iterator[Row]:
    """Rows of HEADS: for each cluster with teams a row with its name, then a row for each quota."""
    for cluster, quotas in groupby(quotas_of(platform), key=itemgetter(0)):
        yield (f"[bold]{cluster}[/bold]",)
        for team, rows in groupby(quotas, key=itemgetter(1)):
            for index, (_, _, *cells) in enumerate(rows):
                yield (f"  {team}" if index == 0 else "", *cells)


def _cells(quota: model.FlavorQuotaPlan, flavor: model.FlavorPlan) -> Row:
    return flavor.name, ", ".join(flavor.pools), _own(quota, flavor)


def _counted_in(quota: model.FlavorQuotaPlan, flavor: model.FlavorPlan) -> model.ResourceQuotaPlan:
    """The resource of the limits: chips, GPUs or cores."""
    resource = next((device for device in (TPU, GPU) if device in flavor.per_slice), "cpu")
    return next(limits for limits in quota.resources if limits.resource == resource)


def _own(quota: model.FlavorQuotaPlan, flavor: model.FlavorPlan) -> str:
    own = _counted_in(quota, flavor)
    if own.resource == TPU:
        return f"{counted(own.nominal // flavor.per_slice[TPU], 'slice')}, {counted(own.nominal, UNITS[TPU])}"
    if own.resource == GPU:
        return counted(own.nominal, UNITS[GPU])
    amounts = {resource.resource: resource.nominal for resource in quota.resources}
    return f"{counted(amounts['cpu'], UNITS['cpu'])}, {amounts['memory']} GB"


def _limit(quota: model.ResourceQuotaPlan, which: Literal["borrowing_limit", "lending_limit"], without: str) -> str:
    limit: float | None = getattr(quota, which)
    return without if limit is None else counted(limit, UNITS[quota.resource])


def queues_as_json(cluster: ClusterPlan) -> dict[str, Any] | None:
    """Flavors, teams, shared quota, and quotas as in Kueue's objects; null if no team has quota."""
    if (queues := cluster.queues) is None:
        return None
    return {
        **values_of(queues, "cohort", "strategy", "fair_sharing"),
        "flavors": [_flavor(flavor) for flavor in queues.flavors],
        "priorities": {name: priority.value for name, priority in queues.priorities.items()},
        "teams": [_team(queues, team) for team in queues.teams],
        "shared": _quotas(queues.shared),
    }


def _flavor(flavor: model.FlavorPlan) -> dict[str, Any]:
    return {
        **values_of(flavor, "name", "pools", "capacity", "slices", "per_slice"),
        "queued": flavor.provisioning is not None,
    }


def _team(queues: model.QueuesPlan, team: model.TeamPlan) -> dict[str, Any]:
    mine = [queue for queue in queues.cluster_queues if queue.team == team.name]
    return {
        "name": team.name,
        "weight": mine[0].weight,
        "namespaces": [namespace.name for namespace in team.namespaces],
        "members": [member.name for member in team.members],
        "localQueues": team.local_queues,
        "quotas": [quota for queue in mine for quota in _quotas(queue.flavors)],
    }


def _quotas(quotas: tuple[model.FlavorQuotaPlan, ...]) -> list[dict[str, Any]]:
    return [
        {
            "flavor": quota.flavor,
            "resource": resource.resource,
            "nominal": resource.quantity(resource.nominal),
            "borrowingLimit": _quantity(resource, resource.borrowing_limit),
            "lendingLimit": _quantity(resource, resource.lending_limit),
        }
        for quota in quotas
        for resource in quota.resources
        if resource.nominal or resource.borrowing_limit is not None
    ]


def _quantity(quota: model.ResourceQuotaPlan, amount: float | None) -> str | None:
    return None if amount is None else quota.quantity(amount)
