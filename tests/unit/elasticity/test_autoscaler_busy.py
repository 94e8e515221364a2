"""When an autoscaler is busy: a rehearsal moves the clock while none is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest
from tpuplane_twin.clock.clock import Clock
from tpuplane_twin.elasticity.autoscaler import ClusterAutoscaler
from tpuplane_twin.elasticity.demand import Provisioning
from tpuplane_twin.elasticity.failures import Kept
from tpuplane_twin.elasticity.scaling import Actions

from tests.support.eventually import eventually
from tests.support.small_api import SmallApi, small_api

pytestmark = pytest.mark.unit

PODS, NODES, CLASSES = "/api/v1/pods", "/api/v1/nodes", "/apis/cloud.google.com/v1/computeclasses"
REQUESTS = "/apis/autoscaling.x-k8s.io/v1/provisioningrequests"


class Lab:
    """A cluster without nodes and its autoscaler. An action on its pools lasts until `late`."""

    def __init__(self, api: SmallApi) -> None:
        self.api = api
        self.late = asyncio.Event()
        self.begun: list[str] = []
        self.kept: dict[str, Kept] = {}
        actions = {name: self._action(name) for name in ("resize", "create", "delete", "replace", "repair")}
        self.autoscaler = ClusterAutoscaler(
            api.client,
            lambda: ([], Provisioning()),
            lambda: self.kept,
            cast(Any, Actions)(**actions),
            scale_down_after=60,
            repair_after=lambda: 0.0,
            now=Clock(),
        )

    def _action(self, name: str) -> Any:
        async def act(*_: object) -> None:
            self.begun.append(name)
            await self.late.wait()

        return act


@pytest.fixture
async def lab() -> AsyncIterator[Lab]:
    async with small_api() as api:
        api.lists |= {PODS: [], NODES: [], CLASSES: [], REQUESTS: []}
        found = Lab(api)
        running = asyncio.create_task(found.autoscaler.run())
        await eventually(lambda: not found.autoscaler.busy, pause=0.01)
        yield found
        running.cancel()
        await asyncio.wait([running])


@pytest.mark.parametrize(("auto_repair", "action", "busy"), [(False, "replace", True), (True, "repair", False)])
async def test_it_is_busy_while_it_changes_a_pool_without_an_operation(
    lab: Lab, auto_repair: bool, action: str, busy: bool
) -> None:
    """Of an operation, the twin says whether it works or waits for the clock."""
    lab.kept = {"pools/trainer": Kept({"us-east5-b": [0]}, auto_repair)}
    lab.autoscaler.poke()
    await eventually(lambda: lab.begun, until=[action].__eq__, pause=0.01)
    assert lab.autoscaler.busy is busy
    lab.kept = {}
    lab.late.set()
    await eventually(lambda: not lab.autoscaler.busy, pause=0.01)


async def test_it_is_busy_until_it_reads_nodes_again_after_an_error(lab: Lab) -> None:
    former = lab.api.lists.pop(NODES)
    lab.api.answer = lambda *_: (500, {})
    lab.api.change(CLASSES)
    await eventually(lambda: lab.autoscaler.busy, pause=0.01)
    await eventually(lambda: lab.api.said("GET", NODES), pause=0.01)
    assert lab.autoscaler.busy
    lab.api.lists[NODES] = former
    await eventually(lambda: not lab.autoscaler.busy, pause=0.01)
