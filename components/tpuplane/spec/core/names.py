"""The names that Google's API will see. They depend on the user's keys alone, so they stay when counts change."""

from __future__ import annotations

from collections.abc import Iterator

from tpuplane.spec.cluster.cluster import ClusterSpec
from tpuplane.spec.core.errors import Mistake, Path
from tpuplane.spec.pools.tpu import PoolSpec
from tpuplane.tpu import SliceError

SYSTEM_POOL = "system"
MAX_NAME = 40  # GKE clusters and node pools
_MAX_RESOURCE_NAME = 63  # Compute Engine
_ACCOUNT_ID = range(6, 31)  # characters of a service account's id


def cluster_name(platform: str, key: str) -> str:
    """Name of a cluster, its subnetwork and its nodes' service account."""
    return f"{platform}-{key}"


def node_pool_names(key: str, pool: PoolSpec) -> tuple[str, ...]:
    """GKE node pools of a pool: one for each multi-host slice, one in all for single-host slices."""
    if not pool.slice.multi_host:
        return (key,)
    return tuple(f"{key}-{index}" for index in range(pool.max_slices))


def workload_policy_name(cluster: str | None, key: str, pool: PoolSpec) -> str | None:
    """The policy that places a pool's slices; None where the generation needs none.

    `cluster` is in front of it: its name in Google Cloud. None: it is known only while the engine runs.

    A policy cannot be changed, so topology and mode are part of its name: another one is another policy.
    """
    if pool.slice.placement != "workload-policy":
        return None
    mode = pool.accelerator_topology_mode
    suffix = f"-{mode.lower().replace('_', '-')}" if mode else ""
    return f"{f'{cluster}-' if cluster else ''}{key}-{pool.slice.topology}{suffix}"


def check_account_id(at: Path, name: str, remedy: str = "choose another name") -> Iterator[Mistake]:
    """Refuse a cluster's name that its nodes' service account cannot have."""
    if len(name) not in _ACCOUNT_ID:
        yield Mistake(
            at,
            f"its service account '{name}' has {len(name)} characters; allowed: {_ACCOUNT_ID.start} to "
            f"{_ACCOUNT_ID.stop - 1}; {remedy}",
        )


def check_cluster_name(at: Path, name: str) -> Iterator[Mistake]:
    """Refuse a name that GKE does not take for a cluster."""
    if len(name) > MAX_NAME:
        yield Mistake(
            at, f"its GKE name '{name}' has {len(name)} characters; allowed: {MAX_NAME}; shorten this key or the name"
        )


def check_pool_names(at: Path, cluster: str | None, key: str, pool: PoolSpec) -> Iterator[Mistake]:
    """Refuse a pool's name whose node pools or workload policy would have names that are too long.

    `cluster` is its name in Google Cloud, where it is known. Raises `SliceError`.
    """
    names, policy = node_pool_names(key, pool), workload_policy_name(cluster, key, pool)
    if names and len(names[-1]) > MAX_NAME:
        yield Mistake(
            at,
            f"its node pool '{names[-1]}' has {len(names[-1])} characters; allowed: {MAX_NAME}; shorten the name",
        )
    if policy is not None and len(policy) > _MAX_RESOURCE_NAME:
        yield Mistake(
            at,
            f"its workload policy '{policy}' has {len(policy)} characters; allowed: {_MAX_RESOURCE_NAME}; shorten "
            "the pool's or the cluster's name",
        )


def check_names(platform: str, key: str, cluster: ClusterSpec) -> Iterator[Mistake]:
    """Refuse names that are too long or used twice."""
    at: Path = ("clusters", key)
    name = cluster_name(platform, key)
    if cluster.existing is None and len(name) > MAX_NAME:
        yield from check_cluster_name(at, name)
    elif cluster.node_service_account is None:
        yield from check_account_id(at, name, "change this key or the platform's name")
    owners = {} if cluster.existing else {SYSTEM_POOL: "systemPool"}
    name = cluster.existing.name if cluster.existing else name
    for pool_key, pool in cluster.pools.items():
        if pool_key == SYSTEM_POOL and not cluster.existing:
            # Nodes carry their pool's name as a label, and CPU work is sent to those called so.
            yield Mistake((*at, "pools", pool_key), "is the name of the systemPool; choose another name")
            continue
        try:
            names = node_pool_names(pool_key, pool)
        except SliceError:
            continue  # reported where it stands
        path = (*at, "pools", pool_key)
        clash = next((taken for taken in names if taken in owners), None)
        if clash is not None:
            yield Mistake(path, f"its node pool '{clash}' is also one of {owners[clash]}; choose another name")
        yield from check_pool_names(path, name, pool_key, pool)
        owners |= {own: f"pools.{pool_key}" for own in names if own not in owners}
    for pool_key in cluster.gpu_pools:
        if pool_key in cluster.pools:
            message = f"is the name of pools.{pool_key} too, and classes and bills go by it; choose another name"
            yield Mistake((*at, "gpuPools", pool_key), message)
        elif pool_key in owners:
            message = f"its node pool '{pool_key}' is also one of {owners[pool_key]}; choose another name"
            yield Mistake((*at, "gpuPools", pool_key), message)
