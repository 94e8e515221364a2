"""`python -m benchmarks soak`: creates a platform with one `up`, repeatedly, on a busy machine."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from tpuplane.cli.render import plain_table

from benchmarks.rehearsal import STEPS, Rehearsal, as_json

# A process that keeps a processor busy; it ends when its parent has ended.
_BUSY = """
import os, sys
while os.getppid() == int(sys.argv[1]):
    sum(range(1_000_000))
"""


def main(
    times: Annotated[int, typer.Option(min=1, help="Number of runs.")] = 20,
    load: Annotated[
        int | None, typer.Option(min=0, help="Processes that keep processors busy. Default: one for each processor.")
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Create a platform with teams, Kueue, JobSet and KubeRay repeatedly on a loaded machine.

    In each run one `up` must succeed, KubeRay's sample must run, the next preview must have no change, Kueue must admit
    a team's job to one slice, and `down` must leave no file or process. A failed run keeps its folder with the logs.

    Exit code 0: all runs succeeded. 1: a run failed. 130: interrupted, with the results of completed runs.
    """
    out = Console(stderr=json_, highlight=False, soft_wrap=True)
    busy = (os.cpu_count() or 1) if load is None else load
    _build(out)
    done: list[Rehearsal] = []
    began = time.monotonic()
    interrupted = False
    try:
        with cpu_load(busy):
            for number in range(1, times + 1):
                out.print(f"[bold]{number} of {times}[/bold]{_still(time.monotonic() - began, len(done), times)}")
                done.append(_once(out))
    except KeyboardInterrupt:
        interrupted = True
        out.print("interrupted; its twin is deleted")
    results = [as_json(number, each) for number, each in enumerate(done, 1)]
    if json_:
        passed = sum(each["ok"] for each in results)
        whole = {"times": times, "load": busy, "cpus": os.cpu_count(), "passed": passed, "runs": results}
        typer.echo(json.dumps(whole, indent=2))
    else:
        _show(out, done, busy)
    if interrupted:
        raise typer.Exit(130)
    if any(each.failure for each in done):
        raise typer.Exit(1)


@contextmanager
def cpu_load(processes: int) -> Iterator[None]:
    """Keep this number of processors busy during the block."""
    busy = [subprocess.Popen([sys.executable, "-c", _BUSY, str(os.getpid())]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def _build(out: Console) -> None:
    """Build missing tools before the first run, so that no run includes a build."""
    with out.status("building missing tools of the twin"):
        built = subprocess.run([Path(sys.prefix) / "bin" / "tpuplane-twin", "build"], check=False)
    if built.returncode:
        raise typer.Exit(built.returncode)


def _once(out: Console) -> Rehearsal:
    rehearsal = Rehearsal(Path(tempfile.mkdtemp(prefix="tpuplane-soak-")), lambda step: out.print(f"  {step} …"))
    rehearsal.run()
    if rehearsal.failure:
        out.print(f"  [red]failed[/red], see {rehearsal.folder}")
        out.print(rehearsal.failure, markup=False)
    else:
        out.print("  good: " + ", ".join(f"{step} {taken:.0f} s" for step, taken in rehearsal.seconds.items()))
    return rehearsal


def _still(spent: float, done: int, times: int) -> str:
    """The remaining time, estimated from completed runs."""
    return f"; about {minutes(spent / done * (times - done))} to go" if done else ""


def minutes(seconds: float) -> str:
    """`45 s`, `12 min`, `1 h 5 min`."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    hours, rest = divmod(round(seconds / 60), 60)
    return f"{hours} h {rest} min" if hours else f"{rest} min"


def _show(out: Console, done: list[Rehearsal], busy: int) -> None:
    if good := [each for each in done if not each.failure]:
        table = plain_table(None, "step", "median", "least", "most", right=3)
        for step in STEPS:
            taken = [each.seconds[step] for each in good]
            table.add_row(step, *(f"{value:.0f} s" for value in (statistics.median(taken), min(taken), max(taken))))
        out.print(table)
    out.print(f"{len(good)} of {len(done)} good, with {busy} busy processes on {os.cpu_count()} CPUs")
