"""`down` throws a twin's data away, and so waits for no process to save it; `--keep-state` does."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from tpuplane_twin.daemon.client import TwinClient
from tpuplane_twin.machine.paths import TwinPaths

pytestmark = pytest.mark.unit

# Ends in order where it is asked to, and says so in a file; its child ends for nothing but a kill.
SUPERVISOR = """
import pathlib, signal, subprocess, sys
child = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); signal.pause()"
process = subprocess.Popen([sys.executable, "-c", child], stdout=subprocess.PIPE)
def asked(*_):
    pathlib.Path(sys.argv[1]).touch()
    sys.exit()
signal.signal(signal.SIGTERM, asked)
process.stdout.readline()
print(process.pid, flush=True)
signal.pause()
"""


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """The file that is there once the supervisor was asked to end."""
    return tmp_path / "saved"


@pytest.fixture
def twin(tmp_path: Path, saved: Path) -> Iterator[tuple[TwinClient, list[psutil.Process]]]:
    client = TwinClient(TwinPaths("local", tmp_path / "local").make())
    with subprocess.Popen([sys.executable, "-c", SUPERVISOR, str(saved)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        processes = [psutil.Process(process.pid), psutil.Process(int(process.stdout.readline()))]
        created = processes[0].create_time()
        client.paths.record.write_text(json.dumps({"pid": process.pid, "created": created, "api": "http://x"}))
        yield client, processes
        process.kill()


def test_down_ends_everything_at_once(twin: tuple[TwinClient, list[psutil.Process]], saved: Path) -> None:
    client, processes = twin
    assert client.remove()
    assert not psutil.wait_procs(processes, timeout=60)[1]
    assert not saved.exists()
    assert not client.paths.root.exists()


def test_kept_state_is_saved_first(twin: tuple[TwinClient, list[psutil.Process]], saved: Path) -> None:
    client, processes = twin
    assert client.stop()
    assert not psutil.wait_procs(processes, timeout=60)[1]
    assert saved.exists()
    assert client.paths.is_twin()
    assert client.record() is None
