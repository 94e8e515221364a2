"""Child processes: started, watched, restarted, and ended with the supervisor."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest
from tpuplane_twin.machine.processes import ProcessFailed, ProcessManager, ProcessSpec

from tests.support.eventually import eventually

pytestmark = pytest.mark.twin

# Says that it runs, then waits to be ended.
_SERVER = "import pathlib, sys, time; pathlib.Path(sys.argv[1]).touch(); print('up', flush=True); time.sleep(600)"

_PYTHON = Path(sys.executable).resolve()


@pytest.fixture
async def manager() -> AsyncIterator[ProcessManager]:
    manager = ProcessManager()
    yield manager
    await manager.stop_all()


def spec(tmp_path: Path, name: str = "server", code: str = _SERVER, ready_timeout: float = 60) -> ProcessSpec:
    mark = tmp_path / f"{name}.up"

    async def ready() -> bool:
        return mark.exists()

    argv = (sys.executable, "-c", code, str(mark))
    return ProcessSpec(name, argv, tmp_path / f"{name}.log", ready=ready, ready_timeout=ready_timeout)


async def test_a_process_is_ready_when_start_returns(manager: ProcessManager, tmp_path: Path) -> None:
    await manager.start(spec(tmp_path))
    (status,) = manager.status()
    assert status.pid
    assert psutil.Process(status.pid).environ().keys() <= {"LC_CTYPE"}
    await manager.start(spec(tmp_path))
    await manager.stop("server")
    assert not manager.status()
    assert not psutil.pid_exists(status.pid or 0)


async def test_a_dead_process_is_restarted(manager: ProcessManager, tmp_path: Path) -> None:
    await manager.start(spec(tmp_path))
    (before,) = manager.status()
    psutil.Process(before.pid).kill()
    await eventually(lambda: manager.status()[0].pid not in (None, before.pid))
    assert manager.status()[0].restarts == 1


async def test_a_failed_restart_is_repeated(
    manager: ProcessManager, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    program = tmp_path / "server"
    program.symlink_to(_PYTHON)
    await manager.start(
        ProcessSpec("server", (str(program), "-c", "import time; time.sleep(600)"), tmp_path / "server.log")
    )
    (before,) = manager.status()
    program.unlink()
    psutil.Process(before.pid).kill()
    await eventually(lambda: caplog.text.count("server cannot be started") == 2)
    assert manager.status()[0].pid is None
    program.symlink_to(_PYTHON)
    await eventually(lambda: manager.status()[0].pid)
    assert manager.status()[0].pid != before.pid


async def test_a_process_that_ends_while_starting_is_reported_with_its_log(
    manager: ProcessManager, tmp_path: Path
) -> None:
    with pytest.raises(ProcessFailed, match=r"(?s)server ended while starting \(exit code 3\).*no such thing"):
        await manager.start(spec(tmp_path, code="import sys; print('no such thing'); sys.exit(3)"))
    assert not manager.status()


async def test_a_process_that_never_answers_is_reported_and_ended(manager: ProcessManager, tmp_path: Path) -> None:
    with pytest.raises(ProcessFailed, match="server is not ready after 0 s"):
        await manager.start(spec(tmp_path, code="import time; time.sleep(600)", ready_timeout=0))
    assert not manager.status()


async def test_a_process_that_cannot_start_can_be_started_later(manager: ProcessManager, tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.mkdir()
    for _ in range(2):
        with pytest.raises(IsADirectoryError):
            await manager.start(spec(tmp_path))
        assert not manager.status()
    log.rmdir()
    await manager.start(spec(tmp_path))
    assert manager.status()[0].pid


async def test_children_end_with_a_killed_supervisor(tmp_path: Path) -> None:
    program = f"""
import asyncio, pathlib, sys
from tpuplane_twin.machine.processes import ProcessManager, ProcessSpec

async def main():
    manager = ProcessManager()
    log = pathlib.Path({str(tmp_path / "child.log")!r})
    await manager.start(ProcessSpec("child", (sys.executable, "-c", "import time; time.sleep(600)"), log))
    print(manager.status()[0].pid, flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""
    supervisor = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert supervisor.stdout is not None
    child = psutil.Process(int(supervisor.stdout.readline()))
    supervisor.kill()
    supervisor.wait()
    supervisor.stdout.close()
    await eventually(lambda: _has_ended(child))


def _has_ended(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.status() == psutil.STATUS_ZOMBIE
    return True
