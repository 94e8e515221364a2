"""Things that go wrong under way: one clear message, nothing lost, and the same command goes on."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import subprocess
from collections.abc import Iterator

import psutil
import pytest
from tpuplane_twin.cli.sample import run
from tpuplane_twin.daemon.client import TwinError
from tpuplane_twin.tools import ensure

from tests.support import BIN
from tests.support.e2e.platform_under_test import CENTRAL1, PlatformUnderTest
from tests.support.eventually import wait_until

pytestmark = pytest.mark.e2e


def test_every_process_may_be_killed(platform: PlatformUnderTest) -> None:
    """All of them at once, and then the supervisor with them; afterwards the same platform stands."""
    former = sorted(node["metadata"]["uid"] for node in platform.items(CENTRAL1, "nodes"))
    running = wait_until(lambda: pids(platform), lambda now: None not in now.values())
    for pid in running.values():
        psutil.Process(pid).kill()
    wait_until(lambda: pids(platform), lambda now: all(now[name] not in (None, running[name]) for name in running))
    supervisor = platform.status()["pid"]
    psutil.Process(supervisor).kill()
    said = platform.twin("status", check=False)
    assert said.returncode == 1
    assert "is not up; start it with `tpuplane-twin up" in said.stderr
    platform.twin("up")
    assert sorted(node["metadata"]["uid"] for node in platform.items(CENTRAL1, "nodes")) == former
    assert not platform.steps()


def test_a_sample_that_does_not_run_in_time_is_explained(platform: PlatformUnderTest) -> None:
    samples = ensure().module("kuberay") / "config" / "samples"
    try:
        with pytest.raises(TwinError, match="RayCluster default/raycluster-tpu-v6e-multihost"):
            run(samples, [CENTRAL1], platform.variables, lambda text: None, timeout=0)
    finally:
        platform.kubectl(CENTRAL1, "delete", "raycluster", "--all", "--wait")


SPARE = {
    "location": "us-west4-a",
    "deletionProtection": False,
    "network": {"nodesCidr": "10.0.32.0/20", "podsCidr": "10.72.0.0/14", "servicesCidr": "10.32.32.0/20"},
    "pools": {"small": {"generation": "v5e", "topology": "2x2"}},
}


@pytest.mark.long
def test_pulumi_killed_half_way_goes_on(platform: PlatformUnderTest) -> None:
    """Killed while Google's API makes a cluster that the engine will never hear of."""
    with platform.rewritten(lambda clusters: clusters.update(spare=SPARE)):
        kill_while_it_makes_a_cluster(platform)
        platform.rehearse("--no-sample")
        (spare,) = (cluster for cluster in platform.status()["clusters"] if cluster["name"] == "lab-spare")
        assert {pool["name"] for pool in spare["nodePools"]} == {"system", "small"}
        assert not platform.steps()
    platform.pulumi("up", "--yes", "--skip-preview")
    assert len(platform.status()["clusters"]) == 1


@pytest.mark.long
def test_pulumi_killed_while_it_replaces_a_cluster_goes_on(platform: PlatformUnderTest) -> None:
    """The state still has the objects of the former cluster. The new cluster's have the same names, and remain."""
    with platform.rewritten(lambda clusters: clusters["central1"].update(network={"podsCidr": "10.80.0.0/14"})):
        kill_while_it_makes_a_cluster(platform)
        file = str(platform.stack_file)
        said = platform.run(BIN / "tpuplane", "check", file, "--online", "--deployed", "local", check=False)
        assert "cluster lab-central1 exists, but an interrupted update did not record it" in said.stderr
        assert "an interrupted update left objects of a cluster that does not exist" in said.stderr
        assert "PULUMI_K8S_DELETE_UNREACHABLE=true pulumi up" in said.stderr
        platform.rehearse("--no-sample")
        assert {"research", "product"} <= {
            namespace["metadata"]["name"] for namespace in platform.items(CENTRAL1, "namespaces")
        }
        refreshed = platform.pulumi("refresh", "--yes", "--skip-preview").stdout
        assert "deleted" not in refreshed, "the state has what exists"
    platform.pulumi("up", "--yes", "--skip-preview")
    assert not platform.steps()


def kill_while_it_makes_a_cluster(platform: PlatformUnderTest) -> None:
    """Start `pulumi up`, and kill the engine when Google's API begins to create a cluster."""
    engine = subprocess.Popen(
        ["pulumi", "up", "--yes", "--skip-preview", "--stack", "local", "--non-interactive"],
        cwd=platform.folder,
        env=platform.variables,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        # Engines of 2026-08 and older first delete every object in a replaced cluster.
        wait_until(
            lambda: any(
                operation["operationType"] == "CREATE_CLUSTER" for operation in platform.status()["operations"]
            ),
            within=1200,
        )
    finally:
        providers = psutil.Process(engine.pid).children(recursive=True)
        engine.send_signal(signal.SIGKILL)
        engine.wait()
        for provider in providers:  # some outlive their engine
            with contextlib.suppress(psutil.NoSuchProcess):
                provider.kill()


def test_a_port_that_is_taken_is_named(platform: PlatformUnderTest) -> None:
    former = {node["metadata"]["uid"] for node in platform.items(CENTRAL1, "nodes")}
    platform.twin("down", "--keep-state")
    ports = json.loads((platform.folder / "twins" / platform.name / "ports.json").read_text())
    for key in ("Google API", f"{CENTRAL1}/apiserver"):
        with occupied(ports[key]):
            said = platform.twin("up", check=False)
            assert said.returncode == 1
            assert f"port {ports[key]} on 127.0.0.1" in said.stderr
            assert "process" in said.stderr
            assert "Traceback" not in said.stderr
    platform.twin("up")
    assert {node["metadata"]["uid"] for node in platform.items(CENTRAL1, "nodes")} == former


def test_two_twins_side_by_side(platform: PlatformUnderTest) -> None:
    try:
        other = json.loads(platform.run(BIN / "tpuplane-twin", "up", "--name", "other", "--json").stdout)
        mine = platform.status()
        assert other["api"] != mine["api"]
        assert other["clusters"] == []
        assert len(mine["clusters"]) == 1
        tokens = {(platform.folder / "twins" / name / "token").read_text() for name in (platform.name, "other")}
        assert len(tokens) == 2
    finally:
        platform.run(BIN / "tpuplane-twin", "down", "--name", "other")


def pids(platform: PlatformUnderTest) -> dict[str, int | None]:
    """The number of each process; one that is started again has none meanwhile."""
    return {process["name"]: process["pid"] for process in platform.status()["processes"]}


@contextlib.contextmanager
def occupied(port: int) -> Iterator[None]:
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("127.0.0.1", port))
        server.listen()
        yield
