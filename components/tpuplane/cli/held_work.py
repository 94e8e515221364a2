"""The jobs that a change interrupts or deletes, or whose queue loses their quota, read from the clusters."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tpuplane.contexts import GkeCluster
from tpuplane.diff import Change, Diff, NodePoolChange, Rejection
from tpuplane.plan import ClusterPlan
from tpuplane.status.reading import Cluster, NoContext, Unreachable


def with_held_work(found: Diff, kubeconfig: Path | None) -> tuple[Diff, list[str]]:
    """The diff with the jobs of node pools, deleted namespaces and losing queues, and why clusters were not read.

    The context of a cluster in the kubeconfig is `gke_PROJECT_LOCATION_NAME`, as from `gcloud` and tpuplane.
    """
    statuses: dict[str, dict[str, Any]] = {}
    unread: list[str] = []
    pools = [pool for change in found.changes for pool in change.node_pools if _has_work(pool)]
    asked = {rejection.cluster for rejection in found.rejected if rejection.queue}
    asked |= {cluster for change in found.changes for cluster, _ in change.namespaces}
    for plan in found.before.plan.clusters:
        if plan.key in asked or any(_in(plan, pool) for pool in pools):
            try:
                context = GkeCluster(found.before.plan.project, plan.location, plan.name).context
                statuses[plan.key] = Cluster(kubeconfig, context).read().described()
            except (NoContext, Unreachable) as error:
                unread.append(f"the jobs in {plan.key} are unknown: {error}")

    def of_pool(pool: NodePoolChange) -> NodePoolChange:
        key = next((plan.key for plan in found.before.plan.clusters if _in(plan, pool)), "")
        if key not in statuses or not _has_work(pool):
            return pool
        rows = (row for row in statuses[key]["nodePools"] if row["name"] == pool.name)
        return replace(pool, held_by=tuple(job for row in rows for job in row["heldBy"]))

    def of_queue(rejection: Rejection) -> Rejection:
        queues = statuses.get(rejection.cluster, {}).get("queues")
        if queues is None or not rejection.queue:
            return rejection
        return replace(rejection, held_by=tuple(_holders(rejection, queues)))

    def of_change(change: Change) -> Change:
        pools = tuple(map(of_pool, change.node_pools))
        if not change.namespaces or not statuses.keys() >= {cluster for cluster, _ in change.namespaces}:
            return replace(change, node_pools=pools)
        jobs = (job for cluster, name in change.namespaces for job in _jobs_in(name, statuses[cluster]))
        return replace(change, node_pools=pools, held_by=tuple(dict.fromkeys(jobs)))

    changes = tuple(map(of_change, found.changes))
    return replace(found, changes=changes, rejected=tuple(map(of_queue, found.rejected))), unread


def _has_work(pool: NodePoolChange) -> bool:
    return pool.done != "created" and bool(pool.chips or pool.gpus)


def _in(plan: ClusterPlan, pool: NodePoolChange) -> bool:
    return (plan.name, plan.location) == (pool.cluster, pool.location)


def _jobs_in(namespace: str, status: dict[str, Any]) -> Iterator[str]:
    """The jobs of queues, and the jobs outside of queues with chips, GPUs or pods without a node."""
    rows = [row for queue in status["queues"] or () for row in queue["workloads"]] + status["outsideQueues"]
    yield from (f"{namespace}/{row['job']}" for row in rows if row["namespace"] == namespace)


def _holders(rejection: Rejection, queues: Sequence[dict[str, Any]]) -> Iterator[str]:
    for row in (row for queue in queues if queue["name"] == rejection.queue for row in queue["workloads"]):
        if held := sorted(set(row["flavors"]) & set(rejection.flavors)):
            yield f"{row['namespace']}/{row['job']} ({row['kind']}, {', '.join(held)})"
