"""`python -m benchmarks scale`: one cluster of more and more slices, each time created by `pulumi up` on a new twin."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml
from tpuplane.data_files import filled, read_data

from benchmarks.recording import measured, report
from benchmarks.rehearsal import STACK, STACK_FILE, Rehearsal

RECORDED = Path(__file__).parent / "data" / "scale.json"
"""The figures of docs/scale.md."""
HOSTS = 64
"""Hosts of a slice of v5e 16x16, which has 256 chips. The largest published multislice run had 199 of them."""
SIZES = (1, 10, 50, 199)

REST = "rest"
"""The step that measures what needs no time of its own."""
_REST_SECONDS = 20.0
_MIB = 1024 * 1024


@dataclass
class Growth(Rehearsal):
    """A cluster with this number of slices."""

    slices: int = 1
    figures: dict[str, float] = field(default_factory=dict)
    """What is measured once the platform runs."""

    def stack(self) -> str:
        """One cluster with Kueue and JobSet, whose slices belong to one team."""
        found = yaml.safe_load(super().stack())
        platform = filled(read_data("benchmarks", "scale"), {"$slices": self.slices})
        found["config"]["tpuplane:platform"] = {"name": STACK, **platform}
        return yaml.safe_dump(found)

    def steps(self) -> dict[str, Callable[[], object]]:
        """What a person does with a platform, the cheap first."""
        file = f"stacks/{STACK_FILE.name}"
        return {
            "check": lambda: self._command("tpuplane", "check", file),
            "plan": lambda: self._command("tpuplane", "plan", file),
            "up": self._bring_up,
            REST: self._rest,
            "preview": self._preview,
            "status": lambda: self._command("tpuplane", "status"),
        }

    def _rate(self) -> float:
        """Nodes per second, from the first to the last one."""
        selector = "cloud.google.com/gke-tpu-topology"
        times = "jsonpath={range .items[*]}{.metadata.creationTimestamp}{'\\n'}{end}"
        moments = self._command("kubectl", "get", "nodes", "-l", selector, "-o", times).split()
        made = [datetime.fromisoformat(moment) for moment in moments]
        return len(made) / ((max(made) - min(made)).total_seconds() + 1)

    def _rest(self) -> None:
        """The memory of the twin's processes, and the share of a processor that they use without work."""
        time.sleep(_REST_SECONDS)  # the autoscaler and the operators look at the last changes
        processes = self._processes()
        memory = sum(process.memory_full_info().uss for process in processes)
        used = sum(sum(process.cpu_times()[:2]) for process in processes)
        time.sleep(_REST_SECONDS)
        used = sum(sum(process.cpu_times()[:2]) for process in processes) - used
        self.figures = {
            "nodes per second": round(self._rate(), 1),
            "MiB at rest": round(memory / _MIB),
            "% of a core at rest": round(100 * used / _REST_SECONDS, 1),
        }


def main(
    slices: Annotated[list[int] | None, typer.Option(min=1, help=f"Slices of {HOSTS} hosts; repeatable.")] = None,
    record: Annotated[bool, typer.Option("--record", help="Write the figures of docs/scale.md.")] = False,
) -> None:
    """Create a cluster of 1, 10, 50 and 199 slices of v5e 16x16, and print the seconds of each step as JSON.

    Exit code 0: all steps succeeded. 1: a step failed; its folder with the logs stays.
    """
    runs: list[dict[str, Any]] = []
    for count in slices or SIZES:
        growth = measured(Growth, "scale", f"{count} slices: ", slices=count)
        seconds = {step: round(taken, 1) for step, taken in growth.seconds.items() if step != REST}
        runs.append({"slices": count, "hosts": count * HOSTS, "seconds": seconds, **growth.figures})
    report(runs, RECORDED if record else None)
