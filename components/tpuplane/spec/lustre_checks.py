"""The checks of Managed Lustre instances: their capacities, names, zones and networks."""

from collections.abc import Iterator

from tpuplane.spec.cluster.cluster import ClusterSpec
from tpuplane.spec.cluster.existing_checks import Place, home_of
from tpuplane.spec.cluster.option_checks import check_feature
from tpuplane.spec.core.errors import Mistake, Path, shown
from tpuplane.spec.core.fields import text_problem
from tpuplane.spec.core.locations import check_location
from tpuplane.spec.core.rules import broken
from tpuplane.spec.lustre import CAPACITIES, LustreSpec
from tpuplane.spec.platform import PlatformSpec
from tpuplane.spec.storage_checks import check_users


def check_lustre(spec: PlatformSpec) -> Iterator[Mistake]:
    """Every mistake of the instances."""
    owners: dict[tuple[str, ...], str] = {}
    clusters: dict[str, ClusterSpec] = {}
    for key, own in spec.storage.lustre.items():
        at: Path = ("storage", "lustre", key)
        name = instance_name(spec, key)
        if own.name is None and (problem := text_problem("resource", name)):
            yield Mistake(at, f"its name {problem}, or give the instance a name")
        if key in spec.storage.buckets:
            yield broken("lustre-bucket", at)
        for what, value, *place in (("name", name, own.zone), ("filesystem", filesystem(spec, key))):
            if (owner := owners.setdefault((what, value, *place), key)) != key:
                yield broken("lustre-twice", at, value=shown(value), what=what, owner=owner)
        ranges = CAPACITIES.get(own.throughput, [])
        allowed = ", or ".join(f"{steps[0]} to {steps[-1]} in steps of {steps.step}" for steps in ranges)
        if not ranges:
            tiers = ", ".join(map(str, sorted(CAPACITIES)))
            yield broken("lustre-throughput", (*at, "throughput"), value=own.throughput, allowed=tiers)
        elif not any(own.capacity_gib in capacities for capacities in ranges):
            parts = {"value": own.capacity_gib, "throughput": own.throughput, "allowed": allowed}
            yield broken("lustre-capacity", (*at, "capacityGib"), **parts)
        yield from check_location((*at, "zone"), own.zone)
        yield from check_users(at, spec, own)
        yield from _check_teams(at, spec, own)
        clusters |= mounting(spec, own)
    for key, cluster in clusters.items():
        yield from check_feature(("clusters", key, "storage", "lustre"), cluster, "lustre-port")


def instance_name(spec: PlatformSpec, key: str) -> str:
    """The name of an instance in Google Cloud."""
    return spec.storage.lustre[key].name or f"{spec.name}-{key}"


def filesystem(spec: PlatformSpec, key: str) -> str:
    """The name of an instance's filesystem."""
    return spec.storage.lustre[key].filesystem or key.replace("-", "")[:8]


def mounting(spec: PlatformSpec, own: LustreSpec, team: str | None = None) -> dict[str, ClusterSpec]:
    """The clusters of an instance's teams, or of one of them, that have the driver, by their keys."""
    teams = (
        own_team for own_team in (*own.readers, *own.writers) if own_team in spec.teams and team in (None, own_team)
    )
    keys = (key for own_team in teams for key in spec.clusters_of(own_team) if key in spec.clusters)
    return {key: spec.clusters[key] for key in keys if spec.clusters[key].storage.lustre}


def networks(spec: PlatformSpec, own: LustreSpec) -> list[Place]:
    """The networks of the clusters that mount an instance, in their order."""
    homes = (home_of(spec.name, spec.project, cluster).network for cluster in mounting(spec, own).values())
    return list(dict.fromkeys(home for home in homes if home is not None))


def _check_teams(at: Path, spec: PlatformSpec, own: LustreSpec) -> Iterator[Mistake]:
    """An instance that no team can mount, or that is in another zone than all pools of a team in a cluster."""
    teams = [(field, index, team) for field in ("readers", "writers") for index, team in enumerate(getattr(own, field))]
    if not teams:
        yield broken("lustre-teams", at)
    if len(found := networks(spec, own)) > 1:
        yield broken("lustre-network", at, value=", ".join(network.name for network in found))
    for field, index, team in ((field, index, team) for field, index, team in teams if team in spec.teams):
        clusters, shares = mounting(spec, own, team), spec.teams[team].clusters
        if not clusters:
            allowed = ", ".join(f"clusters.{key}" for key in shares)
            yield broken("lustre-driver", (*at, field, index), value=shown(team), allowed=allowed)
        for key, cluster in clusters.items():
            pools = [cluster.all_pools.get(path) for path in (shares[key].quotas if key in shares else ())]
            sizes = [pool.known_size(cluster.location) for pool in pools if pool is not None]
            zones = dict.fromkeys(zone for size in sizes if size is not None for zone in size.zones)
            if zones and own.zone not in zones:
                parts = {"value": shown(own.zone), "team": team, "cluster": key, "allowed": ", ".join(zones)}
                yield broken("lustre-zone", (*at, "zone"), **parts)
