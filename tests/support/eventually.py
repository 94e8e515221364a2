"""Waiting for what comes: without a fixed sleep, and with patience for a slow machine."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")

PATIENCE = 300.0
"""Seconds, on a machine that is busy with other tests."""


async def eventually(
    look: Callable[[], T | Awaitable[T]],
    until: Callable[[T], object] = bool,
    *,
    within: float = PATIENCE,
    pause: float = 0.1,
) -> T:
    """The first answer of `look` that is as wanted, truthy by default; fails with the last answer after `within` s."""
    deadline = time.monotonic() + within
    while True:
        found = look()
        answer: T = await found if inspect.isawaitable(found) else found
        if until(answer):
            return answer
        assert time.monotonic() < deadline, f"after {within} s still {answer!r}"
        await asyncio.sleep(pause)


def wait_until(
    look: Callable[[], T], until: Callable[[T], object] = bool, *, within: float = PATIENCE, pause: float = 0.3
) -> T:
    """`eventually` of a test without an event loop."""
    return asyncio.run(eventually(look, until, within=within, pause=pause))
