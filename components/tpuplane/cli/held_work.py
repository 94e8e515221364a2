"""The jobs that hold quota which a change takes from their queue, from the clusters themselves."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from tpuplane.contexts import GkeCluster
from tpuplane.diff import Diff, Rejection
from tpuplane.status.reading import Cluster, NoContext, Unreachable


def with_held_work(found: Diff, kubeconfig: Path | None) -> tuple[Diff, list[str]]:
    """The diff with the jobs of each queue that loses a flavor, and why clusters were not read.

    A cluster is the context `gke_PROJECT_LOCATION_NAME` of the kubeconfig, as `gcloud` and tpuplane name it.
    """
    read: dict[str, list[dict[str, Any]] | None] = {}
    unread: list[str] = []
    rejected = []
    for it in found.rejected:
        if it.queue and it.cluster not in read:
            try:
                read[it.cluster] = Cluster(kubeconfig, _context(found, it.cluster)).read().described()["queues"]
            except (NoContext, Unreachable) as error:
                read[it.cluster] = None
                unread.append(f"the work in {it.cluster} is not known: {error}")
        queues = read.get(it.cluster)
        rejected.append(it if queues is None else replace(it, held_by=tuple(_holders(it, queues))))
    return replace(found, rejected=tuple(rejected)), unread


def _context(found: Diff, key: str) -> str:
    cluster = next(it for it in found.before.plan.clusters if it.key == key)
    return GkeCluster(found.before.plan.project, cluster.location, cluster.name).context


def _holders(rejection: Rejection, queues: list[dict[str, Any]]) -> Iterator[str]:
    for row in (row for it in queues if it["name"] == rejection.queue for row in it["workloads"]):
        if held := sorted(set(row["flavors"]) & set(rejection.flavors)):
            yield f"{row['namespace']}/{row['job']} ({row['kind']}, {', '.join(held)})"
