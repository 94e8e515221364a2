"""Probing whether a container is ready, as a kubelet does."""

import asyncio
import contextlib
import ssl
from collections.abc import Awaitable, Callable

from tpuplane_twin.cluster.api import Object
from tpuplane_twin.cluster.tunnel import Dialler, Unreachable
from tpuplane_twin.pods.sandbox.client import SandboxError

_SLOWER = 5  # times: one machine runs what has a machine for each pod elsewhere

Execute = Callable[[list[str]], Awaitable[int]]
"""Runs a command in the container and gives its exit code; cancelled, it ends the command."""


async def answers(probe: Object, container: Object, address: str, dialler: Dialler, execute: Execute) -> bool:
    """Whether the probe of `container` at `address` succeeds now."""
    try:
        async with asyncio.timeout(_SLOWER * probe.get("timeoutSeconds", 1)):
            if request := probe.get("httpGet"):
                return await _get(request, container, request.get("host") or address, dialler)
            if target := probe.get("tcpSocket"):
                _, writer = await dialler.dial(address, port_number(target["port"], container))
                writer.close()
            if command := probe.get("exec"):
                return await execute(command["command"]) == 0
    # A port that the container has no name for, or an answer that is not HTTP, is a ValueError.
    except (SandboxError, Unreachable, OSError, TimeoutError, EOFError, ValueError):
        return False
    return True


def port_number(port: int | str, container: Object) -> int:
    """A port by its number, or by the name that the container gives it."""
    named = {entry.get("name"): entry["containerPort"] for entry in container.get("ports", ())}
    return int(named.get(port, port))


async def _get(request: Object, container: Object, address: str, dialler: Dialler) -> bool:
    reader, writer = await dialler.dial(address, port_number(request["port"], container))
    try:
        if request.get("scheme", "HTTP") == "HTTPS":
            # A kubelet does not look at the certificate either.
            tls = ssl.create_default_context()
            tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
            await writer.start_tls(tls)
        writer.write(
            f"GET {request.get('path', '/')} HTTP/1.1\r\nHost: {address}\r\n"
            "User-Agent: kube-probe/1.36\r\nConnection: close\r\n\r\n".encode()
        )
        status = (await reader.readline()).split()
        return len(status) > 1 and 200 <= int(status[1]) < 400
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
