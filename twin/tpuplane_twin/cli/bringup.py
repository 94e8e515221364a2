"""Starts a twin: tools, executables, supervisor, and its clusters."""

import sys
from typing import Any

from rich.markup import escape

from tpuplane_twin.cli.console import console, stderr
from tpuplane_twin.daemon.client import TwinClient
from tpuplane_twin.machine.files import require_space
from tpuplane_twin.machine.paths import TwinPaths
from tpuplane_twin.shell import executables
from tpuplane_twin.tools import ensure_everything, show

_TWIN_MIB = 50


def bring_up(paths: TwinPaths, *, quiet: bool = False) -> dict[str, Any]:
    """Start the twin and return its status. Idempotent; after an interruption the next call continues.

    Raises `ToolError`, `TwinError`, `TwinNameError`, `PortTaken`, `DiskFull`.
    """
    from tpuplane_twin.pods.images import images_of_extras  # noqa: PLC0415 (slow to import)

    paths.check()
    out = stderr if quiet else console
    with show(sys.stderr) as progress:
        tools = ensure_everything(progress)
    images_of_extras()
    require_space(paths.root, _TWIN_MIB, "a twin without clusters")
    client = TwinClient(paths)
    executables.install(paths.make(), tools)
    client.start()
    with out.status("starting the twin") as line:

        def report(status: dict[str, Any]) -> None:
            if status["waiting"]:
                line.update(f"starting the twin; waiting for {escape(status['waiting'])}")

        status = client.wait_ready(report)
        client.resume_clock()
        return status
