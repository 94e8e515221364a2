# ruff: noqa: D102 - the methods of a backend are described by `ClusterBackend`
"""The backend of Google's API: one control plane for each cluster."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial

import aiohttp
import yaml
from tpuplane.contexts import GkeCluster

from tpuplane_twin.cluster.api import Api, ClusterError
from tpuplane_twin.cluster.identities import kubeconfig
from tpuplane_twin.cluster.pki import Authority
from tpuplane_twin.cluster.vpc import Vpc
from tpuplane_twin.gcp.backend import BackendError, Endpoint, Instance, Numbers
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.machine.files import DiskFull, require_space, write_atomic
from tpuplane_twin.machine.paths import TwinPaths
from tpuplane_twin.machine.ports import PortBook, PortTaken
from tpuplane_twin.machine.processes import ProcessFailed, ProcessManager
from tpuplane_twin.planes.control_plane import ControlPlane
from tpuplane_twin.pods.images import Images
from tpuplane_twin.tools import Tools

_EXPECTED = (aiohttp.ClientError, ClusterError, DiskFull, OSError, PortTaken, ProcessFailed)

# etcd allocates 128 MiB at its start; the rest is data and the logs of the first day.
_CLUSTER_MIB = 400

_KUBECONFIG_SECONDS = 0.5

log = logging.getLogger(__name__)


@contextlib.asynccontextmanager
async def _as_backend_error() -> AsyncIterator[None]:
    try:
        yield
    except _EXPECTED as error:
        raise BackendError(str(error)) from error


class Fleet:
    """The `ClusterBackend` of the twin. `report` gets what a start waits for; `trusted` signs servers' certificates."""

    def __init__(
        self,
        paths: TwinPaths,
        processes: ProcessManager,
        ports: PortBook,
        tools: Tools,
        token: str,
        report: Callable[[str], None],
        trusted: Authority | None = None,
        images: Images | None = None,
    ) -> None:
        self._paths = paths
        self._report = report
        self._new_plane = partial(
            ControlPlane,
            processes=processes,
            ports=ports,
            tools=tools,
            token=token,
            trusted=trusted,
            vpc=Vpc(),
            images=images or Images(),
        )
        self._planes: dict[str, ControlPlane] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    async def create_cluster(self, cluster: Json) -> Endpoint:
        name = context_name(cluster)
        async with self._locks.setdefault(name, asyncio.Lock()), _as_backend_error():
            plane, folder = self._planes.get(name), self._paths.clusters / name
            if plane is None:
                require_space(folder, _CLUSTER_MIB, "a cluster's control plane")
                plane = self._planes[name] = self._new_plane(name, folder)
            await plane.apply_cluster(cluster)
            await plane.start(lambda waiting: self._report(f"{cluster['name']}: {waiting}"))
            self._write_kubeconfig()
            return Endpoint(plane.endpoint, plane.ca_certificate)

    @_as_backend_error()
    async def update_cluster(self, cluster: Json) -> None:
        await self._plane(cluster).apply_cluster(cluster)

    async def delete_cluster(self, cluster: Json) -> None:
        name = context_name(cluster)
        async with self._locks.setdefault(name, asyncio.Lock()), _as_backend_error():
            plane = self._planes.pop(name, None) or self._new_plane(name, self._paths.clusters / name)
            await plane.delete()
            self._write_kubeconfig()

    @_as_backend_error()
    async def apply_node_pool(self, cluster: Json, pool: Json) -> None:
        await self._plane(cluster).pools.apply(pool, cluster)

    @_as_backend_error()
    async def delete_node_pool(self, cluster: Json, pool: Json) -> None:
        await self._plane(cluster).pools.delete(pool["name"])

    @_as_backend_error()
    async def broken(self, cluster: Json, pool: Json) -> Numbers:
        return await self._plane(cluster).pools.broken(pool, cluster)

    @_as_backend_error()
    async def repair_node_pool(self, cluster: Json, pool: Json, broken: Numbers) -> None:
        await self._plane(cluster).pools.repair(pool, cluster, broken)

    @_as_backend_error()
    async def instances(self, cluster: Json, pool: str = "") -> list[Instance]:
        plane = self._planes.get(context_name(cluster))
        return await plane.instances(pool) if plane is not None else []

    @property
    def planes(self) -> Mapping[str, ControlPlane]:
        """The started control planes by the context of their cluster."""
        return self._planes

    def client(self, cluster: Json) -> Api | None:
        """The twin's client of the cluster's API server; None until it runs."""
        plane = self._planes.get(context_name(cluster))
        return plane.api if plane is not None else None

    async def watch_kubeconfig(self) -> None:
        """Add the authorities that the kubeconfig lacks, until cancelled."""
        seen = checked = b""
        while True:
            with contextlib.suppress(OSError):
                content = self._paths.kubeconfig.read_bytes()
                # Other programs write it in several steps.
                if content == seen != checked:
                    checked = content
                    try:
                        self.add_authorities(content)
                    except Exception:
                        log.exception("the kubeconfig keeps clusters without their authority")
                seen = content
            await asyncio.sleep(_KUBECONFIG_SECONDS)

    def add_authorities(self, content: bytes) -> None:
        """Write the kubeconfig `content` with the authority of each cluster whose entry is only its address.

        gcloud leaves it out for DNS endpoints, whose certificates are public on Google Cloud.
        """
        with contextlib.suppress(yaml.YAMLError, AttributeError, KeyError, TypeError):
            document = yaml.safe_load(content)
            planes = [(entry, self._planes.get(entry["name"])) for entry in document["clusters"]]
            complete = [
                (entry, plane.cluster_entry()) for entry, plane in planes if plane is not None and plane.has_authority
            ]
            lacking = [(entry, own) for entry, own in complete if entry["cluster"] == {"server": own["server"]}]
            for entry, own in lacking:
                entry["cluster"] = own
            if lacking:
                write_atomic(self._paths.kubeconfig, yaml.safe_dump(document, sort_keys=False))

    async def close(self) -> None:
        """Stop every control plane; their data stays."""
        await asyncio.gather(*(plane.stop() for plane in self._planes.values()))

    def _plane(self, cluster: Json) -> ControlPlane:
        plane = self._planes.get(context_name(cluster))
        if plane is None:
            raise BackendError(f"the control plane of {cluster['name']} is not running")
        return plane

    def _write_kubeconfig(self) -> None:
        plugin = {
            "exec": {
                "apiVersion": "client.authentication.k8s.io/v1beta1",
                "command": str(self._paths.bin / "gke-gcloud-auth-plugin"),
                "interactiveMode": "Never",
                "provideClusterInfo": True,
            }
        }
        # A control plane that another call starts is added by that call.
        names = sorted(name for name, plane in self._planes.items() if plane.has_authority)
        clusters = {name: self._planes[name].cluster_entry() for name in names}
        write_atomic(self._paths.kubeconfig, kubeconfig(clusters, plugin, self._current_context(names)))

    def _current_context(self, names: list[str]) -> str:
        """The former current context as long as its cluster exists, else the first."""
        with contextlib.suppress(OSError, yaml.YAMLError, AttributeError, ValueError):
            former = yaml.safe_load(self._paths.kubeconfig.read_bytes()).get("current-context")
            if former and (self._paths.clusters / former).is_dir():
                return str(former)
        return names[0] if names else ""


def context_name(cluster: Json) -> str:
    """The kubeconfig context of a cluster, which `gcloud container clusters get-credentials` writes."""
    project = cluster["selfLink"].split("/projects/", 1)[1].split("/", 1)[0]
    return GkeCluster(project, cluster["location"], cluster["name"]).context
