"""The checks of buckets: their names, locations and teams; and of multi-tier checkpointing with its bucket."""

from collections.abc import Iterable, Iterator, Mapping

from tpuplane.spec.cluster.cluster import ClusterSpec
from tpuplane.spec.cluster.option_checks import check_feature
from tpuplane.spec.core.errors import Mistake, Path, choice, shown
from tpuplane.spec.core.locations import region_of
from tpuplane.spec.core.rules import broken
from tpuplane.spec.core.texts import text_problem
from tpuplane.spec.file_systems import FilestoreSpec, LustreSpec
from tpuplane.spec.platform import PlatformSpec
from tpuplane.spec.pools.node_room import allocatable_gb
from tpuplane.spec.queues.team_checks import namespaces_of
from tpuplane.spec.storage import BucketSpec
from tpuplane.tpu import SliceError

_OF_EXISTING = {"purpose", "existing", "readers", "writers"}
_SHORTEST_SOFT_DELETE = 7
Used = BucketSpec | LustreSpec | FilestoreSpec


def check_storage(spec: PlatformSpec) -> Iterator[Mistake]:
    """Every mistake of the buckets."""
    owners: dict[str, str] = {}
    namespaces = _owners(spec)
    for key, bucket in spec.storage.buckets.items():
        at: Path = ("storage", "buckets", key)
        name = bucket_name(spec, key)
        if bucket.existing is None and bucket.name is None and (problem := text_problem("bucket", name)):
            yield Mistake(at, f"its name {problem}, or give the bucket a name")
        if owners.setdefault(name, key) != key:
            twins = (bucket, spec.storage.buckets[owners[name]])
            remedy = "give one of them another name"
            if all(each.existing for each in twins):
                remedy = "remove one of them, and name its teams in the other"
            yield broken("bucket-twice", at, value=shown(name), owner=owners[name], remedy=remedy)
        yield from _check_place(at, spec, key, bucket)
        if bucket.soft_delete_days is not None and 0 < bucket.soft_delete_days < _SHORTEST_SOFT_DELETE:
            yield broken("bucket-soft-delete", (*at, "softDeleteDays"), value=bucket.soft_delete_days)
        yield from check_users(at, spec, bucket)
        yield from _check_namespaces(at, spec, bucket, namespaces)


def users_of(at: Path, own: Used) -> dict[Path, str]:
    """The teams that may use a bucket or an instance, by their places in the description."""
    lists = {"readers": own.readers, "writers": own.writers}
    return {(*at, field, index): team for field, teams in lists.items() for index, team in enumerate(teams)}


def check_users(at: Path, spec: PlatformSpec, own: Used) -> Iterator[Mistake]:
    """Every mistake of the teams that may use a bucket or an instance."""
    for path, team in users_of(at, own).items():
        if team not in spec.teams:
            yield Mistake(path, choice(team, "one of the teams", spec.teams))
    for index, team in enumerate(own.readers):
        if team in own.writers:
            yield broken("bucket-reader", (*at, "readers", index), value=shown(team))


def _owners(spec: PlatformSpec) -> dict[tuple[str, str], str]:
    """The namespaces of all clusters, by cluster and name, with " of team TEAM" if they are a team's."""
    found = {(key, name): "" for key, cluster in spec.clusters.items() for name in cluster.namespaces}
    return found | {
        (key, namespace): f" of team {team}"
        for team, own in spec.teams.items()
        for key in spec.clusters_of(team)
        for namespace in namespaces_of(team, own)
    }


def _check_namespaces(
    at: Path, spec: PlatformSpec, bucket: BucketSpec, namespaces: Mapping[tuple[str, str], str]
) -> Iterator[Mistake]:
    """Reject a grant that also reaches a namespace of the same name in a cluster without the team."""
    for path, team in users_of(at, bucket).items():
        if team not in spec.teams:
            continue  # another check reports it
        mine = namespaces_of(team, spec.teams[team])
        for (key, namespace), owner in namespaces.items():
            if namespace in mine and key not in spec.clusters_of(team):
                parts = {"team": team, "cluster": key, "value": shown(namespace), "owner": owner}
                yield broken("bucket-namespace", path, **parts)


def bucket_name(spec: PlatformSpec, key: str) -> str:
    """The name of a bucket in Cloud Storage."""
    bucket = spec.storage.buckets[key]
    return bucket.existing or bucket.name or f"{spec.project}-{spec.name}-{key}"


def bucket_region(spec: PlatformSpec, bucket: BucketSpec) -> str | None:
    """The region of a bucket; None if it is not known: of an existing one, or if a required location is missing."""
    places = regions(spec.clusters.values())
    return None if bucket.existing else bucket.location or (places[0] if len(places) == 1 else None)


def regions(clusters: Iterable[ClusterSpec]) -> tuple[str, ...]:
    """The regions of the clusters, in their order."""
    return tuple(dict.fromkeys(region_of(cluster.location) for cluster in clusters))


def _check_place(at: Path, spec: PlatformSpec, key: str, bucket: BucketSpec) -> Iterator[Mistake]:
    clusters = spec.clusters.values()
    users = [each for each in clusters if (own := each.multi_tier_checkpointing) and own.bucket == key]
    places = regions(clusters)
    allowed = regions(users) or places
    if bucket.existing is not None:
        aliases = {name: field.alias or name for name, field in BucketSpec.model_fields.items()}
        for name in sorted(bucket.model_fields_set - _OF_EXISTING):
            yield broken("bucket-existing", (*at, aliases[name]))
    elif bucket.location is None and len(places) > 1:
        yield broken("bucket-location", (*at, "location"), allowed=", ".join(allowed))
    elif bucket.location is not None and bucket.location not in places:
        yield Mistake((*at, "location"), choice(bucket.location, "a region of the clusters", allowed))


def check_checkpointing(spec: PlatformSpec) -> Iterator[Mistake]:
    """Every mistake of multi-tier checkpointing."""
    for key, cluster in spec.clusters.items():
        own, at = cluster.multi_tier_checkpointing, ("clusters", key, "multiTierCheckpointing")
        if own is None or cluster.existing is not None:
            continue
        yield from check_feature(at, cluster, "multi-tier-checkpointing")
        if not cluster.storage.gcs_fuse:
            yield broken("checkpointing-driver", at)
        if cluster.addons.jobset is None:
            yield broken("checkpointing-jobset", at)
        yield from _check_bucket((*at, "bucket"), spec, cluster, own.bucket)
        for name, pool in own.pools.items():
            yield from _check_memory((*at, "pools", name), cluster, name, pool.ram_disk_gb)


def _check_bucket(at: Path, spec: PlatformSpec, cluster: ClusterSpec, key: str) -> Iterator[Mistake]:
    bucket, region = spec.storage.buckets.get(key), region_of(cluster.location)
    if bucket is None:
        yield Mistake(at, choice(key, "one of the buckets", spec.storage.buckets))
    elif bucket.purpose != "checkpoints":
        yield broken("checkpointing-bucket", at, value=shown(key), why=f"has the purpose {bucket.purpose}")
    elif bucket.hierarchical_namespace is False:
        yield broken("checkpointing-bucket", at, value=shown(key), why="has no hierarchical namespace")
    # A place without clusters is the mistake itself.
    elif (place := bucket_region(spec, bucket)) != region and place in regions(spec.clusters.values()):
        yield broken("checkpointing-bucket", at, value=shown(key), why=f"is in {place}, and the cluster in {region}")


def _check_memory(at: Path, cluster: ClusterSpec, name: str, disk_gb: int) -> Iterator[Mistake]:
    try:
        machine = cluster.pools[name].slice.machine
    except KeyError:
        yield Mistake(at, choice(name, "one of the TPU pools", cluster.pools))
    except SliceError:
        return  # `check_pool` reports it
    else:
        if disk_gb > (most := int(allocatable_gb(machine.memory_gb))):
            known = {"value": disk_gb, "machine": machine.name, "memory": machine.memory_gb, "most": most}
            yield broken("checkpointing-memory", (*at, "ramDiskGb"), **known)
