"""The logs of a twin: whose they are, how their end is found, and how long they may grow and stay."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Any, BinaryIO, cast

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from tpuplane_twin.cluster.layout import Layout
from tpuplane_twin.daemon import log_rotation as upkeep
from tpuplane_twin.machine.paths import TwinPaths
from tpuplane_twin.pods import kubelet
from tpuplane_twin.pods.images import Images
from tpuplane_twin.pods.kubelet import start_of_tail
from tpuplane_twin.pods.orders import Orders, Surroundings

pytestmark = pytest.mark.unit

NOTHING = cast(Any, None)
UID, OTHER = "0a1b2c3d-0000-4000-8000-000000000000", "4e5f6a7b-0000-4000-8000-000000000000"


def log(namespace: str, name: str, uid: str, container: str) -> str:
    """The name of the log of a container of a pod with the containers `x` and `y`."""
    layout = Layout("k", Path("/k"), NOTHING, NOTHING, NOTHING, NOTHING)
    spec = {"containers": [{"name": "x"}, {"name": "y"}]}
    pod = {"metadata": {"namespace": namespace, "name": name, "uid": uid}, "spec": spec}
    around = Surroundings(layout, Images(), NOTHING, "", {})
    return Orders(around, pod, Images().known[0], NOTHING, Path("/root")).log(container).name


def test_no_two_containers_share_a_log() -> None:
    assert log("ml", "prod-head", UID, "x") == "pod-ml_prod-head_0a1b2c3d.log"
    assert log("ml", "prod-head", UID, "y") == "pod-ml_prod-head_0a1b2c3d_y.log"
    containers = [
        ("ml", "prod-head", UID, "x"),
        ("ml-prod", "head", UID, "x"),
        ("ml", "prod-head", OTHER, "x"),
        ("ml", "prod", UID, "y"),
        ("ml", "prod-y", UID, "x"),
    ]
    assert len({log(*each) for each in containers}) == len(containers)


@pytest.mark.parametrize("text", [b"", b"a", b"a\n", b"a\nbb\n\nccc\n", b"a\nbb\n\nccc", b"\n\n\n", b"abcdefgh\n" * 9])
@pytest.mark.parametrize("lines", [0, 1, 2, 3, 4, 5, 100])
@pytest.mark.parametrize("chunk", [1, 3, 1 << 16])
def test_the_last_lines_of_a_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: bytes, lines: int, chunk: int
) -> None:
    monkeypatch.setattr(kubelet, "_CHUNK", chunk)
    (tmp_path / "log").write_bytes(text)
    with (tmp_path / "log").open("rb") as stream:
        start = start_of_tail(stream, lines)
    kept = text.splitlines(keepends=True)
    assert text[start:] == b"".join(kept[len(kept) - min(lines, len(kept)) :])


async def test_the_end_of_a_log_is_found_while_the_twin_answers_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "log").write_bytes(b"a\nb\n")
    threads = []

    def find(log: BinaryIO, lines: int) -> int:
        threads.append(threading.current_thread())
        return start_of_tail(log, lines)

    monkeypatch.setattr(kubelet, "start_of_tail", find)
    app = web.Application()
    app.router.add_get("/{namespace}/{pod}/{container}", kubelet.Kubelet(NOTHING, lambda *_: tmp_path / "log")._logs)
    async with TestClient(TestServer(app)) as client, client.get("/ml/job/main?tailLines=1") as answer:
        assert await answer.text() == "b\n"
    assert threads != [threading.current_thread()]


@pytest.fixture
def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TwinPaths:
    monkeypatch.setenv("TPUPLANE_TWIN_HOME", str(tmp_path))
    return TwinPaths.of().make()


def test_a_log_that_is_too_large_keeps_its_end_and_is_written_on(
    paths: TwinPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "LARGEST", 100)
    monkeypatch.setattr(upkeep, "_KEPT", 20)
    log, small = paths.logs / "supervisor.log", paths.clusters / "c" / "logs" / "etcd.log"
    others = paths.root / "buckets" / "data" / "training.log"
    for path in (small, others):
        path.parent.mkdir(parents=True)
    small.write_bytes(b"x" * 100)
    others.write_bytes(b"x" * 1000)
    with log.open("ab", buffering=0) as writer:
        for number in range(20):
            writer.write(b"line %d\n" % number)
        upkeep.tidy(paths)
        writer.write(b"line 20\n")
    assert log.read_text() == "line 18\nline 19\nline 20\n"
    assert small.stat().st_size == 100
    assert others.stat().st_size == 1000


def test_old_logs_of_deleted_pods_are_deleted(paths: TwinPaths) -> None:
    cluster = paths.clusters / "c"
    (cluster / "pods" / UID).mkdir(parents=True)
    (cluster / "logs").mkdir()
    names = {
        "pod-ml_here_0a1b2c3d": 2.0,
        "pod-ml_gone_4e5f6a7b": 2.0,
        "pod-ml_gone_4e5f6a7b_y": 2.0,
        "pod-ml_gone-just-now_4e5f6a7b": 0.5,
        "kube-apiserver": 2.0,
    }
    for name, days in names.items():
        path = cluster / "logs" / f"{name}.log"
        path.touch()
        os.utime(path, (time.time() - days * 86400,) * 2)
    upkeep.tidy(paths)
    left = {path.stem for path in (cluster / "logs").iterdir()}
    assert left == {"pod-ml_here_0a1b2c3d", "pod-ml_gone-just-now_4e5f6a7b", "kube-apiserver"}
