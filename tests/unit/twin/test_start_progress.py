"""The progress of `tpuplane-twin up` while the twin restores its clusters."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tpuplane_twin.cli import bringup
from tpuplane_twin.machine.paths import TwinPaths

pytestmark = pytest.mark.unit

API_SERVER = "lab-central1: [kube-apiserver]"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "waits", "lines"),
    [
        (io.StringIO(), ["", API_SERVER], ["starting the twin", f"starting the twin; waiting for {API_SERVER}"]),
        (Terminal(), [""], ["starting the twin"]),
        (Terminal(), [API_SERVER], [f"starting the twin; waiting for {API_SERVER}"]),
    ],
)
def test_the_start_shows_what_it_waits_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, waits: list[str], lines: list[str]
) -> None:
    class Restoring:
        """A twin that waits, then is ready."""

        def __init__(self, paths: TwinPaths) -> None:
            self.paths = paths

        def start(self) -> None:
            """It runs."""

        def resume_clock(self) -> None:
            """Its clock runs."""

        def wait_ready(self, report: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
            for waiting in waits:
                report({"state": "starting", "waiting": waiting})
            ready = {"state": "ready", "waiting": ""}
            report(ready)
            return ready

    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TPUPLANE_TWIN_HOME", str(tmp_path))
    monkeypatch.setattr(bringup, "TwinClient", Restoring)
    monkeypatch.setattr(bringup, "ensure_everything", lambda progress: {})
    monkeypatch.setattr(bringup.executables, "install", lambda paths, tools: None)
    assert bringup.bring_up(TwinPaths.of("local"))["state"] == "ready"
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", stream.getvalue())
    assert list(dict.fromkeys(re.findall("starting the twin.*", shown))) == lines
