"""Benchmarks and their measurement."""

import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A function with a time limit. `prepare` returns the function and is not measured."""

    name: str
    what: str
    bound: float
    """Largest allowed median, in seconds."""
    prepare: Callable[[], Callable[[], object]]
    ratios: dict[str, Callable[[], float]] = field(default_factory=dict)
    """Measurements without a unit, which are comparable between machines."""
    runs: int = 7
    against: Callable[[], Callable[[], object]] | None = None
    """Returns a function to compare with. The times are then the differences."""
    opt_in: bool = False
    """Whether it runs only by name, because it takes minutes or needs tools that are built first."""


@dataclass(frozen=True, slots=True)
class Result:
    """The times of one benchmark, in seconds."""

    benchmark: Benchmark
    times: tuple[float, ...]
    ratios: dict[str, float]

    @property
    def median(self) -> float:
        """The median of the runs."""
        return statistics.median(self.times)

    @property
    def within(self) -> bool:
        """Whether the median is within the bound."""
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


@cache
def folder() -> tempfile.TemporaryDirectory[str]:
    """The folder of this process for files, which is removed at its end."""
    return tempfile.TemporaryDirectory(prefix="tpuplane-benchmarks-")


def seconds(timed: Callable[[], object], runs: int) -> tuple[float, ...]:
    """The times of the runs, after a first run that fills caches and is not counted."""
    timed()
    return tuple(_taken(timed) for _ in range(runs))


def side_by_side(timed: Callable[[], object], other: Callable[[], object], runs: int) -> list[tuple[float, float]]:
    """The times of two functions in alternating runs, so that other load on the machine affects both."""
    timed(), other()
    return [(_taken(timed), _taken(other)) for _ in range(runs)]


def _taken(timed: Callable[[], object]) -> float:
    start = time.perf_counter()
    timed()
    return time.perf_counter() - start


def run(benchmark: Benchmark) -> Result:
    """Time one benchmark."""
    if benchmark.against is not None:
        pairs = side_by_side(benchmark.prepare(), benchmark.against(), benchmark.runs)
        whole = statistics.median(one for one, _ in pairs) / statistics.median(other for _, other in pairs)
        return Result(benchmark, tuple(one - other for one, other in pairs), {"as long as without": whole})
    times = seconds(benchmark.prepare(), benchmark.runs)
    return Result(benchmark, times, {name: ratio() for name, ratio in benchmark.ratios.items()})
