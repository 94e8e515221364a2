"""Bringing a twin up: tools, executables, supervisor, everything it had before."""

from __future__ import annotations

from typing import Any

from tpuplane_twin import engine
from tpuplane_twin.cli.console import console, stderr
from tpuplane_twin.client import TwinClient
from tpuplane_twin.paths import TwinPaths
from tpuplane_twin.providers import install_stand_ins
from tpuplane_twin.tools import TOOL_NAMES, ensure, reporter


def bring_up(paths: TwinPaths, *, quiet: bool = False) -> dict[str, Any]:
    """Make the twin ready and return its status. Idempotent; after an interruption the next call goes on.

    Raises `ToolError`, `TwinError`, `PortTaken`, `DiskFull`.
    """
    out = stderr if quiet else console
    with reporter(out) as progress:
        tools = ensure(TOOL_NAMES, progress)
    client = TwinClient(paths)
    if client.record() is None:
        paths.make()
        engine.install(paths, tools)
        install_stand_ins(paths)
    client.start()
    with out.status("the twin starts") as line:

        def report(status: dict[str, Any]) -> None:
            if status["waiting"]:
                line.update(f"the twin starts; waits for {status['waiting']}")

        return client.wait_ready(report)
