"""Kueue's feature gates that are off although what teams are given needs them."""

from __future__ import annotations

from collections.abc import Iterator

from tpuplane.spec.addons.catalogue import addon_catalogue
from tpuplane.spec.core.errors import Mistake, Path
from tpuplane.spec.core.rules import broken
from tpuplane.spec.platform import PlatformSpec


def check_gates(spec: PlatformSpec) -> Iterator[Mistake]:
    """Refuse to switch off what the queues of a cluster need: Kueue would take their objects, and do something else."""
    for key, cluster in spec.clusters.items():
        gates = cluster.addons.kueue.feature_gates if cluster.addons.kueue is not None else {}
        for gate in _needed(spec, key):
            if not gates.get(gate, True):
                at: Path = ("clusters", key, "addons", "kueue", "featureGates", gate)
                yield broken("kueue-gate", at, why=addon_catalogue().needed_gates[gate])


def _needed(spec: PlatformSpec, key: str) -> list[str]:
    """The gates that a cluster's queues need. A manager's are made of those of its workers."""
    shared = spec.queues.multi_kueue
    manager = shared is not None and shared.manager == key
    places = shared.workers if shared is not None and manager else (key,)
    teams = [team for name, team in spec.teams.items() if key in spec.clusters_of(name)]
    shares = [
        (spec.clusters[place], team.clusters[place])
        for team in teams
        for place in places
        if place in team.clusters and place in spec.clusters
    ]
    quotas = [(cluster.all_pools.get(path), quota) for cluster, share in shares for path, quota in share.quotas.items()]
    wanted = {
        "HierarchicalCohorts": bool(teams),
        "LendingLimit": any(quota.lending_limit is not None for _, quota in quotas),
        "LocalQueueDefaulting": any(team.queue == "default" for team in teams),
        "MultiKueue": manager,
        "TopologyAwareScheduling": any(pool.exists_before_pods for pool, _ in quotas if pool is not None),
    }
    return [gate for gate, needs in wanted.items() if needs]
