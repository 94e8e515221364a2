"""Names and labels across a platform.

Pulumi knows resources by a cluster's key and the names below it, joined by hyphens. Keys may have hyphens too, so that
two joined names can be equal: `us` and `east-trainer`, `us-east` and `trainer`. Pulumi rejects a second resource of one
kind and name, but only after it has created others.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tpuplane.labels import PLATFORM_LABEL, POOL_LABEL
from tpuplane.spec.classes.of_cluster import classes_of
from tpuplane.spec.core.errors import Mistake, Path, dotted
from tpuplane.spec.core.rules import broken
from tpuplane.spec.file_system_checks import file_systems, mounting
from tpuplane.spec.platform import PlatformSpec
from tpuplane.spec.pools.names import TakenNames
from tpuplane.spec.queues.team_checks import namespaces_of
from tpuplane.spec.storage import BucketSpec
from tpuplane.spec.storage_checks import users_of
from tpuplane.tpu import SliceError

_POOLS = ("pools", "gpuPools")


class _Joined(NamedTuple):
    kind: str
    name: str
    owner: tuple[str, ...]
    """The owner of the name. If a cluster and a team name the same namespace, it has one owner."""
    path: Path
    parts: str = "cluster"


def check_joined_names(spec: PlatformSpec) -> Iterator[Mistake]:
    """Reject keys whose joined names are the name of another resource, in the same cluster or in another one."""
    known: dict[tuple[str, bool, str], _Joined] = {}
    rejected: set[Path] = set()
    for joined in _joined(spec):
        cluster = spec.clusters.get(joined.owner[0])
        if cluster is None and joined.kind != "grant":
            continue  # another check reports it
        existing = cluster is not None and cluster.existing is not None
        first = known.setdefault((joined.kind, existing, joined.name), joined)
        if joined.kind in _POOLS and first.owner[0] == joined.owner[0]:
            continue  # `check_names` reports it at `formerly`
        if first.owner != joined.owner and joined.path not in rejected:
            rejected.add(joined.path)
            yield _together(joined.path, joined.name, dotted(first.path), joined.parts)
    yield from (mistake for mistake in _check_node_pools(spec) if mistake.path not in rejected)


def _together(path: Path, name: str, other: str, parts: str = "cluster") -> Mistake:
    return Mistake(path, f"has the name '{name}' together with its {parts}, and so has {other}; rename one of them")


def _check_node_pools(spec: PlatformSpec) -> Iterator[Mistake]:
    """The same for node pools, which are compared without a list of all names."""
    taken: dict[tuple[str, bool], TakenNames] = {}
    for key, cluster in spec.clusters.items():
        for (kind, name), pool in cluster.all_pools.items():
            path: Path = ("clusters", key, kind, name)
            try:
                names = pool.names(name).below(key)
            except SliceError:
                continue  # `check_pool` reports it
            clash = taken.setdefault((kind, cluster.existing is not None), TakenNames()).take(names, dotted(path))
            if clash and not clash[1].startswith(f"clusters.{key}."):
                yield _together(path, *clash)


def _joined(spec: PlatformSpec) -> Iterator[_Joined]:
    for key, cluster in spec.clusters.items():
        at: Path = ("clusters", key)
        for (kind, name), pool in cluster.all_pools.items():
            path = (*at, kind, name)
            yield _Joined(kind, f"{key}-{pool.formerly or name}", (key, name), path)
        for name in classes_of(spec, key):
            yield _Joined("class", f"{key}-{name}", (key, name), ("classes", name))
        for index, name in enumerate(cluster.namespaces):
            yield _Joined("namespace", f"{key}-{name}", (key, name), (*at, "namespaces", index))
    for name, team in spec.teams.items():
        pools = (pool for key in team.clusters for pool in spec.pools_with_quota(name, key))
        elastic = any(not pool.exists_before_pods for pool in pools)  # and so a second local queue in each namespace
        for key in spec.clusters_of(name):
            for index, namespace in enumerate(namespaces_of(name, team)):
                path = ("teams", name, "namespaces", index) if team.namespaces else ("teams", name)
                yield _Joined("namespace", f"{key}-{namespace}", (key, namespace), path)
                for queue in (team.queue, *([f"{team.queue}-elastic"] if elastic else [])):
                    yield _Joined("queue", f"{key}-{namespace}-{queue}", (key, namespace, queue), path)
                if team.members:
                    yield _Joined("role", f"{key}-{namespace}-role", (key, namespace, "members"), path)
                agent = spec.clusters[key].addons.launch_agent if key in spec.clusters else None
                if agent is not None and name in agent.teams:
                    yield _Joined("role", f"{key}-{namespace}-launch-role", (key, namespace, "agent"), path)
    yield from _of_storage(spec)


def _of_storage(spec: PlatformSpec) -> Iterator[_Joined]:
    """The grants of buckets, and the claims of teams in the clusters with the driver."""
    fuse = [key for key, cluster in spec.clusters.items() if cluster.storage.gcs_fuse]
    buckets: dict[Path, BucketSpec] = {("storage", "buckets", key): own for key, own in spec.storage.buckets.items()}
    for at, own in {**buckets, **file_systems(spec)}.items():
        key, kind = str(at[2]), "bucket" if isinstance(own, BucketSpec) else own.driver
        for path, team in users_of(at, own).items():
            for namespace in namespaces_of(team, spec.teams[team]) if team in spec.teams else ():
                if isinstance(own, BucketSpec):
                    yield _Joined("grant", f"{key}-{namespace}", (f"storage.{key}", namespace), path, "namespace")
                    clusters = [name for name in spec.clusters_of(team) if name in fuse]
                else:
                    clusters = [*mounting(spec, own, team)]
                for cluster in clusters:
                    claim = f"{cluster}-queues-{namespace}-{key}-{kind}"
                    yield _Joined("claim", claim, (cluster, namespace, key), path, "cluster and namespace")


_MOST = 64
_OWN = frozenset({PLATFORM_LABEL, POOL_LABEL})


def check_label_count(at: Path, labels: Iterable[str]) -> Iterator[Mistake]:
    """Reject more labels than a resource can have, including those with its platform and its pool."""
    count = len(_OWN.union(labels))
    if count > _MOST:
        yield broken("labels", at, value=count)


def check_labels(spec: PlatformSpec) -> Iterator[Mistake]:
    """Reject more labels than a resource can have, at the part that exceeds the limit."""
    yield from (shared := [*check_label_count(("labels",), spec.labels)])
    for key, cluster in spec.clusters.items() if not shared else ():
        labels, at = {*spec.labels, *cluster.labels}, ("clusters", key)
        yield from (own := [*check_label_count((*at, "labels"), labels)])
        for path, pool in cluster.all_pools.items() if not own else ():
            yield from check_label_count((*at, *path, "labels"), {*labels, *pool.labels})
