"""The progress of `tpuplane-twin up` while the twin restores its clusters."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tpuplane_twin.cli import bringup
from tpuplane_twin.machine.paths import TwinPaths

pytestmark = pytest.mark.unit


class Restoring:
    """A twin that waits for an API server, then is ready."""

    def __init__(self, paths: TwinPaths) -> None:
        self.paths = paths

    def start(self) -> None:
        """It runs."""

    def resume_clock(self) -> None:
        """Its clock runs."""

    def wait_ready(self, report: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
        report({"state": "starting", "waiting": ""})
        report({"state": "starting", "waiting": "lab-central1: [kube-apiserver]"})
        return {"state": "ready", "waiting": ""}


def test_a_log_names_the_cluster_for_which_the_start_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TPUPLANE_TWIN_HOME", str(tmp_path))
    monkeypatch.setattr(bringup, "TwinClient", Restoring)
    monkeypatch.setattr(bringup, "ensure_everything", lambda progress: {})
    monkeypatch.setattr(bringup.executables, "install", lambda paths, tools: None)
    assert bringup.bring_up(TwinPaths.of("local"))["state"] == "ready"
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "starting the twin; waiting for lab-central1: [kube-apiserver]\n")
