"""What a pod that is a real process sees of Services: their names, their addresses, and who answers."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from tpuplane_twin.cluster.addresses import dns_address
from tpuplane_twin.cluster.api import Api, Object
from tpuplane_twin.cluster.tunnel import Streams
from tpuplane_twin.pods import dns
from tpuplane_twin.pods.services import Services

from tests.support.cluster.cluster_objects import Cluster, running_pods
from tests.support.cluster.sandboxed import PYTHON, SERVICES, Pods, daemon
from tests.support.eventually import eventually

pytestmark = [
    pytest.mark.twin,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(sys.platform != "linux", reason="pods are processes on Linux only"),
]
SERVER = "import socket\ns = socket.create_server(('0.0.0.0', 8080))\nwhile True: s.accept()[0].sendall(b'served')"
CLIENT = """
import socket, sys
for name in sys.argv[1:]:
    try:
        print(name, socket.gethostbyname(name), socket.create_connection((name, 8265), 5).recv(99).decode())
    except OSError as error:
        print(name, type(error).__name__)
"""


class Everything:
    """Dials any address of the pod network."""

    def __init__(self, pods: Pods) -> None:
        self.pods = pods

    async def dial(self, host: str, port: int) -> Streams:
        made = await self.pods.sandboxes.socket()
        await asyncio.get_running_loop().sock_connect(made, (host, port))
        return await asyncio.open_connection(sock=made)


def service(name: str, **more: object) -> Object:
    ports = [{"name": "dashboard", "port": 8265, "targetPort": "http"}]
    spec = {"selector": {"app": "head"}, "ports": ports, **more}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec}


async def test_names_and_addresses_of_services_lead_to_their_ready_pods(
    cluster: Cluster, api: Api, namespace: str, tmp_path: Path
) -> None:
    del cluster
    url = f"/api/v1/namespaces/{namespace}"
    container = {"name": "head", "image": "head", "ports": [{"name": "http", "containerPort": 8080}]}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "head-0", "labels": {"app": "head"}},
        "spec": {"hostname": "zero", "subdomain": "hosts", "containers": [container]},
    }
    await api.request("POST", f"{url}/pods", body=pod)
    for item in (service("head"), service("hosts", clusterIP="None"), service("empty", selector={"app": "nobody"})):
        await api.request("POST", f"{url}/services", body=item)
    (running,) = await running_pods(api, namespace, 1)
    address = running["status"]["podIP"]
    async with daemon(tmp_path) as pods:
        services = Services(api, pods.sandboxes, Everything(pods))
        made = await pods.sandboxes.socket("udp")
        made.bind((dns_address(SERVICES), 53))
        loop = asyncio.get_running_loop()
        transport, _ = await loop.create_datagram_endpoint(lambda: dns.NameServer(services), sock=made)
        serving = asyncio.create_task(services.run())
        try:
            # What the simulated pod would run.
            await pods.run("head", address, PYTHON, "-c", SERVER)

            async def known() -> bool:
                return bool(services.addresses(namespace, "hosts") and services.addresses(namespace, "empty"))

            await eventually(known)
            (cluster_ip,) = services.addresses(namespace, "head")
            await eventually(lambda: _answers(pods, cluster_ip))
            files = {"/etc/resolv.conf": dns.resolv_conf(SERVICES, namespace)}
            names = ["head", f"head.{namespace}.svc.cluster.local", f"head.{namespace}", "empty", "example.com"]
            client = await pods.run("client", "10.64.255.9", PYTHON, "-c", CLIENT, *names, files=files)
            assert await pods.end(client) == 0
            assert pods.said("client").splitlines() == [
                f"head {cluster_ip} served",
                f"head.{namespace}.svc.cluster.local {cluster_ip} served",
                f"head.{namespace} {cluster_ip} served",
                "empty ConnectionRefusedError",
                "example.com gaierror",
            ]
            lookup = "import socket; print(socket.gethostbyname('zero.hosts'), socket.gethostbyname('hosts'))"
            client = await pods.run("lookup", "10.64.255.9", PYTHON, "-c", lookup, files=files)
            assert await pods.end(client) == 0
            assert pods.said("lookup") == f"{address} {address}\n"
        finally:
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)
            transport.close()


async def _answers(pods: Pods, address: str) -> bool:
    try:
        reader, writer = await Everything(pods).dial(address, 8265)
        said = await reader.read(99)
        writer.close()
    except OSError:
        return False
    return said == b"served"
