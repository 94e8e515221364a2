"""Empties node pools through Kueue: no new work starts on them, and the running work ends or waits again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from http import HTTPStatus
from typing import Any, NamedTuple, Self

from tpuplane.status.asking import Ask, within
from tpuplane.status.holders import has_devices
from tpuplane.status.kueue_objects import Workload
from tpuplane.status.objects import Reference
from tpuplane.status.reading import Cluster, Objects, Unreachable

STOPPED_FOR = "tpuplane.dev/stopped-for-pools"
"""The annotation of a workload that is stopped to empty node pools, with their names. It outlives a killed command."""


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
        if pod.spec.node_name in pool_of and has_devices(pod):
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
    with cluster.asking() as ask:
        for node in objects.nodes:
            if node.pool in pools and node.unschedulable != closed:
                _merge(ask, f"/api/v1/nodes/{node.name}", {"spec": {"unschedulable": closed}})


class Stopped:
    """The jobs that Kueue stops, by uid. At the end of the block they are activated; `Unreachable` names the others."""

    def __init__(self, cluster: Cluster, objects: Objects, pools: Collection[str]) -> None:
        """Begin with those that a killed command has stopped for these pools."""
        self._cluster, self._pools = cluster, pools
        self.workloads = {
            job: workload
            for job, workload in _by_job(objects).items()
            if set(pools) & set(workload.annotations.get(STOPPED_FOR, "").split(","))
        }

    def stop(self, uid: str, workload: Workload) -> None:
        """End the pods of a job. Raises `Unreachable`."""
        if uid not in self.workloads:
            self.workloads[uid] = workload
            self._activate(workload, active=False)

    def release(self, running: Collection[str] = ()) -> None:
        """Let the jobs that do not run on the pools any more wait for quota again. Raises `Unreachable`."""
        for uid in self.workloads.keys() - set(running):
            self._activate(self.workloads[uid], active=True)
            del self.workloads[uid]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        left: dict[str, Unreachable] = {}
        for workload in self.workloads.values():
            try:
                self._activate(workload, active=True)
            except Unreachable as error:
                left[f"{workload.namespace}/{workload.name}"] = error
        if left:
            cause, names = next(iter(left.values())), ", ".join(left)
            raise Unreachable(f"{cause}. These workloads remain deactivated; set their spec.active to true: {names}")

    def _activate(self, workload: Workload, *, active: bool) -> None:
        with self._cluster.asking() as ask:
            path, _ = ask.sources()["workloads"]
            note = {STOPPED_FOR: None if active else ",".join(self._pools)}
            change = {"metadata": {"annotations": note}, "spec": {"active": active}}
            _merge(ask, f"{within(path, workload.namespace)}/{workload.name}", change)


def _merge(ask: Ask, path: str, change: dict[str, Any]) -> None:
    status, message = ask.merge(path, change)
    # An object that was deleted meanwhile has no work.
    if status not in (HTTPStatus.OK, HTTPStatus.NOT_FOUND):
        raise Unreachable(f"{message}. To drain pools, a user needs permission to patch nodes and Kueue's workloads")
