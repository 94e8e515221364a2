"""Services as a pod that is a real process sees them: their addresses answer, and their names resolve."""

import asyncio
import random
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from tpuplane_twin.cluster.api import Api, Object
from tpuplane_twin.cluster.mirror import Mirror
from tpuplane_twin.cluster.tunnel import Dialler, Streams, Unreachable
from tpuplane_twin.pods.listeners import Address, Listeners, Reach
from tpuplane_twin.pods.sandbox.client import Sandboxes

_NAME = "kubernetes.io/service-name"


@dataclass(frozen=True, slots=True)
class Service:
    """A Service: its address ("None" where it is headless) and its TCP ports, name by number."""

    namespace: str
    name: str
    address: str
    ports: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Endpoints:
    """A part of a Service's pods: (address, host name, ready) of each, and the number of each named port."""

    namespace: str
    service: str
    pods: tuple[tuple[str, str, bool], ...]
    ports: tuple[tuple[str, int], ...]


class Services:
    """The Services of one cluster, served in its pod network."""

    def __init__(self, api: Api, sandboxes: Sandboxes, dialler: Dialler) -> None:
        """`dialler` reaches pods."""
        self._changed = asyncio.Event()
        self._services: Mirror[Service] = Mirror(api, "Service", service, self._changed)
        self._endpoints: Mirror[Endpoints] = Mirror(api, "EndpointSlice", endpoints, self._changed)
        self._dialler = dialler
        self._listeners = Listeners(sandboxes, "Service", self._changed)

    async def run(self) -> None:
        """Serve until cancelled. The runner serves the Service `kubernetes`."""
        mirrors = [asyncio.create_task(mirror.run()) for mirror in (self._services, self._endpoints)]
        try:
            while True:
                self._changed.clear()
                await self._listeners.listen(self._wanted())
                await self._changed.wait()
        finally:
            for mirror in mirrors:
                mirror.cancel()
            self._listeners.close()

    def addresses(self, namespace: str, name: str) -> list[str]:
        """What the name of a Service means: its address, or its ready pods' where it is headless."""
        found = self._services.items.get(f"{namespace}/{name}")
        if found is None:
            return []
        if found.address != "None":
            return [found.address]
        return [address for address, _, ready in self._pods(namespace, name) if ready]

    def host(self, namespace: str, name: str, host: str) -> list[str]:
        """The pods of a headless Service that are called `host`, ready or not: they find each other by name."""
        return [address for address, called, _ in self._pods(namespace, name) if called == host]

    def _wanted(self) -> dict[Address, Reach]:
        return {
            (found.address, port): partial(self._reach, found, name)
            for found in self._services.items.values()
            for port, name in found.ports
            if found.address not in ("None", "") and (found.namespace, found.name) != ("default", "kubernetes")
            # One without a ready pod refuses connections, as kube-proxy does it.
            if self._targets(found, name)
        }

    async def _reach(self, found: Service, port: str, source: str) -> Streams:
        targets = self._targets(found, port)
        if not targets:
            raise Unreachable("no pod of it is ready")
        return await self._dialler.dial(*random.choice(targets))  # noqa: S311  (a choice, not a secret)

    def _targets(self, found: Service, port: str) -> list[tuple[str, int]]:
        return [
            (address, number)
            for part in self._parts(found.namespace, found.name)
            for name, number in part.ports
            for address, _, ready in part.pods
            if name == port and ready
        ]

    def _pods(self, namespace: str, name: str) -> Iterable[tuple[str, str, bool]]:
        return (pod for part in self._parts(namespace, name) for pod in part.pods)

    def _parts(self, namespace: str, name: str) -> list[Endpoints]:
        found = self._endpoints.items.values()
        return [part for part in found if (part.namespace, part.service) == (namespace, name)]


def service(item: Object) -> Service | None:
    """A Service that has an address or is headless; None for one that is a name of something else."""
    spec, metadata = item["spec"], item["metadata"]
    if spec.get("type") == "ExternalName":
        return None
    ports = tuple(
        (port["port"], port.get("name", "")) for port in spec.get("ports", ()) if port.get("protocol", "TCP") == "TCP"
    )
    return Service(metadata["namespace"], metadata["name"], spec.get("clusterIP", ""), ports)


def endpoints(item: Object) -> Endpoints | None:
    """The endpoints of a Service; None for those that belong to no Service."""
    metadata = item["metadata"]
    name = metadata.get("labels", {}).get(_NAME)
    if name is None or item.get("addressType") != "IPv4":
        return None
    pods = tuple(
        (found["addresses"][0], found.get("hostname", ""), bool(found.get("conditions", {}).get("ready", True)))
        for found in item.get("endpoints") or ()
    )
    ports = tuple((port.get("name") or "", port["port"]) for port in item.get("ports") or () if port.get("port"))
    return Endpoints(metadata["namespace"], name, pods, ports)
