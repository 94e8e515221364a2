"""The dashboard of a simulated Ray head."""

from __future__ import annotations

from typing import Any, cast

import pytest
from tpuplane_twin.cluster.api import Api
from tpuplane_twin.pods.ray_head import RayHeads

pytestmark = pytest.mark.unit


class NoJobs:
    """A cluster without RayJobs."""

    async def list(self, kind: str, namespace: str, **_: Any) -> list[object]:
        return []


async def test_a_connection_ends_with_its_answer() -> None:
    """The API server would send the requests to the next head at the same address over it."""
    head = {"metadata": {"uid": "first", "namespace": "default"}}
    reader, writer = await RayHeads().connect(cast(Api, NoJobs()), head)
    writer.write(b"GET /api/jobs/train HTTP/1.1\r\nHost: head\r\n\r\n")
    answer, _, headers = (await reader.readuntil(b"\r\n\r\n")).partition(b"\r\n")
    writer.close()
    assert b"404" in answer
    assert b"connection: close" in headers.lower()
