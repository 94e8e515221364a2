"""What stands in the twin's clusters, as they say themselves: hosts that are ready, queues, Ray's pods."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from tpuplane_twin.cli.ray_progress import describe_ray


def with_clusters(status: Mapping[str, Any], kubeconfig: Path) -> dict[str, Any]:
    """The supervisor's status, and what each cluster says of itself; all are asked at once.

    `nodesReady` of a pool, `queues`, `outsideQueues` and `ray` of a cluster are None where it could not be read, and
    `unread` of the cluster says why.
    """
    read = partial(_read, kubeconfig, real_ray=status["realRay"])
    with ThreadPoolExecutor(max_workers=len(status["clusters"]) or 1) as threads:
        return {**status, "clusters": list(threads.map(read, status["clusters"]))}


def _read(kubeconfig: Path, cluster: dict[str, Any], *, real_ray: bool) -> dict[str, Any]:
    from tpuplane.status.reading import Cluster, NoContext, Unreachable  # noqa: PLC0415 (slow to import)

    ready: dict[str, int] | None = None
    found: dict[str, Any] = {}
    unread = ""
    try:
        objects = Cluster(kubeconfig, cluster["context"]).read()
        found = objects.described()
        ready = {pool["name"]: pool["hostsReady"] for pool in found["nodePools"]}
        if real_ray:
            found["ray"] = describe_ray(objects.pods)
    except NoContext:
        unread = "its control plane has not started"
    except Unreachable as error:
        unread = str(error)
    except Exception as error:  # anybody may put an odd object into a cluster
        unread = f"an object is not as foreseen ({type(error).__name__}: {error})"
    pools = [
        {**pool, "nodesReady": None if ready is None else ready.get(pool["name"], 0)} for pool in cluster["nodePools"]
    ]
    return {
        **cluster,
        "nodePools": pools,
        **{key: found.get(key) for key in ("queues", "outsideQueues", "ray")},
        "unread": unread,
    }
