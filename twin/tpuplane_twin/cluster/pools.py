"""Making a cluster's nodes what its node pools say: create, relabel, replace, drain and delete."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from typing import Any

from tpuplane.labels import DYNAMIC_SLICE_LABEL, GKE_POOL_LABEL

from tpuplane_twin.cluster.addresses import Addresses, pod_range
from tpuplane_twin.cluster.api import Api, ApiError, ClusterError, Object, accepting, each, has_condition
from tpuplane_twin.cluster.nodes import FAULT, ORDINAL, REQUEST_LABEL, SETTINGS, SHAPE, Place, Pool
from tpuplane_twin.gcp.backend import Instance, Numbers, node_numbers

# How an eviction is rejected: 429 for a PodDisruptionBudget, 500 where several select the pod, 403 in a namespace that
# is being deleted, 404 of a pod that is deleted. GKE waits an hour, then continues; the twin does not wait.
_REJECTED = (403, 404, 429, 500)
_ENDED = ("Succeeded", "Failed")
_END_SECONDS = 30.0
_LOOK_SECONDS = 0.1
_MIRROR = "kubernetes.io/config.mirror"
_OPERATION = "gke-current-operation"

MAINTENANCE = "cloud.google.com/active-node-maintenance"
"""The label of a node whose host is under maintenance."""


@dataclass(slots=True)
class _Changes:
    """The changes that make the existing nodes those that the pool should have."""

    create: list[Place] = field(default_factory=list)
    replace: list[tuple[Object, Place]] = field(default_factory=list)
    relabel: list[tuple[Object, Place]] = field(default_factory=list)
    delete: list[Object] = field(default_factory=list)


class NodePools:
    """The node pools of one cluster. Idempotent: a second call with the same pool does nothing."""

    def __init__(self, api: Api) -> None:
        self._api = api
        # Addresses are given out from what the nodes use; two pools at once would be given the same.
        self._lock = asyncio.Lock()

    async def apply(self, pool_json: dict[str, Any], cluster_json: dict[str, Any]) -> None:
        """Make the pool's nodes exactly what the pool says; returns when all are Ready.

        Labels and taints change in place. Another machine type, topology, disk or version replaces the nodes,
        one after the other, or all at once where they are one slice. Raises `UnknownMachine`,
        `AddressesExhausted`, and `ApiError` where Kubernetes rejects a label or taint.
        """
        pool = Pool(pool_json, cluster_json)
        async with self._lock:
            nodes = await self._api.list("Node")
            changes = _changes(pool, _of(pool, nodes))
            create = self._creation(pool, nodes)
            await self._remove(changes.delete)
            if pool.is_slice:
                await self._remove([node for node, _ in changes.replace])
                changes.create += [place for _, place in changes.replace]
            else:
                for node, place in changes.replace:
                    await self._remove([node])
                    await create(place)
            await each(changes.create, create)
            await each(changes.relabel, lambda pair: self._relabel(pool, *pair))

    async def broken(self, pool_json: dict[str, Any], cluster_json: dict[str, Any]) -> Numbers:
        """The nodes of the pool that are missing or not Ready; all of a slice with one such node.

        A host under maintenance is neither.
        """
        pool = Pool(pool_json, cluster_json)
        found = {_place(node): node for node in _of(pool, await self._api.list("Node"))}
        broken = {str(place) for place in pool.places if is_broken(found.get(str(place)))}
        whole = bool(broken) and pool.is_slice
        return {
            zone: [number for number in numbers if whole or f"{zone}/{number}" in broken]
            for zone, numbers in node_numbers(pool_json).items()
        }

    async def repair(self, pool_json: dict[str, Any], cluster_json: dict[str, Any], broken: Numbers) -> None:
        """Drain and delete these nodes of the pool, and create them again under their names.

        https://docs.cloud.google.com/kubernetes-engine/docs/how-to/node-auto-repair
        """
        pool = Pool(pool_json, cluster_json)
        places = {str(place): place for place in pool.places if place.number in broken.get(place.zone, ())}
        async with self._lock:
            nodes = await self._api.list("Node")
            removed = [node for node in _of(pool, nodes) if _place(node) in places]
            operation = {"metadata": {"annotations": {_OPERATION: "AUTO_REPAIR_NODES"}}}
            await each(removed, lambda node: self._api.merge("Node", node["metadata"]["name"], operation))
            await self._remove(removed)
            create = self._creation(pool, [node for node in nodes if node not in removed])
            kept = {_place(node): node["metadata"]["name"] for node in removed}
            await each(places.items(), lambda place: create(place[1], kept.get(place[0])))
            await self._end_lost_pods(kept.values())

    async def _end_lost_pods(self, names: Collection[str]) -> None:
        """The new kubelets of these nodes end the pods of lost hosts, for which a Job with a podFailurePolicy waits."""
        pods = [pod for pod in await self._api.list("Pod") if pod["spec"].get("nodeName") in names]

        async def release(pod: Object) -> None:
            unmarked = {"metadata": {"annotations": {FAULT: None}}}
            with accepting(404):
                await self._api.merge("Pod", pod["metadata"]["name"], unmarked, pod["metadata"]["namespace"])

        await each(filter(_is_lost, pods), release)

    def _creation(self, pool: Pool, nodes: list[Object]) -> Callable[..., Awaitable[None]]:
        """Creates a node of the pool at a place, next to `nodes`; under a new name if none is given."""
        names = {node["metadata"]["name"] for node in nodes}
        used = [network for node in nodes if (network := node["spec"].get("podCIDR"))]
        addresses = Addresses(pod_range(pool.cluster, pool.raw), used)

        async def create(place: Place, name: str | None = None) -> None:
            name = name or pool.new_name(place.zone, names)
            names.add(name)
            await self._api.create(pool.node(place, name, addresses.take(pool.pods)))

        return create

    async def instances(self) -> list[Instance]:
        """The machines of the pools' nodes."""
        return [_instance(node) for node in await self._api.list("Node") if ORDINAL in node["metadata"]["annotations"]]

    async def delete(self, name: str) -> None:
        """Drain and delete the nodes of the pool called `name`; nothing happens if there are none."""
        async with self._lock:
            nodes = await self._api.list("Node", labelSelector=f"{GKE_POOL_LABEL}={name}")
            if used := sorted({node["metadata"]["labels"].get(DYNAMIC_SLICE_LABEL, "") for node in nodes} - {""}):
                raise ClusterError(f"{name} cannot be deleted while Slices use its nodes: {', '.join(used)}")
            await self._remove(nodes)

    async def _remove(self, nodes: list[Object]) -> None:
        names = {node["metadata"]["name"] for node in nodes}
        if not names:
            return
        open_ones = [node["metadata"]["name"] for node in nodes if not node["spec"].get("unschedulable")]
        try:
            await each(open_ones, lambda name: self._cordon(name, True))
            pods = [pod for pod in await self._api.list("Pod") if pod["spec"].get("nodeName") in names]
            evicted = [pod for pod in pods if not _stays(pod) and pod["status"].get("phase") not in _ENDED]
            await each(evicted, self._evict)
            await self._await_end({pod["metadata"]["uid"] for pod in evicted if not _is_lost(pod)})
            await each(names, lambda name: self._api.delete("Node", name))
        except Exception:
            # The nodes stay, and pods may come to them again; a person's own cordon stays too.
            await each(open_ones, self._uncordon)
            raise

    async def _await_end(self, uids: set[str]) -> None:
        """Wait until these evicted pods are gone, while their kubelets still run: a Job waits for the last status."""
        deadline = time.monotonic() + _END_SECONDS
        while uids and time.monotonic() < deadline:
            uids &= {pod["metadata"]["uid"] for pod in await self._api.list("Pod")}
            await asyncio.sleep(_LOOK_SECONDS if uids else 0)

    async def _cordon(self, name: str, closed: bool | None) -> None:
        await self._api.merge("Node", name, {"spec": {"unschedulable": closed}})

    async def _uncordon(self, name: str) -> None:
        with contextlib.suppress(ClusterError):  # it may be deleted already
            await self._cordon(name, None)

    async def _evict(self, pod: Object) -> None:
        metadata = pod["metadata"]
        eviction = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": metadata["name"], "namespace": metadata["namespace"]},
            "deleteOptions": {"gracePeriodSeconds": 0},
        }
        url = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}/eviction"
        try:
            await self._api.request("POST", url, body=eviction)
        except ApiError as error:
            if error.status not in _REJECTED:
                raise
            await self._api.delete("Pod", metadata["name"], metadata["namespace"])

    async def _relabel(self, pool: Pool, node: Object, place: Place) -> None:
        metadata = node["metadata"]
        labels = pool.labels(place, metadata["name"])
        kept = {REQUEST_LABEL, *labels}
        removed: dict[str, str | None] = {key: None for key in metadata.get("labels", {}) if key not in kept}
        # Taints that Kubernetes' own controllers put on a node are not the pool's to take off.
        condition = [
            taint for taint in node["spec"].get("taints", []) if taint["key"].startswith("node.kubernetes.io/")
        ]
        patch: Object = {
            "metadata": {"labels": {**removed, **labels}, "annotations": {SETTINGS: pool.settings}},
            "spec": {"taints": [*pool.taints, *condition]},
        }
        await self._api.merge("Node", metadata["name"], patch)


def is_broken(node: Object | None) -> bool:
    """Whether GKE repairs the node: it is missing, or not Ready without a maintenance of its host."""
    if node is None:
        return True
    return not has_condition(node, "Ready") and MAINTENANCE not in node["metadata"].get("labels", {})


def _of(pool: Pool, nodes: list[Object]) -> list[Object]:
    return [node for node in nodes if node["metadata"].get("labels", {}).get(GKE_POOL_LABEL) == pool.name]


def _place(node: Object) -> str:
    return str(node["metadata"].get("annotations", {}).get(ORDINAL, ""))


def _changes(pool: Pool, nodes: list[Object]) -> _Changes:
    wanted = {str(place): place for place in pool.places}
    changes = _Changes()
    for node in nodes:
        annotations = node["metadata"].get("annotations", {})
        place = wanted.pop(_place(node), None)
        if place is None:
            changes.delete.append(node)
        elif annotations.get(SHAPE) != pool.shape:
            changes.replace.append((node, place))
        elif annotations.get(SETTINGS) != pool.settings:
            changes.relabel.append((node, place))
    changes.create = list(wanted.values())
    return changes


def _instance(node: Object) -> Instance:
    metadata = node["metadata"]
    addresses = {found["type"]: found["address"] for found in node["status"].get("addresses", ())}
    return Instance(
        metadata["name"],
        metadata["labels"][GKE_POOL_LABEL],
        metadata["annotations"][ORDINAL].rpartition("/")[0],
        addresses.get("InternalIP", ""),
        metadata["creationTimestamp"],
    )


def _is_lost(pod: Object) -> bool:
    return FAULT in pod["metadata"].get("annotations", {})


def _stays(pod: Object) -> bool:
    owners = pod["metadata"].get("ownerReferences", [])
    return _MIRROR in pod["metadata"].get("annotations", {}) or any(owner["kind"] == "DaemonSet" for owner in owners)
