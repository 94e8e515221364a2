"""What the API server dials inside the cluster goes through the tunnel, and nothing of it leaves the machine."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from tpuplane_twin.cluster.api import Api, ApiError, Object
from tpuplane_twin.cluster.identities import Credentials
from tpuplane_twin.cluster.layout import Layout
from tpuplane_twin.cluster.pki import Authority
from tpuplane_twin.cluster.tunnel import PORT, Streams, Tunnel, Unreachable
from tpuplane_twin.machine.ports import PortBook
from tpuplane_twin.tools import Tools

from tests.support.cluster.cluster_objects import rejection, running_pods
from tests.support.eventually import eventually

pytestmark = [pytest.mark.twin, pytest.mark.asyncio(loop_scope="session")]


class OnePod:
    """Knows one address, behind which is a port of this machine."""

    def __init__(self, port: int) -> None:
        self.port = port

    async def dial(self, host: str, port: int) -> Streams:
        if (host, port) != ("10.64.0.2", 9443):
            raise Unreachable("no pod has this address")
        return await asyncio.open_connection("127.0.0.1", self.port)


async def shout(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while line := await reader.readline():
        writer.write(line.upper())
    writer.close()


@pytest_asyncio.fixture(loop_scope="session")
async def layout(tools: Tools, tmp_path: Path) -> AsyncIterator[Layout]:
    """A tunnel of its own, to a server that shouts."""
    authority = Authority(tmp_path / "pki", "test")
    ports = PortBook(tmp_path / "ports.json")
    layout = Layout("test", tmp_path, tools, ports, authority, Credentials(tmp_path / "auth", "token", ()))
    async with await asyncio.start_server(shout, "127.0.0.1", 0) as server:
        tunnel = Tunnel(layout, OnePod(server.sockets[0].getsockname()[1]))
        await tunnel.start()
        yield layout
        await tunnel.stop()


async def connect(layout: Layout, request: str, *, known: bool = True) -> tuple[str, Streams]:
    """The answer to a request, and the connection it came on."""
    tls = layout.tls()
    if known:
        pair = layout.authority.issue("tunnel-client")
        tls.load_cert_chain(pair.certificate, pair.key)
    reader, writer = await asyncio.open_connection("127.0.0.1", layout.port(PORT), ssl=tls)
    writer.write(f"{request} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    answer = await reader.readuntil(b"\r\n\r\n")
    return answer.decode().partition("\r\n")[0], (reader, writer)


async def test_a_connection_reaches_what_is_behind_the_address(layout: Layout) -> None:
    answer, (reader, writer) = await connect(layout, "CONNECT 10.64.0.2:9443")
    assert answer == "HTTP/1.1 200 OK"
    for line in (b"hello\n", b"x" * 50_000 + b"\n"):
        writer.write(line)
        assert await reader.readexactly(len(line)) == line.upper()
    writer.close()


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        ("CONNECT 10.64.0.3:9443", "HTTP/1.1 502 no pod has this address"),
        ("CONNECT 127.0.0.1:22", "HTTP/1.1 502 no pod has this address"),
        ("CONNECT example.com:443", "HTTP/1.1 502 no pod has this address"),
        ("GET http://10.64.0.2:9443/", "HTTP/1.1 405 only CONNECT address:port"),
    ],
)
async def test_everything_else_is_rejected(layout: Layout, request_: str, answer: str) -> None:
    said, (reader, writer) = await connect(layout, request_)
    assert said == answer
    assert await reader.read() == b""
    writer.close()


async def test_a_connection_without_a_certificate_is_rejected(layout: Layout) -> None:
    with pytest.raises((ssl.SSLError, ConnectionError, asyncio.IncompleteReadError)):
        await connect(layout, "CONNECT 10.64.0.2:9443", known=False)


def service(name: str, **more: object) -> Object:
    spec = {"selector": {"app": "web"}, "ports": [{"port": 443, "targetPort": 9443}], **more}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec}


def pod(name: str) -> Object:
    container = {"name": "web", "image": "web", "ports": [{"containerPort": 9443}]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": "web"}},
        "spec": {"containers": [container]},
    }


async def test_a_services_endpoints_are_its_ready_pods(api: Api, namespace: str) -> None:
    url = f"/api/v1/namespaces/{namespace}"
    await api.request("POST", f"{url}/services", body=service("web"))
    await api.request("POST", f"{url}/pods", body=pod("web"))
    (running,) = await running_pods(api, namespace, 1)
    address = running["status"]["podIP"]
    assert address.startswith("10.64.")

    async def endpoints() -> list[tuple[list[str], bool]]:
        slices = await api.request("GET", f"/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices")
        found = [endpoint for item in slices["items"] for endpoint in item["endpoints"] or ()]
        return [(endpoint["addresses"], endpoint["conditions"]["ready"]) for endpoint in found]

    async def ready() -> bool:
        return await endpoints() == [([address], True)]

    await eventually(ready)

    async def listed() -> list[str]:
        # By another controller, and so later, perhaps.
        found = (await api.request("GET", f"{url}/endpoints"))["items"]
        subsets = [subset for item in found for subset in item.get("subsets", ())]
        return [ready_address["ip"] for subset in subsets for ready_address in subset.get("addresses", ())]

    assert await eventually(listed) == [address]
    cluster_ip = (await api.request("GET", f"{url}/services/web"))["spec"]["clusterIP"]
    assert cluster_ip.startswith("10.32.")


@pytest.mark.parametrize("target", ["pods/web:9443", "services/https:web:443"])
async def test_a_simulated_pod_is_named_when_it_is_dialled(api: Api, namespace: str, target: str) -> None:
    url = f"/api/v1/namespaces/{namespace}"
    await api.request("POST", f"{url}/services", body=service("web"))
    await api.request("POST", f"{url}/pods", body=pod("web"))
    await running_pods(api, namespace, 1)

    async def dialled() -> str:
        # A Service has no endpoints for a moment.
        message = await rejection(api.request("GET", f"{url}/{target}/proxy/"))
        return message if "endpoints" not in message else ""

    assert f"the pod {namespace}/web is simulated and nothing runs in it" in await eventually(dialled)


async def test_a_webhook_keeps_its_service_and_is_asked_through_it(api: Api, namespace: str) -> None:
    """Its configuration names a Service, as published ones do; the answer is Kubernetes' own where no pod is ready."""
    configuration = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": f"{namespace}-check"},
        "webhooks": [
            {
                "name": "check.example.com",
                "admissionReviewVersions": ["v1"],
                "sideEffects": "None",
                "failurePolicy": "Fail",
                "clientConfig": {"service": {"name": "check", "namespace": namespace, "path": "/check"}},
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
                "rules": [
                    {"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}
                ],
            }
        ],
    }
    url = f"/api/v1/namespaces/{namespace}"
    await api.request("POST", f"{url}/services", body=service("check"))
    await api.apply(configuration)
    try:
        config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "any-"}}

        async def rejected(words: str) -> bool:
            try:
                await api.request("POST", f"{url}/configmaps", body=config_map)
            except ApiError as error:
                return words in str(error)
            return False

        await eventually(lambda: rejected('no endpoints available for service "check"'))
        await api.request("POST", f"{url}/pods", body=pod("web"))
        await running_pods(api, namespace, 1)
        await eventually(lambda: rejected(f"the pod {namespace}/web is simulated and nothing runs in it"))
    finally:
        await api.delete("ValidatingWebhookConfiguration", f"{namespace}-check")
