"""The figures of docs/scale.md, between `<!-- generated: scale -->` and `<!-- end -->`."""

import json
import re
from itertools import pairwise
from typing import Any

from benchmarks.scale import HOSTS, RECORDED
from scripts.field_tables import markdown_table

_REGION = re.compile(r"(?<=<!-- generated: scale -->\n).*?(?=<!-- end -->)", re.DOTALL)
_CHIPS = 4


def with_scale(page: str) -> str:
    """The page with the recorded figures, and the cost of each more slice between two sizes."""
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    runs, machine = recorded["runs"], recorded["machine"]
    figures = [name for name in runs[0] if name not in ("slices", "hosts", "seconds")]
    steps = list(runs[0]["seconds"])
    sizes = [[_count(run["slices"]), _count(run["hosts"]), _count(run["slices"] * HOSTS * _CHIPS)] for run in runs]
    times = [[*size, *(f"{run['seconds'][step]} s" for step in steps)] for size, run in zip(sizes, runs, strict=True)]
    rest = [[*size, *(f"{run[name]:,}" for name in figures)] for size, run in zip(sizes, runs, strict=True)]
    more = [[f"{few['slices']} to {many['slices']}", *_each(few, many, steps)] for few, many in pairwise(runs)]
    made = (
        f"tpuplane {recorded['tpuplane']}, {machine['cpus']} cores, {machine['machine']}, Python {machine['python']}."
    )
    tables = (
        markdown_table(("slices", "hosts", "chips", *steps), times),
        markdown_table(("slices", "hosts", "chips", *figures), rest),
        "Seconds for each more slice:\n",
        markdown_table(("from, to", *steps), more),
        f"{made}\n",
    )
    return _REGION.sub(lambda _: "\n".join(tables), page)


def _count(number: int) -> str:
    return f"{number:,}"


def _each(few: dict[str, Any], many: dict[str, Any], steps: list[str]) -> list[str]:
    more = many["slices"] - few["slices"]
    return [f"{(many['seconds'][step] - few['seconds'][step]) / more:.2f}" for step in steps]
