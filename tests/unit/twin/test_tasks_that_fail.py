"""Background tasks of the twin report failures, and continue if possible."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest
from aiohttp import web
from tpuplane_twin.daemon.supervisor import Supervisor
from tpuplane_twin.elasticity.elasticity import Elasticity
from tpuplane_twin.gcp.container.names import CLUSTER
from tpuplane_twin.gcp.store import Store

pytestmark = pytest.mark.unit


async def test_autoscaling_continues_after_an_unexpected_failure(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tpuplane_twin.elasticity.elasticity._LOOK_SECONDS", 0.0)
    store = Store(tmp_path / "state.db")
    name = "projects/acme/locations/us-east5/clusters/trainers"
    store.put(CLUSTER, name, {"name": "trainers", "status": "RUNNING", "network": "", "subnetwork": ""})
    looks, again = 0, asyncio.Event()

    def client(_: Any) -> None:
        nonlocal looks
        looks += 1
        if looks == 1:
            raise KeyError("selfLink")
        again.set()

    elasticity = Elasticity(store, client, cast(Any, None))
    running = asyncio.create_task(elasticity.run())
    try:
        async with asyncio.timeout(10):
            await again.wait()
    finally:
        running.cancel()
        await asyncio.wait([running])
        store.close()
    (record,) = caplog.records
    assert record.getMessage() == "the autoscalers could not be started and stopped; trying again"


async def test_a_twin_that_cannot_be_restored_reports_it() -> None:
    supervisor = Supervisor.__new__(Supervisor)
    supervisor.state, supervisor.app = "starting", web.Application()
    await supervisor._resume()
    assert supervisor.state == "failed"
    assert supervisor.waiting.startswith("Internal error: KeyError: ")
