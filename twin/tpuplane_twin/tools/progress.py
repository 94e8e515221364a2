"""The output of a build: what is built, its progress and remaining time."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

_PLAIN_INTERVAL = 15.0  # seconds between two lines where there is no terminal


Phase = Literal["waiting", "preparing", "downloading", "compiling", "linking", "unpacking"]


@dataclass(frozen=True, slots=True)
class Status:
    """One moment of a build. `seconds_left` is for all tools together, from measured weights."""

    phase: Phase
    tool: str = ""
    number: int = 0
    total: int = 0
    fraction: float = 0.0
    packages: tuple[int, int] = (0, 0)
    seconds_left: float | None = None

    @property
    def text(self) -> str:
        """The status in words, without the bar."""
        if self.phase == "waiting":
            return "waiting for another build of the same tools to end"
        if self.phase == "preparing":
            return "preparing the Go toolchain"
        what = f"{self.phase} {self.tool} ({self.number} of {self.total})"
        if self.phase == "compiling":
            what += f", {self.packages[0]} of about {self.packages[1]} packages"
        return what


ProgressCallback = Callable[[Status], None]


def remaining(seconds: float) -> str:
    """`about 6 min left`, rounded."""
    if seconds < 50:
        return f"about {max(10, round(seconds, -1)):.0f} s left"
    return f"about {max(1, round(seconds / 60)):.0f} min left"


@contextmanager
def show(stream: TextIO | None = None) -> Iterator[ProgressCallback]:
    """A callback for `ensure` that shows progress on `stream` (default: standard error).

    A bar in a terminal, a line every 15 seconds elsewhere, and nothing if nothing is built.
    """
    stream = stream or sys.stderr
    if stream.isatty():
        with _bar(stream) as callback:
            yield callback
    else:
        yield Lines(stream)


class Lines:
    """A line when the tool changes, and every 15 seconds."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._last: float | None = None
        self._tool: tuple[str, str] | None = None

    def __call__(self, status: Status) -> None:
        """Print the status, if it is time."""
        now = self._clock()
        tool = ("" if status.tool else status.phase, status.tool)
        if self._last is not None and tool == self._tool and now - self._last < _PLAIN_INTERVAL:
            return
        self._last, self._tool = now, tool
        left = "" if status.seconds_left is None else f"; {remaining(status.seconds_left)}"
        share = f"[{status.fraction:4.0%}] " if status.total else ""
        print(f"{share}{status.text}{left}", file=self._stream, flush=True)


@contextmanager
def _bar(stream: TextIO) -> Iterator[ProgressCallback]:
    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
        console=Console(file=stream),
        transient=True,
    )
    started = False

    def callback(status: Status) -> None:
        nonlocal started
        if not started:
            progress.start()
            progress.add_task("", total=1.0, left="")
            started = True
        left = "" if status.seconds_left is None else remaining(status.seconds_left)
        progress.update(progress.task_ids[0], description=status.text, completed=status.fraction, left=left)

    try:
        yield callback
    finally:
        if started:
            progress.stop()
