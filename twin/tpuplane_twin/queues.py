"""What Kueue knows of a cluster's queues, read by the twin's own client; `tpuplane.status` puts it into words."""

from __future__ import annotations

from typing import Any

import aiohttp
from tpuplane.labels import GKE_POOL_LABEL
from tpuplane.status import describe_queues

from tpuplane_twin.cluster.api import Api
from tpuplane_twin.cluster.errors import ClusterError

_POD_SET = "kueue.x-k8s.io/podset"


async def read_queues(api: Api) -> list[dict[str, Any]]:
    """The cluster's queues; none where Kueue is not installed or the cluster does not answer."""
    try:
        queues = await api.list("ClusterQueue")
        if not queues:
            return []
        workloads = await api.list("Workload")
        pods = await api.list("Pod", labelSelector=_POD_SET) if workloads else []
        nodes = await api.list("Node", labelSelector=GKE_POOL_LABEL) if workloads else []
        return describe_queues(queues, await api.list("LocalQueue"), workloads, pods, nodes)
    # Refused, too: for a moment after its start the API server has no storage for custom resources (429).
    except (ClusterError, aiohttp.ClientError, OSError):
        return []
