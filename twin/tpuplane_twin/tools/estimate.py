"""The progress of a build of several sources, and its remaining time."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tpuplane_twin.tools.catalogue import Source
from tpuplane_twin.tools.progress import ProgressCallback, Status

# The linker's share reports no progress.
_COMPILER_SHARE = 0.95


class Estimate:
    """Fraction done and seconds left, from the sources' measured weights and this machine's pace so far."""

    def __init__(self, sources: Iterable[Source], clock: Callable[[], float] = time.monotonic) -> None:
        self._total = sum(source.seconds for source in sources)
        self._done = 0.0
        self._clock = clock
        self._began = clock()

    def finished(self, source: Source) -> None:
        """Count the whole of `source` as done."""
        self._done += source.seconds

    def now(self, source: Source, share: float) -> tuple[float, float]:
        """The fraction of all that is done and the seconds left, with `share` of `source` done by now."""
        done = self._done + source.seconds * share
        # The pace counts after 5 % of the work; before that, the weights alone.
        pace = (self._clock() - self._began) / done if done > self._total / 20 else 1.0
        return done / self._total, (self._total - done) * pace


@dataclass(slots=True)
class Reporter:
    """Reports the statuses of one source. `expected` is the number of packages to compile."""

    source: Source
    number: int
    total: int
    estimate: Estimate
    progress: ProgressCallback
    expected: int = 0

    def downloading(self) -> None:
        """The compiler waits for modules."""
        fraction, left = self.estimate.now(self.source, 0.0)
        self.progress(Status("downloading", self._tool, self.number, self.total, fraction, seconds_left=left))

    def compiled(self, packages: int) -> None:
        """`packages` are compiled so far."""
        share = min(packages / max(self.expected, 1), 1.0) * _COMPILER_SHARE
        fraction, left = self.estimate.now(self.source, share)
        count = (packages, self.expected)
        self.progress(
            Status(
                "linking" if packages >= self.expected else "compiling",
                self._tool,
                self.number,
                self.total,
                fraction,
                count,
                left,
            )
        )

    @property
    def _tool(self) -> str:
        return f"{self.source.name} {self.source.version}"
