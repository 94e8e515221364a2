"""A twin is not taken away under an engine that works on it."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
from pathlib import Path

import pytest
from tpuplane_twin.daemon.client import TwinClient, TwinError
from tpuplane_twin.machine.paths import TwinPaths

pytestmark = pytest.mark.twin


def test_down_waits_for_a_live_engine_and_not_for_a_dead_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TPUPLANE_TWIN_HOME", str(tmp_path / "twins"))
    client = TwinClient(TwinPaths.of("busy").make())
    # Only the name of the program and its process id count.
    program = Path(shutil.copy(shutil.which("sleep") or "/bin/sleep", tmp_path / "pulumi"))
    engine = subprocess.Popen([program, "600"])
    try:
        lock = client.paths.pulumi / "backend/.pulumi/locks/organization/demo/dev/1.json"
        lock.parent.mkdir(parents=True)
        lock.write_text(json.dumps({"pid": engine.pid, "hostname": socket.gethostname()}))
        with pytest.raises(TwinError, match=rf"process {engine.pid}\) runs on the stack 'dev'"):
            client.remove()
        assert client.paths.root.exists()
    finally:
        engine.kill()
        engine.wait()
    assert client.remove()
    assert not client.paths.root.exists()
