"""ComputeClass objects, and how a control plane judges them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest_asyncio
import yaml
from tpuplane_twin.cluster.api import Api, ApiError, Object

from tests.support.eventually import eventually

API_VERSION = "cloud.google.com/v1"

# The output of `kubectl get crd computeclasses.cloud.google.com -o yaml` with a GKE cluster.
ORACLE = os.environ.get("TPUPLANE_GKE_COMPUTE_CLASS_CRD", "")
ORACLE_GROUP = "oracle.tpuplane.dev"


def compute_class(case: dict[str, Any], api_version: str = API_VERSION) -> Object:
    body = case["object"] if "object" in case else {"spec": case["spec"]}
    return {"apiVersion": api_version, "kind": "ComputeClass", "metadata": {"name": "judged"}, **body}


async def verdict(api: Api, item: Object) -> str:
    """What the API server says to `item` without keeping it; empty when it takes it."""
    url = f"/apis/{item['apiVersion']}/computeclasses"
    try:
        await api.request("POST", url, body=item, params={"dryRun": "All", "fieldValidation": "Strict"})
    except ApiError as error:
        assert error.status in (400, 422), str(error)
        return str(error)
    return ""


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def definitions(cluster: Any) -> AsyncIterator[list[str]]:
    """The apiVersion of the twin's definition, and the one of a GKE cluster's definition if the tests have one."""
    if not ORACLE:
        yield [API_VERSION]
        return
    crd = yaml.safe_load(await asyncio.to_thread(Path(ORACLE).read_text, encoding="utf-8"))
    crd["spec"]["group"] = ORACLE_GROUP
    crd["spec"]["names"]["shortNames"] = []
    crd["metadata"] = {"name": f"computeclasses.{ORACLE_GROUP}"}
    async with cluster.api() as api:
        await api.apply(crd)

        async def served() -> bool:
            try:
                await api.request("GET", f"/apis/{ORACLE_GROUP}/v1/computeclasses")
            except ApiError:
                return False
            return True

        await eventually(served)
        yield [API_VERSION, f"{ORACLE_GROUP}/v1"]
        await api.delete("CustomResourceDefinition", crd["metadata"]["name"])
