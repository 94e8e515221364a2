"""The twin that a rehearsal plays on: its clusters, its clock and its events."""

import json
import threading
import time
from collections.abc import Collection, Iterable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tpuplane.spec.core.errors import choice
from tpuplane.status.reading import Cluster
from tpuplane.status.snapshot import Objects
from tpuplane.status.watching import State, watch
from tpuplane.workloads.jobset import multislice_manifest

from tpuplane_twin.daemon.client import TwinClient, TwinError
from tpuplane_twin.gcp.errors import ApiError
from tpuplane_twin.gcp.versions import master_version
from tpuplane_twin.gcp.views import ClusterView
from tpuplane_twin.rehearsal.checks import event_problem, queued, undone
from tpuplane_twin.rehearsal.observed import ENDS, Key, led, overlooked, unsettled
from tpuplane_twin.rehearsal.scenario import EventSpec, events
from tpuplane_twin.rehearsal.trace import TraceJob, work
from tpuplane_twin.shell.command import run

_QUIET_SECONDS = 2.0
"""How long nothing must change before the clock moves: Kueue collects changes for a second."""
_OVERLOOKED_SECONDS = 15.0
"""How long nothing must change while a job waits and slices of its shape are idle: on a slow machine, Kueue can need
several seconds to see new nodes."""
_PATIENCE_SECONDS = 300.0
_LOOK_SECONDS = 0.2
_LATE_SECONDS = 2 * _LOOK_SECONDS
"""The most that one look counts: while the machine stands still, so do the controllers."""
_LONG_SECONDS = 900.0
_LABEL = "twin.tpuplane.dev/rehearsal"


class Stage:
    """The clusters of `contexts`, on a clock that stands still until it is moved."""

    def __init__(self, client: TwinClient, contexts: Iterable[str], environment: Mapping[str, str]) -> None:
        self._client = client
        self._environment = environment
        self._calls: list[Future[list[str]]] = []
        self._undone: list[str] = []
        self._closed = False
        self._states: list[State] = []
        self._contexts: dict[TraceJob, str] = {}
        self._overlooked: set[Key] = set()
        self._created = 0.0
        self.due: float | None = None
        """The seconds until the twin's next step when it was last settled; None if nothing waits for the clock."""
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
        quiet, looked = 0.0, time.monotonic()
        while True:
            time.sleep(_LOOK_SECONDS)
            busy, states = self._busy(), self._states
            problem = "" if states else "the clusters are read"
            for state in states:
                problem = problem or state.problem or (unsettled(state.objects, jobs) if state.objects else "unread")
            now = [_shown(objects) for objects in self.objects]
            before, looked = looked, time.monotonic()
            quiet += min(looked - before, _LATE_SECONDS)
            if now != seen or busy:  # what it has just done is read a moment later
                seen, quiet = now, 0.0
            if not problem and quiet > _QUIET_SECONDS:
                waiting = overlooked(self.objects, jobs)
                if waiting - self._overlooked and quiet < _OVERLOOKED_SECONDS:
                    continue
                problem = self._led()
                if not problem and not self._busy() and [_shown(objects) for objects in self.objects] == now:
                    self._overlooked = waiting
                    return
                quiet = 0.0
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
        ended = [call for call in self._calls if call.done()]
        self._calls = [call for call in self._calls if call not in ended]
        self._undone += [text for call in ended for text in call.result()]
        clock = self._client.request("GET", "/twin/clock")
        self.due = clock["due"]
        return bool(clock["busy"] or (self._calls and not clock["waited"]))

    def take_undone(self) -> list[str]:
        """What events have not done, as the twin has answered since the last call."""
        taken, self._undone = self._undone, []
        return taken

    def move(self, seconds: float) -> None:
        """Stop the clock, and move it ahead."""
        self._client.request("POST", "/twin/clock", {"seconds": seconds})

    def check(self, jobs: Iterable[TraceJob], events: Iterable[EventSpec]) -> None:
        """Raise `TwinError` for a job or event of what the platform does not have."""
        named = {
            (context, kind, name): job
            for job in jobs
            for context, _ in [self._place(job)]
            for kind, name in (("WorkloadPriorityClass", job.priority), ("ComputeClass", job.compute_class))
            if name
        }
        there = {key: self._names(*key) for key in {(context, kind) for context, kind, _ in named}}
        for (context, kind, name), job in named.items():
            if name not in there[context, kind]:
                problem = choice(name, f"a {kind} of its cluster", there[context, kind])
                raise TwinError(f"the job {job.name!r}: {problem}")
        clusters = self._client.status()["clusters"]
        nodes = {node.name for objects in self.objects for node in objects.nodes}
        for event in events:
            if problem := event_problem(event, clusters, nodes) or self._version_problem(event, clusters):
                raise TwinError(f"the event {event.text!r} at {event.at}: {problem}")

    def _names(self, context: str, kind: str) -> list[str]:
        """The names of the objects of a kind."""
        found = self._run(["--context", context, "get", kind.lower(), "-o", "name"]).split()
        return [name.partition("/")[2] for name in found]

    def _version_problem(self, event: EventSpec, clusters: Iterable[Mapping[str, Any]]) -> str:
        """The mistake if a cluster is to get a version that its release channel does not have."""
        version = event.given.get("version")
        for cluster in clusters:
            if version and cluster["name"] == event.given["cluster"]:
                path = "projects/{project}/locations/{location}/clusters/{name}".format_map(cluster)
                channel = ClusterView(self._client.request("GET", f"/v1beta1/{path}")).channel
                try:
                    master_version(str(version), channel)
                except ApiError as error:
                    return str(error)
        return ""

    def begin(self, event: EventSpec) -> None:
        """Begin an event. What it lasts is part of the rehearsal."""
        call = events()[event.event]
        body = {**call.get("body", {}), **event.given}
        ended: Future[list[str]] = Future()

        def request() -> None:
            try:
                answer = self._client.request(call["method"], call["path"], body, timeout=_LONG_SECONDS)
                ended.set_result(undone(event, answer))
            except Exception as error:
                ended.set_exception(error)

        self._calls.append(ended)
        # Python waits at its end for the threads of an executor, even if nobody needs the answer.
        threading.Thread(target=request, daemon=True).start()

    def _place(self, job: TraceJob) -> tuple[str, bool]:
        """The context of the job's cluster, and whether its team has a queue there. Raises `TwinError`."""
        if found := queued(job, self.objects):
            return found[0].context, True
        return self._states[0].context, False

    def submit(self, job: TraceJob) -> None:
        """Create the JobSet of a job in the first of its clusters. Raises `TwinError`."""
        self._contexts[job], has_queue = self._place(job)
        spec = work(job, placement="topology" if has_queue else "exclusive")
        manifest = multislice_manifest(job.name, spec)
        manifest["metadata"]["labels"] = {**manifest["metadata"]["labels"], _LABEL: "true"}
        # Kueue orders jobs by the second of their creation.
        time.sleep(max(0.0, self._created + 1 - time.monotonic()))
        self._kubectl(job, "create", "-f", "-", given=json.dumps(manifest))
        self._created = time.monotonic()

    def complete(self, job: TraceJob) -> None:
        """Let the pods of a job succeed."""
        selector = f"jobset.sigs.k8s.io/jobset-name={job.name}"
        self._kubectl(job, "annotate", "pods", "--overwrite", "-l", selector, "=".join(ENDS))

    def end_former(self) -> None:
        """End a former rehearsal that was killed, if it has left jobs."""
        if any(_LABEL in item.labels for objects in self.objects for item in objects.jobs.get("JobSet", ())):
            self._end()

    def close(self) -> None:
        """End the rehearsal; the clock runs again."""
        self._closed = True
        try:
            self._end()
        finally:
            self._client.request("DELETE", "/twin/clock")

    def _end(self) -> None:
        """Delete the stockouts, quota limits and jobs, also those of a former rehearsal; hosts run again."""
        self._client.request("DELETE", "/twin/stockouts")
        self._client.request("DELETE", "/twin/quotas")
        places = {(context, job.team) for job, context in self._contexts.items()}
        for objects in self.objects:
            jobs = objects.jobs.get("JobSet", ())
            places |= {(objects.context, item.namespace) for item in jobs if _LABEL in item.labels}
        for context, namespace in sorted(places):
            self._run(["--context", context, "-n", namespace, "delete", "jobsets", "--ignore-not-found", "-l", _LABEL])
        self._recover()

    def _recover(self) -> None:
        """End the incidents: the next scenario begins with all hosts."""
        status = self._client.status()
        lost = {pool for objects in self.objects for pool in _lost_pools(objects)}
        for cluster, pool in sorted(lost | {(found["cluster"], found["pool"]) for found in status["incidents"]}):
            with suppress(TwinError):  # those that Compute Engine is deleting are created again
                body = {"kind": "recovery", "scope": "slice", "target": pool, "cluster": cluster}
                self._client.request("POST", "/twin/incidents", body)
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while (lasting := self._client.status()["incidents"]) and time.monotonic() < deadline:
            if left := max(found["seconds"] for found in lasting):  # other steps, such as repairs, do not begin
                self.move(left + 1)
            time.sleep(_LOOK_SECONDS)

    def _kubectl(self, job: TraceJob, *arguments: str, given: str | None = None) -> None:
        self._run(["--context", self._contexts[job], "-n", job.team, *arguments], given)

    def _run(self, arguments: list[str], given: str | None = None) -> str:
        return run(["kubectl", *arguments], Path.cwd(), self._environment, given)


def _lost_pools(objects: Objects) -> set[tuple[str, str]]:
    """Cluster and name of the node pools with lost hosts."""
    cluster = objects.context.rpartition("_")[2]
    return {(cluster, pool) for node in objects.nodes if (pool := node.pool) and not node.is_true("Ready")}


def _shown(objects: Objects) -> object:
    """What must not change for the platform to be quiet."""
    pods = [(pod.uid, pod.spec.node_name, pod.deleted, pod.is_true("Ready")) for pod in objects.pods]
    nodes = [(node.uid, node.is_true("Ready"), node.allocatable) for node in objects.nodes]
    jobs = [(item.uid, item.suspend, item.conditions) for items in objects.jobs.values() for item in items]
    workloads = [(item.uid, item.conditions) for item in (objects.kueue or {}).get("workloads", ())]
    return pods, nodes, jobs, workloads
