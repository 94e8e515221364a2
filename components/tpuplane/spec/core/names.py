"""The names in Google's API. They depend only on the user's keys, so they do not change with numbers."""

from collections.abc import Iterator

from tpuplane.spec.cluster.cluster import ClusterSpec
from tpuplane.spec.core.adopted import named
from tpuplane.spec.core.errors import Mistake, Path
from tpuplane.spec.core.repetitions import repetitions
from tpuplane.spec.pools.hosts import HostsSpec
from tpuplane.spec.pools.names import NodePoolNames, TakenNames
from tpuplane.tpu import SliceError

SYSTEM_POOL = "system"
MAX_NAME = 40  # GKE clusters and node pools
MAX_RESOURCE_NAME = 63  # Compute Engine
_ACCOUNT_ID = range(6, 31)  # characters of a service account's id


def cluster_name(platform: str, key: str) -> str:
    """Name of a cluster, its subnetwork and its nodes' service account."""
    return f"{platform}-{key}"


def proxies_name(subnetwork: str) -> str:
    """Name of the proxy-only subnetwork that belongs to a subnetwork."""
    return f"{subnetwork}-proxies"


def check_account_id(at: Path, name: str, remedy: str = "choose another name") -> Iterator[Mistake]:
    """Reject a cluster's name that the service account of its nodes cannot have."""
    if len(name) not in _ACCOUNT_ID:
        allowed = f"{_ACCOUNT_ID.start} to {_ACCOUNT_ID.stop - 1}"
        cause = f"the name '{name}' of its service account has {len(name)} characters"
        yield Mistake(at, f"{cause}; allowed: {allowed}; {remedy}")


def check_length(at: Path, what: str, name: str | None, most: int, to_shorten: str) -> Iterator[Mistake]:
    """Reject a name that is longer than Google allows."""
    if name is not None and len(name) > most:
        cause = f"the name '{name}' of its {what} has {len(name)} characters"
        yield Mistake(at, f"{cause}; allowed: {most}; shorten {to_shorten}")


def check_pool_names(at: Path, cluster: str | None, key: str, pool: HostsSpec) -> Iterator[Mistake]:
    """Reject a pool's name that makes the names of its node pools or workload policy too long.

    `cluster` is its name in Google Cloud, if it is known. Raises `SliceError`.
    """
    yield from check_length(at, "node pool", pool.names(key).last, MAX_NAME, "the name")
    policy, to_shorten = pool.workload_policy(cluster, key), "the pool's or the cluster's name"
    yield from check_length(at, "workload policy", policy, MAX_RESOURCE_NAME, to_shorten)


def check_names(platform: str, key: str, cluster: ClusterSpec) -> Iterator[Mistake]:
    """Reject names that are too long or used twice."""
    at: Path = ("clusters", key)
    name = cluster.gke_name(platform, key)
    if cluster.existing is None and len(name) > MAX_NAME:
        cause = f"its name '{name}' in GKE has {len(name)} characters"
        yield Mistake(at, f"{cause}; allowed: {MAX_NAME}; shorten this key or the platform's name")
    elif cluster.node_service_account is None and cluster.adopted is None:
        yield from check_account_id(at, cluster_name(platform, key), "change this key or the platform's name")
    taken, former = TakenNames(), _former_clashes(at, cluster)
    yield from former.values()
    if not cluster.existing:
        system = named(cluster.system_pool.adopted, SYSTEM_POOL)
        taken.take(NodePoolNames(SYSTEM_POOL, (system,)), "systemPool")
    for (kind, pool_key), pool in cluster.all_pools.items():
        path = (*at, kind, pool_key)
        if pool_key == SYSTEM_POOL and not cluster.existing:
            # Nodes carry their pool's name as a label, and CPU work selects nodes by this one.
            yield Mistake(path, "is the name of the systemPool; choose another name")
            continue
        if kind == "gpuPools" and pool_key in cluster.pools:
            cause = f"is also the name of pools.{pool_key}, and classes and costs refer to a pool by its name"
            yield Mistake(path, f"{cause}; choose another name")
            continue
        if (kind, pool_key) in former:
            continue
        try:
            names = pool.names(pool_key)
        except SliceError:
            continue  # `check_pool` reports it
        if pool.adopted is not None:
            yield from repetitions((*path, "adopted", "names"), names.given)
            for index, given in names.generated_too().items():
                line = f"'{given}' is also the name of a further slice; name the node pools of all slices"
                yield Mistake((*path, "adopted", "names", index), line)
        if clash := taken.take(names, f"{kind}.{pool_key}"):
            yield Mistake(path, f"its node pool '{clash[0]}' is also one of {clash[1]}; choose another name")
        yield from check_pool_names(path, name, pool_key, pool)


def _former_clashes(at: Path, cluster: ClusterSpec) -> dict[tuple[str, str], Mistake]:
    """The pools with a former name that is the name, or the former name, of another pool."""
    pools = cluster.all_pools
    owners = {path: path[1] for path, pool in pools.items() if pool.formerly in (None, path[1])}
    found: dict[tuple[str, str], Mistake] = {}
    for (kind, name), pool in pools.items():
        if pool.formerly is None or (owner := owners.setdefault((kind, pool.formerly), name)) == name:
            continue
        line = f"'{pool.formerly}' is also the former name of {kind}.{owner}; remove one of the two"
        if owner == pool.formerly:
            line = f"'{owner}' is another pool of the cluster; remove formerly, or give {kind}.{owner} another name"
        found[kind, name] = Mistake((*at, kind, name, "formerly"), line)
    return found
