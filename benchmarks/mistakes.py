"""The time to explain mistakes: one mistake in production, and files of 150 kB that are wrong in many ways."""

import json
import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import yaml
from tpuplane.spec import CONFIG_KEY, SpecError, load_stack

from benchmarks.measure import Benchmark, seconds

_PRODUCTION = Path(__file__).parents[1] / "stacks" / "Pulumi.prod.yaml"
_BYTES = 150_000
_POOL = {"generation": "v6e", "topology": "4x4", "zone": "us-east5-b"}


def _base(**fields: object) -> dict[str, Any]:
    cluster = {"location": "us-east5", "pools": {"trainer": _POOL}}
    return {"name": "lab", "project": "tpuplane-lab", "clusters": {"east": cluster}, **fields}


def _in_cluster(**fields: object) -> dict[str, Any]:
    base = _base()
    base["clusters"]["east"] |= fields
    return base


def _pools(pool: object) -> Callable[[int], dict[str, Any]]:
    return lambda number: _in_cluster(pools={f"p{index}": pool for index in range(number)})


def _clusters(described: Callable[[int], object]) -> Callable[[int], dict[str, Any]]:
    return lambda number: _base(clusters={f"c{index}": described(index) for index in range(number)})


def _numbered(number: int, value: object) -> dict[str, object]:
    return {f"x{index}": value for index in range(number)}


def _kueue(**fields: object) -> dict[str, Any]:
    return {**_in_cluster(addons={"kueue": {}}), **fields}


def _nested(number: int) -> dict[str, Any]:
    value: object = 1
    for _ in range(50):
        value = {"pools": value}
    return _in_cluster(pools=[value] * (number // 50 + 1))


_QUOTA = {"clusters": {"east": {"pools": {"trainer": {"slices": 1}}}}}

WRONG: dict[str, Callable[[int], dict[str, Any]]] = {
    "pools of another topology": _pools({**_POOL, "topology": "4x5"}),
    "pools without a topology": _pools({"generation": "v6e"}),
    "pools of an unknown generation": _pools({"generation": "v6x", "topology": "4x4"}),
    "pools in another zone": _pools({**_POOL, "zone": "us-east5-z"}),
    "pools with very many slices": _pools({**_POOL, "slices": 15000}),
    "pools with too many slices": _pools({**_POOL, "slices": 15001}),
    "empty pools": _pools(None),
    "lists of nothing": lambda number: _in_cluster(pools=[None] * number),
    "a list for a pool": lambda number: _in_cluster(pools={"trainer": [None] * number}),
    "GPU pools of an unknown model": lambda number: _in_cluster(
        gpuPools=_numbered(number, {"accelerator": "nvidia-x"})
    ),
    "unknown fields": lambda number: _in_cluster(**_numbered(number, 1)),
    "unknown fields like known ones": lambda number: _in_cluster(**{f"locatio{index}": 1 for index in range(number)}),
    "unknown fields of pools": _pools({**_POOL, "topolgy": "4x4", "nodePools": 3}),
    "one long name": lambda number: _in_cluster(**{"n" * number: 1}),
    "one long value": lambda number: _in_cluster(location="us-central1" * number),
    "a long topology": lambda number: _pools({**_POOL, "topology": "4x" * number + "4"})(1),
    "deep values": _nested,
    "repeated namespaces": lambda number: _in_cluster(namespaces=["a"] * number),
    "wrong namespaces": lambda number: _in_cluster(namespaces=[f"N_{index}" for index in range(number)]),
    "clusters with the same ranges": lambda number: _base(clusters=_numbered(number, {"location": "us-east5"})),
    "clusters with ranges that are too small": _clusters(
        lambda index: {"location": "us-east5", "network": {"nodesCidr": f"10.{index // 256 % 256}.{index % 256}.0/29"}}
    ),
    "clusters of which 150 have a range that is none": _clusters(
        lambda index: {"location": "us-east5", "network": {"nodesCidr": f"10.0.0.{int(index < 150)}/24"}}
    ),
    "clusters of which 150 have no location": _clusters(
        lambda index: {
            **({"location": "us-east5"} if index >= 150 else {}),
            "network": {"nodesCidr": f"10.{index // 256 % 256}.{index % 256}.0/24"},
        }
    ),
    "clusters in an unknown location": lambda number: _base(clusters=_numbered(number, {"location": "us-east55"})),
    "one existing cluster many times": lambda number: _base(
        clusters=_numbered(number, {"location": "us-east5", "existing": {"name": "one"}})
    ),
    "empty clusters": lambda number: _base(clusters=_numbered(number, None)),
    "teams of an unknown cluster": lambda number: _kueue(teams=_numbered(number, {"clusters": {"eat": {}}})),
    "teams of an unknown pool": lambda number: _kueue(
        teams=_numbered(number, {"clusters": {"east": {"pools": {"trainr": {"slices": 1}}}}})
    ),
    "teams with more than there is": lambda number: _kueue(teams=_numbered(number, _QUOTA)),
    "teams with one namespace": lambda number: _kueue(teams=_numbered(number, {**_QUOTA, "namespaces": ["a"]})),
    "empty teams": lambda number: _kueue(teams=_numbered(number, None)),
    "a team with unknown pools": lambda number: _kueue(
        teams={"a": {"clusters": {"east": {"pools": _numbered(number, {"slices": 1})}}}}
    ),
    "classes of unknown pools": lambda number: _base(
        classes=_numbered(number, {"priorities": [{"nodepools": ["no"]}]})
    ),
    "a class of many priorities": lambda number: _base(
        classes={"a": {"priorities": [{"tpu": {"type": "v6e", "topology": "4x5", "count": 4}}] * number}}
    ),
    "a class of unknown clusters": lambda number: _base(
        classes={"a": {"clusters": [f"c{index}" for index in range(number)], "priorities": [{"spot": True}]}}
    ),
    "reservations of nothing": lambda number: _base(reservations=_numbered(number, {"zone": "us-east5-b"})),
    "quotas of unknown places": lambda number: _base(quotas=_numbered(number, {"v6e": {"onDemand": 1}})),
    "quotas that are too small": lambda number: _base(
        quotas={"us-east5": {"v6e": {"onDemand": 0}}},
        clusters={"east": {"location": "us-east5", "pools": {f"p{index}": _POOL for index in range(number)}}},
    ),
    "too many labels": lambda number: _base(labels=_numbered(number, "a")),
    "wrong labels": lambda number: _base(labels={f"L{index}": "A" for index in range(number)}),
    "wrong address ranges": lambda number: _in_cluster(
        controlPlane={"authorizedNetworks": [{"cidr": "10.0.0.1/8", "name": "a"}] * number}
    ),
    "many priorities of queues": lambda number: _kueue(queues={"priorities": _numbered(number, {"value": "high"})}),
    "exclusions": lambda number: _in_cluster(
        maintenance={
            "window": {"start": "02:00"},
            "exclusions": _numbered(number, {"start": "2026-01-01", "end": "2026-03-01", "scope": "NO_UPGRADES"}),
        }
    ),
}
"""Descriptions with this number of equal mistakes, or with one mistake of this size."""


def text_of(described: object) -> str:
    """The stack file of a description, in the form with the fewest bytes."""
    return json.dumps({"config": {CONFIG_KEY: described}}, separators=(",", ":"))


def large(kind: str, most: int = _BYTES) -> str:
    """A stack file of this kind with about so many bytes, and not more."""
    number = 1
    while len(text := text_of(WRONG[kind](2 * number))) <= most and number < most:
        number *= 2
    while number and len(text := text_of(WRONG[kind](number + number // 2))) <= most and number < most:
        number += number // 2
    return text if len(text) <= most else text_of(WRONG[kind](number))


def rejected(file: Path) -> SpecError:
    """The mistakes of a stack file."""
    try:
        load_stack(file)
    except SpecError as error:
        return error
    raise AssertionError(f"{file} has no mistakes")


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="tpuplane-benchmarks-")


def _written(name: str, text: str) -> Path:
    file = Path(_folder().name, name)
    file.write_text(text, encoding="utf-8")
    return file


def _files(most: int) -> list[Path]:
    return [_written(f"{number}-{most}.yaml", large(kind, most)) for number, kind in enumerate(WRONG)]


@cache
def _times(most: int) -> dict[Path, float]:
    """The time to explain each wrong file of this size."""
    return {file: seconds(partial(rejected, file), 1)[0] for file in _files(most)}


def _growth() -> float:
    """The time of the slowest file of 150 kB divided by twice that of 75 kB: 1 for linear growth."""
    return max(_times(_BYTES).values()) / (2 * max(_times(_BYTES // 2).values()))


def _in_production() -> Callable[[], object]:
    """A pool of production that is a list, on which teams and classes depend."""
    document = yaml.safe_load(_PRODUCTION.read_text(encoding="utf-8"))
    document["config"][CONFIG_KEY]["clusters"]["central"]["pools"]["pretrain"] = [None, None]
    file = _written("production.yaml", yaml.safe_dump(document))
    return partial(rejected, file)


def _in_large_files() -> Callable[[], object]:
    times = _times(_BYTES)
    return partial(rejected, max(times, key=times.__getitem__))


BENCHMARKS = (
    Benchmark(
        name="one-mistake",
        what="explain one mistake in the stack file of production",
        bound=1.0,
        prepare=_in_production,
    ),
    Benchmark(
        name="large-mistakes",
        what=f"explain the mistakes of the slowest of {len(WRONG)} wrong stack files of {_BYTES // 1000} kB",
        bound=3.0,
        prepare=_in_large_files,
        ratios={"150 kB / (2 x 75 kB)": _growth},
        runs=3,
    ),
)
