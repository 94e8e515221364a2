"""Who listens at the addresses of Services: again after a failure, and for whoever has the address now."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import pytest
from tpuplane_twin.cluster.api import Object
from tpuplane_twin.cluster.tunnel import Streams
from tpuplane_twin.pods.sandbox.client import Sandboxes
from tpuplane_twin.pods.sandbox.network import new_socket
from tpuplane_twin.pods.services import Services

from tests.support.eventually import eventually
from tests.support.small_api import SmallApi, saying, small_api

pytestmark = [
    pytest.mark.unit,
    pytest.mark.skipif(sys.platform != "linux", reason="every address of 127.0.0.0/8 is there on Linux only"),
]
ADDRESS = "127.21.5.9"
SERVICES, SLICES = "/api/v1/services", "/apis/discovery.k8s.io/v1/endpointslices"


class Loopback(Sandboxes):
    """The pod network is this machine's."""

    def __init__(self) -> None:
        super().__init__(Path("/none"), lambda pid, code: None, lambda: None)

    async def socket(self, kind: str = "tcp") -> socket.socket:
        made = new_socket(kind)
        made.setblocking(False)
        return made


class Named:
    """Pods that say at which port they were dialled."""

    async def dial(self, host: str, port: int) -> Streams:
        return await saying(f"{host} {port}".encode())


@pytest.fixture
async def api() -> AsyncIterator[SmallApi]:
    async with small_api() as api:
        serving = asyncio.create_task(Services(api.client, Loopback(), Named()).run())
        yield api
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


@pytest.fixture
def port() -> int:
    with socket.create_server((ADDRESS, 0)) as probe:
        return cast(int, probe.getsockname()[1])


def service(name: str, port: int, port_name: str) -> Object:
    metadata = {"name": name, "namespace": "team"}
    return {"metadata": metadata, "spec": {"clusterIP": ADDRESS, "ports": [{"name": port_name, "port": port}]}}


def endpoints(name: str, port_name: str, number: int, *, ready: bool = True) -> Object:
    labels = {"kubernetes.io/service-name": name}
    return {
        "metadata": {"name": f"{name}-x", "namespace": "team", "labels": labels},
        "addressType": "IPv4",
        "endpoints": [{"addresses": ["10.64.0.2"], "conditions": {"ready": ready}}],
        "ports": [{"name": port_name, "port": number}],
    }


async def heard(port: int) -> str:
    """What answers at the Service's address."""
    with contextlib.suppress(OSError):
        reader, writer = await asyncio.open_connection(ADDRESS, port)
        said = await reader.read()
        writer.close()
        return said.decode()
    return "nothing"


async def test_it_is_served_again_though_connections_of_its_last_listener_are_left(api: SmallApi, port: int) -> None:
    api.change(SERVICES, service("head", port, "gcs"))
    api.change(SLICES, endpoints("head", "gcs", 6379))

    async def served() -> bool:
        return await heard(port) == "10.64.0.2 6379"

    async def rejected() -> bool:
        return await heard(port) == "nothing"

    await eventually(served)
    api.change(SLICES, endpoints("head", "gcs", 6379, ready=False))
    await eventually(rejected)
    api.change(SLICES, endpoints("head", "gcs", 6379))
    await eventually(served)


async def test_an_address_that_is_taken_is_tried_again(
    api: SmallApi, port: int, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.create_server((ADDRESS, port)):
        api.change(SERVICES, service("head", port, "gcs"))
        api.change(SLICES, endpoints("head", "gcs", 6379))
        await eventually(lambda: f"{ADDRESS}:{port} is not served in pods" in caplog.text)

    async def served() -> bool:
        return await heard(port) == "10.64.0.2 6379"

    await eventually(served)


async def test_who_has_the_address_now_answers(api: SmallApi, port: int) -> None:
    async def served() -> bool:
        return await heard(port) == wanted

    for name, port_name, number in (("head", "gcs", 6379), ("head", "client", 10001), ("other", "gcs", 6380)):
        api.change(SERVICES, service(name, port, port_name))
        api.change(SLICES, endpoints(name, port_name, number))
        wanted = f"10.64.0.2 {number}"
        await eventually(served)
