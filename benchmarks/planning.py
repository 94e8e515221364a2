"""The time to plan a platform: a large one in this process, and production as a command."""

import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import yaml
from tpuplane.cost import cost
from tpuplane.data_files import read_data
from tpuplane.picture import draw
from tpuplane.plan import PlatformPlan, plan
from tpuplane.spec import CONFIG_KEY, load_stack

from benchmarks.measure import Benchmark, folder, seconds

_STACKS = Path(__file__).parents[1] / "stacks"
_CLUSTERS = 10
_POOLS = 1000
_KINDS: list[dict[str, object]] = read_data("benchmarks", "planning")


def stack_file(place: Path, pools: int) -> Path:
    """A stack file with this number of pools, distributed over the clusters."""
    clusters = {
        f"c{index}": {
            "location": "us-east5",
            "network": {
                "nodesCidr": f"10.0.{index * 16}.0/20",
                "podsCidr": f"10.{64 + index * 4}.0.0/14",
                "servicesCidr": f"10.32.{index * 16}.0/20",
            },
            "pools": {f"pool{number}": _KINDS[number % len(_KINDS)] for number in range(pools // _CLUSTERS)},
        }
        for index in range(_CLUSTERS)
    }
    platform = {"name": "large", "project": "tpuplane-large", "clusters": clusters}
    file = place / f"Pulumi.{pools}.yaml"

    class Plain(yaml.SafeDumper):
        """Writes equal pools in full, without YAML aliases."""

        def ignore_aliases(self, data: object) -> bool:
            return True

    file.write_text(yaml.dump({"config": {CONFIG_KEY: platform}}, Dumper=Plain, sort_keys=False), encoding="utf-8")
    return file


def _planned(pools: int) -> Callable[[], PlatformPlan]:
    file = stack_file(Path(folder().name), pools)
    return lambda: plan(load_stack(file))


def _growth() -> float:
    """The time of 1000 pools divided by ten times the time of 100: 1 for linear growth."""
    few, many = (statistics.median(seconds(_planned(pools), 3)) for pools in (_POOLS // 10, _POOLS))
    return many / (10 * few)


def _priced_and_drawn() -> Callable[[], object]:
    platform = _planned(_POOLS)()
    return lambda: (cost(platform, estimate=True), draw(platform))


def _command(*arguments: str) -> Callable[[], object]:
    program = "from tpuplane.cli import app; app()"
    line = [sys.executable, "-c", program, *arguments]
    return lambda: subprocess.run(line, check=True, capture_output=True)


BENCHMARKS = (
    Benchmark(
        name="plan-1000-pools",
        what=f"read, check and plan a stack file of {_POOLS:,} pools in {_CLUSTERS} clusters",
        bound=2.0,
        prepare=lambda: _planned(_POOLS),
        ratios={"1000 pools / (10 x 100 pools)": _growth},
    ),
    Benchmark(
        name="plan-prod",
        what="the command `tpuplane plan stacks/Pulumi.prod.yaml`, from its start to its end",
        bound=1.0,
        prepare=lambda: _command("plan", str(_STACKS / "Pulumi.prod.yaml")),
    ),
    Benchmark(
        name="picture-1000-pools",
        what=f"price and draw a plan of {_POOLS:,} pools",
        bound=2.0,
        prepare=_priced_and_drawn,
    ),
)
