"""The jobs that hold quota which a change takes from their queue, read from the clusters."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from tpuplane.contexts import GkeCluster
from tpuplane.diff import Diff, Rejection
from tpuplane.status.reading import Cluster, NoContext, Unreachable


def with_held_work(found: Diff, kubeconfig: Path | None) -> tuple[Diff, list[str]]:
    """The diff with the jobs of each queue that loses a flavor, and the reasons why clusters were not read.

    The context of a cluster in the kubeconfig is `gke_PROJECT_LOCATION_NAME`, as from `gcloud` and tpuplane.
    """
    read: dict[str, list[dict[str, Any]] | None] = {}
    unread: list[str] = []
    rejected = []
    for rejection in found.rejected:
        key = rejection.cluster
        if rejection.queue and key not in read:
            try:
                plan = next(cluster for cluster in found.before.plan.clusters if cluster.key == key)
                context = GkeCluster(found.before.plan.project, plan.location, plan.name).context
                read[key] = Cluster(kubeconfig, context).read().described()["queues"]
            except (NoContext, Unreachable) as error:
                read[key] = None
                unread.append(f"the jobs in {key} are unknown: {error}")
        queues = read.get(key)
        rejected.append(rejection if queues is None else replace(rejection, held_by=tuple(_holders(rejection, queues))))
    return replace(found, rejected=tuple(rejected)), unread


def _holders(rejection: Rejection, queues: list[dict[str, Any]]) -> Iterator[str]:
    for row in (row for queue in queues if queue["name"] == rejection.queue for row in queue["workloads"]):
        if held := sorted(set(row["flavors"]) & set(rejection.flavors)):
            yield f"{row['namespace']}/{row['job']} ({row['kind']}, {', '.join(held)})"
