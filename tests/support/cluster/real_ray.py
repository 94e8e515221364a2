"""Ray clusters whose pods are real Ray processes: what the tests of them have in common."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tpuplane_twin.cluster.api import Api, ApiError, Object
from tpuplane_twin_ray import environment as ray

from tests.support import REPOSITORY
from tests.support.cluster.cluster_objects import CLUSTER, RAY
from tests.support.eventually import eventually

EXAMPLES = REPOSITORY / "examples"
PATIENCE = 900  # seconds: five Ray nodes and sixteen devices on two processors, which others may use, too
NAMESPACE = "research"
PROGRAM = "/home/ray/program"
BUCKETS = {"gcsFuseCsiDriverConfig": {"enabled": True}}
DESCRIPTION: Object = {**CLUSTER, "addonsConfig": {**CLUSTER["addonsConfig"], **BUCKETS}}


def cluster(config_map: str, **changes: Any) -> dict[str, Any]:
    """A Ray cluster on one v6e 4x4 slice, whose pods see the program in a ConfigMap."""
    image = f"rayproject/ray:{ray.version()}"
    return {
        "namespace": NAMESPACE,
        "ray_version": ray.version(),
        "config_maps": {PROGRAM: config_map},
        "workers": {"tpu": {"generation": "v6e", "topology": "4x4", "image": image}},
        **changes,
    }


async def program(api: Api, name: str, path: Path) -> None:
    """Put a program into a ConfigMap."""
    metadata = {"name": name, "namespace": NAMESPACE}
    data = {path.name: path.read_text()}  # noqa: ASYNC240
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
    await api.request("POST", f"/api/v1/namespaces/{NAMESPACE}/configmaps", body=body)


async def ended(api: Api, name: str) -> Object:
    """The status of a RayJob that has ended: Ray's job, and the pod that submits it and relays what it wrote."""

    async def look() -> Object | None:
        found = (await api.request("GET", f"{RAY}/{NAMESPACE}/rayjobs/{name}")).get("status", {})
        return found if found.get("jobDeploymentStatus") in ("Complete", "Failed") else None

    status = await eventually(look, within=PATIENCE)
    assert status is not None
    return status


async def proxy(api: Api, service: str, path: str, body: Any = None) -> Any:
    """What a Service of the cluster answers through the API server; nothing while it does not."""
    url = f"/api/v1/namespaces/{NAMESPACE}/services/http:{service}/proxy/{path}"
    try:
        return await api.request("POST" if body is not None else "GET", url, body=body)
    except (ApiError, json.JSONDecodeError):
        return {}
