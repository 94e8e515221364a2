"""The figures of docs/scale.md: those of sizes, of layouts of queues, and of a program without tpuplane, and
of one job on all hosts."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from benchmarks import multislice, queueing, raw, scale
from scripts.field_tables import markdown_table, with_regions

_CHIPS = 4

Run = Mapping[str, Any]


def with_scale(page: str) -> str:
    """The page with the recorded figures."""
    return with_regions(page, _figures)


def _figures(name: str) -> str:
    file, tables = _TABLES[name]
    recorded = json.loads(file.read_text(encoding="utf-8"))
    return "\n".join((*tables(recorded["runs"]), _made(recorded)))


def _sizes(runs: Sequence[Run]) -> Iterator[str]:
    """The figures of each size, and the cost of each more slice between two sizes."""
    figures = [name for name in runs[0] if name not in ("slices", "hosts", "seconds")]
    steps = list(runs[0]["seconds"])
    numbers = [(run["slices"], run["hosts"], run["slices"] * scale.HOSTS * _CHIPS) for run in runs]
    sizes, columns = [[f"{number:,}" for number in size] for size in numbers], ("slices", "hosts", "chips")
    yield _table(columns, sizes, steps, [run["seconds"] for run in runs], " s")
    yield _table(columns, sizes, figures, runs)
    yield "Seconds for each additional slice:\n"
    more = [[f"{few['slices']} to {many['slices']}", *_each(few, many, steps)] for few, many in pairwise(runs)]
    yield markdown_table(("from, to", *steps), more)


def layout_tables(runs: Sequence[Run]) -> Iterator[str]:
    """The figures of each layout, their ratios to those of the first one, and the waits of each team."""
    ours = runs[0]
    figures = [name for name in ours if name not in ("layout", "jobs", "waits")]
    compared = [name for name in figures if ours[name]]
    titles, columns = [[run["layout"]] for run in runs], ("layout",)
    yield _table(columns, titles, figures, runs)
    yield f"Divided by the figures of the layout of {ours['layout']}:\n"
    ratios = [{name: round(run[name] / ours[name], 2) for name in compared} for run in runs[1:]]
    yield _table(columns, titles[1:], compared, ratios)
    yield "The longest wait of a job of each team:\n"
    yield _table(columns, titles, list(ours["waits"]), [run["waits"] for run in runs], " s")


def program_tables(runs: Sequence[Run]) -> Iterator[str]:
    """The seconds and memory of both programs for each stack, and the ratios."""
    steps = list(runs[0]["seconds"])
    pairs = list(zip(runs[::2], runs[1::2], strict=True))
    for figure, unit in (("seconds", " s"), ("MiB", " MiB")):
        rows = [[run["stack"], run["program"], f"{run['resources']:,}"] for run in runs]
        yield _table(("stack", "program", "resources"), rows, steps, [run[figure] for run in runs], unit)
        yield "tpuplane divided by the program without it:\n"
        ratios = [{step: round(ours[figure][step] / other[figure][step], 2) for step in steps} for ours, other in pairs]
        yield _table(("stack",), [[ours["stack"]] for ours, _ in pairs], steps, ratios)


def _multislice(runs: Sequence[Run]) -> Iterator[str]:
    """The seconds of one job by the scheduler alone and by Kueue, and those of the commands while it starts."""
    for run in runs:
        size = [f"{run[name]:,}" for name in ("slices", "pods")]
        figures = {name: value for name, value in run.items() if name.startswith("seconds")}
        ratio = {"ratio": round(run["seconds queued"] / run["seconds alone"], 2)}
        yield _table(("slices", "pods"), [size], [*figures, *ratio], [{**figures, **ratio}])


def _table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], names: Sequence[str], runs: Sequence[Run], unit: str = ""
) -> str:
    """The named figures of runs, each after the first cells of its row."""
    figures = ([f"{run[name]:,}{unit}" for name in names] for run in runs)
    return markdown_table((*columns, *names), [[*row, *cells] for row, cells in zip(rows, figures, strict=True)])


def _made(recorded: Run) -> str:
    machine = recorded["machine"]
    cores = f"{machine['cpus']} cores, {machine['machine']}, Python {machine['python']}"
    return f"tpuplane {recorded['tpuplane']}, {cores}.\n"


def _each(few: Run, many: Run, steps: Sequence[str]) -> list[str]:
    more = many["slices"] - few["slices"]
    return [f"{(many['seconds'][step] - few['seconds'][step]) / more:.2f}" for step in steps]


_TABLES = {
    "scale": (scale.RECORDED, _sizes),
    "queueing": (queueing.RECORDED, layout_tables),
    "multislice": (multislice.RECORDED, _multislice),
    "raw": (raw.RECORDED, program_tables),
}
