"""Turns: what keeps a processor busy while it starts waits until others have."""

from __future__ import annotations

import asyncio

_LONGEST = 40.0  # seconds; whoever waits for others meanwhile may not keep them waiting


class Turn:
    """The right to be one of those that start now: of `places`, or of none that anybody waits for."""

    def __init__(self, places: asyncio.Semaphore | None) -> None:
        self._places = places
        self._end: asyncio.TimerHandle | None = None

    @property
    def held(self) -> bool:
        """Whether somebody may be waiting for it."""
        return self._end is not None

    async def take(self) -> None:
        """Wait for it. It goes by itself after 40 s."""
        if self._places is not None:
            await self._places.acquire()
            self._end = asyncio.get_running_loop().call_later(_LONGEST, self.give)

    def give(self) -> None:
        """Let the next one start; nothing happens where it has gone."""
        if self._places is not None and self._end is not None:
            self._end.cancel()
            self._end = None
            self._places.release()
