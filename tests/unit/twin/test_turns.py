"""Who starts next where starts are hard work."""

from __future__ import annotations

import asyncio

import pytest
from tpuplane_twin.pods.turns import Turn, Turns

pytestmark = pytest.mark.unit


async def test_those_that_others_wait_for_come_first_and_then_each_in_its_turn() -> None:
    turns, order = Turns(1), []

    async def start(name: str, *, first: bool) -> None:
        turn = Turn(turns, first=first)
        await turn.take()
        order.append(name)
        assert turn.held
        await asyncio.sleep(0)
        turn.give()
        turn.give()  # a second time it is nobody's
        assert not turn.held

    names = {"worker-0": False, "worker-1": False, "head": True, "worker-2": False}
    await asyncio.gather(*(start(name, first=first) for name, first in names.items()))
    assert order == ["worker-0", "head", "worker-1", "worker-2"]


async def test_a_caller_that_left_blocks_no_other() -> None:
    turns = Turns(1)
    await turns.take(first=False)
    gone, called, last = (asyncio.create_task(turns.take(first=False)) for _ in range(3))
    await asyncio.sleep(0)
    gone.cancel()
    turns.give()
    called.cancel()  # it had been called already
    await asyncio.wait_for(last, 5)
    assert gone.cancelled()
    assert called.cancelled()


async def test_others_do_not_wait() -> None:
    await asyncio.gather(*(Turn(None, first=False).take() for _ in range(3)))
