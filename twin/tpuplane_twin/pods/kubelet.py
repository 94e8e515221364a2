"""The part of a kubelet's own API that serves `kubectl logs`, for every node of the cluster at once."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from aiohttp import web

from tpuplane_twin.cluster.layout import Layout, LoopbackServer

PORT = "kubelet"
NODE_PORT = 10250
"""Where the API server thinks that a node's kubelet is."""

_LOOK = 0.3  # seconds between looks at a log that is followed
_CHUNK = 64 * 1024

Find = Callable[[str, str, str], Path | None]


class Kubelet(LoopbackServer):
    """Serves the logs of process pods over TLS on 127.0.0.1, to the API server alone."""

    def __init__(self, layout: Layout, find: Find) -> None:
        """`find` gives the log of a pod's container by namespace and names; None for one that is simulated."""
        super().__init__(layout)
        self._find = find

    async def start(self) -> None:
        """Listen. Raises `OSError` where the port is taken."""
        app = web.Application()
        app.router.add_get("/containerLogs/{namespace}/{pod}/{container}", self._logs)
        await self.listen(app, PORT, self._layout.serving(PORT), grace=0.1)

    async def _logs(self, request: web.Request) -> web.StreamResponse:
        namespace, name = request.match_info["namespace"], request.match_info["pod"]
        asked = (namespace, name, request.match_info["container"])
        path = self._find(*asked)
        if path is None:
            # A kubelet's answer where there is no log yet: the only one whose text reaches the user.
            return web.Response(status=400, text=f"the pod {namespace}/{name} is simulated: nothing runs in it")
        response = web.StreamResponse(headers={"Content-Type": "text/plain"})
        await response.prepare(request)
        follow = request.query.get("follow") == "true"
        lines = request.query.get("tailLines")
        limit = int(request.query.get("limitBytes", 1 << 62))
        # It ends when the client closes the connection.
        with contextlib.suppress(FileNotFoundError, ConnectionError), path.open("rb") as log:
            if lines is not None:
                log.seek(await asyncio.to_thread(start_of_tail, log, int(lines)))
            while limit > 0:
                if chunk := log.read(min(_CHUNK, limit)):
                    limit -= len(chunk)
                    await response.write(chunk)
                elif follow and self._find(*asked) == path:
                    # One that was cut down meanwhile ends earlier than it did.
                    log.seek(min(log.tell(), path.stat().st_size))
                    await asyncio.sleep(_LOOK)
                else:
                    break
        return response


def start_of_tail(log: BinaryIO, lines: int) -> int:
    """Where the last `lines` lines begin, in bytes."""
    tail = deque(log, maxlen=lines)
    return log.tell() - sum(map(len, tail))
