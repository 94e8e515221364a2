"""The cluster autoscaler of one cluster: it watches, decides, and lets `Scaling` act."""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tpuplane_twin.clock.clock import Clock
from tpuplane_twin.cluster.api import Api, accepting, timestamp
from tpuplane_twin.cluster.mirror import Mirror
from tpuplane_twin.elasticity.class_status import conditions, dated
from tpuplane_twin.elasticity.classes import readable_classes
from tpuplane_twin.elasticity.decision import View, decide
from tpuplane_twin.elasticity.demand import Provisioning
from tpuplane_twin.elasticity.events import Recorder
from tpuplane_twin.elasticity.failures import Failures, Kept, Repairs
from tpuplane_twin.elasticity.groups import Group
from tpuplane_twin.elasticity.objects import Node, Pod, births
from tpuplane_twin.elasticity.provisioner import Provisioner
from tpuplane_twin.elasticity.requests import Request
from tpuplane_twin.elasticity.scale_down import Budget
from tpuplane_twin.elasticity.scaling import Actions, Scaling

log = logging.getLogger(__name__)

_SETTLE_SECONDS = 0.5  # the pods of a job appear one after the other
_REST = 4  # times the duration of the last step
_AGAIN_SECONDS = 5.0  # after an unexpected failure
_WAITING_SECONDS = 60.0  # between two checks of pending pods without any change
_BOOKING_SECONDS = 60.0  # the least time that a request's nodes are kept for its pods; on GKE ten minutes
_BUDGETS = "/apis/policy/v1/poddisruptionbudgets"

Provided = tuple[list[Group], Provisioning]
"""The pools that can be resized, and the rules for new pools."""


class ClusterAutoscaler:
    """Runs until cancelled. Between changes it sleeps with four open watches."""

    def __init__(
        self,
        api: Api,
        read: Callable[[], Provided],
        kept: Callable[[], dict[str, Kept]],
        actions: Actions,
        *,
        scale_down_after: float,
        repair_after: Callable[[], float],
        now: Clock,
        failures: Callable[[], Failures] = Failures,
    ) -> None:
        """`read` returns the current pools, `kept` the nodes that are created again.

        `scale_down_after` and `repair_after` are in seconds of `now`. `failures` makes its memory for failures.
        """
        self.api = api
        self._read = read
        self._kept = kept
        self._delay = scale_down_after
        self._now = now
        self._changed = asyncio.Event()
        self._pods = Mirror(api, "Pod", Pod.parse, self._changed)
        self._nodes = Mirror(api, "Node", Node.parse, self._changed)
        self._requests = Mirror(api, "ProvisioningRequest", Request.parse, self._changed)
        self._classes = Mirror(api, "ComputeClass", lambda item: item, self._changed)
        self._mirrors: list[Mirror[Any]] = [self._pods, self._nodes, self._requests, self._classes]
        self._provisioner = Provisioner(api, actions.resize, max(scale_down_after, _BOOKING_SECONDS))
        self._recorder = Recorder(api, now)
        self._scaling = Scaling(actions, self._recorder, failures(), Repairs(repair_after), now)
        self._since: dict[str, float] = {}
        self._born: dict[str, float] = {}
        self._checking = True

    @property
    def busy(self) -> bool:
        """Whether it must still read changes or decide, or changes a pool without an operation.

        Not while an operation of its own lasts, which can wait for the clock.
        """
        follows = all(mirror.synced.is_set() for mirror in self._mirrors)
        return not self._scaling.acting and (self._checking or self._changed.is_set() or not follows)

    def poke(self) -> None:
        """Check again, because pools have changed."""
        self._changed.set()

    def backoff(self) -> list[dict[str, Any]]:
        """The pools in back-off after a failed scale-up, with the remaining seconds and the cause."""
        return self._scaling.failures.report(self._now())

    async def run(self) -> None:
        """Watch the cluster and act."""
        while True:
            try:
                async with asyncio.TaskGroup() as group:
                    for mirror in self._mirrors:
                        group.create_task(mirror.run())
                    await self._act()
            except Exception:
                log.exception("the cluster autoscaler failed; it starts again in %.0f s", _AGAIN_SECONDS)
                await asyncio.sleep(_AGAIN_SECONDS)

    async def _act(self) -> None:
        for mirror in self._mirrors:
            await mirror.synced.wait()
        while True:
            self._changed.clear()
            began = time.monotonic()
            wait = await self.step()
            lasted = time.monotonic() - began
            self._checking = False
            try:
                await self._now.wait(self._changed, None if wait is None else self._now() + wait)
            finally:
                self._checking = True
            # Large clusters with thousands of nodes are checked less often.
            await asyncio.sleep(max(_SETTLE_SECONDS, _REST * lasted))

    async def step(self) -> float | None:
        """Check the cluster and act. The result is the seconds until the next check without changes."""
        now = self._now()
        await self._scaling.repair(self._kept(), self._nodes.items.values(), now)
        view = await self._view(now)
        if not view.pending:
            self._scaling.failures.unneeded()
            self._scaling.priorities.unneeded()
        await self._report(view, now)
        if view.settled or view.idle:
            self._since = {}
            self._recorder.forget(set())
            later = (*self._scaling.repairs.dues(), *self._scaling.priorities.dues(now))
            return min((due - now for due in later), default=None)
        decision = await asyncio.to_thread(decide, view, dict(self._since), now, self._delay)
        self._since = decision.since
        self._recorder.forget({pod.uid for pod in view.pods if pod.unschedulable})
        self._scaling.record(decision.up)
        await self._recorder.flush()
        for growth in decision.up.growths:
            await self._scaling.grow(growth, view.where)
        for growth in decision.moves.growths:
            await self._scaling.grow(growth, view.where, moving=True)
        for provision in decision.answers.provisions:
            await self._provisioner.provide(provision, now)
        for answer in decision.answers.said:
            await self._provisioner.write(answer)
        going = [*decision.ended, *decision.answers.revoked, *decision.moves.emptied, *decision.down]
        for shrinkage in going:
            await self._scaling.shrink(shrinkage)
        for group in decision.deleted:
            await self._scaling.delete(group)
        await self._recorder.flush()
        if decision.up.growths or decision.moves.growths or decision.answers.provisions or going or decision.deleted:
            return 0.0
        later = (
            *view.dues(self._since, self._delay),
            *self._scaling.failures.dues(),
            *self._provisioner.dues(),
            *self._scaling.repairs.dues(),
        )
        dues = [due - now for due in later if due > now]
        if (view.pending or any(group.compute_class for group in view.groups)) and not self._now.still:
            dues.append(_WAITING_SECONDS)
        return min(dues, default=None)

    async def _view(self, now: float) -> View:
        groups, where = self._read()
        nodes = sorted(self._nodes.items.values(), key=lambda node: node.name)
        self._born = births(nodes, self._born, now, time.time())
        pods = list(self._pods.items.values())
        where = replace(where, classes=readable_classes(self._classes.items.values()))
        view = View(
            nodes=nodes,
            pods=pods,
            groups=groups,
            backoff=self._scaling.failures.backoff(now),
            awaited=self._scaling.failures.awaited(now),
            where=where,
            born=dict(self._born),
            queue=await self._provisioner.look(list(self._requests.items.values()), now),
        )
        if view.settled or not any(group.can_shrink for group in groups):
            return view
        answer = await self.api.request("GET", _BUDGETS)
        return replace(view, budgets=[Budget.parse(item) for item in answer["items"]])

    async def _report(self, view: View, now: float) -> None:
        """Write the conditions of compute classes, where they have changed."""
        for name, own in view.where.classes.items():
            known = self._classes.items.get(f"/{name}", {}).get("status", {})
            said = conditions(own, view.groups, view.where)
            status = dated(said, self._scaling.priorities.of_class(own, now), known, timestamp())
            if any(known.get(key, []) != value for key, value in status.items()):
                with accepting(404):  # it was just deleted
                    await self.api.merge("ComputeClass", name, {"status": status}, part="/status")
