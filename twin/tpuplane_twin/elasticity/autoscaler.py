"""The cluster autoscaler of one cluster: watches, decides, resizes, says why."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tpuplane_twin.cluster.api import Api
from tpuplane_twin.elasticity.decision import View, decide
from tpuplane_twin.elasticity.events import Recorder
from tpuplane_twin.elasticity.groups import Group
from tpuplane_twin.elasticity.mirror import Mirror
from tpuplane_twin.elasticity.objects import Node, Pod
from tpuplane_twin.elasticity.scale_down import Budget, Shrinkage
from tpuplane_twin.elasticity.scale_up import Growth, ScaleUp, reasons_message
from tpuplane_twin.gcp import BackendError, Numbers

log = logging.getLogger(__name__)

Resize = Callable[[str, Numbers, Numbers], Awaitable[bool]]
Clock = Callable[[], float]

_SETTLE_SECONDS = 0.5  # pods of one job come one after the other
_REST = 4  # times as long as it worked
_AGAIN_SECONDS = 5.0  # after a failure that nobody foresaw
_WAITING_SECONDS = 60.0  # how often those who wait are looked at although nothing has changed
_BACKOFF_SECONDS = (300.0, 1800.0)  # GKE's: after a failed scale-up, doubled each time up to the second
_BUDGETS = "/apis/policy/v1/poddisruptionbudgets"


@dataclass(slots=True)
class _Failures:
    """When a pool may be grown again, and for how long it is left alone next time."""

    until: float
    pause: float


class ClusterAutoscaler:
    """Runs until cancelled. Between changes it sleeps: it holds two watches and asks for nothing."""

    def __init__(
        self, api: Api, groups: Callable[[], list[Group]], resize: Resize, *, scale_down_after: float, now: Clock
    ) -> None:
        """`groups` reads the pools as they are now. `scale_down_after` is in seconds of the clock `now`."""
        self.api = api
        self._groups = groups
        self._resize = resize
        self._delay = scale_down_after
        self._now = now
        self._changed = asyncio.Event()
        self._pods = Mirror(api, "Pod", Pod.parse, self._changed)
        self._nodes = Mirror(api, "Node", Node.parse, self._changed)
        self._recorder = Recorder(api, now)
        self._since: dict[str, float] = {}
        self._failures: dict[str, _Failures] = {}

    def poke(self) -> None:
        """Look again: the pools, or the clock, have changed."""
        self._changed.set()

    async def run(self) -> None:
        """Watch and act."""
        while True:
            try:
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._pods.run())
                    group.create_task(self._nodes.run())
                    await self._act()
            except Exception:
                log.exception("the cluster autoscaler failed; it starts again in %.0f s", _AGAIN_SECONDS)
                await asyncio.sleep(_AGAIN_SECONDS)

    async def _act(self) -> None:
        await self._pods.synced.wait()
        await self._nodes.synced.wait()
        while True:
            self._changed.clear()
            began = time.monotonic()
            wait = await self.step()
            busy = time.monotonic() - began
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), wait)
            # A cluster of thousands of nodes in which everything moves is looked at less often.
            await asyncio.sleep(max(_SETTLE_SECONDS, _REST * busy))

    async def step(self) -> float | None:
        """One look, and what follows from it. Answers the seconds until the next is due if nothing changes."""
        now = self._now()
        view = await self._view(now)
        if view.settled:
            self._since = {}
            self._recorder.forget(set())
            return None
        decision = await asyncio.to_thread(decide, view, dict(self._since), now, self._delay)
        self._since = decision.since
        self._recorder.forget({pod.uid for pod in view.pods if pod.unschedulable})
        self._say(decision.up)
        await self._recorder.flush()
        for growth in decision.up.growths:
            await self._grow(growth)
        for shrinkage in decision.down:
            await self._shrink(shrinkage)
        await self._recorder.flush()
        if decision.up.growths or decision.down:
            return 0.0
        dues = [start + self._delay - now for start in self._since.values() if start + self._delay > now]
        dues += [failure.until - now for failure in self._failures.values() if failure.until > now]
        if view.pending:
            dues.append(_WAITING_SECONDS)
        return min(dues, default=None)

    async def _view(self, now: float) -> View:
        groups = self._groups()
        view = View(
            nodes=sorted(self._nodes.items.values(), key=lambda node: node.name),
            pods=list(self._pods.items.values()),
            groups=groups,
            backoff=frozenset(key for key, failure in self._failures.items() if failure.until > now),
        )
        if view.settled or not any(group.can_shrink for group in groups):
            return view
        answer = await self.api.request("GET", _BUDGETS)
        budgets = [Budget.parse(item) for item in answer["items"]]
        return View(view.nodes, view.pods, view.groups, budgets, view.backoff)

    def _say(self, plan: ScaleUp) -> None:
        for growth in plan.growths:
            for pod in growth.pods:
                self._recorder.pod(pod, "TriggeredScaleUp", f"pod triggered scale-up: {growth.info}")
        for pod, reasons in plan.refusals:
            self._recorder.pod(pod, "NotTriggerScaleUp", reasons_message(reasons))

    async def _grow(self, growth: Growth) -> None:
        group = growth.before
        log.info("%s grows for %d pods: %s", group.key, len(growth.pods), growth.info)
        try:
            await self._resize(group.key, group.numbers, growth.after.numbers)
        except BackendError as error:
            last = self._failures.get(group.key)
            pause = min(2 * last.pause, _BACKOFF_SECONDS[1]) if last else _BACKOFF_SECONDS[0]
            self._failures[group.key] = _Failures(self._now() + pause, pause)
            zones = ", ".join(zone for zone in group.zones if group.numbers[zone] != growth.after.numbers[zone])
            for pod in growth.pods:
                text = (
                    f"Node scale up in zones {zones} associated with this pod failed: {error} "
                    "Pod is at risk of not being scheduled."
                )
                self._recorder.pod(pod, "FailedScaleUp", text, warning=True)
            log.warning("%s could not grow: %s", group.key, error)
        else:
            self._failures.pop(group.key, None)

    async def _shrink(self, shrinkage: Shrinkage) -> None:
        group = shrinkage.before
        names = ", ".join(node.name for node in shrinkage.nodes)
        log.info("%s shrinks by %d nodes: %s", group.key, len(shrinkage.nodes), names)
        try:
            done = await self._resize(group.key, group.numbers, shrinkage.after.numbers)
        except BackendError as error:
            log.warning("%s could not shrink: %s", group.key, error)
            return
        if done:
            for node in shrinkage.nodes:
                self._recorder.node(node, "ScaleDown", "node removed by cluster autoscaler")
