"""A pod that is a real process reaches control planes of its VPC at their private addresses, if they let it in."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from ipaddress import IPv4Network
from pathlib import Path

import pytest
from tpuplane_twin.cluster.vpc import PrivateEndpoint, Vpc
from tpuplane_twin.pods.private_endpoints import PrivateEndpoints

from tests.support.cluster.sandboxed import PYTHON, Pods, daemon
from tests.support.eventually import eventually

pytestmark = [
    pytest.mark.twin,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(sys.platform != "linux", reason="pods are processes on Linux only"),
]
HUB = PrivateEndpoint("10.0.0.2", "lab", "us-central1", IPv4Network("10.64.0.0/14"), (), globally=False)
WORKER = PrivateEndpoint("10.0.16.2", "lab", "us-central1", IPv4Network("10.68.0.0/14"), (), globally=False)
POD = "10.64.0.9"
TURNED_AWAY = {"closed", "ConnectionResetError"}
CLIENT = """
import socket
try:
    print(socket.create_connection(("10.0.16.2", 443), 5).recv(99).decode() or "closed")
except OSError as error:
    print(type(error).__name__)
"""


async def say(pods: Pods) -> str:
    """What a pod of the hub hears at the worker's address."""
    process = await pods.run("client", POD, PYTHON, "-c", CLIENT)
    assert await pods.end(process) == 0
    return pods.said("client").splitlines()[-1]


async def test_a_private_endpoint_answers_whom_its_cluster_lets_in(tmp_path: Path) -> None:
    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"api server")
        writer.close()

    vpc = Vpc()
    async with daemon(tmp_path) as pods, await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        serving = asyncio.create_task(PrivateEndpoints(vpc, HUB, pods.sandboxes).run())

        async def heard(wanted: set[str]) -> None:
            async def is_heard() -> bool:
                return await say(pods) in wanted

            await eventually(is_heard)

        try:
            await heard({"OSError"})  # no such host: nothing of the VPC leads anywhere else
            vpc.publish("worker", replace(WORKER, authorized=(IPv4Network("10.64.0.0/14"),)), port)
            await heard({"api server"})
            vpc.publish("worker", WORKER, port)
            await heard(TURNED_AWAY)
            vpc.publish("worker", replace(WORKER, authorized=None, region="us-east5"), port)
            await heard(TURNED_AWAY)
            vpc.publish("worker", replace(WORKER, authorized=None, region="us-east5", globally=True), port)
            await heard({"api server"})
            vpc.withdraw("worker")
            await heard({"ConnectionRefusedError"})
        finally:
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)
