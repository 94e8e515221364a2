"""A server in the supervisor's process that the API server alone reaches, over TLS on 127.0.0.1."""

from __future__ import annotations

import ssl

from aiohttp import web

from tpuplane_twin.cluster.layout import LOOPBACK, Layout


class LoopbackServer:
    """An application on a port of the cluster's layout, from `listen` to `stop`."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._runner: web.AppRunner | None = None

    async def listen(self, app: web.Application, port: str, tls: ssl.SSLContext, *, grace: float = 60) -> None:
        """Serve. Requests under way have `grace` seconds after `stop`. Raises `OSError` where the port is taken."""
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=grace)
        await runner.setup()
        await web.TCPSite(runner, LOOPBACK, self._layout.port(port), ssl_context=tls).start()
        self._runner = runner

    async def stop(self) -> None:
        """Stop listening, and end the requests under way."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None
