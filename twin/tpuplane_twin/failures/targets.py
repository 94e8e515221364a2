"""The pool and the hosts that a user names: POOL, POOL/NUMBER or the name of a node."""

from collections.abc import Callable, Iterable

from tpuplane.labels import GKE_POOL_LABEL
from tpuplane.tpu.nearest import nearest_names

from tpuplane_twin.cluster.api import Api, Object
from tpuplane_twin.cluster.nodes import ORDINAL, Pool
from tpuplane_twin.failures.clusters import choices, stored_clusters
from tpuplane_twin.failures.incidents import Target, whole
from tpuplane_twin.gcp.container.answers import linked, pool_answer
from tpuplane_twin.gcp.container.names import CLUSTER, POOL, cluster_of, parent_cluster
from tpuplane_twin.gcp.errors import invalid
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store
from tpuplane_twin.gcp.views import PoolView

PASSING = ("spot", "reservation")
"""The capacities whose hosts Compute Engine can delete."""


class Targets:
    """Finds pools and nodes in the clusters of a twin."""

    def __init__(self, store: Store, client: Callable[[str], Api | None]) -> None:
        self._store = store
        self._client = client

    async def hosts(self, kind: str, name: str, cluster: str, *, one: bool) -> Target:
        """The hosts of an incident: the host called `name`, or with `one` false all of its pool.

        An incident that interrupts whole slices has all hosts of the slice. Raises `ApiError` for an unknown name, and
        with `one` for a pool with several hosts.
        """
        clusters = stored_clusters(self._store, cluster)
        nodes = {key: await self._nodes(key) for key, _ in self._store.items(CLUSTER)}
        pool, _, number = name.partition("/")
        keys = [key for key in self._pools(cluster) if key.endswith(f"/nodePools/{pool}")]
        named = [
            (key, node)
            for key, found in nodes.items()
            for node in found
            if node["metadata"]["name"] == name and key in clusters
        ]
        if named:
            _check_one(f"node {name!r}", [key for key, _ in named])
            ((key, node),) = named
            target, chosen = f"{key}/nodePools/{_pool(node)}", [node]
            if self._store.get(POOL, target) is None:
                raise invalid(f"the node {name!r} belongs to no node pool; name a host of a node pool")
        else:
            target = self._one(pool, keys, cluster, [node for found in nodes.values() for node in found])
            mine = _of(pool, nodes[parent_cluster(target)])
            chosen = [node for node in mine if not number or _number(node) == number]
            hosts = ", ".join(sorted(_names(pool, mine))) or "none"
            if not chosen:
                raise invalid(f"{name!r} is not a host; the hosts of {pool!r}: {hosts}")
            if one and len(chosen) > 1:
                raise invalid(f"the node pool {pool!r} has several hosts; name one of them: {hosts}")
        if not one or (whole(kind) and self._is_slice(target)):
            chosen = _of(target.rpartition("/")[2], nodes[parent_cluster(target)])
        return Target(target, sorted(node["metadata"]["name"] for node in chosen))

    async def passing_pool(self, name: str, cluster: str) -> Target:
        """The hosts of a spot or reserved pool: calendar reservations end. Raises `ApiError` for another pool."""
        pools = self._pools(cluster)
        passing = sorted(pool["name"] for pool in self._store.values(POOL) if PoolView(pool).capacity in PASSING)
        offered = f"pools with such hosts: {', '.join(passing) or 'none'}"
        keys = [key for key in pools if key.endswith(f"/nodePools/{name}")]
        if not keys:
            raise invalid(f"there is no node pool {name!r}; {offered}")
        key = self._one(name, keys, cluster, [])
        if PoolView(pools[key]).capacity not in PASSING:
            owned = PoolView(pools[key]).capacity
            raise invalid(f"{name!r} is {owned}, and only spot and reserved hosts are reclaimed; {offered}")
        nodes = _of(name, await self._nodes(parent_cluster(key)))
        return Target(key, [node["metadata"]["name"] for node in nodes])

    def _pools(self, cluster: str) -> dict[str, Json]:
        """The node pools of a cluster, by default of all. Raises `ApiError` for an unknown one."""
        clusters = stored_clusters(self._store, cluster)
        return {key: pool for key, pool in self._store.items(POOL) if parent_cluster(key) in clusters}

    def _one(self, pool: str, keys: list[str], cluster: str, nodes: Iterable[Object]) -> str:
        if not keys:
            names = sorted({pool["name"] for pool in self._pools(cluster).values()})
            near = nearest_names(pool, [*names, *(node["metadata"]["name"] for node in nodes)], count=1)
            hint = f"; the nearest is {near[0]!r}" if near else ""
            raise invalid(f"there is no node pool or node {pool!r}{hint}; node pools: {', '.join(names) or 'none'}")
        _check_one(f"node pool {pool!r}", keys)
        return keys[0]

    def _is_slice(self, key: str) -> bool:
        cluster, pool = self._store.get(CLUSTER, parent_cluster(key)), self._store.get(POOL, key)
        if cluster is None or pool is None:
            return False
        return Pool(pool_answer(key, pool), linked(parent_cluster(key), cluster)).is_slice

    async def _nodes(self, cluster: str) -> list[Object]:
        client = self._client(cluster)
        return await client.list("Node") if client is not None else []


def client_of(store: Store, client: Callable[[Json], Api | None], cluster: str) -> Api | None:
    """The client of the cluster of that resource name; None while its control plane does not run."""
    found = store.get(CLUSTER, cluster)
    return client(linked(cluster, found)) if found is not None else None


def _check_one(what: str, keys: list[str]) -> None:
    """Raises `ApiError` if several clusters have it. `keys` are the resource names of the clusters, or of it."""
    if len(keys) > 1:
        clusters = ", ".join(choices(map(cluster_of, keys)))
        raise invalid(f"several clusters have a {what}; choose one with --cluster: {clusters}")


def _of(pool: str, nodes: list[Object]) -> list[Object]:
    return [node for node in nodes if _pool(node) == pool]


def _pool(node: Object) -> str:
    """The name of its node pool; empty for a node that GKE did not create."""
    return str(node["metadata"].get("labels", {}).get(GKE_POOL_LABEL, ""))


def _names(pool: str, nodes: list[Object]) -> list[str]:
    """The names of hosts: by number, or those of the nodes if several zones have the same numbers."""
    numbers = {_number(node) for node in nodes}
    by_number = len(numbers) == len(nodes)
    return [f"{pool}/{_number(node)}" if by_number else node["metadata"]["name"] for node in nodes]


def _number(node: Object) -> str:
    return str(node["metadata"].get("annotations", {}).get(ORDINAL, "")).rpartition("/")[2]
