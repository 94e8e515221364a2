"""A sandbox daemon of a test's own, and what runs in it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tpuplane_twin.machine.processes import ProcessManager, ProcessSpec
from tpuplane_twin.pods.sandbox.client import Sandboxes

SERVICES = "10.32.0.0/20"
PYTHON = shutil.which("python3", path="/usr/bin:/usr/local/bin") or sys.executable


@dataclass
class Pods:
    """A daemon, what runs in it, and how it ended."""

    sandboxes: Sandboxes
    folder: Path
    processes: ProcessManager
    ended: dict[int, asyncio.Future[int]] = field(default_factory=dict)

    async def run(self, name: str, address: str, *argv: str, **more: Any) -> int:
        root = self.folder / f"{name}-root"
        root.mkdir(exist_ok=True)
        order = {
            "name": name,
            "address": address,
            "hostname": name,
            "argv": argv,
            "env": {"PATH": "/usr/bin:/bin"},
            "cwd": "/",
            "root": str(root),
            "log": str(self.folder / f"{name}.log"),
            "files": {},
            "mounts": [],
        }
        pid = await self.sandboxes.run(order | more)
        self.end(pid)
        return pid

    def end(self, pid: int) -> asyncio.Future[int]:
        return self.ended.setdefault(pid, asyncio.get_running_loop().create_future())

    def said(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text()


@contextlib.asynccontextmanager
async def daemon(folder: Path) -> AsyncIterator[Pods]:
    """A daemon in `folder`, gone with everything in it at the end."""
    processes = ProcessManager()
    found: list[Pods] = []
    sandboxes = Sandboxes(folder / "pods.sock", lambda pid, code: found[0].end(pid).set_result(code), lambda: None)
    found.append(Pods(sandboxes, folder, processes))
    argv = (sys.executable, "-m", "tpuplane_twin.pods.sandbox.daemon", "pods.sock", SERVICES)
    await processes.start(
        ProcessSpec("pods", argv, folder / "daemon.log", dict(os.environ), cwd=folder, ready=sandboxes.connect)
    )
    try:
        yield found[0]
    finally:
        sandboxes.close()
        await processes.stop_all()
