"""A platform of some slices without a twin, on which jobs start in the order of their submission."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from tpuplane.status.asking import read
from tpuplane.status.snapshot import Objects
from tpuplane.tpu import Slice
from tpuplane_twin.rehearsal.scenario import EventSpec
from tpuplane_twin.rehearsal.trace import TraceJob

SHAPE = Slice.of("v6e", "4x4")
_REPAIR_SECONDS = 600.0
_READY = [{"type": "Ready", "status": "True"}]


class SmallStage:
    """What a rehearsal asks of a platform: each slice runs one job; a lost slice returns after ten minutes."""

    def __init__(self, slices: int) -> None:
        self.now = 0.0
        self.running: dict[int, TraceJob | None] = dict.fromkeys(range(slices))
        self.lost: dict[int, float] = {}
        self.waiting: list[TraceJob] = []
        self.done: list[TraceJob] = []
        self.starts = 0
        self.uids: dict[int, int] = {}

    @property
    def due(self) -> float | None:
        return min((back - self.now for back in self.lost.values()), default=None)

    def move(self, seconds: float) -> None:
        self.now += seconds
        self.lost = {number: back for number, back in self.lost.items() if back > self.now}

    def settle(self, jobs: Collection[TraceJob]) -> None:
        del jobs
        for number, job in self.running.items():
            if job is None and number not in self.lost and self.waiting:
                self.starts += 1
                self.running[number], self.uids[number] = self.waiting.pop(0), self.starts

    def end_former(self) -> None:
        """It is new."""

    def check(self, jobs: Iterable[TraceJob], events: Iterable[EventSpec]) -> None:
        """Its events name slices by number."""

    def submit(self, job: TraceJob) -> None:
        self.waiting.append(job)

    def complete(self, job: TraceJob) -> None:
        self.running = {number: None if other == job else other for number, other in self.running.items()}
        self.done.append(job)

    def begin(self, event: EventSpec) -> None:
        """Lose a slice, or stop its job for another one."""
        number = int(event.of)
        job, self.running[number] = self.running[number], None
        if event.event == "fail-slice":
            self.lost[number] = self.now + _REPAIR_SECONDS
        self.waiting += [job] if job else []

    def take_undone(self) -> list[str]:
        """Its events do what they say."""
        return []

    @property
    def objects(self) -> list[Objects]:
        nodes, pods = [], []
        for number, job in self.running.items():
            for host in range(SHAPE.hosts):
                name = f"slice-{number}-{host}"
                nodes.append(tpu_node(name, f"slice-{number}", ready=number not in self.lost))
                pods += [tpu_pod(job, name, f"{self.uids[number]}-{host}")] if job else []
        jobs = [*self.waiting, *self.done, *filter(None, self.running.values())]
        lists = {"nodes": nodes, "pods": pods, "JobSet": [_jobset(job, completed=job in self.done) for job in jobs]}
        return [Objects.of("lab", "", {kind: [read(kind, item) for item in items] for kind, items in lists.items()})]


def tpu_node(name: str, pool: str, *, ready: bool) -> dict[str, Any]:
    labels = {
        "cloud.google.com/gke-nodepool": pool,
        "cloud.google.com/gke-tpu-accelerator": SHAPE.generation.label,
        "cloud.google.com/gke-tpu-topology": SHAPE.topology,
        "node.kubernetes.io/instance-type": SHAPE.machine.name,
        "topology.kubernetes.io/zone": "us-east5-b",
        "cloud.google.com/gke-provisioning": "standard",
    }
    status = {"capacity": {"google.com/tpu": "4"}, "conditions": _READY if ready else []}
    return {"metadata": {"name": name, "uid": name, "labels": labels}, "status": status}


def tpu_pod(job: TraceJob, node: str, uid: str) -> dict[str, Any]:
    owner = {"kind": "JobSet", "name": job.name, "uid": f"jobset-{job.name}", "controller": True}
    chips = {"limits": {"google.com/tpu": "4"}}
    return {
        "metadata": {"name": uid, "namespace": job.team, "uid": uid, "ownerReferences": [owner]},
        "spec": {"nodeName": node, "containers": [{"name": "main", "resources": chips}]},
        "status": {"conditions": _READY},
    }


def _jobset(job: TraceJob, *, completed: bool) -> dict[str, Any]:
    conditions = [{"type": "Completed", "status": "True"}] if completed else []
    metadata = {"name": job.name, "namespace": job.team, "uid": f"jobset-{job.name}"}
    return {"metadata": metadata, "status": {"conditions": conditions}}
