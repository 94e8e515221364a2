"""The pods of one cluster that are real processes: found, started, reached and ended."""

import asyncio
import contextlib
import logging
import os
import shutil
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

from tpuplane_twin.cluster import slice_webhook
from tpuplane_twin.cluster.addresses import dns_address, kubernetes_address
from tpuplane_twin.cluster.api import Api, Object
from tpuplane_twin.cluster.kube_system import METRICS_PORT
from tpuplane_twin.cluster.layout import LOOPBACK, Layout
from tpuplane_twin.cluster.mirror import Mirror
from tpuplane_twin.cluster.tpu_webhook.server import PORT as WEBHOOK_PORT
from tpuplane_twin.cluster.tunnel import Streams, Unreachable
from tpuplane_twin.cluster.vpc import PrivateEndpoint, Vpc
from tpuplane_twin.machine.processes import ProcessFailed, ProcessManager, ProcessSpec
from tpuplane_twin.pods import dns, metrics
from tpuplane_twin.pods.images import Images
from tpuplane_twin.pods.kubelet import NODE_PORT, Kubelet
from tpuplane_twin.pods.kubelet import PORT as KUBELET
from tpuplane_twin.pods.listeners import Listeners
from tpuplane_twin.pods.orders import Surroundings
from tpuplane_twin.pods.pod import PODS, Host, ProcessPod
from tpuplane_twin.pods.private_endpoints import PrivateEndpoints
from tpuplane_twin.pods.ray_head import RayHeads, is_dashboard
from tpuplane_twin.pods.sandbox.client import SandboxError, Sandboxes
from tpuplane_twin.pods.services import Services
from tpuplane_twin.pods.turns import Turns

logger = logging.getLogger(__name__)

PROCESS = "pods"
_SOCKET = "pods.sock"
_DNS = 53
_DIAL_SECONDS = 10.0
_AGAIN_SECONDS = 1.0  # between the end of a pod and the next check that it is deleted


@dataclass(slots=True)
class _Life:
    pod: ProcessPod
    task: asyncio.Task[None]
    ending: asyncio.Task[None] | None = None

    @property
    def stays(self) -> bool:
        """Whether nothing is under way to end it."""
        return self.ending is None or self.ending.done()


class Runner:
    """Runs the pods of known images (`images`); `dial` reaches them. All other pods are simulated."""

    def __init__(
        self,
        layout: Layout,
        processes: ProcessManager,
        images: Images,
        services: str,
        vpc: Vpc,
        place: PrivateEndpoint | None,
    ) -> None:
        """`services` is the range of the cluster's Services, `place` where the cluster is in the VPC."""
        self._layout = layout
        self._processes = processes
        self._images = images
        self._services = services
        self._vpc = vpc
        self._place = place
        self._sandboxes = Sandboxes(layout.folder / _SOCKET, self._exited, self._close)
        self._starting = asyncio.Lock()
        self._ends: dict[int, asyncio.Future[int]] = {}
        self._lives: dict[str, _Life] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._kubernetes = Listeners(self._sandboxes, "Service kubernetes", asyncio.Event())
        self._serving: list[asyncio.Task[None]] = []
        self._api: Api | None = None
        self._heads = RayHeads()
        self._kubelet = Kubelet(layout, self._log)
        self._metrics = metrics.Metrics(layout, self._processes_of_pods)

    async def start(self, api: Api) -> None:
        """Follow the cluster's pods from here on; does nothing if it does. Raises `OSError` where a port is taken."""
        if self._tasks:
            return
        await self._kubelet.start()
        await self._metrics.start(api)
        self._api = api
        changed = asyncio.Event()
        pods: Mirror[Object] = Mirror(api, "Pod", self._placed, changed)
        self._tasks = [asyncio.create_task(pods.run()), asyncio.create_task(self._follow(api, pods, changed))]

    def running(self) -> dict[str, list[int]]:
        """The processes of the pods by namespace."""
        found: dict[str, list[int]] = {}
        for pod, processes in self._processes_of_pods():
            found.setdefault(pod["metadata"]["namespace"], []).extend(processes.values())
        return {namespace: pids for namespace, pids in found.items() if pids}

    async def stop(self) -> None:
        """End every process; the pods stay, and go on at the next start."""
        lives = list(self._lives.values())
        tasks = [*self._tasks, *(life.task for life in lives), *(life.ending for life in lives if life.ending)]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._tasks, self._lives, self._api = [], {}, None
        await self._kubelet.stop()
        await self._metrics.stop()
        self._close()
        await self._processes.stop(self._layout.process(PROCESS))

    async def dial(self, host: str, port: int) -> Streams:
        """A connection to a process pod. Raises `Unreachable`."""
        pod = next((life.pod for life in self._lives.values() if life.pod.pod["status"]["podIP"] == host), None)
        if (host, port) == (kubernetes_address(self._services), METRICS_PORT):
            return await asyncio.open_connection(LOOPBACK, self._layout.port(metrics.PORT))
        if pod is None and port == NODE_PORT:
            return await asyncio.open_connection(LOOPBACK, self._layout.port(KUBELET))
        if pod is None:
            return await self._dial_simulated(host, port)
        try:
            made = await self._sandboxes.socket()
            try:
                async with asyncio.timeout(_DIAL_SECONDS):
                    await asyncio.get_running_loop().sock_connect(made, (host, port))
                return await asyncio.open_connection(sock=made)
            except BaseException:
                made.close()
                raise
        except (OSError, TimeoutError, SandboxError) as error:
            raise Unreachable(f"the pod {pod.name} does not answer at port {port}: {error}") from error

    async def _dial_simulated(self, host: str, port: int) -> Streams:
        """The dashboards of simulated Ray heads and the slice controller answer. Errors of all others name the pod."""
        pods = await self._api.list("Pod", fieldSelector=f"status.podIP={host}") if self._api is not None else []
        if self._api is None or not pods:
            raise Unreachable("no pod has this address")
        if slice_webhook.is_controller(pods[0], port):
            return await asyncio.open_connection(LOOPBACK, self._layout.port(WEBHOOK_PORT))
        if is_dashboard(pods[0], port):
            return await self._heads.connect(self._api, pods[0])
        name = f"{pods[0]['metadata']['namespace']}/{pods[0]['metadata']['name']}"
        raise Unreachable(f"the pod {name} is simulated and nothing runs in it")

    async def _follow(self, api: Api, pods: Mirror[Object], changed: asyncio.Event) -> None:
        await pods.synced.wait()
        await asyncio.to_thread(self._sweep, {pod["metadata"]["uid"] for pod in pods.items.values()})
        address = kubernetes_address(self._services)
        given = {"KUBERNETES_SERVICE_HOST": address, "KUBERNETES_SERVICE_PORT": "443"}
        places = max(1, (os.cpu_count() or 1) // 2)
        around = Surroundings(self._layout, self._images, api, self._services, given)
        host = Host(around, self, self._run, self._sandboxes.signal, Turns(places), Turns(places))

        def end(life: _Life, grace: float | None) -> None:
            life.ending = asyncio.create_task(self._end(life, grace))
            # Not at once: finalizers may hold the pod for long.
            life.ending.add_done_callback(lambda _: asyncio.get_running_loop().call_later(_AGAIN_SECONDS, changed.set))

        while True:
            changed.clear()
            present = {pod["metadata"]["uid"]: pod for pod in pods.items.values()}
            for uid, pod in present.items():
                life = self._lives.get(uid)
                image = self._images.of(pod)
                if life is None and image is not None:
                    made = ProcessPod(pod, image, host)
                    life = self._lives[uid] = _Life(made, asyncio.create_task(made.live()))
                if life is not None and "deletionTimestamp" in pod["metadata"] and life.stays:
                    end(life, pod["metadata"].get("deletionGracePeriodSeconds"))
            for uid in self._lives.keys() - present.keys():
                life = self._lives[uid]
                if life.ending is None:
                    end(life, 0)
                elif life.ending.done():
                    del self._lives[uid]
            await changed.wait()

    def _sweep(self, present: set[str]) -> None:
        """Delete the folders of pods that went while the twin was down: their volumes, tokens and Secrets."""
        for folder in (self._layout.folder / PODS).glob("*"):
            if folder.name not in present:
                shutil.rmtree(folder, ignore_errors=True)

    def _placed(self, pod: Object) -> Object | None:
        """The pod, if it is one to run and has its place and its address."""
        placed = pod["spec"].get("nodeName") and pod.get("status", {}).get("podIP")
        return pod if placed and self._images.of(pod) is not None else None

    def _processes_of_pods(self) -> list[tuple[Object, dict[str, int]]]:
        return [(life.pod.pod, life.pod.processes) for life in self._lives.values()]

    def _log(self, namespace: str, name: str, container: str) -> Path | None:
        lives = reversed(self._lives.values())  # the newest of that name: its former self may not have ended yet
        return next((life.pod.log(container) for life in lives if life.pod.name == f"{namespace}/{name}"), None)

    async def _end(self, life: _Life, grace: float | None) -> None:
        life.task.cancel()
        await asyncio.gather(life.task, return_exceptions=True)
        try:
            await life.pod.end(grace)
        except Exception:
            logger.exception("%s: %s", self._layout.key, life.pod.name)

    async def _run(self, order: Object) -> tuple[int, asyncio.Future[int]]:
        await self._ready()
        starting = asyncio.ensure_future(self._sandboxes.run(order))
        try:
            pid = await asyncio.shield(starting)
        except asyncio.CancelledError:
            # Its pod is deleted, so nothing else would end it.
            with contextlib.suppress(SandboxError):
                pid = await starting
                self._awaited(pid)
                await self._sandboxes.signal(pid, signal.SIGKILL)
            raise
        return pid, self._awaited(pid)

    async def _ready(self) -> None:
        """The daemon, started with the first process pod and again when it has died. Raises `SandboxError`."""
        async with self._starting:
            if self._sandboxes.connected:
                return
            if sys.platform != "linux":
                raise SandboxError("real pods need Linux, which has namespaces")
            argv = (sys.executable, "-m", "tpuplane_twin.pods.sandbox.daemon", _SOCKET, self._services)
            layout = self._layout
            spec = ProcessSpec(
                layout.process(PROCESS),
                argv,
                layout.log(PROCESS),
                {"PATH": os.environ.get("PATH", ""), "HOME": str(layout.folder)},
                cwd=layout.folder,
                ready=self._sandboxes.connect,
            )
            try:
                await self._processes.start(spec)
            except ProcessFailed as error:
                raise SandboxError(
                    "the process that runs pods needs Linux user namespaces, as root or where the machine allows them: "
                    f"{error}"
                ) from error
            if not await self._sandboxes.connect():
                raise SandboxError("the process that runs pods is being started again")
            # The Service `kubernetes`, for what runs in pods.
            port = self._layout.port("apiserver")
            address = (kubernetes_address(self._services), 443)
            await self._kubernetes.listen({address: lambda _: asyncio.open_connection(LOOPBACK, port)})
            if self._api is not None:
                self._serving = [asyncio.create_task(self._serve_services(self._api))]
                if self._place is not None:
                    endpoints = PrivateEndpoints(self._vpc, self._place, self._sandboxes)
                    self._serving.append(asyncio.create_task(endpoints.run()))

    async def _serve_services(self, api: Api) -> None:
        """The other Services, and the names of all of them."""
        services = Services(api, self._sandboxes, self)
        made = await self._sandboxes.socket("udp")
        made.bind((dns_address(self._services), _DNS))
        transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
            lambda: dns.NameServer(services), sock=made
        )
        try:
            await services.run()
        finally:
            transport.close()

    def _awaited(self, pid: int) -> asyncio.Future[int]:
        """The end of a process that was started; it may already have ended. Another process gets its id."""
        end = self._end_of(pid)
        end.add_done_callback(lambda _: self._ends.pop(pid, None))
        return end

    def _end_of(self, pid: int) -> asyncio.Future[int]:
        return self._ends.setdefault(pid, asyncio.get_running_loop().create_future())

    def _exited(self, pid: int, code: int) -> None:
        end = self._end_of(pid)
        if not end.done():
            end.set_result(code)

    def _close(self) -> None:
        """Also when the daemon has ended, and every process with it."""
        self._kubernetes.close()
        for serving in self._serving:
            serving.cancel()
        self._serving = []
        self._sandboxes.close()
        for pid in list(self._ends):
            self._exited(pid, 128 + signal.SIGKILL)
