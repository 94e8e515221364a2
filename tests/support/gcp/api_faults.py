"""Faults of Google's API in tests: add and read them, and a pool whose requests meet them."""

from __future__ import annotations

from typing import Any

from tpuplane_twin.gcp.data_files import data

from tests.support.gcp.twin_api import CLUSTERS, Api, slice_pool

POOLS = f"{CLUSTERS}/c1/nodePools"
FIXED: dict[str, Any] = {"autoscaling": {}, "initialNodeCount": 4}
POOL = {"nodePool": slice_pool("trainer-0", **FIXED)}
KINDS: dict[str, Any] = data("faults")["kinds"]
LABELS = {"labels": {"labels": {"a": "b"}}}


async def fault(api: Api, kind: str, method: str = "nodePools.create", **fields: Any) -> list[Any]:
    """Add a fault; all of them."""
    found = await api.call("POST", "/twin/faults", {"kind": kind, "method": method, **fields})
    return list(found["faults"])


async def left(api: Api) -> dict[str, Any]:
    return await api.call("GET", "/twin/faults")


async def pool(api: Api) -> tuple[str, str]:
    found = await api.call("GET", f"{POOLS}/trainer-0")
    return found["status"], found.get("statusMessage", "")
