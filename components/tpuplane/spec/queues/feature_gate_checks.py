"""Kueue's feature gates that are off although what teams are given needs them."""

from __future__ import annotations

from collections.abc import Iterator

from tpuplane.spec.addons.catalogue import addon_catalogue
from tpuplane.spec.core.errors import Mistake, Path
from tpuplane.spec.core.rules import broken
from tpuplane.spec.platform import PlatformSpec
from tpuplane.spec.pools.hosts import HostsSpec


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
    limits = [it.lending_limit for _, share in shares for it in share.pools.values()]
    limits += [it.lending_limit for _, share in shares for it in share.gpu_pools.values()]
    pools = [cluster.pools[name] for cluster, share in shares for name in share.pools if name in cluster.pools]
    gpus = [
        cluster.gpu_pools[name] for cluster, share in shares for name in share.gpu_pools if name in cluster.gpu_pools
    ]
    fixed = [pool.autoscaling is None or _queued(pool) for pool in pools]
    fixed += [pool.autoscaling is None or _queued(pool) for pool in gpus]
    wanted = {
        "HierarchicalCohorts": bool(teams),
        "LendingLimit": any(limit is not None for limit in limits),
        "LocalQueueDefaulting": any(team.queue == "default" for team in teams),
        "MultiKueue": manager,
        "TopologyAwareScheduling": any(fixed),
    }
    return [gate for gate, needs in wanted.items() if needs]


def _queued(pool: HostsSpec) -> bool:
    return pool.flex_start is not None and pool.flex_start.queued
