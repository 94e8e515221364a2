"""An API server of a few answers, in the test's own process: lists, watches, and what is asked of it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from aiohttp import web
from tpuplane_twin.cluster.api import Api, Object
from tpuplane_twin.cluster.tunnel import Streams


@dataclass
class SmallApi:
    """What it answers, and what it was asked."""

    lists: dict[str, list[Object]] = field(default_factory=dict)
    """The items by path; every other path answers as `answer` does."""
    asked: list[tuple[str, str, Object]] = field(default_factory=list)
    """Method, path and body of what was not a list."""
    answer: Callable[[str, str], tuple[int, Object]] = lambda method, path: (200, {})
    """Status and body by method and path; status 0 is an answer that breaks off."""
    client: Api = field(init=False)
    listed: int = 0
    watched: int = 0
    """How many lists and watches it answered."""
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _version: int = 1

    def change(self, path: str, *items: Object) -> None:
        """Have the list at `path` be these. Watches end, and their version is too old for the next one."""
        self.lists[path] = list(items)
        self._version += 1
        self.end_watches()

    def end_watches(self) -> None:
        """End all watches, as a server does every few minutes."""
        former, self._changed = self._changed, asyncio.Event()
        former.set()

    def said(self, method: str, ending: str) -> list[Object]:
        """The bodies of requests to paths that end so."""
        return [body for asked, path, body in self.asked if asked == method and path.endswith(ending)]

    async def serve(self, request: web.Request) -> web.StreamResponse:
        if request.query.get("watch"):
            if request.query["resourceVersion"] != str(self._version):
                gone = {"type": "ERROR", "object": {"code": 410, "reason": "Expired", "message": "too old"}}
                return web.Response(text=f"{json.dumps(gone)}\n")
            response = web.StreamResponse()
            await response.prepare(request)
            self.watched += 1
            await self._changed.wait()
            return response
        if request.method == "GET" and request.path in self.lists:
            self.listed += 1
            version = {"resourceVersion": str(self._version)}
            return web.json_response({"items": self.lists[request.path], "metadata": version})
        body = await request.json() if request.can_read_body else {}
        status, answer = self.answer(request.method, request.path)
        self.asked.append((request.method, request.path, body))
        if status == 0:
            half = web.StreamResponse(headers={"Content-Length": "100"})
            await half.prepare(request)
            if request.transport is not None:
                request.transport.close()
            return half
        return web.json_response(answer, status=status)


@contextlib.asynccontextmanager
async def small_api() -> AsyncIterator[SmallApi]:
    """One that answers until the end of the block."""
    found = SmallApi()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", found.serve)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    async with contextlib.aclosing(
        Api(f"http://{host}:{port}", tls=ssl.create_default_context(), token="a-token")
    ) as client:
        found.client = client
        yield found
    await runner.cleanup()


async def saying(answer: bytes) -> Streams:
    """A connection whose other side says that, and closes."""

    async def say(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)
        writer.close()

    server = await asyncio.start_server(say, "127.0.0.1", 0)
    try:
        return await asyncio.open_connection(*server.sockets[0].getsockname())
    finally:
        server.close()
