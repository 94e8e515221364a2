"""The progress of a build of several sources, and its remaining time."""

import time
from collections.abc import Callable, Sequence

from tpuplane_twin.tools.catalogue import Source
from tpuplane_twin.tools.progress import Phase, ProgressCallback, Status

# The linker's share reports no progress.
_COMPILER_SHARE = 0.95


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
        self._report("downloading", source, 0.0, (0, 0))

    def compiled(self, source: Source, packages: int, expected: int) -> None:
        """Report that `packages` of the `expected` packages of `source` are compiled."""
        share = min(packages / max(expected, 1), 1.0) * _COMPILER_SHARE
        self._report("linking" if packages >= expected else "compiling", source, share, (packages, expected))

    def _report(self, phase: Phase, source: Source, share: float, packages: tuple[int, int]) -> None:
        done = self._done + source.seconds * share
        # The pace counts after 5 % of the work; before that, the weights alone.
        pace = (self._clock() - self._began) / done if done > self._total / 20 else 1.0
        number, total = self._sources.index(source) + 1, len(self._sources)
        tool, left = f"{source.name} {source.version}", (self._total - done) * pace
        self._progress(Status(phase, tool, number, total, done / self._total, packages, left))
