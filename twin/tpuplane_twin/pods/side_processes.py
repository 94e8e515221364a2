"""What runs next to a pod's first container, in its sandbox: the commands of probes, and the pod's other containers."""

import asyncio
import contextlib
import signal
from collections.abc import Awaitable, Callable

from tpuplane_twin.cluster.api import Object
from tpuplane_twin.pods.sandbox.client import SandboxError

Run = Callable[[Object], Awaitable[tuple[int, asyncio.Future[int]]]]
"""Starts an order of `sandbox.daemon` and gives the process and its end."""

FIRST_DELAY, LONGEST_DELAY = 0.5, 15.0
"""Seconds before a restart: the first one, and the longest after many."""

_OWN = ("argv", "env", "cwd", "root", "log")  # what differs from the first container: all but its network and its files


class SideProcesses:
    """Processes in the sandbox of process `pid`. They see its file system, whatever they mount themselves."""

    def __init__(self, run: Run, signal: Callable[[int, signal.Signals], Awaitable[None]], pid: int) -> None:
        self._run = run
        self._signal = signal
        self._pid = pid
        self.containers: dict[str, int] = {}
        """The running processes of the pod's other containers."""

    async def once(self, order: Object, container: str | None = None) -> int:
        """Run a command, or a container, and give its exit code; cancelled, it ends it. Raises `SandboxError`."""
        pid, end = await self._run({**{key: order[key] for key in _OWN}, "join": self._pid})
        if container is not None:
            self.containers[container] = pid
        try:
            return await asyncio.shield(end)
        except asyncio.CancelledError:
            await self._signal(pid, signal.SIGKILL)
            raise
        finally:
            if container is not None:
                del self.containers[container]

    async def keep(
        self, name: str, order: Callable[[], Awaitable[Object]], again: Callable[[int], Awaitable[bool]]
    ) -> None:
        """Run a container, and once more each time that it ends with a code for which `again` is true."""
        delay = FIRST_DELAY
        # The first container has ended, which `ProcessPod` reports.
        with contextlib.suppress(SandboxError):
            while await again(await self.once(await order(), name)):
                await asyncio.sleep(delay)
                delay = min(delay * 2, LONGEST_DELAY)
