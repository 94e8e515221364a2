"""The namespaces of clusters, and those that a change deletes."""

from collections.abc import Iterator

from tpuplane.diff.node_pools import Platform
from tpuplane.plan import ClusterPlan
from tpuplane.spec.core.errors import Path


def owners(cluster: ClusterPlan) -> dict[str, str]:
    """The namespaces of a cluster, each with its team, or "" without one."""
    teams = cluster.queues.teams if cluster.queues else ()
    of_teams = {own.name: team.name for team in teams for own in team.namespaces}
    return {**dict.fromkeys(cluster.namespaces, ""), **of_teams}


def deleted_namespaces(path: Path, before: Platform, after: Platform) -> Iterator[tuple[str, str]]:
    """The namespaces that a change deletes, each after the key of its cluster.

    The change is one of a team, of MultiKueue, of the namespaces of a cluster, or of an existing cluster.
    """
    later = {cluster.key: owners(cluster) for cluster in after.plan.clusters}
    for cluster in before.plan.clusters:
        of_cluster = path in (("clusters", cluster.key), ("clusters", cluster.key, "namespaces"))
        for name, team in sorted(owners(cluster).items()):
            by_team = path[:2] == ("teams", team) or (path[0] == "queues" and team in after.spec.teams)
            if (of_cluster or by_team) and name not in later.get(cluster.key, {}):
                yield cluster.key, name
