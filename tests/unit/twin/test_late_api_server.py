"""An API server that accepts connections and answers nothing, as while it is stopped."""

from __future__ import annotations

import asyncio

import pytest
from tpuplane_twin.cluster import api
from tpuplane_twin.cluster.api import ClusterError

from tests.support.small_api import small_api

pytestmark = pytest.mark.unit


async def test_it_is_an_error_that_callers_try_again_after(monkeypatch: pytest.MonkeyPatch) -> None:
    """Incidents and operations of the twin go on when it answers again."""
    monkeypatch.setattr(api, "_ANSWER_SECONDS", 0.05)
    monkeypatch.setattr(api, "_PATIENCE", 0.0)
    async with small_api() as server:

        async def watch() -> None:
            async for _ in server.client.watch("Node", "1"):
                pass

        watching = asyncio.create_task(watch())
        with pytest.raises(ClusterError, match=r"the API server at http:.* does not answer: no answer in 0\.05 s"):
            await server.client.request("GET", "/api/v1/nodes?watch=1&resourceVersion=1")
        assert not watching.done(), "a watch lasts until the server ends it"
        watching.cancel()
