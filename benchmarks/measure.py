"""What a benchmark is, and how one is timed."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Something whose time is bounded. `prepare` makes what is timed, and is not timed itself."""

    name: str
    what: str
    bound: float
    """Seconds that the median may take."""
    prepare: Callable[[], Callable[[], object]]
    ratios: dict[str, Callable[[], float]] = field(default_factory=dict)
    """Further numbers without a unit, measured by these: comparable from machine to machine."""
    runs: int = 7
    against: Callable[[], Callable[[], object]] | None = None
    """Makes what is timed side by side; the times are what the benchmark takes beyond it."""
    opt_in: bool = False
    """Whether it runs only where it is named: it takes minutes, or tools that are built first."""


@dataclass(frozen=True, slots=True)
class Result:
    """The times of one benchmark, in seconds."""

    benchmark: Benchmark
    times: tuple[float, ...]
    ratios: dict[str, float]

    @property
    def median(self) -> float:
        """The middle run."""
        return statistics.median(self.times)

    @property
    def within(self) -> bool:
        """Whether the median keeps the bound."""
        return self.median <= self.benchmark.bound

    def as_json(self) -> dict[str, object]:
        """The same as plain values."""
        return {
            "name": self.benchmark.name,
            "what": self.benchmark.what,
            "seconds": {"median": self.median, "min": min(self.times), "max": max(self.times)},
            "runs": len(self.times),
            "bound": self.benchmark.bound,
            "within": self.within,
            "ratios": self.ratios,
        }


def seconds(timed: Callable[[], object], runs: int) -> tuple[float, ...]:
    """How long each run took; one run before them is not counted: it fills caches, as every later use finds them."""
    timed()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        timed()
        times.append(time.perf_counter() - start)
    return tuple(times)


def side_by_side(timed: Callable[[], object], other: Callable[[], object], runs: int) -> list[tuple[float, float]]:
    """How long each of two took, in turns, so that what else the machine does meets both."""
    timed(), other()
    pairs = []
    for _ in range(runs):
        taken = []
        for one in (timed, other):
            start = time.perf_counter()
            one()
            taken.append(time.perf_counter() - start)
        pairs.append((taken[0], taken[1]))
    return pairs


def run(benchmark: Benchmark) -> Result:
    """Time one benchmark."""
    if benchmark.against is not None:
        pairs = side_by_side(benchmark.prepare(), benchmark.against(), benchmark.runs)
        whole = statistics.median(one for one, _ in pairs) / statistics.median(other for _, other in pairs)
        return Result(benchmark, tuple(one - other for one, other in pairs), {"as long as without": whole})
    times = seconds(benchmark.prepare(), benchmark.runs)
    return Result(benchmark, times, {name: ratio() for name, ratio in benchmark.ratios.items()})
