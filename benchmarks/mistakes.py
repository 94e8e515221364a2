"""The time to explain mistakes: one mistake in production, and files of 150 kB that are wrong in many ways."""

import json
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import yaml
from tpuplane.data_files import read_data
from tpuplane.spec import CONFIG_KEY, SpecError, load_stack

from benchmarks.measure import Benchmark, folder, seconds

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


def _clusters(described: Callable[[int], object]) -> Callable[[int], dict[str, Any]]:
    return lambda number: _base(clusters={f"c{index}": described(index) for index in range(number)})


def _kueue(**fields: object) -> dict[str, Any]:
    return {**_in_cluster(addons={"kueue": {}}), **fields}


def _nested(number: int) -> dict[str, Any]:
    value: object = 1
    for _ in range(50):
        value = {"pools": value}
    return _in_cluster(pools=[value] * (number // 50 + 1))


def _filled(template: Any, number: int, index: int = 0) -> Any:
    """A template of `data/mistakes.yaml` with this number of parts."""
    if isinstance(template, dict):
        return {
            key.removesuffix("*").replace("#", str(at)): [_filled(item[0], number, each) for each in range(number)]
            if key.endswith("*")
            else _filled(item, number, at)
            for key, item in template.items()
            for at in range(number if "#" in key else 1)
        }
    if isinstance(template, list):
        return [_filled(item, number, index) for item in template]
    return template.replace("#", str(index)) if isinstance(template, str) else template


def _from_data() -> Iterator[tuple[str, Callable[[int], dict[str, Any]]]]:
    for place, described in (("cluster", _in_cluster), ("platform", _base), ("kueue", _kueue)):
        for name, fields in read_data("benchmarks", "mistakes")[place].items():
            yield name, lambda number, described=described, fields=fields: described(**_filled(fields, number))


WRONG: dict[str, Callable[[int], dict[str, Any]]] = {
    **dict(_from_data()),
    "one long name": lambda number: _in_cluster(**{"n" * number: 1}),
    "one long value": lambda number: _in_cluster(location="us-central1" * number),
    "a long topology": lambda number: _in_cluster(pools={"p0": {**_POOL, "topology": "4x" * number + "4"}}),
    "deep values": _nested,
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


def _written(name: str, text: str) -> Path:
    file = Path(folder().name, name)
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


_WHAT = f"explain the mistakes of the slowest of {len(WRONG)} wrong stack files of {_BYTES // 1000} kB"
BENCHMARKS = (
    Benchmark("one-mistake", "explain one mistake in the stack file of production", 1.0, _in_production),
    Benchmark("large-mistakes", _WHAT, 3.0, _in_large_files, {"150 kB / (2 x 75 kB)": _growth}, runs=3),
)
