"""The jobs that `python -m benchmarks queueing` queues, and the figures of one layout of queues. Pure."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from tpuplane.status.snapshot import Objects
from tpuplane.tpu import Slice
from tpuplane.workloads.jobset import MultisliceSpec, job_manifest, multislice_manifest
from tpuplane.workloads.pods import Manifest
from tpuplane_twin.rehearsal.observed import idle_slices

TEAMS = {"research": 8, "product": 4, "vision": 2, "speech": 1, "robotics": 1}
"""The share of each team in the jobs. Each team owns the same number of slices."""
_SECONDS = (8, 16)
_SEED = 1
_ENDS = "pod-complete.stage.kwok.x-k8s.io/delay"


@dataclass(frozen=True, slots=True)
class QueuedJob:
    """A job on one slice, and the seconds for which it runs."""

    name: str
    team: str
    shape: Slice
    seconds: int

    def manifest(self, queue: tuple[str, str] | None) -> Manifest:
        """A Job for one host, a JobSet for several, in the queue with this namespace and name.

        None: in the queue of the team. Kueue's topology then keeps the pods on one slice, otherwise JobSet does.
        """
        spec = MultisliceSpec(
            namespace=self.team,
            queue=queue[1] if queue else None,
            generation=self.shape.generation.name,
            topology=self.shape.topology,
            image="queueing",
            command=("work",),
            placement="exclusive" if queue else "topology",
        )
        made = (multislice_manifest if self.shape.multi_host else job_manifest)(self.name, spec)
        if queue:
            made["metadata"]["namespace"] = queue[0]  # xpk's `default` is not allowed in the spec
        job = made["spec"]["replicatedJobs"][0]["template"] if self.shape.multi_host else made
        job["spec"]["template"]["metadata"].setdefault("annotations", {})[_ENDS] = f"{self.seconds}s"
        return made


def queued_jobs(count: int, slices: Mapping[Slice, int]) -> list[QueuedJob]:
    """Jobs of all teams and shapes, always the same. A shape has the part of the jobs that it has of the slices."""
    draw = random.Random(_SEED)
    teams = draw.choices([*TEAMS], [*TEAMS.values()], k=count)
    shapes = draw.choices([*slices], [*slices.values()], k=count)
    return [
        QueuedJob(f"job-{number:04}", team, shape, draw.randint(*_SECONDS))
        for number, (team, shape) in enumerate(zip(teams, shapes, strict=True), 1)
    ]


@dataclass
class Record:
    """What happens to jobs that queues begin to admit at a time, in seconds."""

    jobs: Sequence[QueuedJob]
    began: float
    admitted: dict[str, float] = field(default_factory=dict)
    """When Kueue first admitted a job."""
    started: dict[str, float] = field(default_factory=dict)
    """When a job first had a pod on a host."""
    preemptions: int = 0
    idle: list[tuple[float, int]] = field(default_factory=list)
    """The chips of idle slices that waiting jobs would use, from each time on."""
    _holding: set[str] = field(default_factory=set)
    _running: set[str] = field(default_factory=set)

    def look(self, objects: Objects, at: float) -> bool:
        """Record the cluster at a time. Whether all jobs have ended."""
        workloads = {workload.owner.name: workload for workload in (objects.kueue or {})["workloads"]}
        ended = {name for name, workload in workloads.items() if workload.is_true("Finished")}
        admitted = {name for name, workload in workloads.items() if workload.is_true("Admitted")} - ended
        on_hosts = {name.rpartition("/")[2] for names in objects.holders.values() for name in names}
        self.preemptions += len(self._holding - admitted - ended)
        self._holding = admitted
        self._running = (self._running & admitted) | on_hosts
        self.admitted |= dict.fromkeys((admitted | ended) - self.admitted.keys(), at)
        self.started |= dict.fromkeys((on_hosts | ended) - self.started.keys(), at)
        waiting = Counter(job.shape for job in self.jobs if job.name not in ended | self._running)
        idle = idle_slices([objects])
        fitting = sum(min(idle.get(shape, 0), count) * shape.chips for shape, count in waiting.items())
        self.idle.append((at, fitting))
        return len(ended) == len(self.jobs)

    def figures(self, chips: int) -> dict[str, Any]:
        """The figures of jobs that have all ended, on a platform with this number of chips."""
        times = sorted(at - self.began for at in self.admitted.values())
        first = (len(times) + 3) // 4
        seconds = self.idle[-1][0] - self.began
        idle = sum(count * (until - at) for (at, count), (until, _) in pairwise(self.idle))
        waits = dict.fromkeys(TEAMS, 0.0)
        for job in self.jobs:
            waits[job.team] = max(waits[job.team], round(self.started[job.name] - self.began, 1))
        return {
            "seconds": round(seconds, 1),
            "admissions per second": round(len(times) / times[-1], 2),
            "of the first quarter": round(first / times[first - 1], 2),
            "idle chip-seconds": round(idle),
            "% of all chips": round(100 * idle / (seconds * chips), 1),
            "preemptions": self.preemptions,
            "waits": waits,
        }
