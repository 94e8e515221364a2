"""Hosts that node pools of a fixed size lack. The provider exports no status of a pool: one in ERROR has no change, so
the next update would succeed without its hosts. Its instance groups have the number of existing hosts."""

import importlib.metadata
import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import cast

import pulumi
import pulumi_gcp as gcp

from tpuplane.plan.pools import NodePoolPlan

VARIABLE = "TPUPLANE_MISSING_HOSTS"
_LEVELS = ("error", "warn")
_GET = "gcp:compute/getInstanceGroup:getInstanceGroup"

Pools = Sequence[tuple[gcp.container.NodePool, NodePoolPlan]]
"""Registered node pools with their plans."""
Urls = Sequence[str] | None
"""Links of instance groups; None if they are not known."""
_Reading = Callable[[Sequence[str]], str]
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
    if level == "warn" or pulumi.runtime.is_dry_run():
        log = pulumi.log.warn if level == "warn" else pulumi.log.error
        for pool, plan in fixed:
            pool.managed_instance_group_urls.apply(cast(_Reading, partial(_report, pool, plan, log)))
    else:
        found = [
            pool.managed_instance_group_urls.apply(cast(_Reading, partial(_settled, pool, plan, whole)))
            for pool, plan in fixed
        ]
        pulumi.Output.all(*found).apply(_fail)


async def _report(pool: gcp.container.NodePool, plan: NodePoolPlan, log: Callable[..., None], urls: Urls) -> str:
    try:
        message = await _problem(pool, plan, urls)
    except pulumi.RunError as error:
        message = str(error)
    if message:
        log(message, pool)
    return message


async def _settled(pool: gcp.container.NodePool, plan: NodePoolPlan, whole: pulumi.Resource, urls: Urls) -> str:
    message = await _problem(pool, plan, urls)
    if message and urls:
        # Only an output of a function waits for a component with everything in it.
        options = pulumi.InvokeOutputOptions(parent=pool, depends_on=[whole])
        await gcp.compute.get_instance_group_output(self_link=urls[0], opts=options).future()
        message = await _problem(pool, plan, urls)
    return message


async def _problem(pool: gcp.container.NodePool, plan: NodePoolPlan, urls: Urls) -> str:
    """The message about a pool that lacks hosts, else "". Raises `RunError` if its hosts cannot be read."""
    if urls is None:
        return ""
    # An output of a function cannot fail without a traceback. The version is that of the resources' provider.
    options = pulumi.InvokeOptions(parent=pool, version=importlib.metadata.version("pulumi-gcp"))
    try:
        groups = [await pulumi.runtime.invoke_async(_GET, {"selfLink": url}, options) for url in urls]
    except Exception as error:
        raise pulumi.RunError(f"the hosts of node pool {plan.name} cannot be read: {error}") from None
    hosts, declared = sum(int(group["size"]) for group in groups), (plan.node_count or 0) * len(plan.zones)
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


def _fail(messages: Sequence[str]) -> None:
    if found := [message for message in messages if message]:
        raise pulumi.RunError("\n".join(found))
