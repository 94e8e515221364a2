"""The benchmarks time what they say, and say when a bound is broken."""

from __future__ import annotations

from pathlib import Path

import pytest
from tpuplane.plan import plan
from tpuplane.spec import load_stack

from benchmarks.measure import Benchmark, Result, run
from benchmarks.planning import BENCHMARKS, stack_file

pytestmark = pytest.mark.unit


def test_a_large_stack_has_as_many_pools_as_it_says(tmp_path: Path) -> None:
    spec = load_stack(stack_file(tmp_path, 1000))
    assert sum(len(cluster.pools) for cluster in spec.clusters.values()) == 1000
    assert len({pool.name for cluster in plan(spec).clusters for pool in cluster.tpu_pools}) > 100


def test_a_benchmark_prepares_once_and_runs_as_often_as_it_says() -> None:
    calls: list[str] = []

    def prepare() -> object:
        calls.append("prepare")
        return lambda: calls.append("run")

    benchmark = Benchmark("some", "something", 60.0, prepare, {"one": lambda: 1.5}, runs=3)  # type: ignore[arg-type]
    result = run(benchmark)
    assert calls == ["prepare", "run", "run", "run", "run"]
    assert len(result.times) == 3
    assert result.ratios == {"one": 1.5}
    assert result.within


def test_the_median_is_held_against_the_bound() -> None:
    benchmark = Benchmark("some", "something", 1.0, lambda: lambda: None)
    assert Result(benchmark, (0.5, 0.9, 9.0), {}).within
    assert not Result(benchmark, (0.5, 1.1, 1.2), {}).within


def test_names_are_unique() -> None:
    assert len({benchmark.name for benchmark in BENCHMARKS}) == len(BENCHMARKS)
