"""The twin of a rehearsal: what is left of it when it ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tpuplane.status.snapshot import Objects
from tpuplane.status.watching import State
from tpuplane_twin.daemon.client import TwinError
from tpuplane_twin.rehearsal import stage
from tpuplane_twin.rehearsal.scenario import EventSpec
from tpuplane_twin.rehearsal.stage import Stage

from tests.support.eventually import wait_until

pytestmark = pytest.mark.unit


class SlowTwin:
    """A twin whose events last until `go`, and then are rejected."""

    def __init__(self, folder: Path) -> None:
        self.paths = SimpleNamespace(kubeconfig=folder / "kubeconfig")
        self.go = threading.Event()

    def request(self, method: str, path: str, body: object = None, *, timeout: float = 0) -> dict[str, Any]:
        if path == "/twin/reclaim":
            self.go.wait(60)
            raise TwinError("it was rejected")
        return {"busy": False, "due": None}


@pytest.fixture
def twin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowTwin]:
    state = State("lab", Objects.of("lab", "", {"nodes": [], "pods": []}), "")

    def watch(clusters: object, pause: float) -> Iterator[list[State]]:
        while True:
            time.sleep(0.01)
            yield [state]

    monkeypatch.setattr(stage, "watch", watch)
    monkeypatch.setattr(stage, "_QUIET_SECONDS", 0)
    found = SlowTwin(tmp_path)
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
