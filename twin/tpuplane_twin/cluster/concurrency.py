"""Doing several things at once, and failing with one plain error."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, TypeVar

T = TypeVar("T")

_AT_ONCE = 32  # as many as the API client has connections


async def together(*coroutines: Coroutine[Any, Any, object]) -> None:
    """Run all at once. The first failure cancels the rest and is raised as itself, not as a group."""
    try:
        async with asyncio.TaskGroup() as group:
            for coroutine in coroutines:
                group.create_task(coroutine)
    except ExceptionGroup as failures:
        raise _first(failures) from failures


async def each(items: Iterable[T], action: Callable[[T], Awaitable[object]]) -> None:
    """Run `action` on every item, a few dozen at a time; fails as `together` does."""
    gate = asyncio.Semaphore(_AT_ONCE)

    async def one(item: T) -> None:
        async with gate:
            await action(item)

    await together(*(one(item) for item in items))


def _first(failures: ExceptionGroup[Exception]) -> Exception:
    failure = failures.exceptions[0]
    return _first(failure) if isinstance(failure, ExceptionGroup) else failure
