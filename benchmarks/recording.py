"""The runs of a benchmark on twins, and the file from which a page has their figures."""

import json
import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from benchmarks.rehearsal import Rehearsal


def run(rehearsal: Rehearsal, out: Console) -> None:
    """Run all steps. After a failure, print it and exit with code 1; its folder with the logs stays."""
    rehearsal.run()
    if rehearsal.failure:
        out.print(f"[red]failed[/red], see {rehearsal.folder}\n")
        out.print(rehearsal.failure, markup=False)
        raise typer.Exit(1)


def report(runs: list[dict[str, Any]], file: Path | None) -> None:
    """Print the runs with the version and the machine as JSON, and write them to a file."""
    machine = {"cpus": os.cpu_count(), "machine": platform.machine(), "python": platform.python_version()}
    text = json.dumps({"tpuplane": version("tpuplane"), "machine": machine, "runs": runs}, indent=2)
    typer.echo(text)
    if file is not None:
        file.write_text(f"{text}\n", encoding="utf-8")
