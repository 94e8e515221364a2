"""The twin of a rehearsal: what is left of it when it ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tpuplane.status.asking import read
from tpuplane.status.snapshot import Objects
from tpuplane.status.watching import State
from tpuplane_twin.daemon.client import TwinError
from tpuplane_twin.gcp.versions import server_config
from tpuplane_twin.rehearsal import stage
from tpuplane_twin.rehearsal.scenario import EventSpec
from tpuplane_twin.rehearsal.stage import Stage
from tpuplane_twin.rehearsal.trace import TraceJob

from tests.support.eventually import wait_until
from tests.support.small_stage import SHAPE
from tests.support.twin_status import cluster, pool, status

pytestmark = pytest.mark.unit


class SlowTwin:
    """A twin whose events last until `go`, and then are rejected."""

    def __init__(self, folder: Path) -> None:
        self.paths = SimpleNamespace(kubeconfig=folder / "kubeconfig")
        self.go = threading.Event()
        self.clock: dict[str, Any] = {"busy": False, "due": 120, "waited": True}
        self.late = 0.0
        """Seconds until it shows its clock."""
        self.states: list[State] = []
        self.asked: list[tuple[str, str, Any]] = []
        self.found = status(clusters=[cluster(name="lab", project="p", nodePools=[pool(name="train-0")])])

    def status(self) -> dict[str, Any]:
        return self.found

    def request(self, method: str, path: str, body: object = None, *, timeout: float = 0) -> dict[str, Any]:
        self.asked.append((method, path, body))
        if path == "/twin/incidents":
            self.found = {**self.found, "incidents": [{"cluster": "lab", "pool": "train-0", "seconds": 120}]}
        if path == "/twin/clock" and body == {"seconds": 121}:
            self.found = {**self.found, "incidents": []}
        if path.startswith("/v1beta1/"):
            return {"releaseChannel": {"channel": "STABLE"}}
        if path == "/twin/upgrade":
            return {"upgraded": [], "held": []}
        if path == "/twin/reclaim":
            self.go.wait(60)
            raise TwinError("it was rejected")
        if method == "GET":
            time.sleep(self.late)
        return self.clock


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The commands of kubectl, without their context."""
    found: list[str] = []

    def run(command: list[str], *_: object) -> str:
        found.append(" ".join(command[3:]))
        return "workloadpriorityclass.kueue.x-k8s.io/high\n" if "get" in command else ""

    monkeypatch.setattr(stage, "run", run)
    return found


@pytest.fixture
def twin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ran: list[str]) -> Iterator[SlowTwin]:
    queue = {"metadata": {"name": "default", "namespace": "research", "uid": "q"}}
    node = {"metadata": {"name": "n", "uid": "n", "labels": {"cloud.google.com/gke-nodepool": "train-0"}}}
    labels = {"labels": {"twin.tpuplane.dev/rehearsal": "true"}}
    left = {"metadata": {"name": "left", "namespace": "product", "uid": "j", **labels}}
    ended = {"status": {"conditions": [{"type": "Completed", "status": "True"}]}}
    lists: dict[str, list[dict[str, Any]]] = {"nodes": [node], "pods": [], "local_queues": [queue], "workloads": []}
    lists["JobSet"] = [{**left, **ended}]
    objects = Objects.of("lab", "", {kind: [read(kind, item) for item in items] for kind, items in lists.items()})
    found = SlowTwin(tmp_path)
    found.states = [State("lab", objects, "")]

    def watch(clusters: object, pause: float) -> Iterator[list[State]]:
        while True:
            time.sleep(0.01)
            yield found.states

    monkeypatch.setattr(stage, "watch", watch)
    monkeypatch.setattr(stage, "_QUIET_SECONDS", 0)
    yield found
    found.go.set()


def reclaim(twin: SlowTwin) -> Stage:
    played = Stage(cast(Any, twin), [], {})
    played.begin(EventSpec.model_validate({"at": "0m", "event": "reclaim", "of": "spot"}))
    return played


def test_a_rehearsal_that_ends_keeps_no_program_from_ending(twin: SlowTwin) -> None:
    """Python waits for each thread that is not a daemon."""
    before = set(threading.enumerate())
    played = reclaim(twin)
    mine = set(threading.enumerate()) - before
    assert [thread for thread in mine if not thread.daemon] == []
    played.close()
    wait_until(lambda: sum(thread.is_alive() for thread in mine), until=(1).__eq__, pause=0.01)
    twin.go.set()
    wait_until(lambda: sum(thread.is_alive() for thread in mine), until=(0).__eq__, pause=0.01)


def test_an_event_that_the_twin_rejects_ends_the_rehearsal(twin: SlowTwin) -> None:
    played = reclaim(twin)
    twin.go.set()
    with pytest.raises(TwinError, match="it was rejected"):
        played.settle([])
    played.close()


def test_an_event_that_changes_nothing_is_reported_once(twin: SlowTwin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "run", lambda *_: '{"items": []}')
    twin.clock["waited"] = False
    played = quiet(twin)
    played.begin(EventSpec.model_validate({"at": "0m", "event": "upgrade", "of": "lab"}))
    played.settle([])
    assert (played.take_undone(), played.take_undone()) == (["upgrade lab: nothing to upgrade"], [])
    played.close()


def quiet(twin: SlowTwin) -> Stage:
    played = Stage(cast(Any, twin), [], {})
    wait_until(lambda: played.objects, pause=0.01)
    return played


def job(**given: Any) -> TraceJob:
    default = {"name": "train", "team": "research", "shape": SHAPE, "slices": 1, "at": 0.0, "priority": ""}
    return TraceJob(**{**default, **given}, seconds=60)


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (job(priority="hihg"), "'hihg' is not a WorkloadPriorityClass of its cluster; allowed: high"),
        (
            job(priority="", team="nightly", compute_class="spot"),
            "'spot' is not a ComputeClass of its cluster; allowed",
        ),
    ],
)
def test_a_job_of_an_unknown_class_is_rejected(twin: SlowTwin, ran: list[str], wanted: TraceJob, message: str) -> None:
    with pytest.raises(TwinError, match=f"the job 'train': {message}"):
        quiet(twin).check([wanted], [])
    quiet(twin).check([job(priority="high"), job(name="other", priority="high")], [])
    assert ran.count("get workloadpriorityclass -o name") <= 2


def test_a_version_of_another_channel_is_rejected(twin: SlowTwin) -> None:
    of = {"cluster": "lab", "version": "latest"}
    quiet(twin).check([], [EventSpec.model_validate({"at": "1h", "event": "upgrade", "of": of})])
    of["version"] = server_config()["validMasterVersions"][0]
    with pytest.raises(TwinError, match=r'at 1h: Master version must be one of "STABLE" channel supported versions'):
        quiet(twin).check([], [EventSpec.model_validate({"at": "1h", "event": "upgrade", "of": of})])


def test_what_a_killed_rehearsal_has_left_ends(twin: SlowTwin, ran: list[str]) -> None:
    quiet(twin).end_former()
    asked = [(method, path) for method, path, _ in twin.asked if method != "GET"]
    ended = [("DELETE", "/twin/stockouts"), ("DELETE", "/twin/quotas"), ("POST", "/twin/incidents")]
    assert asked == [*ended, ("POST", "/twin/clock")], "the clock stands still"
    assert ran == ["-n product delete jobsets --ignore-not-found -l twin.tpuplane.dev/rehearsal"]


def test_lost_hosts_run_again_at_the_end(twin: SlowTwin) -> None:
    quiet(twin).close()
    asked = [(method, path, body) for method, path, body in twin.asked if method != "GET"]
    body = {"kind": "recovery", "scope": "slice", "target": "train-0", "cluster": "lab"}
    assert asked[2:] == [
        ("POST", "/twin/incidents", body),
        ("POST", "/twin/clock", {"seconds": 121}),
        ("DELETE", "/twin/clock", None),
    ]


def test_a_twin_that_ends_ends_the_rehearsal_at_once(twin: SlowTwin, monkeypatch: pytest.MonkeyPatch) -> None:
    played = Stage(cast(Any, twin), [], {})

    def gone(*_: object, **__: object) -> None:
        raise TwinError("the twin is not up")

    monkeypatch.setattr(stage, "unsettled", lambda *_: "a pod")
    monkeypatch.setattr(twin, "request", gone)
    with pytest.raises(TwinError, match="the twin is not up"):
        played.settle([])


def looked(monkeypatch: pytest.MonkeyPatch, last_moment: Callable[[], object]) -> list[str]:
    """How often the leases of the operators are read. `last_moment` is called while they are read first."""
    looks: list[str] = []

    def led(*_: object) -> str:
        if not looks:
            last_moment()
        looks.append("")
        return ""

    monkeypatch.setattr(stage, "led", led)
    monkeypatch.setattr(stage, "run", lambda *_: '{"items": []}')
    return looks


def test_a_host_that_is_lost_at_the_last_moment_is_waited_for(twin: SlowTwin, monkeypatch: pytest.MonkeyPatch) -> None:
    played = quiet(twin)

    def change() -> None:
        (objects,) = played.objects
        ready = {"conditions": [{"type": "Ready", "status": "True"}]}
        changed = read("nodes", {"metadata": {"name": "n", "uid": "n"}, "status": ready})
        twin.states = [State("lab", replace(objects, nodes=[changed]), "")]
        wait_until(lambda: played.objects[0].nodes == [changed], pause=0.01)

    looks = looked(monkeypatch, change)
    played.settle([])
    assert len(looks) == 2


def test_what_the_twin_begins_at_the_last_moment_is_waited_for(twin: SlowTwin, monkeypatch: pytest.MonkeyPatch) -> None:
    """The autoscaler checks, and nothing is due meanwhile."""
    played = quiet(twin)

    def check() -> None:
        twin.clock = {"busy": True, "due": None, "waited": False}
        threading.Timer(0.5, lambda: setattr(twin, "clock", {"busy": False, "due": 600, "waited": True})).start()

    looks = looked(monkeypatch, check)
    played.settle([])
    assert len(looks) == 2
    assert played.due == 600


def test_a_machine_that_stands_still_is_not_quiet(twin: SlowTwin, monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin answers later than the platform must be quiet for."""
    played = quiet(twin)
    for name, seconds in {"_LOOK_SECONDS": 0.01, "_LATE_SECONDS": 0.02, "_QUIET_SECONDS": 0.1}.items():
        monkeypatch.setattr(stage, name, seconds)
    monkeypatch.setattr(stage, "run", lambda *_: '{"items": []}')
    twin.late = 0.2
    played.settle([])
    assert sum(path == "/twin/clock" for _, path, _ in twin.asked) > 5
