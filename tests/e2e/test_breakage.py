"""Things that go wrong under way: one clear message, nothing lost, and the same command goes on."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import subprocess
from collections.abc import Iterator
from typing import TypeVar

import psutil
import pytest

from tests.e2e.platform_under_test import BIN, CENTRAL1, PlatformUnderTest
from tests.eventually import wait_until

pytestmark = pytest.mark.e2e

T = TypeVar("T")


def test_every_process_may_be_killed(platform: PlatformUnderTest) -> None:
    """One after the other, the supervisor last; then the same platform stands, with the same nodes."""
    former = sorted(node["metadata"]["uid"] for node in platform.items(CENTRAL1, "nodes"))
    for name in [process["name"] for process in platform.status()["processes"]]:
        pid = wait_until(lambda name=name: pid_of(platform, name))
        psutil.Process(pid).kill()
        wait_until(lambda name=name, pid=pid: revived(platform, name, pid))
    supervisor = platform.status()["pid"]
    psutil.Process(supervisor).kill()
    said = platform.twin("status", check=False)
    assert said.returncode == 1
    assert "is not up; start it with `tpuplane-twin up" in said.stderr
    platform.rehearse()
    assert sorted(node["metadata"]["uid"] for node in platform.items(CENTRAL1, "nodes")) == former
    assert not platform.steps()


SPARE = {
    "location": "us-west4-a",
    "deletionProtection": False,
    "network": {"nodesCidr": "10.0.32.0/20", "podsCidr": "10.72.0.0/14", "servicesCidr": "10.32.32.0/20"},
    "pools": {"small": {"generation": "v5e", "topology": "2x2"}},
}


def test_pulumi_killed_half_way_goes_on(platform: PlatformUnderTest) -> None:
    """Killed while Google's API makes a cluster that the engine will never hear of."""
    with platform.rewritten(lambda clusters: clusters.update(spare=SPARE)):
        engine = subprocess.Popen(
            ["pulumi", "up", "--yes", "--skip-preview", "--stack", "local", "--non-interactive"],
            cwd=platform.folder,
            env=platform.variables,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            wait_until(lambda: any(it["operationType"] == "CREATE_CLUSTER" for it in platform.status()["operations"]))
        finally:
            engine.send_signal(signal.SIGKILL)
            engine.wait()
        platform.rehearse()
        (spare,) = (cluster for cluster in platform.status()["clusters"] if cluster["name"] == "lab-spare")
        assert {pool["name"] for pool in spare["nodePools"]} == {"system", "small"}
        assert not platform.steps()
    platform.pulumi("up", "--yes", "--skip-preview")
    assert len(platform.status()["clusters"]) == 2


def test_a_port_that_is_taken_is_named(platform: PlatformUnderTest) -> None:
    platform.twin("down", "--keep-state")
    ports = json.loads((platform.folder / "twins" / platform.name / "ports.json").read_text())
    for key in ("Google API", f"{CENTRAL1}/apiserver"):
        with occupied(ports[key]):
            said = platform.twin("up", check=False)
            assert said.returncode == 1
            assert f"port {ports[key]} on 127.0.0.1" in said.stderr
            assert "process" in said.stderr
            assert "Traceback" not in said.stderr
    platform.rehearse()
    assert not platform.steps()


def test_two_twins_side_by_side(platform: PlatformUnderTest) -> None:
    try:
        other = json.loads(platform.run(BIN / "tpuplane-twin", "up", "--name", "other", "--json").stdout)
        mine = platform.status()
        assert other["api"] != mine["api"]
        assert other["clusters"] == []
        assert len(mine["clusters"]) == 2
        tokens = {(platform.folder / "twins" / name / "token").read_text() for name in (platform.name, "other")}
        assert len(tokens) == 2
    finally:
        platform.run(BIN / "tpuplane-twin", "down", "--name", "other")


def revived(platform: PlatformUnderTest, name: str, killed: int) -> bool:
    return pid_of(platform, name) not in (None, killed)


def pid_of(platform: PlatformUnderTest, name: str) -> int | None:
    """The process's number; it has none while it is started again."""
    return next((it["pid"] for it in platform.status()["processes"] if it["name"] == name), None)


@contextlib.contextmanager
def occupied(port: int) -> Iterator[None]:
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("127.0.0.1", port))
        server.listen()
        yield
