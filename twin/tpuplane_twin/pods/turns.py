"""Turns: starts that keep a processor busy happen a few at a time."""

import asyncio
import heapq
import itertools

_LONGEST = 120.0  # seconds; a start that hangs must not block the others


class Turns:
    """Places for as many starts as may happen at once. Pods that others wait for come first."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._waiting: list[tuple[bool, int, asyncio.Future[None]]] = []
        self._numbers = itertools.count()

    async def take(self, *, first: bool) -> None:
        """Wait for a place; `first` comes before all others that wait."""
        if self._free > 0:
            self._free -= 1
            return
        called = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (not first, next(self._numbers), called))
        try:
            await called
        except asyncio.CancelledError:
            if called.done() and not called.cancelled():
                self.give()
            raise

    def give(self) -> None:
        """Give a place back."""
        while self._waiting:
            *_, called = heapq.heappop(self._waiting)
            if not called.done():
                called.set_result(None)
                return
        self._free += 1


class Turn:
    """One pod's place among those that start now; without `turns` it never waits."""

    def __init__(self, turns: Turns | None, *, first: bool) -> None:
        self._turns = turns
        self._first = first
        self._end: asyncio.TimerHandle | None = None

    @property
    def held(self) -> bool:
        """Whether it is taken, so that others may wait for it."""
        return self._end is not None

    async def take(self) -> None:
        """Wait for it. It ends by itself after two minutes."""
        if self._turns is not None:
            await self._turns.take(first=self._first)
            self._end = asyncio.get_running_loop().call_later(_LONGEST, self.give)

    def give(self) -> None:
        """Let the next one start; nothing happens where it has ended."""
        if self._turns is not None and self._end is not None:
            self._end.cancel()
            self._end = None
            self._turns.give()
