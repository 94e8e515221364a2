"""`python -m benchmarks [NAME …] [--json]`: run benchmarks and check their bounds; `_OTHERS` have other options."""

import json
import os
import platform
import sys
from typing import Annotated

import typer
from rich.console import Console
from tpuplane.cli.render import plain_table

from benchmarks import gate, mistakes, multislice, planning, queueing, raw, scale, soak
from benchmarks.measure import Result, run

BENCHMARKS = {benchmark.name: benchmark for benchmark in (*planning.BENCHMARKS, *mistakes.BENCHMARKS, *gate.BENCHMARKS)}


def main(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help=", ".join(BENCHMARKS))] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the numbers as JSON.")] = False,
) -> None:
    """Run benchmarks; without a NAME all except those that take minutes.

    Exit code 0: all are within their bounds. 1: one is not. 2: no such benchmark.
    """
    if unknown := [name for name in names or () if name not in BENCHMARKS]:
        typer.echo(f"no benchmark {', '.join(unknown)}; allowed: {', '.join(BENCHMARKS)}", err=True)
        raise typer.Exit(2)
    by_default = [name for name, benchmark in BENCHMARKS.items() if not benchmark.opt_in]
    results = [run(BENCHMARKS[name]) for name in names or by_default]
    if as_json:
        machine = {"cpus": os.cpu_count(), "machine": platform.machine(), "python": platform.python_version()}
        typer.echo(json.dumps({"machine": machine, "results": [result.as_json() for result in results]}, indent=2))
    else:
        _show(results)
    if not all(result.within for result in results):
        raise typer.Exit(1)


def _show(results: list[Result]) -> None:
    table = plain_table(None, "benchmark", "median", "min", "max", "bound", "median/bound", right=5)
    for result in results:
        times = (result.median, min(result.times), max(result.times), result.benchmark.bound)
        share = f"{result.median / result.benchmark.bound:.2f}{'' if result.within else ' over'}"
        table.add_row(result.benchmark.name, *(f"{time:.3f} s" for time in times), share)
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    console.print(table)
    for result in results:
        for name, ratio in result.ratios.items():
            console.print(f"{result.benchmark.name}: {name} = {ratio:.2f}")
    console.print(f"\n{os.cpu_count()} CPUs, {platform.machine()}, Python {platform.python_version()}")


# Not benchmarks: they have no bound, and other options.
_OTHERS = {
    "soak": soak.main,
    "scale": scale.main,
    "raw": raw.main,
    "multislice": multislice.main,
    "queueing": queueing.main,
}

if (name := "".join(sys.argv[1:2])) in _OTHERS:
    app = typer.Typer(add_completion=False)
    app.command()(_OTHERS[name])
    app(sys.argv[2:], prog_name=f"python -m benchmarks {name}")
else:
    typer.run(main)
