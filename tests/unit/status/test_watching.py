"""Watches keep the objects of a cluster current, also after errors, and `status --watch` shows each change."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from copy import deepcopy
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from tpuplane.status import watching
from tpuplane.status.reading import Cluster
from tpuplane.status.watching import State, watch

from tests.support.eventually import wait_until
from tests.support.status.api_server import ApiServer, kubeconfig, serving
from tests.support.status.hosts import LOST
from tests.support.status.lists import LISTS

pytestmark = pytest.mark.unit

NODES = "/api/v1/nodes"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ApiServer]:
    monkeypatch.setattr(watching, "_AGAIN_SECONDS", 0.1)
    monkeypatch.setattr(watching, "_LOOK_SECONDS", 0.1)
    with serving(LISTS) as made:
        yield made


@pytest.fixture
def states(server: ApiServer, tmp_path: Path) -> Iterator[State]:
    return (them[0] for them in watch([Cluster(kubeconfig(tmp_path, server.server_port))], pause=0))


def lost(name: str = "h0") -> dict[str, Any]:
    """A host that is no longer ready."""
    node: dict[str, Any] = deepcopy(next(manifest for manifest in LISTS[NODES] if manifest["metadata"]["name"] == name))
    node["status"]["conditions"] = [LOST]
    return node


def ready(state: State) -> int:
    assert state.objects is not None
    return sum(node_pool["hostsReady"] for node_pool in state.objects.described()["nodePools"])


def watched(server: ApiServer) -> None:
    """Until all lists are watched."""
    wait_until(lambda: len([path for path, those in server.watches.items() if those]), lambda n: n >= 11, pause=0.01)


def test_changes_follow_the_list(server: ApiServer, states: Iterator[State]) -> None:
    assert ready(next(states)) == 4
    watched(server)
    server.change(NODES, "MODIFIED", lost())
    assert next(number for number in map(ready, states) if number != 4) == 3
    server.change(NODES, "DELETED", lost())
    server.change(NODES, "BOOKMARK", {"metadata": {"resourceVersion": "9"}})
    hosts = (len(later.objects.nodes) for later in states if later.objects)
    assert next(host for host in hosts if host != 4) == 3


def test_a_watch_that_is_closed_reads_no_more(server: ApiServer, tmp_path: Path) -> None:
    before = set(threading.enumerate())
    states = watch([Cluster(kubeconfig(tmp_path, server.server_port))], pause=0)
    next(states)
    watched(server)
    asked = len(server.asked)
    states.close()
    server.cut()
    (mine,) = (each for each in threading.enumerate() if each not in before and each.name.endswith("(run)"))
    wait_until(mine.is_alive, lambda alive: not alive, pause=0.01)
    assert NODES not in server.asked[asked:]


def test_a_burst_of_changes_is_one(server: ApiServer, tmp_path: Path) -> None:
    states = (them[0] for them in watch([Cluster(kubeconfig(tmp_path, server.server_port))], pause=0.5))
    assert ready(next(states)) == 4
    watched(server)
    for name in ("h0", "h1", "h2", "h3"):
        for _ in range(50):
            server.change(NODES, "MODIFIED", lost(name))
    assert next(number for number in map(ready, states) if number != 4) == 0


@pytest.mark.parametrize("how", ["ended", "expired"])
def test_a_watch_that_ends_goes_on(server: ApiServer, states: Iterator[State], how: str) -> None:
    assert ready(next(states)) == 4
    watched(server)
    server.lists[NODES] = [lost(), *LISTS[NODES][1:]]
    if how == "expired":
        server.change(NODES, "ERROR", {"code": 410})  # the list is read again
    else:
        server.cut()
        watched(server)
        server.change(NODES, "MODIFIED", lost())
    assert next(number for number in map(ready, states) if number != 4) == 3


def test_a_cluster_that_is_lost_keeps_its_objects_and_comes_back(server: ApiServer, states: Iterator[State]) -> None:
    assert next(states).problem == ""
    watched(server)
    server.rejection = 401
    state = next(later for later in states if later.problem)
    assert "rejects the credentials" in state.problem
    assert ready(state) == 4
    server.lists[NODES] = [lost(), *LISTS[NODES][1:]]
    server.rejection = None
    state = next(later for later in states if not later.problem and ready(later) != 4)
    assert ready(state) == 3


def test_a_cluster_that_was_never_read(server: ApiServer, states: Iterator[State]) -> None:
    server.rejection = 403
    state = next(states)
    assert state.objects is None
    assert "rejects the request" in state.problem


def test_kueue_is_found_when_it_is_installed(server: ApiServer, states: Iterator[State]) -> None:
    groups, server.groups = server.groups, server.groups[:1]
    state = next(states)
    assert state.objects is not None
    assert state.objects.kueue is None
    server.groups = groups
    found = next(later.objects for later in states if later.objects and later.objects.kueue)
    assert [queue.name for queue in found.kueue["queues"]] == ["research"]


def test_new_kinds_are_read_without_a_pause(
    server: ApiServer, states: Iterator[State], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "_AGAIN_SECONDS", 60)
    monkeypatch.setattr(watching, "_BEAT_SECONDS", 0.5)
    groups, server.groups = server.groups, server.groups[:1]
    next(states)
    server.groups = groups
    assert any(state.objects and state.objects.kueue for state in islice(states, 20))


def test_the_command_writes_a_line_for_each_change_and_ends_with_ctrl_c(server: ApiServer, tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from tpuplane.cli import app; app()"]
    file = kubeconfig(tmp_path, server.server_port)
    with subprocess.Popen(
        [*command, "status", "--watch", "--json", "--kubeconfig", str(file)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        (first,) = json.loads(process.stdout.readline())["clusters"]
        assert first["nodePools"][0]["hostsReady"] == 4
        watched(server)
        server.change(NODES, "MODIFIED", lost())
        (second,) = json.loads(process.stdout.readline())["clusters"]
        assert second["nodePools"][0]["hostsReady"] == 3
        process.send_signal(signal.SIGINT)
        rest, said = process.stdout.read(), process.stderr.read()
    assert (process.returncode, rest, said) == (0, "", "")


def test_the_command_ends_if_the_cluster_was_never_read(server: ApiServer, tmp_path: Path) -> None:
    from tpuplane.cli import app
    from typer.testing import CliRunner

    server.rejection = 403
    result = CliRunner().invoke(
        app, ["status", "--watch", "--kubeconfig", str(kubeconfig(tmp_path, server.server_port))]
    )
    assert result.exit_code == 3
    assert len(result.stderr.splitlines()) == 1
