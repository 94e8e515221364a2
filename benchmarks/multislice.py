"""`python -m benchmarks multislice`: one job on all slices of a cluster, by Kueue and by the scheduler alone."""

import json
import re
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from tpuplane.data_files import filled, read_data
from tpuplane.workloads import MultisliceSpec, multislice_manifest
from tpuplane.workloads.pods import Manifest

from benchmarks.recording import measured, report
from benchmarks.rehearsal import JOB, TEAM, Failed
from benchmarks.scale import HOSTS, Growth

RECORDED = Path(__file__).parent / "data" / "multislice.json"
"""The figures of docs/scale.md."""
_JOB = read_data("benchmarks", "multislice")
_PAGE = Path(__file__).parents[1] / "docs" / "scale.md"
_LOOK_SECONDS = 2.0
_MINUTES = 60  # a job that takes longer hangs
_ASKED = 0.1  # the part of the pods that run when `tpuplane status` is asked
_READY = "jsonpath={range .items[*]}{.status.ready}{'\\n'}{end}"


def host_name_policy() -> str:
    """The policy of the page, by which the scheduler looks at one node for a pod of Kueue."""
    (text,) = re.findall(r"```yaml\n(.*?)```", _PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return str(text)


@dataclass
class Multislice(Growth):
    """A cluster of equal slices, and one job with a pod on each host."""

    def steps(self) -> dict[str, Callable[[], object]]:
        """The cluster, then the pods by the scheduler alone, then the same pods by Kueue."""
        return {"up": self._bring_up, "alone": self._alone, "queued": self._queued}

    def jobs(self) -> list[Manifest]:
        """The jobs of the JobSet without JobSet and Kueue: each has the name of its node pool."""
        pods = self.manifest()["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
        return [_job(f"{JOB}-{number}", pods, f"trainer-{number}") for number in range(self.slices)]

    def manifest(self) -> Manifest:
        """The JobSet with a pod for each host."""
        spec = {"namespace": TEAM, "generation": "v5e", "topology": "16x16", "image": "python", "command": ["python"]}
        return multislice_manifest(JOB, MultisliceSpec.model_validate({**spec, "slices": self.slices}))

    def _alone(self) -> None:
        self._place("alone", "default", {"apiVersion": "v1", "kind": "List", "items": self.jobs()}, f"{JOB}-0")

    def _queued(self) -> None:
        file = self.folder / "policy.yaml"
        file.write_text(host_name_policy(), encoding="utf-8")
        self._command("kubectl", "apply", "-f", str(file))
        self._place("queued", TEAM, self.manifest(), JOB)

    def _place(self, name: str, namespace: str, manifest: Any, job: str) -> None:
        """Create a job, wait until all of its pods are ready, and delete it. Ask for its state while it starts."""
        file = self.folder / f"{name}.json"
        file.write_text(json.dumps(manifest), encoding="utf-8")
        began = time.monotonic()
        self._command("kubectl", "create", "-f", str(file))
        asked: Future[None] | None = None
        with ThreadPoolExecutor(1) as beside:
            while (ready := self._ready(namespace)) < self.slices * HOSTS:
                if asked is None and ready >= _ASKED * self.slices * HOSTS:
                    asked = beside.submit(self._ask, name, ("status",), ("why", job, "--namespace", namespace))
                _wait(began, f"{ready} pods are ready")
            self.figures[f"seconds {name}"] = round(time.monotonic() - began, 1)
        if asked is not None:
            asked.result()
        self._command("kubectl", "delete", "-f", str(file), "--wait=false")
        while left := len(self._command("kubectl", "get", "pods", "-n", namespace, "-o", "name").split()):
            _wait(began, f"{left} pods are left")

    def _ready(self, namespace: str) -> int:
        return sum(map(int, self._command("kubectl", "get", "jobs", "-n", namespace, "-o", _READY).split()))

    def _ask(self, name: str, *commands: tuple[str, ...]) -> None:
        """Time `tpuplane status` and `tpuplane why`."""
        for command in commands:
            began = time.monotonic()
            self._command("tpuplane", *command)
            self.figures[f"seconds of {command[0]} {name}"] = round(time.monotonic() - began, 1)


def _job(name: str, pods: Manifest, pool: str) -> Manifest:
    pod = {**pods, "restartPolicy": "Never", "nodeSelector": {"cloud.google.com/gke-nodepool": pool}}
    return dict(filled(_JOB, {"$name": name, "$hosts": HOSTS, "$pod": pod}))


def _wait(began: float, state: str) -> None:
    if time.monotonic() - began > _MINUTES * 60:
        raise Failed(f"not done after {_MINUTES} minutes: {state}")
    time.sleep(_LOOK_SECONDS)


def main(
    slices: Annotated[int, typer.Option(min=1, help=f"Slices of {HOSTS} hosts.")] = 199,
    record: Annotated[bool, typer.Option("--record", help="Write the figures of docs/scale.md.")] = False,
) -> None:
    """Run a pod on each host of a cluster, by the scheduler alone and by Kueue, and print the seconds as JSON.

    Exit code 0: all steps succeeded. 1: a step failed; its folder with the logs stays.
    """
    job = measured(Multislice, "multislice", slices=slices)
    report([{"slices": slices, "pods": slices * HOSTS, **job.figures}], RECORDED if record else None)
