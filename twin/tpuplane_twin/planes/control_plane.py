"""One GKE cluster's control plane on this machine: real Kubernetes, real operators, simulated nodes."""

import asyncio
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tpuplane_twin.cluster import components, drivers
from tpuplane_twin.cluster.api import Api, ClusterError, together
from tpuplane_twin.cluster.disks import Disks
from tpuplane_twin.cluster.identities import Credentials, cluster_entry
from tpuplane_twin.cluster.install import Installation
from tpuplane_twin.cluster.layout import Layout
from tpuplane_twin.cluster.pki import Authority, signing_key
from tpuplane_twin.cluster.pools import NodePools
from tpuplane_twin.cluster.tpu_webhook.server import PORT as WEBHOOK_PORT
from tpuplane_twin.cluster.tpu_webhook.server import TpuWebhook
from tpuplane_twin.cluster.tunnel import Tunnel
from tpuplane_twin.cluster.vpc import PrivateEndpoint, Vpc
from tpuplane_twin.gcp.backend import NO_ROTATION, ROTATION, Instance
from tpuplane_twin.gcp.views import ClusterView
from tpuplane_twin.machine.files import write_if_changed
from tpuplane_twin.machine.ports import PortBook
from tpuplane_twin.machine.processes import ProcessManager
from tpuplane_twin.pods import kubelet, metrics
from tpuplane_twin.pods.images import Images
from tpuplane_twin.pods.runner import Runner
from tpuplane_twin.tools import Tools

Progress = Callable[[str], None]


class ControlPlane:
    """etcd, API server, controllers, scheduler, kwok and operators of one cluster, all on 127.0.0.1.

    `key` names it among the twin's clusters (processes, ports); `folder` holds its data and logs, and the folders
    next to it are the twin's other clusters. `apply_cluster` starts and stops the operators of add-ons, and only
    notes them while nothing runs.
    """

    def __init__(
        self,
        key: str,
        folder: Path,
        *,
        processes: ProcessManager,
        ports: PortBook,
        tools: Tools,
        token: str,
        images: Images,
        trusted: Authority | None = None,
        vpc: Vpc | None = None,
    ) -> None:
        """Nothing is started or written yet. `token` will be system:masters, `trusted` vouch for the API server.

        Pods of the `images` are real. `vpc` is what the cluster shares with others.
        """
        self._trusted = trusted
        self._key = key
        self._folder = folder
        self._tools = tools
        self._processes = processes
        self._ports = ports
        self._token = token
        self._images = images
        self._view = ClusterView({})
        self._authority, self._next_authority = 0, 0  # numbers; two of them while credentials are rotated
        self._applied: tuple[object, ...] | None = None  # what the last start brought about; None if it failed
        self._lock = asyncio.Lock()
        self._api: Api | None = None
        self._pools: NodePools | None = None
        self._webhook: TpuWebhook | None = None
        self._runner: Runner | None = None
        self._disks: asyncio.Task[None] | None = None
        self._tunnel: Tunnel | None = None
        self._vpc = vpc or Vpc()
        self._place: PrivateEndpoint | None = None

    @property
    def endpoint(self) -> str:
        """`127.0.0.1:PORT` of the API server, the same for as long as the cluster exists."""
        return f"127.0.0.1:{self._ports.port(f'{self._key}/apiserver')}"

    @property
    def api(self) -> Api | None:
        """The twin's own client of the API server; None while nothing runs."""
        return self._api

    @property
    def has_slice_controller(self) -> bool:
        """Whether GKE's slice controller is on."""
        return self._view.slice_controller

    @property
    def has_authority(self) -> bool:
        """Whether the bundle that clients trust exists: `start` writes it."""
        return self._bundle.exists()

    @property
    def ca_certificate(self) -> str:
        """The cluster's certificate authority, PEM; before it the next one while credentials are rotated.

        Known once the cluster was started.
        """
        return self._bundle.read_text()

    def cluster_entry(self) -> dict[str, str]:
        """The cluster's entry in a kubeconfig: address and authority."""
        return cluster_entry(f"https://{self.endpoint}", self.ca_certificate.encode())

    async def start(self, progress: Progress = lambda _: None) -> None:
        """Start everything that does not run yet, and return when all of it is ready.

        In a folder that holds a cluster, that cluster continues; what was applied to it is not applied again.
        `progress` gets what is being waited for. Raises `PortTaken`, `ProcessFailed` (with the end of the log) and
        `ClusterError`.
        """
        async with self._lock:
            wanted, self._applied = self._wanted(), None
            layout = await asyncio.to_thread(self._layout)
            if not self._processes.status(prefix=f"{self._key}/"):
                for use in (*components.PORTS, WEBHOOK_PORT, kubelet.PORT, metrics.PORT):
                    self._ports.check(f"{self._key}/{use}")
            progress("etcd and the API server")
            fresh = not (self._folder / "etcd").exists()
            installation = Installation(layout, self._view, fresh=fresh)
            try:
                await self._open_tunnel(layout)
                await self._processes.start(components.process(layout, "etcd"))
                private = self._place.address if self._place is not None else None
                await self._processes.start(components.api_server(layout, self._token, self._view.services, private))
                api = self._connect(layout)
                self._publish()
                progress("controllers and operators")
                trusted = {"root-ca-file": self._bundle}  # what pods trust
                await together(
                    self._processes.start(components.process(layout, "kube-controller-manager", trusted)),
                    self._processes.start(components.process(layout, "kube-scheduler")),
                    self._start_in_cluster(layout, api, installation),
                )
            finally:
                installation.cancel()
            self._applied = wanted

    async def stop(self) -> None:
        """End all processes; the folder keeps the cluster."""
        async with self._lock:
            self._vpc.withdraw(self._key)
            if self._runner is not None:
                await self._runner.stop()
                self._runner = None
            if self._webhook is not None:
                await self._webhook.stop()
                self._webhook = None
            await self._stop_disks()
            if self._api is not None:
                await self._api.aclose()
                self._api = self._pools = None
            await self._processes.stop_all(prefix=f"{self._key}/")
            if self._tunnel is not None:
                await self._tunnel.stop()
                self._tunnel = None

    async def delete(self) -> None:
        """Stop, and forget the cluster: its folder and its ports."""
        await self.stop()
        await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)
        self._ports.release(f"{self._key}/")

    async def apply_cluster(self, cluster: Mapping[str, Any]) -> None:
        """Start and stop what the cluster asks for: add-ons (Ray, drivers of volumes), Prometheus.

        What failed is tried again by the next call. Once a rotation of credentials is complete, everything stops, for
        `start` to start it with the new ones.
        """
        rotation = cluster.get(ROTATION, NO_ROTATION)
        if rotation["serves"] != self._authority:
            await self.stop()
        self._authority, self._next_authority = rotation["serves"], rotation["trusted"]
        self._view = ClusterView(cluster)
        self._place = PrivateEndpoint.of(cluster)
        self._publish()
        if self._api is None or self._applied == self._wanted():
            return
        if not self._view.ray_operator:
            await self._processes.stop(f"{self._key}/kuberay")
        await self.start()

    @property
    def pools(self) -> NodePools:
        """The simulated nodes of the pools. Raises `ClusterError` while nothing runs."""
        if self._pools is None:
            raise ClusterError(f"the control plane of {self._key} is not running")
        return self._pools

    async def instances(self, pool: str) -> list[Instance]:
        """The machines of the nodes; none while nothing runs."""
        return await self._pools.instances(pool) if self._pools is not None else []

    def processes(self, name: str) -> list[int]:
        """The process called `name`; without a name all, among them that of the real pods."""
        found = self._processes.status(prefix=f"{self._key}/")
        return [each.pid for each in found if each.pid and name in ("", each.name.rpartition("/")[2])]

    def operators(self) -> dict[str, list[int]]:
        """The processes of real pods by namespace, and of GKE's Ray operator."""
        found = self._runner.running() if self._runner is not None else {}
        return {**found, **({components.RAY_NAMESPACE: own} if (own := self.processes("kuberay")) else {})}

    async def etcd_alarms(self, change: str = "GET", alarm: str = "NONE") -> list[str]:
        """The active alarms of etcd. With ACTIVATE or DEACTIVATE, change one first."""
        layout = await asyncio.to_thread(self._layout)
        return await components.etcd_alarms(layout, change, alarm)

    def _wanted(self) -> tuple[object, ...]:
        view = self._view
        addons = view.ray_operator, view.managed_prometheus, view.slice_controller, view.multi_tier_checkpointing
        return *addons, tuple(drivers.of(view)), self._next_authority

    @property
    def _bundle(self) -> Path:
        """The certificates that clients are to trust."""
        name = "ca.crt" if self._authority == self._next_authority else "trusted.crt"
        return self._pki(self._next_authority) / name

    def _pki(self, number: int) -> Path:
        """The folder of an authority; the first one's also has what is not rotated."""
        return self._folder / "pki" / (f"rotated-{number}" if number else "")

    def _layout(self) -> Layout:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        authority = Authority(self._pki(self._authority), "tpuplane-twin")
        if self._next_authority != self._authority:
            following = Authority(self._pki(self._next_authority), "tpuplane-twin")
            write_if_changed(self._bundle, following.pem + authority.pem)
        layout = Layout(
            self._key,
            self._folder,
            self._tools,
            self._ports,
            authority,
            Credentials(self._folder / "auth", self._token, components.IDENTITIES),
            self._trusted,
        )
        signing_key(self._pki(0) / "service-accounts.key")
        return layout

    def _publish(self) -> None:
        """Publish the current private endpoint in the VPC, once an API server is behind it."""
        if self._place is None or not self._place.answers:
            self._vpc.withdraw(self._key)
        elif self._api is not None:
            self._vpc.publish(self._key, self._place, self._ports.port(f"{self._key}/apiserver"))

    def _connect(self, layout: Layout) -> Api:
        if self._api is None:
            self._api = Api(layout.server, tls=layout.tls(), token=self._token)
            self._pools = NodePools(self._api)
        return self._api

    async def _open_tunnel(self, layout: Layout) -> None:
        if self._tunnel is None:
            self._runner = Runner(layout, self._processes, self._images, self._view.services, self._vpc, self._place)
            tunnel = Tunnel(layout, self._runner)
            await tunnel.start()
            self._tunnel = tunnel

    async def _start_in_cluster(self, layout: Layout, api: Api, installation: Installation) -> None:
        # First, because the API server checks the metrics API at once, and then not for half a minute.
        if self._runner is not None:
            await self._runner.start(api)
        await installation.finish(api)
        await together(
            self._processes.start(components.kwok(layout, self._images.selector)),
            *([self._processes.start(components.process(layout, "kuberay"))] if self._view.ray_operator else []),
            self._serve_webhook(layout, api),
            drivers.register(api, drivers.of(self._view)),
        )
        if not self._view.addon(drivers.DISKS):
            await self._stop_disks()
        elif self._disks is None:
            self._disks = asyncio.create_task(Disks(api).run())

    async def _stop_disks(self) -> None:
        if self._disks is not None:
            self._disks.cancel()
            await asyncio.wait([self._disks])
            self._disks = None

    async def _serve_webhook(self, layout: Layout, api: Api) -> None:
        if self._webhook is None:
            webhook = TpuWebhook(layout)
            await webhook.start()
            self._webhook = webhook
        addons = {"ray": self._view.ray_operator, "slices": self._view.slice_controller}
        await self._webhook.register(api, [name for name, enabled in addons.items() if enabled])
