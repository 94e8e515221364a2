"""The twin that a rehearsal plays on: its clusters, its clock and its events."""

import json
import threading
import time
from collections.abc import Collection, Iterable, Mapping
from concurrent.futures import Future
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from tpuplane.status.reading import Cluster
from tpuplane.status.snapshot import Objects
from tpuplane.status.watching import State, watch
from tpuplane.workloads.jobset import MultisliceSpec, multislice_manifest

from tpuplane_twin.daemon.client import TwinClient, TwinError
from tpuplane_twin.rehearsal.observed import Key, led, overlooked, unsettled
from tpuplane_twin.rehearsal.scenario import EventSpec, events
from tpuplane_twin.rehearsal.trace import TraceJob
from tpuplane_twin.shell.command import run

_QUIET_SECONDS = 2.0
"""How long nothing must change before the clock moves: Kueue collects changes for a second."""
_OVERLOOKED_SECONDS = 15.0
"""How long nothing must change while a job waits and slices of its shape are idle: on a slow machine, Kueue can need
several seconds to see new nodes."""
_PATIENCE_SECONDS = 300.0
_LOOK_SECONDS = 0.2
_LONG_SECONDS = 900.0
_LABEL = "twin.tpuplane.dev/rehearsal"
_ENDS = "pod-complete.stage.kwok.x-k8s.io/delay=0s"


class Stage:
    """The clusters of `contexts`, on a clock that stands still until it is moved."""

    def __init__(self, client: TwinClient, contexts: Iterable[str], environment: Mapping[str, str]) -> None:
        self._client = client
        self._environment = environment
        self._calls: list[Future[Any]] = []
        self._closed = False
        self._states: list[State] = []
        self._contexts: dict[TraceJob, str] = {}
        self._overlooked: set[Key] = set()
        self._created = 0.0
        clusters = [Cluster(client.paths.kubeconfig, context) for context in contexts]
        threading.Thread(target=self._watch, args=(clusters,), daemon=True).start()

    def _watch(self, clusters: list[Cluster]) -> None:
        for self._states in watch(clusters, pause=_LOOK_SECONDS):
            if self._closed:
                return

    @property
    def objects(self) -> list[Objects]:
        """The objects of each cluster, as last read."""
        return [state.objects for state in self._states if state.objects is not None]

    def settle(self, jobs: Collection[TraceJob]) -> None:
        """Wait until the controllers have done what they can do at this time.

        Raises `TwinError` if they do not within five minutes, or if the twin has rejected an event.
        """
        deadline = time.monotonic() + _PATIENCE_SECONDS
        seen: object = None
        since = time.monotonic()
        while True:
            time.sleep(_LOOK_SECONDS)
            states = self._states
            problem = "" if states else "the clusters are read"
            for state in states:
                problem = problem or state.problem or (unsettled(state.objects, jobs) if state.objects else "unread")
            now = [_shown(objects) for objects in self.objects]
            if now != seen:
                seen, since = now, time.monotonic()
            quiet = time.monotonic() - since
            if not problem and quiet > _QUIET_SECONDS and not self._busy():
                waiting = overlooked(self.objects, jobs)
                if waiting - self._overlooked and quiet < _OVERLOOKED_SECONDS:
                    continue
                if not (problem := self._led()):
                    self._overlooked = waiting
                    return
                since = time.monotonic()
            if time.monotonic() > deadline:
                waits = problem or "an event"
                raise TwinError(f"the platform has not settled in {_PATIENCE_SECONDS:g} s; it works on {waits}")

    def _led(self) -> str:
        """The operator that does not lead its controllers yet, after its pod was replaced."""
        for objects in self.objects:
            leases = self._run(["--context", objects.context, "get", "leases", "-A", "-o", "json"])
            if problem := led(objects, json.loads(leases)["items"], datetime.now(UTC)):
                return problem
        return ""

    def _busy(self) -> bool:
        """Whether the twin works on operations, or on an event that does not wait for the clock."""
        for call in self._calls:
            if call.done():
                call.result()
        self._calls = [call for call in self._calls if not call.done()]
        clock = self._client.request("GET", "/twin/clock")
        return bool(clock["busy"] or (self._calls and clock["due"] is None))

    @property
    def due(self) -> float | None:
        """The seconds until the twin's next step; None if nothing waits for the clock."""
        found: float | None = self._client.request("GET", "/twin/clock")["due"]
        return found

    def move(self, seconds: float) -> None:
        """Stop the clock, and move it ahead."""
        self._client.request("POST", "/twin/clock", {"seconds": seconds})

    def check(self, events: Iterable[EventSpec]) -> None:
        """Raise `TwinError` for an event of a cluster, node pool or node that the platform does not have."""
        clusters = self._client.status()["clusters"]
        pools = {cluster["name"]: [pool["name"] for pool in cluster["nodePools"]] for cluster in clusters}
        nodes = {node.name for objects in self.objects for node in objects.nodes}
        for event in events:
            if problem := event.unknown(pools, nodes):
                raise TwinError(f"the event {event.text!r} at {event.at}: {problem}")

    def begin(self, event: EventSpec) -> None:
        """Begin an event. What it lasts is part of the rehearsal."""
        call = events()[event.event]
        body = {**call.get("body", {}), **event.given}
        answer: Future[Any] = Future()

        def request() -> None:
            try:
                answer.set_result(self._client.request(call["method"], call["path"], body, timeout=_LONG_SECONDS))
            except Exception as error:
                answer.set_exception(error)

        self._calls.append(answer)
        # Python waits at its end for the threads of an executor, even if nobody needs the answer.
        threading.Thread(target=request, daemon=True).start()

    def queued(self, job: TraceJob) -> list[str]:
        """The clusters in which the job's team has a queue. Raises `TwinError` if there are none, and it needs one."""
        queued = [
            objects.context
            for objects in self.objects
            if any(queue.namespace == job.team for queue in (objects.kueue or {}).get("local_queues", ()))
        ]
        if not queued and not job.compute_class:
            raise TwinError(f"the team {job.team!r} of the job {job.name!r} has no queue on this platform")
        return queued

    def submit(self, job: TraceJob) -> None:
        """Create the JobSet of a job in the first of its clusters. Raises `TwinError`."""
        queued = self.queued(job)
        self._contexts[job] = next(iter(queued), self._states[0].context)
        try:
            spec = MultisliceSpec(
                generation=job.shape.generation.name,
                topology=job.shape.topology,
                machine_type=job.shape.machine.name,
                slices=job.slices,
                namespace=job.team,
                image="rehearsal",
                command=("work",),
                priority_class=job.priority or None,
                compute_class=job.compute_class or None,
                placement="topology" if queued else "exclusive",
            )
        except ValidationError as error:
            raise TwinError(f"the job {job.name!r}: {error.errors()[0]['msg']}") from None
        manifest = multislice_manifest(job.name, spec)
        manifest["metadata"]["labels"] = {**manifest["metadata"]["labels"], _LABEL: "true"}
        # Kueue orders jobs by the second of their creation.
        time.sleep(max(0.0, self._created + 1 - time.monotonic()))
        self._kubectl(job, "create", "-f", "-", given=json.dumps(manifest))
        self._created = time.monotonic()

    def complete(self, job: TraceJob) -> None:
        """Let the pods of a job succeed."""
        selector = f"jobset.sigs.k8s.io/jobset-name={job.name}"
        self._kubectl(job, "annotate", "pods", "--overwrite", "-l", selector, _ENDS)

    def close(self) -> None:
        """Delete the jobs of the rehearsal, its stockouts and limits of quota, and let the clock run again."""
        self._closed = True
        self._client.request("DELETE", "/twin/stockouts")
        self._client.request("DELETE", "/twin/quotas")
        for team, context in {(job.team, context) for job, context in self._contexts.items()}:
            self._run(["--context", context, "-n", team, "delete", "jobsets", "--ignore-not-found", "-l", _LABEL])
        self._client.request("DELETE", "/twin/clock")

    def _kubectl(self, job: TraceJob, *arguments: str, given: str | None = None) -> None:
        self._run(["--context", self._contexts[job], "-n", job.team, *arguments], given)

    def _run(self, arguments: list[str], given: str | None = None) -> str:
        return run(["kubectl", *arguments], Path.cwd(), self._environment, given)


def _shown(objects: Objects) -> object:
    """What must not change for the platform to be quiet."""
    pods = [(pod.uid, pod.spec.node_name, pod.deleted, pod.is_true("Ready")) for pod in objects.pods]
    nodes = [(node.uid, node.is_true("Ready"), node.allocatable) for node in objects.nodes]
    jobs = [(item.uid, item.suspend, item.conditions) for items in objects.jobs.values() for item in items]
    workloads = [(item.uid, item.conditions) for item in (objects.kueue or {}).get("workloads", ())]
    return pods, nodes, jobs, workloads
