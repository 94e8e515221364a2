"""Starts a twin: tools, executables, supervisor, and its clusters."""

from typing import Any

from tpuplane_twin.daemon.client import TwinClient
from tpuplane_twin.machine.files import require_space
from tpuplane_twin.machine.paths import TwinPaths
from tpuplane_twin.shell import executables
from tpuplane_twin.tools import ensure_everything, show
from tpuplane_twin.tools.progress import Status

_TWIN_MIB = 50


def bring_up(paths: TwinPaths) -> dict[str, Any]:
    """Start the twin and return its status. Idempotent; after an interruption the next call continues.

    Raises `ToolError`, `TwinError`, `TwinNameError`, `PortTaken`, `DiskFull`.
    """
    from tpuplane_twin.pods.images import images_of_extras  # noqa: PLC0415 (slow to import)

    paths.check()
    with show() as progress:
        tools = ensure_everything(progress)
    images_of_extras()
    require_space(paths.root, _TWIN_MIB, "a twin without clusters")
    client = TwinClient(paths)
    executables.install(paths.make(), tools)
    client.start()
    with show() as progress:

        def report(status: dict[str, Any]) -> None:
            if status["state"] == "starting":
                waiting = f"; waiting for {status['waiting']}" if status["waiting"] else ""
                progress(Status(f"starting the twin{waiting}"))

        status = client.wait_ready(report)
        client.resume_clock()
        return status
