"""The life of one process pod: volumes, start, readiness, restarts, end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from tpuplane.tpu import SliceError

from tpuplane_twin.cluster.api import Api, ApiError, Object
from tpuplane_twin.cluster.errors import ClusterError
from tpuplane_twin.cluster.layout import Layout
from tpuplane_twin.cluster.runner import chips, container, dns, probes, status
from tpuplane_twin.cluster.runner.images import Image, image_named
from tpuplane_twin.cluster.runner.turns import Turn
from tpuplane_twin.cluster.runner.volumes import NotThere, Volumes
from tpuplane_twin.cluster.tunnel import Dialler
from tpuplane_twin.sandbox.client import SandboxError

logger = logging.getLogger(__name__)

_LOOK = 0.5  # seconds between looks at a container that is not ready, and at volumes it may wait for
_REFRESH = 10.0  # seconds between looks at the volumes of a container that is ready
_FIRST_DELAY, _LONGEST_DELAY = 0.5, 15.0  # seconds before a restart
_GRACE = 30  # seconds, Kubernetes' own default


@dataclass(frozen=True, slots=True)
class Host:
    """What a process pod needs of the machine: to run a process and to hear of its end, and to dial it."""

    layout: Layout
    api: Api
    dialler: Dialler
    services: str
    given: dict[str, str]
    run: Callable[[Object], Awaitable[tuple[int, asyncio.Future[int]]]]
    signal: Callable[[int, signal.Signals], Awaitable[None]]
    turns: asyncio.Semaphore
    """How many of those that work hard at their start may do so at once."""
    waits: asyncio.Semaphore
    """The same for their init containers, which ask again and again for what the others are only starting."""


class ProcessPod:
    """One pod, from its address to its end. `live` is its task."""

    def __init__(self, pod: Object, image: Image, host: Host) -> None:
        self.pod = pod
        self._image = image
        self._host = host
        self._container: Object = pod["spec"]["containers"][0]
        folder = host.layout.folder / "pods" / pod["metadata"]["uid"]
        self._volumes = Volumes(host.api, pod, folder / "volumes", host.layout.buckets)
        self._root = folder / "root"
        self._folder = folder
        former: Object = next(iter(pod["status"].get("containerStatuses", ())), {})
        # After the supervisor's end the process is another: as after a reboot of the node.
        self._restarts = int(former.get("restartCount", 0)) + ("running" in former.get("state", {}))
        self._process: tuple[int, asyncio.Future[int]] | None = None
        self._said = ""
        self._initialised = False
        self._turn = Turn(host.turns if image.starts_hard else None)
        self._asking = Turn(host.waits if image.starts_hard else None)
        self._ordered: Object | None = None

    @property
    def name(self) -> str:
        """`namespace/name`."""
        return f"{self.pod['metadata']['namespace']}/{self.pod['metadata']['name']}"

    @property
    def log(self) -> Path:
        """The log of its process; it stays when the pod goes."""
        return self._host.layout.log(f"pod-{self.name.replace('/', '-')}")

    async def live(self) -> None:
        """Run the container until it may not be started again."""
        if self.pod["status"].get("phase") in ("Succeeded", "Failed"):
            return
        if refusal := self._image.refusal(self._container["image"]):
            await self._wait("ImageNotAvailable", refusal)
            return
        if remark := self._image.remark(self._container["image"]):
            await self._event("Warning", "OtherVersion", remark)
        last: Object | None = None
        delay = _FIRST_DELAY
        while True:
            end = await self._start(last)
            started = status.now()
            begun = asyncio.get_running_loop().time()
            watching = asyncio.create_task(self._watch(started, last))
            try:
                # What ends the pod waits for the same.
                code = await asyncio.shield(end)
            finally:
                watching.cancel()
                await asyncio.gather(watching, return_exceptions=True)
                self._turn.give()
            last = status.terminated(code, started)
            policy = self.pod["spec"].get("restartPolicy", "Always")
            if policy == "Never" or (policy == "OnFailure" and code == 0):
                await self._say(status.ended(self.pod, last, self._restarts))
                return
            self._restarts += 1
            if asyncio.get_running_loop().time() - begun > _LONGEST_DELAY:
                delay = _FIRST_DELAY
            message = f"back-off {delay:g}s restarting container {self._container['name']}; its log is {self.log}"
            await self._event("Warning", "BackOff", f"exit code {code}: {message}")
            await self._say(status.waiting(self.pod, "CrashLoopBackOff", message, self._restarts, last))
            await asyncio.sleep(delay)
            delay = min(delay * 2, _LONGEST_DELAY)

    async def end(self, grace: float | None) -> None:
        """End the process, by SIGTERM and after `grace` seconds (the pod's own where None) by SIGKILL; delete the pod.

        `live` must have been cancelled.
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
        self._volumes.remove()
        metadata = self.pod["metadata"]
        body = {
            "kind": "DeleteOptions",
            "apiVersion": "v1",
            "gracePeriodSeconds": 0,
            # Another pod may have the name by now.
            "preconditions": {"uid": metadata["uid"]},
        }
        url = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"
        await self._request("DELETE", url, body, "application/json")

    async def _start(self, last: Object | None) -> asyncio.Future[int]:
        while True:
            try:
                await self._volumes.refresh()
                if not self._initialised:
                    await self._initialise()
                    self._initialised = True
                self._ordered = await self._order(self._container)
                await self._turn.take()
                self._process = await self._host.run(self._ordered)
                return self._process[1]
            except (NotThere, KeyError, SliceError) as error:
                await self._wait("FailedMount", str(error.args[0]), last)
            except (SandboxError, OSError) as error:
                await self._wait("FailedCreatePodSandBox", str(error), last)
            except asyncio.CancelledError:
                self._turn.give()
                raise
            self._turn.give()
            await asyncio.sleep(_LOOK)

    async def _initialise(self) -> None:
        """Run the init containers, each until it succeeds. One whose image is another's is simulated: it has."""
        ray = self._host.layout.tools.ray is not None
        for each in self.pod["spec"].get("initContainers", ()):
            if image_named(each["image"], ray=ray) != self._image:
                continue
            delay = _FIRST_DELAY
            while True:
                await self._say(status.waiting(self.pod, "PodInitializing", each["name"], self._restarts))
                await self._asking.take()
                try:
                    self._process = await self._host.run(await self._order(each))
                    code = await asyncio.shield(self._process[1])
                finally:
                    self._asking.give()
                if code == 0:
                    break
                await self._event("Warning", "BackOff", f"init container {each['name']}: exit code {code}")
                await asyncio.sleep(delay)
                delay = min(delay * 2, _LONGEST_DELAY)

    async def _tpu_host(self, count: int) -> dict[str, str]:
        node = await self._host.api.request("GET", f"/api/v1/nodes/{self.pod['spec']['nodeName']}")
        return chips.host_environment(node["metadata"].get("labels", {}), count)

    async def _execute(self, command: list[str]) -> int:
        """A command beside the container's process, with its environment."""
        if self._process is None or self._ordered is None:
            raise SandboxError("the container does not run")
        order = {key: self._ordered[key] for key in ("env", "cwd", "root")}
        pid, end = await self._host.run({**order, "argv": command, "join": self._process[0]})
        try:
            return await asyncio.shield(end)
        except asyncio.CancelledError:
            await self._host.signal(pid, signal.SIGKILL)
            raise

    async def _order(self, each: Object) -> Object:
        """What starts `each`, one of its containers."""
        self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.log.parent.mkdir(parents=True, exist_ok=True)
        keys = {}
        for kind, name in container.sources(each):
            texts = await self._volumes.texts(kind, name)
            if texts is not None:
                keys[kind, name] = texts
        host_name = self.pod["spec"].get("hostname") or self.pod["metadata"]["name"]
        tools, count = self._host.layout.tools, chips.asked(each)
        given = {"HOSTNAME": host_name, **self._host.given, **self._image.environment(tools)}
        given |= await self._tpu_host(count) if count else {}
        environment = container.environment(self.pod, each, given, keys)
        environment |= chips.instead_of(environment, count) if count else {}
        address = self.pod["status"]["podIP"]
        return {
            "name": f"p{self.pod['metadata']['uid'].replace('-', '')[:14]}",
            "address": address,
            "hostname": host_name[:63],
            "argv": container.command(each, self._image.entrypoint, environment),
            "env": environment,
            "cwd": each.get("workingDir") or self._image.cwd,
            "root": str(self._root),
            "log": str(self.log),
            "files": {
                "/etc/passwd": f"root:x:0:0::{self._image.cwd}:/bin/sh\n",
                "/etc/hosts": f"127.0.0.1 localhost\n{address} {host_name}\n",
                "/etc/resolv.conf": dns.resolv_conf(self._host.services, self.pod["metadata"]["namespace"]),
            },
            "mounts": [
                *self._image.mounts(tools),
                *container.mounts(each, self._volumes.folders),
            ],
        }

    async def _watch(self, started: str, last: Object | None) -> None:
        """Say when it is ready and when not, and keep its volumes up to date."""
        loop = asyncio.get_running_loop()
        probe = self._container.get("readinessProbe", {})
        # A command costs more than a connection.
        look = _LOOK * (4 if "exec" in probe else 1)
        failures, ready, refreshed = 0, False, loop.time()
        await self._say(status.running(self.pod, started, self._restarts, ready=False, last=last))
        while True:
            address, dialler = self.pod["status"]["podIP"], self._host.dialler
            succeeds = await probes.answers(probe, self._container, address, dialler, self._execute)
            failures = 0 if succeeds else failures + 1
            now_ready = succeeds or (ready and failures < probe.get("failureThreshold", 3))
            if now_ready != ready:
                ready = now_ready
                self._turn.give()
                await self._say(status.running(self.pod, started, self._restarts, ready=ready, last=last))
            if not ready or loop.time() - refreshed > _REFRESH:
                refreshed = loop.time()
                # What is missing now was there at the start: the process goes on with what it has.
                with contextlib.suppress(NotThere, ClusterError):
                    await self._volumes.refresh()
            await asyncio.sleep(min(_REFRESH, probe.get("periodSeconds", 10)) if ready else look)

    async def _wait(self, reason: str, message: str, last: Object | None = None) -> None:
        if f"{reason} {message}" != self._said:
            self._said = f"{reason} {message}"
            logger.warning("%s: %s: %s", self._host.layout.key, self.name, message)
            await self._event("Warning", reason, message)
            await self._say(status.waiting(self.pod, reason, message, self._restarts, last))

    async def _say(self, said: Object) -> None:
        metadata = self.pod["metadata"]
        url = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}/status"
        body = {"metadata": {"uid": metadata["uid"]}, "status": said}
        await self._request("PATCH", url, body, "application/strategic-merge-patch+json")

    async def _event(self, kind: str, reason: str, message: str) -> None:
        url = f"/api/v1/namespaces/{self.pod['metadata']['namespace']}/events"
        await self._request("POST", url, status.event(self.pod, kind, reason, message), "application/json")

    async def _request(self, method: str, url: str, body: Object, content_type: str) -> None:
        try:
            await self._host.api.request(method, url, body=body, content_type=content_type)
        except ApiError as error:
            # The pod, or its namespace, is being deleted: there is nobody to tell.
            logger.debug("%s: %s", self.name, error)
