"""Hosts that node pools of a fixed size lack. The provider exports no status of a pool: one in ERROR has no change, so
the next update would succeed without its hosts. Its instance groups have the number of existing hosts."""

import asyncio
import importlib.metadata
import os
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain
from typing import cast

import pulumi
import pulumi_gcp as gcp

from tpuplane.plan.pools import NodePoolPlan

VARIABLE = "TPUPLANE_MISSING_HOSTS"
_LEVELS = ("error", "warn")
_LIST = "gcp:compute/getInstanceGroups:getInstanceGroups"
_GROUP = re.compile(r"projects/([^/]+)/zones/([^/]+)/instanceGroups/([^/]+)$")
_GONE = -1

Pools = Sequence[tuple[gcp.container.NodePool, NodePoolPlan]]
"""Registered node pools with their plans."""
_Group = tuple[str, str, str]
"""Project, zone and name of an instance group."""
_Checking = Callable[[None], None]
"""A coroutine function, which `apply` awaits; its type has no such result."""


def check_hosts(pools: Iterable[tuple[gcp.container.NodePool, NodePoolPlan]], whole: pulumi.Resource) -> None:
    """Report the pools that lack hosts: as errors in a preview, which continues, so that they can be replaced. An
    update fails, after everything in the component `whole` is up to date.

    A pool that does not exist yet has no instance groups in the preview, and an autoscaled pool may have no host.
    """
    level = os.environ.get(VARIABLE) or "error"
    if level not in _LEVELS:
        raise pulumi.RunError(f"{VARIABLE}={level}: not a level; allowed: {', '.join(_LEVELS)}")
    fixed = [(pool, plan) for pool, plan in pools if plan.node_count and "nodeCount" not in plan.kept]
    check = _fail if level == "error" and not pulumi.runtime.is_dry_run() else partial(_report, level)
    pulumi.Output.from_input(None).apply(cast(_Checking, partial(check, fixed, whole)))


async def _report(level: str, pools: Pools, whole: pulumi.Resource, _: None) -> None:
    log = pulumi.log.warn if level == "warn" else pulumi.log.error
    try:
        for pool, message in await _problems(pools, whole):
            log(message, pool)
    except pulumi.RunError as error:
        log(str(error), whole)


async def _fail(pools: Pools, whole: pulumi.Resource, _: None) -> None:
    if not await _problems(pools, whole):
        return
    # Only an output of a function waits for a component with everything in it.
    (pool, plan), options = pools[0], pulumi.InvokeOutputOptions(parent=whole, depends_on=[whole])
    await gcp.compute.get_instance_groups_output(project=pool.project, zone=plan.zones[0], opts=options).future()
    if found := await _problems(pools, whole):
        raise pulumi.RunError("\n".join(message for _, message in found))


async def _problems(pools: Pools, whole: pulumi.Resource) -> list[tuple[pulumi.Resource, str]]:
    """The pools that lack hosts, with messages. Raises `RunError` if their hosts cannot be read."""
    urls = await asyncio.gather(*(pool.managed_instance_group_urls.future() for pool, _ in pools))
    # Not known in a preview: those of a pool that this update creates or replaces.
    groups = [
        (pool, plan, [_GROUP.findall(url)[0] for url in of_pool])
        for (pool, plan), of_pool in zip(pools, urls, strict=True)
        if of_pool is not None
    ]
    # One request for all pools of a zone.
    places = dict.fromkeys((project, zone) for _, _, of_pool in groups for project, zone, _ in of_pool)
    sizes = dict(chain.from_iterable(await asyncio.gather(*(_sizes(project, zone, whole) for project, zone in places))))
    messages = (
        (pool, _problem(pool, plan, [sizes.get(group, _GONE) for group in of_pool])) for pool, plan, of_pool in groups
    )
    return [(pool, message) for pool, message in messages if message]


async def _sizes(project: str, zone: str, whole: pulumi.Resource) -> list[tuple[_Group, int]]:
    """The instance groups of a zone, each with its number of hosts."""
    # An output of a function cannot fail without a traceback. The version is that of the resources' provider.
    options = pulumi.InvokeOptions(parent=whole, version=importlib.metadata.version("pulumi-gcp"))
    try:
        found = await pulumi.runtime.invoke_async(_LIST, {"project": project, "zone": zone}, options)
    except Exception as error:
        raise pulumi.RunError(f"the hosts of node pools in {zone} cannot be read: {error}") from None
    return [((project, zone, group["name"]), int(group["size"])) for group in found["instanceGroups"]]


def _problem(pool: gcp.container.NodePool, plan: NodePoolPlan, sizes: Sequence[int]) -> str:
    """The message about a pool that lacks hosts or instance groups, else ""."""
    if _GONE in sizes:
        return f"the hosts of node pool {plan.name} cannot be read: its instance group does not exist"
    hosts, declared = sum(sizes), (plan.node_count or 0) * len(plan.zones)
    slice_of_hosts = plan.placement_topology is not None
    # In a preview, a pool with other hosts than declared can be one that this update resizes. A slice is replaced.
    if hosts >= declared or (pulumi.runtime.is_dry_run() and hosts and not slice_of_hosts):
        return ""
    effect = "Nothing can run on this slice" if slice_of_hosts else "Work runs on the others only"
    return (
        f"node pool {plan.name} has {hosts} of {declared} hosts. {effect}. `tpuplane check FILE --online --deployed` "
        "prints GKE's reason. If GKE does not create them, replace the pool later: pulumi up --replace "
        f"'**::{pool.pulumi_resource_name}'. {VARIABLE}=warn lets updates succeed"
    )
