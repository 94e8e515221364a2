"""Control planes as a twin starts them: real processes, in a temporary folder."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from tpuplane_twin import tools as twin_tools
from tpuplane_twin.cluster.api import Object
from tpuplane_twin.machine.ports import PortBook
from tpuplane_twin.machine.processes import ProcessManager
from tpuplane_twin.planes.control_plane import ControlPlane
from tpuplane_twin.pods.images import Image, Images

from tests.support.cluster.cluster_objects import KEY, TOKEN, Cluster, pool


@contextlib.asynccontextmanager
async def running(
    tools: twin_tools.Tools, root: Path, description: Object, images: Sequence[Image] = ()
) -> AsyncIterator[Cluster]:
    processes, ports, folder = ProcessManager(), PortBook(root / "ports.json"), root / "clusters" / KEY
    plane = ControlPlane(KEY, folder, processes=processes, ports=ports, tools=tools, token=TOKEN, images=Images(images))
    found = Cluster(plane, folder, processes, ports, tools)
    try:
        await plane.apply_cluster(description)
        await plane.start(found.messages.append)
        await plane.pools.apply(pool("system", "e2-standard-16", 2), description)
        yield found
    finally:
        await plane.delete()
        assert not folder.exists()
        assert not processes.status()
