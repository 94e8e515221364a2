"""The checks of file systems: names, capacities, places, and the teams and networks that mount them."""

from collections.abc import Iterator

from tpuplane.spec.cluster.cluster import ClusterSpec
from tpuplane.spec.cluster.existing_checks import Place, home_of
from tpuplane.spec.core.errors import Mistake, Path, dotted, shown
from tpuplane.spec.core.locations import check_location, is_zone, known_zones, locations, region_of
from tpuplane.spec.core.rules import broken, spec_data
from tpuplane.spec.core.texts import text_problem
from tpuplane.spec.file_systems import LUSTRE_CAPACITIES, SHARES, FilestoreSpec, LustreSpec, can_have, in_steps
from tpuplane.spec.platform import PlatformSpec
from tpuplane.spec.storage_checks import check_users, users_of

FileSystem = LustreSpec | FilestoreSpec

_MOUNT_IT_YOURSELF = (
    "remove the team: its clusters are existing ones, in which tpuplane configures no drivers and creates no volumes"
)


def check_file_systems(spec: PlatformSpec) -> Iterator[Mistake]:
    """Every mistake of the instances."""
    keys: dict[str, Path] = {key: ("storage", "buckets", key) for key in spec.storage.buckets}
    owners: dict[tuple[object, ...], str] = {}
    for at, own in file_systems(spec).items():
        key = str(at[2])
        if (other := keys.setdefault(key, at)) != at:
            yield broken("file-system-key", at, other=dotted(other))
        name = instance_name(spec, key, own)
        if own.name is None and (problem := text_problem("resource", name)):
            yield Mistake(at, f"its name {problem}, or give the instance a name")
        unique: list[tuple[str, str, object]] = [("name", name, (own.driver, own.place))]
        if isinstance(own, LustreSpec):
            unique.append(("filesystem", filesystem(spec, key), None))
            yield from _check_lustre(at, own)
        else:
            yield from _check_filestore(at, spec, own)
        for what, value, place in unique:
            if (owner := owners.setdefault((what, value, place), key)) != key:
                yield broken("file-system-twice", at, value=shown(value), what=what, owner=owner)
        yield from check_users(at, spec, own)
        yield from _check_teams(at, spec, own)
    data, network = spec_data("lustre"), Place(spec.project, spec.name)
    count = sum(network in networks(spec, own) for own in spec.storage.lustre.values())
    prefix = data["network"]["prefix_length"]
    if count > (most := 2 ** (data["instance_prefix_length"] - prefix)):
        yield broken("lustre-count", ("storage", "lustre"), value=count, most=most, prefix=prefix)


def driver_features(spec: PlatformSpec, key: str) -> dict[str, str]:
    """The features of GKE that the instances need in the cluster `key`, by their drivers' fields."""
    return {
        own.driver: "lustre-port" if isinstance(own, LustreSpec) else "filestore-regional"
        for own in file_systems(spec).values()
        if (isinstance(own, LustreSpec) or own.tier == "REGIONAL") and key in mounting(spec, own)
    }


def file_systems(spec: PlatformSpec) -> dict[Path, FileSystem]:
    """The file systems by their paths in the description."""
    storage = spec.storage
    return {
        **{("storage", "lustre", key): own for key, own in storage.lustre.items()},
        **{("storage", "filestore", key): own for key, own in storage.filestore.items()},
    }


def instance_name(spec: PlatformSpec, key: str, own: FileSystem) -> str:
    """The name of an instance in Google Cloud."""
    return own.name or f"{spec.name}-{key}"


def filesystem(spec: PlatformSpec, key: str) -> str:
    """The name of the filesystem of a Lustre instance."""
    return spec.storage.lustre[key].filesystem or key.replace("-", "")[:8]


def mounting(spec: PlatformSpec, own: FileSystem, team: str | None = None) -> dict[str, ClusterSpec]:
    """The clusters of an instance's teams, or of one of them, that have the driver, by their keys."""
    teams = (
        own_team for own_team in (*own.readers, *own.writers) if own_team in spec.teams and team in (None, own_team)
    )
    keys = (key for own_team in teams for key in spec.clusters_of(own_team) if key in spec.clusters)
    return {key: spec.clusters[key] for key in keys if getattr(spec.clusters[key].storage, own.driver)}


def networks(spec: PlatformSpec, own: FileSystem) -> list[Place]:
    """The networks of the clusters that mount an instance, in their order."""
    homes = (home_of(spec.name, spec.project, cluster).network for cluster in mounting(spec, own).values())
    return list(dict.fromkeys(home for home in homes if home is not None))


def _check_lustre(at: Path, own: LustreSpec) -> Iterator[Mistake]:
    if not own.ranges:
        tiers = ", ".join(map(str, sorted(LUSTRE_CAPACITIES)))
        yield broken("lustre-throughput", (*at, "throughput"), value=own.throughput, allowed=tiers)
    elif not can_have(own.capacity_gib, own.ranges):
        parts = {"value": own.capacity_gib, "throughput": own.throughput, "allowed": in_steps(own.ranges)}
        yield broken("lustre-capacity", (*at, "capacityGib"), **parts)
    yield from check_location((*at, "zone"), own.zone)


def _check_filestore(at: Path, spec: PlatformSpec, own: FilestoreSpec) -> Iterator[Mistake]:
    if not can_have(own.capacity_gib, own.ranges):
        parts = {"value": own.capacity_gib, "tier": own.tier, "allowed": in_steps(own.ranges)}
        yield broken("filestore-capacity", (*at, "capacityGib"), **parts)
    if len(own.share) > (most := SHARES[own.tier]):
        yield broken("filestore-share", (*at, "share"), value=shown(own.share), tier=own.tier, most=most)
    place, mine = spec_data("filestore")["tiers"][own.tier]["place"], region_of(own.location)
    regions = {region_of(cluster.location): key for key, cluster in mounting(spec, own).items()}
    elsewhere = [region for region in regions if region != mine] if mine in locations().regions else []
    for region in elsewhere:
        parts = {"value": shown(own.location), "cluster": regions[region]}
        allowed = region if place == "region" else f"a zone of {region}"
        yield broken("filestore-region", (*at, "location"), allowed=allowed, **parts)
    if not elsewhere and is_zone(own.location) != (place == "zone"):
        yield broken("filestore-place", (*at, "location"), value=shown(own.location), tier=own.tier, place=place)
    elif not elsewhere:
        yield from check_location((*at, "location"), own.location)
    for network in networks(spec, own):
        if network.project != spec.project:
            yield broken("filestore-shared", at, value=network.name, project=network.project)


def _check_teams(at: Path, spec: PlatformSpec, own: FileSystem) -> Iterator[Mistake]:
    """An instance that no team can mount, or a Lustre instance in another zone than a team's pools in a cluster."""
    users = users_of(at, own)
    if not users:
        yield broken("file-system-teams", at)
    if len(found := networks(spec, own)) > 1:
        yield broken("file-system-network", at, value=", ".join(network.name for network in found))
    for place, team in users.items():
        if team not in spec.teams:
            continue  # `check_users` reports it
        clusters = mounting(spec, own, team)
        known = {key: spec.clusters[key] for key in spec.teams[team].clusters if key in spec.clusters}
        if not clusters and known:
            ours = ", ".join(f"clusters.{key}" for key, cluster in known.items() if cluster.existing is None)
            remedy = f"set storage: {{{own.driver}: true}} in one of: {ours}" if ours else _MOUNT_IT_YOURSELF
            yield broken("file-system-driver", place, value=shown(team), remedy=remedy)
        if isinstance(own, FilestoreSpec):
            continue
        for key, cluster in clusters.items():
            sizes = [pool.known_size(cluster.location) for pool in spec.pools_with_quota(team, key)]
            zones = dict.fromkeys(zone for size in sizes if size is not None for zone in size.zones)
            exists = own.zone in known_zones(region_of(own.zone))  # else `check_location` reports it
            if zones and own.zone not in zones and exists:
                parts = {"value": shown(own.zone), "team": team, "cluster": key, "allowed": ", ".join(zones)}
                yield broken("lustre-zone", (*at, "zone"), **parts)
