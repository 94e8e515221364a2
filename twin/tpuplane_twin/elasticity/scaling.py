"""Changes the node pools of one cluster, and keeps what failed: back-offs, conditions, events."""

import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from tpuplane_twin.clock.clock import Clock
from tpuplane_twin.elasticity.class_status import Priorities
from tpuplane_twin.elasticity.demand import Provisioning
from tpuplane_twin.elasticity.events import Recorder
from tpuplane_twin.elasticity.failures import Failures, Kept, Repairs, lost
from tpuplane_twin.elasticity.groups import Group
from tpuplane_twin.elasticity.objects import Node
from tpuplane_twin.elasticity.requests import out_of_capacity
from tpuplane_twin.elasticity.scale_down import Shrinkage
from tpuplane_twin.elasticity.scale_up import Growth, ScaleUp, reasons_message
from tpuplane_twin.gcp.backend import BackendError, Numbers
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.views import ClusterView

log = logging.getLogger(__name__)

T = TypeVar("T")
Resize = Callable[[str, Numbers, Numbers], Awaitable[bool]]


@dataclass(frozen=True)
class Actions:
    """The autoscaler's actions on node pools. Each raises BackendError if it fails."""

    resize: Resize
    create: Callable[[str, Json], Awaitable[None]]
    """Create the NodePool in the cluster of that resource name."""
    delete: Callable[[str], Awaitable[None]]
    """Delete the pool of that resource name."""
    replace: Callable[[str, Numbers], Awaitable[None]]
    """Create the missing nodes of the pool of that resource name again."""
    repair: Callable[[str], Awaitable[None]]
    """Create the broken nodes of the pool of that resource name again, by an operation; a slice as a whole."""


class Scaling:
    """Acts on the node pools of one cluster."""

    def __init__(self, actions: Actions, recorder: Recorder, failures: Failures, repairs: Repairs, now: Clock) -> None:
        by_operation = {name: self._noted(getattr(actions, name)) for name in ("create", "delete", "repair")}
        self._actions = replace(actions, **by_operation)
        self._recorder = recorder
        self._now = now
        self.failures = failures
        self.repairs = repairs
        self.priorities = Priorities()
        self.acting = False
        """Whether an operation of its own lasts, which can wait for the clock."""

    def _noted(self, action: Callable[..., Awaitable[T]]) -> Callable[..., Awaitable[T]]:
        """The action. It is noted while it lasts, because its operation can wait for the clock."""

        async def noted(*arguments: Any) -> T:
            self.acting = True
            try:
                return await action(*arguments)
            finally:
                self.acting = False

        return noted

    async def repair(self, kept: Mapping[str, Kept], nodes: Iterable[Node], now: float) -> None:
        """Create nodes again that are missing or broken."""
        found = lost(kept, nodes)
        for key in self.repairs.ripe(found, now):
            log.info("%s is repaired: nodes %s are missing or not Ready", key, found[key])
            try:
                if kept[key].auto_repair:
                    await self._actions.repair(key)
                else:
                    await self._actions.replace(key, found[key])
            except BackendError as error:
                self.repairs.failed(key, now)
                log.warning("%s could not be repaired: %s", key, error)
            else:
                self.repairs.done(key)

    def record(self, plan: ScaleUp) -> None:
        """Write the events of a plan."""
        for growth in plan.growths:
            for pod in growth.pods:
                self._recorder.pod(pod, "TriggeredScaleUp", f"pod triggered scale-up: {growth.info}")
        for pod, reasons in plan.unhelped:
            self._recorder.pod(pod, "NotTriggerScaleUp", reasons_message(reasons))

    async def grow(self, growth: Growth, where: Provisioning, *, moving: bool = False) -> None:
        """Scale up. Pods that are `moving` keep running if it fails."""
        group, own = growth.before, where.classes.get(growth.before.compute_class)
        log.info("%s grows for %d pods: %s", group.key, len(growth.pods), growth.info)
        try:
            if group.offer is not None:
                defaults = ClusterView(where.cluster).auto_provisioning_defaults
                await self._actions.create(where.key, group.offer.body(group.name, defaults))
            await self._actions.resize(group.key, group.numbers, growth.after.numbers)
        except BackendError as error:
            zones, rule, now = growth.zones, where.rule(group), self._now()
            log.warning("%s could not grow: %s", group.key, error)
            ends = self.failures.failed(group, zones, now, str(error), rule=rule, waits=not moving)
            if own is not None and ends:
                self.priorities.failed(own, group, str(error), ends, time.time() - now)
            elif own is not None:
                self.priorities.asked(own, group, zones, growth.after.size - group.size)
            if not ends:
                return
            for pod in () if moving else growth.pods:
                text = (
                    f"Node scale up in zones {', '.join(zones)} associated with this pod failed: {error} "
                    "Pod is at risk of not being scheduled."
                )
                self._recorder.pod(pod, "FailedScaleUp", text, warning=True)
            flex = "Flex" if group.pool.capacity == "flex-start" else ""
            for zone in zones if flex or group.is_slice else ():
                added = len(growth.after.numbers[zone]) - len(group.numbers[zone])
                text = f"Failed adding {added} nodes to group {group.links[zone]} via {flex} scale up due to "
                reason = out_of_capacity(str(error)).reason
                self._recorder.autoscaler(f"{flex}ScaleUpFailed", f'{text}"{reason}": {error}')
        else:
            self.failures.succeeded(group, growth.zones)
            if own is not None:
                self.priorities.succeeded(own, group)

    async def shrink(self, shrinkage: Shrinkage) -> None:
        """Scale down."""
        group = shrinkage.before
        names = ", ".join(node.name for node in shrinkage.nodes)
        log.info("%s shrinks by %d nodes: %s", group.key, len(shrinkage.nodes), names)
        try:
            done = await self._actions.resize(group.key, group.numbers, shrinkage.after.numbers)
        except BackendError as error:
            log.warning("%s could not shrink: %s", group.key, error)
            return
        if done:
            for node in shrinkage.nodes:
                self._recorder.node(node, "ScaleDown", "node removed by cluster autoscaler")

    async def delete(self, group: Group) -> None:
        """Delete an empty pool."""
        log.info("%s is empty and is deleted", group.key)
        try:
            await self._actions.delete(group.key)
        except BackendError as error:
            log.warning("%s could not be deleted: %s", group.key, error)
