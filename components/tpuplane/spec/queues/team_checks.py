"""The checks of teams: their quotas are whole slices of existing pools, and not more than the pools have."""

from collections import Counter, defaultdict
from collections.abc import Generator, Iterator, Mapping

from tpuplane.spec.addons.checks import brought_namespaces
from tpuplane.spec.cluster.cluster import ClusterSpec
from tpuplane.spec.core.adopted import AdoptedPoolSpec, keeps
from tpuplane.spec.core.errors import Mistake, Path, choice, shown
from tpuplane.spec.core.rules import broken
from tpuplane.spec.core.texts import text_problem
from tpuplane.spec.platform import PlatformSpec
from tpuplane.spec.pools.hosts import HostsSpec
from tpuplane.spec.pools.sizes import PoolSize
from tpuplane.spec.pools.tpu import PoolSpec
from tpuplane.spec.queues.teams import GpuQuotaSpec, PoolQuotaSpec, TeamSpec

_PoolKey = tuple[str, tuple[str, str]]
"""The key of a cluster, and the path of a pool in it."""

_MOST_FLAVORS = 64
"""Kueue takes no more flavors in a resource group."""

# Fields of pools that Kueue's flavors depend on.
_OF_A_FLAVOR = (
    "topology", "accelerator_topology_mode", "sub_slices", "partition_size", "sharing", "capacity", "compute_class",
)  # fmt: skip


def check_teams(spec: PlatformSpec) -> Iterator[Mistake]:
    """Reject teams with quotas that Kueue could never admit."""
    yield from _check_preemption(spec)
    yield from _check_launch_agents(spec)
    yield from _check_ray(spec)
    promised: dict[_PoolKey, dict[str, int]] = defaultdict(dict)  # by team
    owners: dict[tuple[str, str], str] = {}
    for name, team in spec.teams.items():
        at: Path = ("teams", name)
        yield from _check_namespaces(at, spec, name, owners)
        owner = name.removesuffix("-elastic")  # whose queue of autoscaled pools would have the same name
        if owner in spec.teams and owner != name and not {*spec.clusters_of(name)}.isdisjoint(spec.clusters_of(owner)):
            yield broken("team-elastic", at, value=shown(name), owner=owner)
        yield from _check_groups(spec, name)
        if "weight" in team.model_fields_set and not spec.queues.fair_sharing:
            yield broken("team-weight", (*at, "weight"), value=f"{team.weight:g}")
        for key, share in team.clusters.items():
            if (cluster := spec.clusters.get(key)) is None:
                yield Mistake((*at, "clusters", key), choice(key, "one of the clusters", spec.clusters))
                continue
            if cluster.addons.kueue is None and cluster.existing is None:  # an existing cluster may have it
                yield broken("team-needs-kueue", (*at, "clusters", key), value=shown(key))
            for path, quota in share.quotas.items():
                parts = yield from _check_quota((*at, "clusters", key, *path), cluster, path, quota)
                promised[key, path][name] = parts
    yield from _check_flavors(spec)
    exceeded: set[Path] = set()
    for (key, path), shares in promised.items():
        pool = spec.clusters[key].all_pools.get(path)
        size = pool.known_size(spec.clusters[key].location) if pool is not None else None
        if size is not None:
            unit = "slices" if size.counted == "chips" else "GPUs"
            found = [*_check_sum(("clusters", key, *path), shares, size.quota, unit)]
            exceeded.update(mistake.path for mistake in found)
            yield from found
    yield from (mistake for mistake in _check_reserved(spec, promised) if mistake.path not in exceeded)


def _check_flavors(spec: PlatformSpec) -> Iterator[Mistake]:
    """Reject flavors whose labels the nodes do not get, and more of them than a resource group of Kueue can have."""
    for key, cluster in spec.clusters.items():
        shares = [team.clusters[key] for team in spec.teams.values() if key in team.clusters]
        used = {path for share in shares for path in share.quotas}
        pools = {path: pool for path, pool in cluster.all_pools.items() if path in used}
        adopted: dict[Path, AdoptedPoolSpec | None] = {path: pool.adopted for path, pool in pools.items()}
        if shares:  # the jobs' other pods are on the system pool
            adopted |= {("systemPool",): cluster.system_pool.adopted}
        for path, own in adopted.items():
            if keeps(own, "nodeConfig.labels"):
                yield broken("team-node-labels", ("clusters", key, *path, "adopted", "ignoreChanges"))
        found = {flavor for pool in pools.values() for flavor in _flavors(cluster, pool)}
        if len(found) > _MOST_FLAVORS:
            yield broken("team-flavors", ("clusters", key), value=len(found), most=_MOST_FLAVORS)


def _flavors(cluster: ClusterSpec, pool: HostsSpec) -> Iterator[tuple[object, ...]]:
    """The flavor of a pool, and the flavor of the system pool for its jobs."""
    size = pool.known_size(cluster.location)
    if size is None or not size.max_nodes:
        return
    kind = (getattr(pool, field, None) for field in _OF_A_FLAVOR)
    reservation = pool.reservation.name if pool.reservation is not None else None
    placed = pool.exists_before_pods
    yield (placed,)
    yield size.hardware, size.machine_type, *kind, pool.queued, reservation, placed


def _check_launch_agents(spec: PlatformSpec) -> Iterator[Mistake]:
    """Reject a Launch agent for a team that its cluster does not have."""
    for key, cluster in spec.clusters.items():
        here = [name for name in spec.teams if key in spec.clusters_of(name)]
        for index, name in enumerate(cluster.addons.launch_agent.teams if cluster.addons.launch_agent else ()):
            if name not in here:
                path = ("clusters", key, "addons", "launchAgent", "teams", index)
                yield Mistake(path, choice(name, "a team of the cluster", here))


def _check_ray(spec: PlatformSpec) -> Iterator[Mistake]:
    """Reject a Ray operator that does not watch a team's namespaces. An existing cluster can have another operator."""
    for key, cluster in spec.clusters.items():
        watched = cluster.addons.ray.watch_namespaces
        if not watched or cluster.existing is not None:
            continue
        here = (namespaces_of(name, team) for name, team in spec.teams.items() if key in team.clusters)
        missing = [namespace for namespaces in here for namespace in namespaces if namespace not in watched]
        if missing:
            path = ("clusters", key, "addons", "ray", "watchNamespaces")
            yield broken("ray-watches-teams", path, missing=", ".join(missing))


def _check_groups(spec: PlatformSpec, name: str) -> Iterator[Mistake]:
    """Reject groups in clusters without Google Groups for RBAC. It is unknown whether an existing cluster has it."""
    group = next((member for member in spec.teams[name].members if member.startswith("group:")), None)
    for key in spec.clusters_of(name) if group is not None else ():
        cluster = spec.clusters.get(key)
        if cluster is not None and cluster.existing is None and cluster.security.security_group is None:
            at = ("clusters", key, "security", "securityGroup")
            yield broken("team-groups", at, value=group, team=name)


def namespaces_of(name: str, team: TeamSpec) -> tuple[str, ...]:
    """The namespaces of the team `name`."""
    return team.namespaces or (name,)


def _check_preemption(spec: PlatformSpec) -> Iterator[Mistake]:
    preemption, at = spec.queues.preemption, ("queues", "preemption", "borrowWithinCohort")
    if preemption.borrow_within_cohort == "Never":
        return
    if spec.queues.fair_sharing:
        yield broken("borrow-or-fair-sharing", at)
    if preemption.reclaim_within_cohort == "Never":
        yield broken("borrow-needs-reclaim", at)


def _check_namespaces(at: Path, spec: PlatformSpec, name: str, owners: dict[tuple[str, str], str]) -> Iterator[Mistake]:
    """Reject namespaces of another team, and record the `owners` of the namespaces of each cluster."""
    mine = namespaces_of(name, spec.teams[name])
    places = spec.clusters_of(name)
    clusters = [spec.clusters[key] for key in places if key in spec.clusters]
    of_addons = {namespace: title for cluster in clusters for namespace, title in brought_namespaces(cluster).items()}
    for index, namespace in enumerate(mine):
        path = (*at, "namespaces", index) if spec.teams[name].namespaces else at
        if problem := text_problem("namespace", namespace):
            yield Mistake(path, f"its namespace {problem}, or give the team namespaces")
        if namespace in of_addons:
            remove = "remove it, or " if len(mine) > 1 else ""
            yield broken("addon-namespace", path, value=shown(namespace), addon=of_addons[namespace], remove=remove)
        others = dict.fromkeys(owners.setdefault((key, namespace), name) for key in places)
        for other in others:
            if other != name:
                yield broken("team-namespace", path, value=shown(namespace), owner=other)


def _check_quota(
    at: Path, cluster: ClusterSpec, path: tuple[str, str], quota: PoolQuotaSpec | GpuQuotaSpec
) -> Generator[Mistake, None, int]:
    """Reject mistakes in the quota of a pool. Returns its slices, or its GPUs."""
    pools: Mapping[str, HostsSpec] = cluster.pools if path[0] == "pools" else cluster.gpu_pools
    if (pool := pools.get(path[1])) is None:
        kind = "a pool" if path[0] == "pools" else "a GPU pool"
        yield Mistake(at, choice(path[1], f"{kind} of the cluster", pools))
        return 0
    if quota.unit is None:
        yield broken("team-quota-unit", at, one=quota.units[0], other=quota.units[1])
        return 0
    own, unit = quota.own, {"gpus": "GPUs"}.get(quota.unit, quota.unit)
    if quota.lending_limit is not None and quota.lending_limit > own:
        yield broken("team-lends-own", (*at, "lendingLimit"), value=quota.lending_limit, own=own, unit=unit)
    if (size := pool.known_size(cluster.location)) is None:
        return 0
    if isinstance(pool, PoolSpec) and unit == "chips":
        yield from _check_whole_slices(at, quota, pool)
    return quota.parts(own, size.offered)


def _check_whole_slices(at: Path, quota: PoolQuotaSpec | GpuQuotaSpec, pool: PoolSpec) -> Iterator[Mistake]:
    shape, chips = pool.slice, pool.slice.chips
    whole = "" if pool.sub_slices or pool.provision_only else ", and a job gets only whole slices"
    amounts = {"chips": quota.own, "borrowingLimit": quota.borrowing_limit, "lendingLimit": quota.lending_limit}
    for field, amount in amounts.items():
        if amount is not None and amount % chips:
            nearest = amount // chips * chips
            parts = {"value": amount, "shape": shape, "chips": chips, "nearest": nearest, "above": nearest + chips}
            yield broken("team-quota-whole", (*at, field), whole=whole, **parts)


def _check_sum(pool: tuple[str, ...], shares: dict[str, int], has: int, unit: str) -> Iterator[Mistake]:
    total = 0
    for name, own in shares.items():
        total += own
        if total > has:
            at = ("teams", name, *pool)
            where, before = ".".join(pool), total - own
            others = f", in addition to the {before} of the teams earlier in the file" if before else ""
            yield broken("team-quota-sum", at, value=own, pool=where, has=has, others=others, unit=unit)


def _check_reserved(spec: PlatformSpec, promised: Mapping[_PoolKey, dict[str, int]]) -> Iterator[Mistake]:
    """Reject quotas that together are more than the reservation of their pools. Hosts that are always up count too."""
    drawn: dict[tuple[str, str], Counter[_PoolKey]] = {}
    sizes: dict[_PoolKey, PoolSize] = {}
    for key, cluster in spec.clusters.items():
        for path, pool in cluster.all_pools.items():
            size = pool.known_size(cluster.location)
            use = pool.reservation if pool.capacity == "reservation" else None
            if size is not None and use is not None and use.name in spec.reservations:
                drawn.setdefault((use.name, size.counted), Counter())[key, path] = size.always
                sizes[key, path] = size
    for (name, counted), always in drawn.items():
        held: int | None = getattr(spec.reservations[name], counted)
        quotas: Counter[_PoolKey] = Counter()
        needed = always.total()
        if held is None or needed > held:  # `check_reservations` reports it
            continue
        unit = "slices" if counted == "chips" else "GPUs"
        for at, team, own in ((pool, *share) for pool in always for share in promised.get(pool, {}).items()):
            before = needed
            quotas[at] += own
            needed = sum(max(least, sizes[pool].reserved(quotas[pool])) for pool, least in always.items())
            if needed > max(before, held):
                parts = {"value": own, "unit": unit, "reservation": f"reservations.{name}", "needed": needed}
                held_as = f"{held} {'chips' if counted == 'chips' else unit}"
                yield broken("team-quota-reservation", ("teams", team, "clusters", at[0], *at[1]), has=held_as, **parts)
