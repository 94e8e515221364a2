"""The life of a process pod where the API server, its volumes or its probes fail, and how its end is told."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tpuplane_twin.cluster.api import Object
from tpuplane_twin.cluster.identities import Credentials
from tpuplane_twin.cluster.layout import Layout
from tpuplane_twin.cluster.pki import Authority
from tpuplane_twin.cluster.tunnel import Streams
from tpuplane_twin.cluster.vpc import Vpc
from tpuplane_twin.machine.ports import PortBook
from tpuplane_twin.machine.processes import ProcessManager
from tpuplane_twin.pods import pod as pods
from tpuplane_twin.pods import probes
from tpuplane_twin.pods import runner as runners
from tpuplane_twin.pods.images import Images
from tpuplane_twin.pods.orders import Surroundings
from tpuplane_twin.pods.pod import Host, ProcessPod
from tpuplane_twin.pods.runner import Runner
from tpuplane_twin.pods.sandbox.client import Sandboxes
from tpuplane_twin.pods.turns import Turns
from tpuplane_twin.tools import Tools

from tests.support.eventually import eventually
from tests.support.small_api import SmallApi, saying, small_api

pytestmark = pytest.mark.unit

IMAGE = "registry.k8s.io/jobset/jobset:v0.12.0"
STATUS, EVENTS, TOKEN = "/pods/a-0/status", "/events", "/serviceaccounts/default/token"


@dataclass
class Machine:
    """Where pods run: what was started, and a dialler that answers as `said`."""

    api: SmallApi
    folder: Path
    orders: list[Object] = field(default_factory=list)
    ends: dict[int, asyncio.Future[int]] = field(default_factory=dict)
    signals: list[tuple[int, signal.Signals]] = field(default_factory=list)
    said: list[bytes | Exception] = field(default_factory=list)
    """The answers to connections, in turn; the last of them to all others."""

    async def run(self, order: Object) -> tuple[int, asyncio.Future[int]]:
        self.orders.append(order)
        end = self.ends[len(self.orders)] = asyncio.get_running_loop().create_future()
        return len(self.orders), end

    async def signal(self, pid: int, number: signal.Signals) -> None:
        self.signals.append((pid, number))
        self.ends[pid].set_result(128 + number)

    async def dial(self, host: str, port: int) -> Streams:
        answer = self.said.pop(0) if len(self.said) > 1 else self.said[0]
        if isinstance(answer, Exception):
            raise answer
        return await saying(answer)

    def layout(self) -> Layout:
        authority, ports = Authority(self.folder / "pki", "test"), PortBook(self.folder / "ports.json")
        tools = Tools({"jobset": self.folder / "jobset"}, {})
        folder = self.folder / "clusters" / "test"
        return Layout("test", folder, tools, ports, authority, Credentials(self.folder / "auth", "token", ()))

    def pod(self, item: Object) -> ProcessPod:
        around = Surroundings(self.layout(), Images(), self.api.client, "10.32.0.0/20", {})
        image = Images().of(item)
        assert image is not None
        return ProcessPod(item, image, Host(around, self, self.run, self.signal, Turns(1), Turns(1)))

    def states(self) -> list[Any]:
        """What was said of the first container: its state, and whether it is ready."""
        found = [body["status"]["containerStatuses"][0] for body in self.api.said("PATCH", STATUS)]
        return [(next(iter(each["state"])), each["ready"]) for each in found]

    def reasons(self) -> list[tuple[str, str]]:
        return [(event["reason"], event["message"]) for event in self.api.said("POST", EVENTS)]


@pytest.fixture
async def machine(tmp_path: Path) -> AsyncIterator[Machine]:
    async with small_api() as api:
        yield Machine(api, tmp_path)


def pod(spec: Object | None = None, status: Object | None = None, **first: object) -> Object:
    return {
        "metadata": {"name": "a-0", "namespace": "team", "uid": "1"},
        "spec": {"nodeName": "node", "containers": [{"name": "a", "image": IMAGE, **first}], **(spec or {})},
        "status": {"podIP": "10.64.0.2", **(status or {})},
    }


async def stop(*tasks: asyncio.Task[None]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.parametrize("failure", [(0, {}), (503, {"message": "etcdserver: leader changed"})])
async def test_a_status_that_did_not_reach_the_api_server_is_sent_again(
    machine: Machine, failure: tuple[int, Object]
) -> None:
    answers = [failure, failure]
    machine.api.answer = lambda method, path: answers.pop() if path.endswith(STATUS) and answers else (200, {})
    living = asyncio.create_task(machine.pod(pod()).live())
    await eventually(lambda: ("running", True) in machine.states())
    await stop(living)
    assert machine.states() == [("running", False)] * 3 + [("running", True)]


@pytest.mark.parametrize(
    "failure",
    [(404, {"message": 'serviceaccounts "default" not found'}), (503, {"message": "etcdserver: leader changed"})],
)
async def test_a_volume_that_cannot_be_filled_yet_is_reported_and_tried_again(
    machine: Machine, failure: tuple[int, Object]
) -> None:
    token = {"status": {"token": "t", "expirationTimestamp": "2100-01-01T00:00:00Z"}}

    def answer(method: str, path: str) -> tuple[int, Object]:
        there = bool(machine.reasons())
        return ((201, token) if there else failure) if path.endswith(TOKEN) else (200, {})

    machine.api.answer = answer
    volumes = [{"name": "api", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}]
    living = asyncio.create_task(machine.pod(pod({"volumes": volumes})).live())
    await eventually(lambda: ("running", True) in machine.states())
    await stop(living)
    ((reason, message),) = machine.reasons()
    assert reason == "FailedMount"
    assert failure[1]["message"] in message
    assert machine.states()[0] == ("waiting", False)


@pytest.mark.parametrize(
    ("port", "said"), [("nobody", b""), (8080, b"SSH-2.0-x y\r\n"), (8080, b"HTTP/1.1 ok\r\n"), (8080, b"x" * 100_000)]
)
async def test_a_probe_that_makes_no_sense_fails(machine: Machine, port: int | str, said: bytes) -> None:
    machine.said = [said]
    container = {"ports": [{"name": "web", "containerPort": 8080}]}
    probe = {"httpGet": {"port": port}}
    assert not await probes.answers(probe, container, "10.64.0.2", machine, pytest.fail)


async def test_an_unexpected_error_is_logged_and_the_pod_is_still_reconciled(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(pods, "LONGEST_DELAY", 0.01)
    machine.said = [RuntimeError("as nobody foresaw"), b"HTTP/1.1 200 OK\r\n\r\n"]
    living = asyncio.create_task(machine.pod(pod(readinessProbe={"httpGet": {"port": 80}})).live())
    await eventually(lambda: ("running", True) in machine.states())
    await stop(living)
    assert "as nobody foresaw" in caplog.text
    assert len(machine.orders) == 1


async def test_a_second_container_waits_for_what_it_needs(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pods, "_REFRESH", 0.01)
    there: list[bool] = []
    machine.api.answer = lambda method, path: (
        (200, {"data": {"k": "v"}}) if there or "/configmaps/" not in path else (404, {"message": "not found"})
    )
    item = pod()
    environment = [{"configMapRef": {"name": "c"}}]
    item["spec"]["containers"].append({"name": "b", "image": IMAGE, "envFrom": environment})
    living = asyncio.create_task(machine.pod(item).live())
    await eventually(lambda: len(machine.api.said("GET", "/configmaps/c")) > 2)
    there.append(True)
    await eventually(lambda: len(machine.orders) == 2)
    await stop(living)
    assert machine.orders[1]["env"]["k"] == "v"
    assert machine.reasons() == [("Failed", 'container b: configmap "c" not found')]


@pytest.mark.parametrize(
    ("started", "code", "phase"), [(True, 143, "Failed"), (False, 137, "Failed")], ids=["runs", "waits"]
)
async def test_the_end_of_a_pod_is_reported_before_it_is_deleted(
    machine: Machine, started: bool, code: int, phase: str
) -> None:
    item = pod(image=IMAGE if started else "registry.k8s.io/jobset/jobset:v0.1.0")
    process_pod = machine.pod(item)
    living = asyncio.create_task(process_pod.live())
    await eventually(
        lambda: ("running", True) in machine.states() if started else ("waiting", False) in machine.states()
    )
    await stop(living)
    await process_pod.end(10)
    await process_pod.end(10)  # its finalizers hold it
    last = machine.api.said("PATCH", STATUS)[-1]["status"]
    assert last["phase"] == phase
    assert last["containerStatuses"][0]["state"]["terminated"]["exitCode"] == code
    assert [method for method, path, _ in machine.api.asked][-3:] == ["PATCH", "DELETE", "DELETE"]
    assert machine.signals == ([(1, signal.SIGTERM)] if started else [])


@pytest.mark.parametrize(("policy", "runs"), [("Never", False), ("OnFailure", True), ("Always", True)])
async def test_a_pod_that_ran_when_the_supervisor_ended_runs_again_only_if_it_may(
    machine: Machine, policy: str, runs: bool
) -> None:
    former = {"restartCount": 1, "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}}
    status = {"phase": "Running", "containerStatuses": [former]}
    living = asyncio.create_task(machine.pod(pod({"restartPolicy": policy}, status)).live())
    await eventually(lambda: bool(machine.states()))
    await stop(living)
    last = machine.api.said("PATCH", STATUS)[-1]["status"]
    assert len(machine.orders) == (1 if runs else 0)
    assert last["phase"] == ("Running" if runs else "Failed")
    (found,) = last["containerStatuses"]
    assert found["restartCount"] == (2 if runs else 1)
    if not runs:
        assert found["state"]["terminated"]["exitCode"] == 137


async def test_a_pod_that_finalizers_hold_is_not_deleted_again_and_again(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runners, "_AGAIN_SECONDS", 3600.0)
    item = pod(image="registry.k8s.io/jobset/jobset:v0.1.0")
    item["metadata"] |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 0}
    machine.api.change("/api/v1/pods", item)
    runner = Runner(machine.layout(), ProcessManager(), Images(), "10.32.0.0/20", Vpc(), None)
    await runner.start(machine.api.client)
    try:
        await eventually(lambda: bool(machine.api.said("DELETE", "/pods/a-0")))
        for _ in range(100):
            await machine.api.client.request("GET", "/healthz")
    finally:
        await runner.stop()
    assert len(machine.api.said("DELETE", "/pods/a-0")) == 1


async def test_the_folders_of_pods_go_with_them_and_of_those_that_went_before(machine: Machine) -> None:
    folders = machine.layout().folder / "pods"
    for name in ("1", "gone"):
        (folders / name / "volumes").mkdir(parents=True)
    machine.api.change("/api/v1/pods", pod(image="registry.k8s.io/jobset/jobset:v0.1.0"))
    runner = Runner(machine.layout(), ProcessManager(), Images(), "10.32.0.0/20", Vpc(), None)
    await runner.start(machine.api.client)
    try:
        await eventually(lambda: ("waiting", False) in machine.states())
        assert [folder.name for folder in folders.iterdir()] == ["1"]
        machine.api.change("/api/v1/pods")
        await eventually(lambda: bool(machine.api.said("DELETE", "/pods/a-0")))
    finally:
        await runner.stop()
    assert not list(folders.iterdir())


class Slow(Sandboxes):
    """Starts process 7 when it is told to."""

    def __init__(self) -> None:
        super().__init__(Path("/none"), lambda pid, code: None, lambda: None)
        self.asked, self.go = asyncio.Event(), asyncio.Event()
        self.signals: list[tuple[int, signal.Signals]] = []

    @property
    def connected(self) -> bool:
        return True

    async def run(self, order: Object) -> int:
        self.asked.set()
        await self.go.wait()
        return 7

    async def signal(self, pid: int, number: signal.Signals) -> None:
        self.signals.append((pid, number))


async def test_the_end_of_a_start_that_was_given_up_is_not_that_of_a_later_process(machine: Machine) -> None:
    runner = Runner(machine.layout(), ProcessManager(), Images(), "10.32.0.0/20", Vpc(), None)
    slow = runner._sandboxes = Slow()
    given_up = asyncio.create_task(runner._run({}))
    await slow.asked.wait()
    given_up.cancel()
    await asyncio.sleep(0)
    slow.go.set()
    await asyncio.gather(given_up, return_exceptions=True)
    assert slow.signals == [(7, signal.SIGKILL)]
    runner._exited(7, 137)
    _, end = await runner._run({})
    assert not end.done()
    runner._exited(7, 0)
    assert await end == 0


async def test_a_part_of_a_bucket_is_mounted_from_the_buckets_of_the_twin(machine: Machine) -> None:
    driver = {"driver": "gcsfuse.csi.storage.gke.io", "volumeAttributes": {"bucketName": "team-data"}}
    mount = {"name": "data", "mountPath": "/data", "subPath": "runs"}
    item = pod({"volumes": [{"name": "data", "csi": driver}]}, volumeMounts=[mount])
    item["metadata"]["annotations"] = {"gke-gcsfuse/volumes": "true"}
    living = asyncio.create_task(machine.pod(item).live())
    await eventually(lambda: ("running", True) in machine.states())
    await stop(living)
    folder = machine.layout().buckets / "team-data" / "runs"
    assert folder.is_dir()
    assert {"source": str(folder), "target": "/data", "readOnly": False} in machine.orders[0]["mounts"]
