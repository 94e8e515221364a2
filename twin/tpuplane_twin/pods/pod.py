"""The life of one process pod: volumes, start, readiness, restarts, end."""

import asyncio
import contextlib
import logging
import os
import shutil
import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tpuplane.tpu import SliceError

from tpuplane_twin.cluster.api import Object, timestamp
from tpuplane_twin.cluster.tunnel import Dialler
from tpuplane_twin.machine.files import DiskFull
from tpuplane_twin.pods import container, probes
from tpuplane_twin.pods.images import Image
from tpuplane_twin.pods.orders import Orders, Surroundings
from tpuplane_twin.pods.report import AWAY, Report, terminated
from tpuplane_twin.pods.sandbox.client import SandboxError
from tpuplane_twin.pods.side_processes import FIRST_DELAY, LONGEST_DELAY, Run, SideProcesses
from tpuplane_twin.pods.turns import Turn, Turns
from tpuplane_twin.pods.volumes import NotThere, Volumes
from tpuplane_twin.tools import ToolError

logger = logging.getLogger(__name__)

PODS = "pods"
"""The folder of a cluster that has a folder for each pod, called like its uid."""

_LOOK = 0.5  # seconds between looks at a container that is not ready, and at volumes it may wait for
_REFRESH = 10.0  # seconds between looks at the volumes of a container that is ready
_GRACE = 30  # seconds, Kubernetes' own default
_KILLED = 128 + signal.SIGKILL
_ENDED = ("Succeeded", "Failed")

_UNPREPARED = (NotThere, KeyError, SliceError, DiskFull, ToolError, *AWAY)


@dataclass(frozen=True, slots=True)
class Host:
    """What a process pod needs of the machine: to run a process and to hear of its end, and to dial it."""

    around: Surroundings
    dialler: Dialler
    run: Run
    signal: Callable[[int, signal.Signals], Awaitable[None]]
    turns: Turns
    """How many pods whose start keeps a processor busy may start at once."""
    waits: Turns
    """The same for their init containers, which wait for other pods."""


class ProcessPod:
    """One pod, from its address to its end. `live` is its task."""

    def __init__(self, pod: Object, image: Image, host: Host) -> None:
        self.pod = pod
        self._image = image
        self._host = host
        self._container: Object = pod["spec"]["containers"][0]
        self._layout = host.around.layout
        self._report = Report(host.around.api, pod)
        self._folder = self._layout.folder / PODS / pod["metadata"]["uid"]
        self._volumes = Volumes(host.around.api, pod, self._folder / "volumes", self._layout.buckets)
        self._orders = Orders(host.around, pod, image, self._volumes, self._folder / "root")
        former: Object = next(iter(pod["status"].get("containerStatuses", ())), {})
        self._lost: Object | None = former.get("state", {}).get("running")
        self._restarts = int(former.get("restartCount", 0))
        self._started = ""
        self._over = pod["status"].get("phase") in _ENDED
        self._process: tuple[int, asyncio.Future[int]] | None = None
        self._said = ""
        self._initialised = False
        # Init containers wait for another pod: Ray's workers for their head.
        first = not pod["spec"].get("initContainers")
        self._turn = Turn(host.turns if image.starts_hard else None, first=first)
        self._asking = Turn(host.waits if image.starts_hard else None, first=first)
        self._ordered: Object | None = None
        self._side: SideProcesses | None = None

    @property
    def name(self) -> str:
        """`namespace/name`."""
        return f"{self.pod['metadata']['namespace']}/{self.pod['metadata']['name']}"

    def log(self, name: str | None = None) -> Path:
        """The log of a container, the first where none is named."""
        return self._orders.log(name or self._container["name"])

    @property
    def processes(self) -> dict[str, int]:
        """The process of each container that runs."""
        if self._process is None or self._side is None or self._process[1].done():
            return {}
        return {self._container["name"]: self._process[0], **self._side.containers}

    async def live(self) -> None:
        """Run the container until it may not be started again. An unexpected error is logged."""
        await self._retried(self._live)

    async def _live(self) -> None:
        if self._over:
            return
        if self._lost is not None:
            # It ended with the supervisor: as at a reboot of the node.
            if not container.restarts(self.pod, _KILLED):
                await self._say_ended(_KILLED, self._lost.get("startedAt") or timestamp())
                return
            self._restarts, self._lost = self._restarts + 1, None
        if rejection := self._image.rejection(self._container["image"]):
            await self._wait("ImageNotAvailable", rejection)
            return
        if remark := self._image.remark(self._container["image"]):
            await self._report.event("Warning", "OtherVersion", remark)
        last: Object | None = None
        delay = FIRST_DELAY
        while True:
            end = await self._start(last)
            started = self._started = timestamp()
            begun = asyncio.get_running_loop().time()
            works = [partial(self._watch, started, last), *(partial(self._accompany, each) for each in self._others())]
            tasks = [asyncio.create_task(self._retried(work)) for work in works]
            try:
                # What ends the pod waits for the same.
                code = await asyncio.shield(end)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                self._turn.give()
            last = terminated(code, started)
            if not container.restarts(self.pod, code):
                await self._say_ended(code, started)
                return
            self._restarts += 1
            if asyncio.get_running_loop().time() - begun > LONGEST_DELAY:
                delay = FIRST_DELAY
            message = f"back-off {delay:g}s restarting container {self._container['name']}; its log is {self.log()}"
            await self._report.event("Warning", "BackOff", f"exit code {code}: {message}")
            await self._report.waiting("CrashLoopBackOff", message, self._restarts, last)
            await asyncio.sleep(delay)
            delay = min(delay * 2, LONGEST_DELAY)

    async def end(self, grace: float | None) -> None:
        """End the process, by SIGTERM and after `grace` seconds (the pod's own where None) by SIGKILL; delete the pod.

        `live` must have been cancelled. Where finalizers hold the pod, it does no harm to end it once more.
        """
        process = self._process
        if process is not None and not process[1].done():
            with contextlib.suppress(SandboxError):
                await self._host.signal(process[0], signal.SIGTERM)
                patience = self.pod["spec"].get("terminationGracePeriodSeconds", _GRACE) if grace is None else grace
                await asyncio.wait([process[1]], timeout=patience)
                if not process[1].done():
                    await self._host.signal(process[0], signal.SIGKILL)
                    await asyncio.wait([process[1]], timeout=_GRACE)
        if not self._over:
            # As a kubelet: some controllers let go of a pod in a terminal phase only.
            code = process[1].result() if process is not None and self._started and process[1].done() else _KILLED
            await self._say_ended(code, self._started or timestamp())
        await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)
        await self._report.delete()

    async def _start(self, last: Object | None) -> asyncio.Future[int]:
        while True:
            try:
                await self._volumes.refresh()
                if not self._initialised:
                    await self._initialise()
                    self._initialised = True
                self._ordered = await self._orders.of(self._container)
                await self._turn.take()
                self._process = await self._host.run(self._ordered)
                self._side = SideProcesses(self._host.run, self._host.signal, self._process[0])
                return self._process[1]
            except _UNPREPARED as error:
                await self._wait("FailedMount", _message(error), last)
            except (SandboxError, OSError) as error:
                await self._wait("FailedCreatePodSandBox", str(error), last)
            except BaseException:
                self._turn.give()
                raise
            self._turn.give()
            await asyncio.sleep(_LOOK)

    async def _initialise(self) -> None:
        """Run the init containers, each until it succeeds. One whose image is another's is simulated: it has."""
        for each in self.pod["spec"].get("initContainers", ()):
            if self._host.around.images.named(each["image"]) != self._image:
                continue
            delay = FIRST_DELAY
            while True:
                await self._report.waiting("PodInitializing", each["name"], self._restarts)
                await self._asking.take()
                try:
                    self._process = await self._host.run(await self._orders.of(each))
                    code = await asyncio.shield(self._process[1])
                finally:
                    self._asking.give()
                if code == 0:
                    break
                await self._report.event("Warning", "BackOff", f"init container {each['name']}: exit code {code}")
                await asyncio.sleep(delay)
                delay = min(delay * 2, LONGEST_DELAY)

    async def _execute(self, command: list[str]) -> int:
        """Run a command next to the container's process, with its environment."""
        if self._side is None or self._ordered is None:
            raise SandboxError("the container does not run")
        return await self._side.once({**self._ordered, "argv": command, "log": os.devnull})

    def _others(self) -> list[Object]:
        """The containers after the first that are processes, too: those of the same image."""
        images, others = self._host.around.images, self.pod["spec"]["containers"][1:]
        return [each for each in others if images.named(each["image"]) == self._image]

    async def _accompany(self, each: Object) -> None:
        """Run another container until the first ends."""
        said = ""

        async def again(code: int) -> bool:
            await self._report.event("Warning", "BackOff", f"container {each['name']}: exit code {code}")
            return container.restarts(self.pod, code)

        while self._side is not None:
            try:
                await self._side.keep(each["name"], lambda: self._orders.of(each), again)
                return
            except (*_UNPREPARED, OSError) as error:
                if said != (said := _message(error)):
                    await self._report.event("Warning", "Failed", f"container {each['name']}: {said}")
            await asyncio.sleep(_REFRESH)

    async def _watch(self, started: str, last: Object | None) -> None:
        """Say when it is ready and when not, and keep its volumes up to date."""
        loop = asyncio.get_running_loop()
        probe: Object = self._container.get("readinessProbe", {})
        alive: Object = self._container.get("livenessProbe", probe)
        # A command costs more than a connection.
        look = _LOOK * (4 if "exec" in probe else 1)
        failures, ready, refreshed = 0, False, loop.time()
        await self._report.running(started, self._restarts, ready=False, last=last)
        while True:
            address, dialler = self.pod["status"]["podIP"], self._host.dialler
            # A container that is alive has started, also where it waits for others to be ready.
            if self._turn.held and await probes.answers(alive, self._container, address, dialler, self._execute):
                self._turn.give()
            succeeds = await probes.answers(probe, self._container, address, dialler, self._execute)
            failures = 0 if succeeds else failures + 1
            now_ready = succeeds or (ready and failures < probe.get("failureThreshold", 3))
            if now_ready != ready:
                ready = now_ready
                await self._report.running(started, self._restarts, ready=ready, last=last)
            if not ready or loop.time() - refreshed > _REFRESH:
                refreshed = loop.time()
                # What is missing now existed at the start: the process keeps running with what it has.
                with contextlib.suppress(NotThere, DiskFull, OSError, *AWAY):
                    await self._volumes.refresh()
            await asyncio.sleep(min(_REFRESH, probe.get("periodSeconds", 10)) if ready else look)

    async def _wait(self, reason: str, message: str, last: Object | None = None) -> None:
        if f"{reason} {message}" != self._said:
            self._said = f"{reason} {message}"
            logger.warning("%s: %s: %s", self._layout.key, self.name, message)
            await self._report.event("Warning", reason, message)
            await self._report.waiting(reason, message, self._restarts, last)

    async def _say_ended(self, code: int, started: str) -> None:
        await self._report.ended(terminated(code, started), self._restarts)
        self._over = True

    async def _retried(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do `work`, and again after an unexpected error."""
        while True:
            try:
                await work()
                return
            except Exception:
                logger.exception("%s: %s", self._layout.key, self.name)
            await asyncio.sleep(LONGEST_DELAY)


def _message(error: BaseException) -> str:
    return str(error.args[0]) if len(error.args) == 1 else str(error) or type(error).__name__
