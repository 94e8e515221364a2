"""Empties node pools through Kueue: no new work starts on them, and the running work ends or waits again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from http import HTTPStatus
from typing import Any, NamedTuple

from tpuplane.status.asking import within
from tpuplane.status.kueue_objects import Workload
from tpuplane.status.objects import Reference
from tpuplane.status.reading import Cluster, Objects, Unreachable


class Held(NamedTuple):
    """A job with pods on a node pool."""

    job: str
    """Its namespace and name."""
    pools: tuple[str, ...]
    workload: Workload | None
    """Kueue's workload of the job; None if Kueue does not manage it."""


def held(objects: Objects, pools: Collection[str]) -> dict[str, Held]:
    """The jobs with chips or GPUs on these node pools, by uid. Pure."""
    pool_of = {node.name: node.pool for node in objects.nodes if node.pool in pools}
    found: dict[Reference, set[str]] = {}
    for pod in objects.pods:
        if pod.spec.node_name in pool_of and pod.spec.node_name in objects.holders:
            found.setdefault(objects.owners.job("Pod", pod), set()).add(pool_of[pod.spec.node_name])
    workloads = _by_job(objects)
    return {
        job.uid: Held(f"{job.namespace}/{job.name}", tuple(sorted(on)), workloads.get(job.uid))
        for job, on in found.items()
    }


def _by_job(objects: Objects) -> Mapping[str, Workload]:
    known: Iterable[Workload] = (objects.kueue or {}).get("workloads", ())
    return {job.uid: workload for workload in known if (job := objects.owners.of_workload(workload.owners)) is not None}


def cordon(cluster: Cluster, objects: Objects, pools: Collection[str], *, closed: bool) -> None:
    """Keep new pods away from the nodes of these pools, or allow them again.

    Kueue starts no work on such nodes in flavors with a topology; otherwise, Kubernetes' scheduler keeps the pods away.

    Raises:
        Unreachable: if the API server does not answer, or rejects the request.

    """
    for node in objects.nodes:
        if node.pool in pools and node.unschedulable != closed:
            _merge(cluster, f"/api/v1/nodes/{node.name}", {"spec": {"unschedulable": closed}})


def activate(cluster: Cluster, workload: Workload, *, active: bool) -> None:
    """End the pods of a workload, or let it wait for quota again.

    Raises:
        Unreachable: if the API server does not answer, or rejects the request.

    """
    with cluster.asking() as ask:
        workloads, _ = ask.sources()["workloads"]
    _merge(cluster, f"{within(workloads, workload.namespace)}/{workload.name}", {"spec": {"active": active}})


def _merge(cluster: Cluster, path: str, change: dict[str, Any]) -> None:
    with cluster.asking() as ask:
        status, message = ask.merge(path, change)
    # An object that was deleted meanwhile has no work.
    if status not in (HTTPStatus.OK, HTTPStatus.NOT_FOUND):
        raise Unreachable(f"{message}. To drain pools, a user needs permission to patch nodes and Kueue's workloads")
