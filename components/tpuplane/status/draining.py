"""Empties node pools through Kueue: no new work starts on them, and the running work ends or waits again."""

from collections.abc import Collection
from http import HTTPStatus
from typing import Any, NamedTuple, Self

from tpuplane.labels import STOPPED_FOR
from tpuplane.status.asking import Ask, within
from tpuplane.status.holders import has_devices
from tpuplane.status.kueue_objects import Workload
from tpuplane.status.reading import Cluster, Unreachable
from tpuplane.status.snapshot import Objects


class Held(NamedTuple):
    """A job with pods on a node pool, or the part of it that is one workload."""

    job: str
    """Its namespace and name."""
    pools: tuple[str, ...]
    workload: Workload | None
    """None if Kueue cannot stop the job and start it again: it does not manage it, or would delete its plain pods."""


def held(objects: Objects, pools: Collection[str]) -> dict[str, Held]:
    """The jobs with chips or GPUs on these node pools, by the uid of their workload, or else their own. Pure.

    A job with several workloads, such as a LeaderWorkerSet, occurs once for each of them.
    """
    pool_of = {node.name: node.pool for node in objects.nodes if node.pool in pools}
    by_name = {(workload.namespace, workload.name): workload for workload in _workloads(objects)}
    by_owner = {owner.uid: workload for workload in by_name.values() for owner in workload.owners}
    found: dict[str, Held] = {}
    for pod in objects.pods:
        if pod.spec.node_name not in pool_of or not has_devices(pod):
            continue
        owners = (by_owner[uid] for uid in objects.owners.uids(pod) if uid in by_owner)
        # After an elastic job has grown, its older pods name a workload that has finished.
        workload = by_name.get((pod.namespace, pod.workload)) or next(owners, None)
        job = objects.owners.of_workload(workload) or workload if workload else objects.owners.job("Pod", pod)
        key = workload.uid if workload else job.uid
        others = found[key].pools if key in found else ()
        on = tuple(sorted({*others, pool_of[pod.spec.node_name]}))
        # The controller of such a pod replaces it after Kueue has deleted it.
        replaced = any(owner.kind in ("ReplicaSet", "StatefulSet") for owner in pod.owners)
        kept = replaced or not workload or any(owner.kind != "Pod" for owner in workload.owners)
        stoppable = workload if kept and (key not in found or found[key].workload) else None
        found[key] = Held(f"{pod.namespace}/{job.name}", on, stoppable)
    return found


def _workloads(objects: Objects) -> list[Workload]:
    """The workloads that have not finished."""
    return [each for each in (objects.kueue or {}).get("workloads", ()) if not each.is_true("Finished")]


def cordon(cluster: Cluster, objects: Objects, pools: Collection[str], *, closed: bool) -> None:
    """Keep new pods away from the nodes of these pools, or allow them again.

    Kueue starts no work on such nodes in flavors with a topology; otherwise, Kubernetes' scheduler keeps the pods away.
    Raises `Unreachable`.
    """
    with cluster.asking() as ask:
        for node in objects.nodes:
            if node.pool in pools and node.unschedulable != closed:
                _merge(ask, f"/api/v1/nodes/{node.name}", {"spec": {"unschedulable": closed}})


class Stopped:
    """The workloads that Kueue stops, by uid. At the end of the block they are activated.

    `Unreachable` names those that remain deactivated.
    """

    def __init__(self, cluster: Cluster, objects: Objects, pools: Collection[str]) -> None:
        """Begin with those that a killed command has stopped for these pools."""
        self._cluster, self._pools = cluster, pools
        self.workloads = {
            workload.uid: workload
            for workload in _workloads(objects)
            if set(pools) & set(workload.annotations.get(STOPPED_FOR, "").split(","))
        }

    def stop(self, workload: Workload) -> None:
        """End the pods of a workload. Raises `Unreachable`."""
        if workload.uid not in self.workloads:
            self.workloads[workload.uid] = workload
            self._activate(workload, active=False)

    def release(self, running: Collection[str] = ()) -> None:
        """Let the workloads that do not run on the pools any more wait for quota again. Raises `Unreachable`."""
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
    if status == HTTPStatus.FORBIDDEN:
        raise Unreachable(f"{message}. To drain pools, a user needs permission to patch nodes and Kueue's workloads")
    # An object that was deleted meanwhile has no work.
    if status not in (HTTPStatus.OK, HTTPStatus.NOT_FOUND):
        raise Unreachable(f"the API server rejects the change of {path}: {message}; remove the cause, then repeat")
