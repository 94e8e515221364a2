"""The runs of a benchmark on twins, and the file from which a page has their figures."""

import json
import os
import platform
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import typer
from rich.console import Console

from benchmarks.rehearsal import Rehearsal

_Rehearsal = TypeVar("_Rehearsal", bound=Rehearsal)


def measured(kind: type[_Rehearsal], name: str, title: str = "", **parts: Any) -> _Rehearsal:
    """A rehearsal with these parts, after all of its steps. `title` is printed before the name of each step.

    After a failure, print it and exit with code 1; its folder with the logs stays.
    """
    out = Console(stderr=True, highlight=False, soft_wrap=True)
    folder = Path(tempfile.mkdtemp(prefix=f"tpuplane-{name}-"))
    rehearsal = kind(folder, lambda step: out.print(f"{title}{step} …"), **parts)
    rehearsal.run()
    if rehearsal.failure:
        out.print(f"[red]failed[/red], see {rehearsal.folder}\n")
        out.print(rehearsal.failure, markup=False)
        raise typer.Exit(1)
    return rehearsal


def report(runs: list[dict[str, Any]], file: Path | None) -> None:
    """Print the runs with the version and the machine as JSON, and write them to a file."""
    machine = {"cpus": os.cpu_count(), "machine": platform.machine(), "python": platform.python_version()}
    text = json.dumps({"tpuplane": version("tpuplane"), "machine": machine, "runs": runs}, indent=2)
    typer.echo(text)
    if file is not None:
        file.write_text(f"{text}\n", encoding="utf-8")
