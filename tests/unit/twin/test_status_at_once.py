"""The status asks all clusters at once: one that does not answer costs seconds, not seconds for each read."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tpuplane_twin.cluster.pools import NodeSummary
from tpuplane_twin.fleet import Fleet
from tpuplane_twin.gcp import Store
from tpuplane_twin.gcp.container.names import CLUSTER
from tpuplane_twin.paths import TwinPaths
from tpuplane_twin.ports import PortBook
from tpuplane_twin.processes import ProcessManager
from tpuplane_twin.status import describe
from tpuplane_twin.tools import Tools

pytestmark = pytest.mark.unit

CLUSTERS = ("servers", "trainers")


class FleetOfMany(Fleet):
    """A fleet in which no read ends before all of them are under way."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.all_read = asyncio.Barrier(3 * len(CLUSTERS))

    async def nodes(self, context: str) -> dict[str, NodeSummary]:
        await self.all_read.wait()
        return {}

    async def queues(self, context: str) -> list[dict[str, Any]]:
        await self.all_read.wait()
        return [{"name": context}]

    async def ray(self, context: str) -> dict[str, Any] | None:
        await self.all_read.wait()
        return None


async def test_no_read_waits_for_another(tmp_path: Path) -> None:
    paths, processes = TwinPaths("local", tmp_path / "local").make(), ProcessManager()
    store = Store(paths.gcp / "state.db")
    for name in CLUSTERS:
        store.put(
            CLUSTER,
            f"projects/acme/locations/us-east5/clusters/{name}",
            {"status": "RUNNING", "currentMasterVersion": "1.35.4-gke.1000000"},
        )
    fleet = FleetOfMany(paths, processes, PortBook(paths.ports), Tools({}, {}), "token", lambda _: None)
    async with asyncio.timeout(10):
        found = await describe(store, fleet, processes)
    store.close()
    assert [(it["name"], it["queues"]) for it in found["clusters"]] == [
        (name, [{"name": f"gke_acme_us-east5_{name}"}]) for name in CLUSTERS
    ]
