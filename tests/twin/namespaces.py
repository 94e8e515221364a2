"""Namespaces of a cluster with Kueue, new ones above all."""

from __future__ import annotations

from tpuplane_twin.cluster.api import Api
from tpuplane_twin.cluster.errors import ClusterError

_POD = {"metadata": {"name": "first"}, "spec": {"containers": [{"name": "first", "image": "first"}]}}


async def takes_pods(api: Api, namespace: str) -> bool:
    """Whether pods can be made in it: not before it has its service account, and Kueue's webhook has heard of it."""
    try:
        await api.request("POST", f"/api/v1/namespaces/{namespace}/pods", body=_POD, params={"dryRun": "All"})
    except ClusterError:
        return False
    return True
