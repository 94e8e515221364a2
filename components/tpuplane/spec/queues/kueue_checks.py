"""The checks of Kueue across clusters: MultiKueue's manager and workers, and feature gates that queues need."""

from collections.abc import Iterator

from tpuplane.spec.addons.catalogue import addon_catalogue
from tpuplane.spec.addons.checks import frameworks
from tpuplane.spec.cluster.cluster import MOST_NETWORKS, ClusterSpec
from tpuplane.spec.core.errors import Mistake, Path, choice, shown
from tpuplane.spec.core.rules import broken
from tpuplane.spec.platform import PlatformSpec
from tpuplane.tpu import GkeVersion

_AT: Path = ("queues", "multiKueue")
_AUTOMATION = "MultiKueueManagerQuotaAutomation"


def check_multi_kueue(spec: PlatformSpec) -> Iterator[Mistake]:
    """Reject a manager that could not dispatch jobs, and workers that it could not reach or that would accept none."""
    if (shared := spec.queues.multi_kueue) is None:
        return
    manager = spec.clusters.get(shared.manager)
    others = {key: spec.clusters[key] for key in spec.clusters if key not in (shared.manager, *shared.workers)}
    at = (*_AT, "manager")
    if manager is None:
        able = (key for key, each in others.items() if not any(_check_manager(at, key, each)))
        yield Mistake(at, choice(shared.manager, "one of the clusters that can be the manager", able))
    else:
        yield from _check_manager(at, shared.manager, manager)
    known = [key for key in spec.clusters if key in shared.workers and key != shared.manager]
    for name, team in spec.teams.items() if shared.manager not in shared.workers else ():
        if shared.manager in team.clusters and shared.manager in spec.clusters:
            path = ("teams", name, "clusters", shared.manager)
            workers = ", ".join(known) or "none yet"
            yield broken("multi-kueue-manager-quota", path, value=shown(shared.manager), workers=workers)
    for index, key in enumerate(shared.workers):
        at = (*_AT, "workers", index)
        if (worker := spec.clusters.get(key)) is None:
            able = (other for other, each in others.items() if not any(_check_worker(at, spec, other, each)))
            yield Mistake(at, choice(key, "one of the clusters that can be a worker", able))
        elif key == shared.manager:
            yield broken("multi-kueue-manager-works", at, value=shown(key))
        else:
            yield from _check_worker(at, spec, key, worker)
            if manager is not None and manager.existing is worker.existing is None:
                yield from _check_kinds(at, manager, key, worker)
                yield from _check_access(key, worker, manager)


def managed(cluster: ClusterSpec) -> tuple[str, ...]:
    """The kinds of jobs that Kueue manages in the cluster, by Kueue's names."""
    kueue = cluster.addons.kueue
    return (kueue.integrations if kueue is not None else None) or frameworks(cluster)


def _check_either(at: Path, key: str, cluster: ClusterSpec) -> Iterator[Mistake]:
    if cluster.existing is not None or cluster.network.existing is not None:
        what = "an existing cluster" if cluster.existing is not None else "in an existing network"
        yield broken("multi-kueue-foreign", at, value=shown(key), what=what)
    needed = addon_catalogue().kueue["multiKueue"]["kubernetes"]
    if cluster.is_older(GkeVersion.minimum(needed)):
        yield broken("multi-kueue-version", at, value=shown(key), version=cluster.version, needed=needed)


def _check_manager(at: Path, key: str, manager: ClusterSpec) -> Iterator[Mistake]:
    yield from _check_either(at, key, manager)
    if manager.existing is not None:
        return
    if (kueue := manager.addons.kueue) is None:
        yield broken("multi-kueue-needs-kueue", at, value=shown(key))
    elif kueue.feature_gates.get(_AUTOMATION):
        yield broken("multi-kueue-automation", ("clusters", key, "addons", "kueue", "featureGates", _AUTOMATION))


def _check_worker(at: Path, spec: PlatformSpec, key: str, worker: ClusterSpec) -> Iterator[Mistake]:
    yield from _check_either(at, key, worker)
    if not any(key in team.clusters for team in spec.teams.values()):
        yield broken("multi-kueue-idle-worker", at, value=shown(key))
    if not worker.control_plane.ip_endpoint:
        yield broken("multi-kueue-ip-endpoint", at, value=shown(key), key=key)


def _check_kinds(at: Path, manager: ClusterSpec, key: str, worker: ClusterSpec) -> Iterator[Mistake]:
    """Each worker has all kinds of the manager, because the manager watches them and ignores a worker without one."""
    dispatched = addon_catalogue().kueue["multiKueue"]["kinds"]
    if missing := [kind for kind in managed(manager) if kind in dispatched and kind not in managed(worker)]:
        yield broken("multi-kueue-kinds", at, value=shown(key), missing=", ".join(missing))


def _check_access(key: str, worker: ClusterSpec, manager: ClusterSpec) -> Iterator[Mistake]:
    """A worker has room for the range of the manager's pods among its authorized networks."""
    ranges = [network.cidr for network in worker.control_plane.authorized_networks]
    if len(ranges) == MOST_NETWORKS and manager.network.pods_cidr not in ranges:
        cause = f"are {len(ranges)}, and the range of the manager's pods is added"
        line = f"{cause}; allowed: {MOST_NETWORKS - 1} in a worker of queues.multiKueue; join or remove ranges"
        yield Mistake(("clusters", key, "controlPlane", "authorizedNetworks"), line)


def check_gates(spec: PlatformSpec) -> Iterator[Mistake]:
    """Reject a disabled feature gate that a cluster's queues need. Kueue would accept and misread their objects."""
    for key, cluster in spec.clusters.items():
        gates = cluster.addons.kueue.feature_gates if cluster.addons.kueue is not None else {}
        for gate in _needed(spec, key):
            if not gates.get(gate, True):
                at: Path = ("clusters", key, "addons", "kueue", "featureGates", gate)
                yield broken("kueue-gate", at, why=addon_catalogue().kueue["neededGates"][gate])


def _needed(spec: PlatformSpec, key: str) -> Iterator[str]:
    """The feature gates that a cluster's queues need. The manager's queues are made from those of its workers."""
    shared = spec.queues.multi_kueue
    manager = shared is not None and shared.manager == key
    places = shared.workers if shared is not None and manager else (key,)
    pools = (pool for team in spec.teams for place in places for pool in spec.pools_with_quota(team, place))
    if manager:
        yield "MultiKueue"
    if any(pool.exists_before_pods for pool in pools):
        yield "TopologyAwareScheduling"
