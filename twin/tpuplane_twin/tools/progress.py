"""The progress of a build in one line: what is built, how much of everything is done, and the remaining time."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TextIO

from rich.console import Console
from rich.markup import escape

from tpuplane_twin.tools.catalogue import Source

_PLAIN_INTERVAL = 15.0  # seconds between two lines where there is no terminal
_COMPILER_SHARE = 0.95  # the linker's share reports no progress


@dataclass(frozen=True, slots=True)
class Status:
    """One moment of a build. `fraction` and `seconds_left` are for all tools together; `tool` is one of them.

    A `lasting` one is a line that stays.
    """

    text: str
    tool: str = ""
    fraction: float | None = None
    seconds_left: float | None = None
    lasting: bool = False

    def __str__(self) -> str:
        share = "" if self.fraction is None else f"[{self.fraction:4.0%}] "
        left = "" if self.seconds_left is None else f"; {remaining(self.seconds_left)}"
        return f"{share}{self.text}{left}"


WAITING = Status("waiting for another build of the same tools to end")
ProgressCallback = Callable[[Status], None]


def remaining(seconds: float) -> str:
    """`about 6 min left`, rounded."""
    if seconds < 50:
        return f"about {max(10, round(seconds, -1)):.0f} s left"
    return f"about {max(1, round(seconds / 60)):.0f} min left"


class Estimate:
    """Reports the fraction done and the seconds left, from the sources' measured weights and this machine's pace."""

    def __init__(
        self, sources: Sequence[Source], progress: ProgressCallback, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._sources = sources
        self._progress = progress
        self._total = sum(source.seconds for source in sources)
        self._done = 0.0
        self._clock = clock
        self._began = clock()

    def finished(self, source: Source) -> None:
        """Count the whole of `source` as done."""
        self._done += source.seconds

    def downloading(self, source: Source) -> None:
        """Report that the compiler waits for modules of `source`."""
        self._report("downloading", source, 0.0)

    def compiled(self, source: Source, packages: int, expected: int) -> None:
        """Report that `packages` of the `expected` packages of `source` are compiled."""
        share = min(packages / max(expected, 1), 1.0) * _COMPILER_SHARE
        if packages >= expected:
            self._report("linking", source, share)
        else:
            self._report("compiling", source, share, f", {packages} of about {expected} packages")

    def _report(self, phase: str, source: Source, share: float, packages: str = "") -> None:
        done = self._done + source.seconds * share
        # The pace counts after 5 % of the work; before that, the weights alone.
        pace = (self._clock() - self._began) / done if done > self._total / 20 else 1.0
        tool, place = f"{source.name} {source.version}", f"{self._sources.index(source) + 1} of {len(self._sources)}"
        text = f"{phase} {tool} ({place}){packages}"
        self._progress(Status(text, tool, done / self._total, (self._total - done) * pace))


@contextmanager
def show(stream: TextIO | None = None) -> Iterator[ProgressCallback]:
    """A callback for `ensure` that shows progress on `stream` (default: standard error).

    In a terminal one line that changes, elsewhere a line every 15 seconds, and nothing if nothing is built.
    """
    stream = stream or sys.stderr
    if not stream.isatty():
        yield Lines(stream)
        return
    console = Console(file=stream, highlight=False)
    line = console.status("")

    def callback(status: Status) -> None:
        if status.lasting:
            console.print(escape(str(status)), soft_wrap=True)
            return
        line.update(escape(str(status)))
        line.start()

    try:
        yield callback
    finally:
        line.stop()


class Lines:
    """A line when the tool changes, and every 15 seconds."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._last: float | None = None
        self._tool = ""

    def __call__(self, status: Status) -> None:
        """Print the status, if it is time."""
        now, tool = self._clock(), status.tool or status.text
        if tool != self._tool or self._last is None or now - self._last >= _PLAIN_INTERVAL:
            self._last, self._tool = now, tool
            print(status, file=self._stream, flush=True)
