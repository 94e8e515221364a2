"""The twin's clock: the machine's, or one that stands still until a rehearsal moves it."""

import asyncio
import time
from collections.abc import Sequence
from datetime import UTC, datetime


class Clock:
    """Seconds since 1970. While it stands still, no time passes, and `move` wakes those whose time has come."""

    def __init__(self) -> None:
        self.ahead = 0.0
        """The seconds that former rehearsals have moved it ahead of the machine's clock."""
        self.awaited: Sequence[float] = ()
        """The next times at which polling controllers act."""
        self._still: float | None = None
        self._moved = asyncio.Event()
        self._dues: list[float] = []

    def __call__(self) -> float:
        """Now."""
        return time.time() + self.ahead if self._still is None else self._still

    def date(self) -> datetime:
        """Now, in UTC."""
        return datetime.fromtimestamp(self(), UTC)

    @property
    def still(self) -> bool:
        """Whether the clock stands still."""
        return self._still is not None

    @property
    def due(self) -> float | None:
        """The next time that somebody waits for, or at which a controller acts; None if there is none."""
        return min([*self._dues, *(at for at in self.awaited if at > self())], default=None)

    @property
    def late(self) -> bool:
        """Whether a controller has not looked since the time at which it acts."""
        return any(at <= self() for at in self.awaited)

    @property
    def waited(self) -> bool:
        """Whether somebody waits for a time."""
        return bool(self._dues)

    def move(self, seconds: float) -> None:
        """Stop the clock, if it runs, and move it ahead."""
        self._still = self() + seconds
        self._wake()

    def run(self) -> None:
        """Let the clock run again, from where it stands."""
        if self._still is not None:
            self.ahead, self._still = self._still - time.time(), None
            self._wake()

    async def sleep(self, seconds: float) -> None:
        """Wait until that time has passed on this clock."""
        await self.wait(asyncio.Event(), self() + seconds)

    async def wait(self, event: asyncio.Event, due: float | None) -> None:
        """Wait for the event, at most until the clock shows `due`."""
        if due is not None:
            self._dues.append(due)
        try:
            while not event.is_set() and (due is None or self() < due):
                left = None if due is None or self.still else due - self()
                moved = asyncio.create_task(self._moved.wait())
                happened = asyncio.create_task(event.wait())
                try:
                    await asyncio.wait([moved, happened], timeout=left, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    moved.cancel()
                    happened.cancel()
        finally:
            if due is not None:
                self._dues.remove(due)

    def _wake(self) -> None:
        self._moved.set()
        self._moved = asyncio.Event()
