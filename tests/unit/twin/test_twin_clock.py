"""The twin's clock: it runs with the machine's, or stands still until it is moved."""

from __future__ import annotations

import asyncio
import time

import pytest
from tpuplane_twin.clock.clock import Clock
from tpuplane_twin.clock.times import Times

pytestmark = [pytest.mark.unit, pytest.mark.asyncio]


async def test_a_running_clock_is_that_of_the_machine() -> None:
    clock = Clock()
    before = time.time()
    await clock.sleep(0.01)
    assert before + 0.01 <= clock() <= time.time()
    assert clock.due is None


async def test_those_whose_time_has_come_wake_when_the_clock_is_moved() -> None:
    clock = Clock()
    clock.move(0)
    began = clock()
    first, second = (asyncio.create_task(clock.sleep(seconds)) for seconds in (600, 900))
    await asyncio.sleep(0.01)
    assert clock.due == began + 600
    clock.awaited = [began + 30]  # of a controller that looks again and again
    assert clock.due == began + 30
    clock.awaited = [began]  # its time has come, and it has not looked
    assert (clock.due, clock.late) == (began + 600, True)
    clock.awaited = []
    assert not clock.late
    assert not first.done()
    clock.move(600)
    await asyncio.wait_for(first, 5)
    assert clock.due == began + 900
    assert not second.done()
    clock.move(301)
    await asyncio.wait_for(second, 5)
    assert clock() == began + 901
    assert clock.due is None


async def test_a_clock_that_runs_again_continues_from_where_it_stood() -> None:
    clock = Clock()
    clock.move(3600)
    waiting = asyncio.create_task(clock.sleep(0.01))
    await asyncio.sleep(0.02)
    assert not waiting.done()
    clock.run()
    await asyncio.wait_for(waiting, 5)
    assert 3600 <= clock() - time.time() + 0.1 < 3601


async def test_an_event_ends_the_wait_and_leaves_nothing_due() -> None:
    clock, event = Clock(), asyncio.Event()
    clock.move(0)
    waiting = asyncio.create_task(clock.wait(event, clock() + 60))
    await asyncio.sleep(0.01)
    event.set()
    await asyncio.wait_for(waiting, 5)
    assert clock.due is None
    cancelled = asyncio.create_task(clock.sleep(60))
    await asyncio.sleep(0.01)
    cancelled.cancel()
    await asyncio.wait([cancelled])
    assert clock.due is None


async def test_times_on_a_clock_that_stands_still_are_those_of_gke() -> None:
    times = Times(60)
    assert times.seconds("auto-repair") == 10
    times.clock.move(0)
    assert times.seconds("auto-repair") == 600
