"""`python -m benchmarks queueing`: the same jobs in our layout of queues, in a single queue and in xpk's layout."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml
from tpuplane.spec import load_stack
from tpuplane.status.reading import Cluster
from tpuplane.status.snapshot import Objects
from tpuplane.status.watching import watch
from tpuplane.tpu import Slice

from benchmarks.queue_load import QueuedJob, Record, queued_jobs
from benchmarks.recording import measured, report
from benchmarks.rehearsal import Failed, Rehearsal

_DATA = Path(__file__).parent / "data"
RECORDED = _DATA / "queueing.json"
"""The figures of docs/scale.md."""
PLATFORM = _DATA / "Pulumi.queueing.yaml"
LAYOUTS = {"tpuplane": None, "single queue": _DATA / "single-queue.yaml", "xpk": _DATA / "xpk.yaml"}
"""The files with Kueue's objects. None: the objects of the platform."""

_LOOK_SECONDS = 0.5
_MINUTES = 40  # a step of a layout that takes longer hangs


def slices() -> dict[Slice, int]:
    """The slices of the platform, by shape."""
    pools = load_stack(PLATFORM).clusters["main"].pools.values()
    return {pool.slice: pool.scale.maximum for pool in pools}


def local_queue(file: Path | None) -> tuple[str, str] | None:
    """Namespace and name of the one local queue in a file; None for the queues of the platform."""
    if file is None:
        return None
    objects = yaml.safe_load_all(file.read_text(encoding="utf-8"))
    (queue,) = (item["metadata"] for item in objects if item["kind"] == "LocalQueue")
    return queue["namespace"], queue["name"]


@dataclass
class Queueing(Rehearsal):
    """One cluster, in which each layout runs all jobs, one layout after the other."""

    jobs: Sequence[QueuedJob] = ()
    runs: list[dict[str, Any]] = field(default_factory=list)
    """What is measured, by layout."""

    def stack(self) -> str:
        """One cluster with Kueue and JobSet, whose slices belong to five teams."""
        return PLATFORM.read_text(encoding="utf-8")

    def steps(self) -> dict[str, Callable[[], object]]:
        """The platform, then each layout."""
        return {"up": self._start, **{name: partial(self._measure, name, file) for name, file in LAYOUTS.items()}}

    def _start(self) -> None:
        self._bring_up("--no-sample")
        self._states = watch([Cluster(Path(self._variables["KUBECONFIG"]))], pause=_LOOK_SECONDS)

    def _measure(self, layout: str, file: Path | None) -> None:
        """Queue all jobs while the queues hold them, let the queues admit them, and look until all have ended."""
        if file is not None:
            self._command("kubectl", "apply", "-f", str(file))
        self._policy("Hold")
        jobs = self.folder / "jobs.json"
        queue = local_queue(file)
        items = [job.manifest(queue) for job in self.jobs]
        jobs.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), encoding="utf-8")
        self._command("kubectl", "create", "-f", str(jobs))
        self._until(lambda objects: _workloads(objects) == len(self.jobs))
        record = Record(self.jobs, time.monotonic())
        self._policy("None")
        self._until(lambda objects: record.look(objects, time.monotonic()))
        chips = sum(shape.chips * count for shape, count in slices().items())
        self.runs.append({"layout": layout, "jobs": len(self.jobs), **record.figures(chips)})
        self._command("kubectl", "delete", "-f", str(jobs), "--wait=false")
        self._until(lambda objects: _workloads(objects) == 0)

    def _policy(self, policy: str) -> None:
        """Let all queues hold their jobs, or admit them."""
        queues = self._command("kubectl", "get", "clusterqueues", "-o", "name").split()
        patch = json.dumps({"spec": {"stopPolicy": policy}})
        self._command("kubectl", "patch", *queues, "--type", "merge", "-p", patch)

    def _until(self, done: Callable[[Objects], bool]) -> None:
        """Look at the cluster after each change until this is true."""
        deadline = time.monotonic() + _MINUTES * 60
        for (state,) in self._states:
            if state.objects is not None and done(state.objects):
                return
            if time.monotonic() > deadline:
                raise Failed(f"not done after {_MINUTES} minutes {state.problem}")


def _workloads(objects: Objects) -> int:
    """The workloads that Kueue has, and not only jobs without one."""
    return sum(bool(workload.pod_sets) for workload in (objects.kueue or {})["workloads"])


def main(
    jobs: Annotated[int, typer.Option(min=100, help="Jobs of each layout.")] = 2000,
    record: Annotated[bool, typer.Option("--record", help="Write the figures of docs/scale.md.")] = False,
) -> None:
    """Run the same jobs of five teams on 90 slices in three layouts of queues, and print the figures as JSON.

    Exit code 0: all jobs ended. 1: a step failed; its folder with the logs stays.
    """
    queueing = measured(Queueing, "queueing", jobs=queued_jobs(jobs, slices()))
    report(queueing.runs, RECORDED if record else None)
