"""From a thing that can be asked about to the parts of the plan that it is, and what is known about them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tpuplane.explain.facts import (
    addon_facts,
    class_facts,
    cluster_facts,
    gpu_pool_facts,
    pool_facts,
    system_facts,
    team_facts,
)
from tpuplane.explain.paths import Target, UnknownPath
from tpuplane.explain.reasons import Facts
from tpuplane.explain.views import addon_views, class_views, team_views
from tpuplane.plan import PlatformPlan
from tpuplane.spec import PlatformSpec


def look(spec: PlatformSpec, platform: PlatformPlan, target: Target) -> tuple[Sequence[Any], Facts]:
    """The parts of the plan, none of what the plan has not, and the facts.

    Raises `UnknownPath` for a pool without slices.
    """
    if target.kind == "team":
        return team_views(platform, target.key), team_facts(spec.teams[target.key], spec)
    if target.kind == "class":
        return class_views(platform, target.key), class_facts(spec.classes[target.key])
    return _look_inside(spec, platform, target)


def _look_inside(spec: PlatformSpec, platform: PlatformPlan, target: Target) -> tuple[Sequence[Any], Facts]:
    """The same for a cluster and what is in it."""
    described = spec.clusters[target.cluster]
    if target.kind == "addon":
        facts = addon_facts(getattr(described.addons, target.key), target.key)
        return addon_views(platform, target.cluster, target.key), facts
    cluster = next(each for each in platform.clusters if each.key == target.cluster)
    if target.kind == "cluster":
        return [cluster], cluster_facts(described, cluster)
    if target.kind == "systemPool":
        return [cluster.system_pool], system_facts(described, cluster)
    if target.kind == "gpuPool":
        (pool,) = (pool for pool in cluster.gpu_pools if pool.pool == target.key)
        return [pool], gpu_pool_facts(described.gpu_pools[target.key], cluster, pool)
    members = [pool for pool in cluster.tpu_pools if pool.pool == target.key]
    if not members:
        raise UnknownPath(f"{target.path} has no slices, so nothing of it is planned; give it slices: 1 to see")
    return members, pool_facts(described.pools[target.key], cluster, members)
