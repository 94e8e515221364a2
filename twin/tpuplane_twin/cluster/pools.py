"""Making a cluster's nodes what its node pools say: create, relabel, replace, drain and delete."""

import asyncio
import contextlib
import ipaddress
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from tpuplane.labels import GKE_POOL_LABEL, MAINTENANCE_LABEL, partition_label
from tpuplane.tpu import catalogue

from tpuplane_twin.cluster.addresses import Addresses, AddressesExhausted, pod_range
from tpuplane_twin.cluster.api import Api, ApiError, ClusterError, Object, accepting, each, has_condition
from tpuplane_twin.cluster.nodes import FAULT, ORDINAL, REQUEST_LABEL, SETTINGS, SHAPE, Place, Pool
from tpuplane_twin.gcp.backend import Instance, Numbers, node_numbers

# How an eviction is rejected: 429 for a PodDisruptionBudget, 500 where several select the pod, 403 in a namespace that
# is being deleted, 404 of a pod that is deleted. GKE waits an hour, then continues; the twin does not wait.
_REJECTED = (403, 404, 429, 500)
_ENDED = ("Succeeded", "Failed")
_END_SECONDS = 30.0
_LOOK_SECONDS = 0.1
_NODE = "spec.nodeName"
_MIRROR = "kubernetes.io/config.mirror"
_OPERATION = "gke-current-operation"
_PARTITIONS = [partition_label(shape) for shape in catalogue().generation("tpu7x").partitions]

NOT_FORMED = ("", "SliceNotCreated", "SliceCreationFailed")
"""The reasons of the condition Ready of a Slice that does not use its partitions. The first one is of a new Slice."""


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
        self._lock = asyncio.Lock()
        self._ranges: dict[str, Addresses] = {}

    async def apply(self, pool_json: dict[str, Any], cluster_json: dict[str, Any]) -> None:
        """Make the pool's nodes exactly what the pool says; returns when all are Ready.

        Labels and taints change in place. Another machine type, topology, disk or version replaces the nodes,
        one after the other, or all at once where they are one slice. Raises `ClusterError` for an
        unknown machine type, `AddressesExhausted`, and `ApiError` where Kubernetes rejects a label or taint.
        """
        pool = Pool(pool_json, cluster_json)
        async with self._lock:
            nodes = await self._nodes(pool.name)
            changes = _changes(pool, nodes)
            names = {node["metadata"]["name"] for node in nodes}
            await self._remove(changes.delete)
            if pool.is_slice:
                await self._remove([node for node, _ in changes.replace])
                changes.create += [place for _, place in changes.replace]
            else:
                for node, place in changes.replace:
                    await self._remove([node])
                    await self._create(pool, {place: None}, names)
            await self._create(pool, dict.fromkeys(changes.create), names)
            await each(changes.relabel, lambda pair: self._relabel(pool, *pair))

    async def broken(self, pool_json: dict[str, Any], cluster_json: dict[str, Any]) -> Numbers:
        """The nodes of the pool that are missing or not Ready; all of a slice with one such node.

        A host under maintenance is neither.
        """
        pool = Pool(pool_json, cluster_json)
        found = {_place(node): node for node in await self._nodes(pool.name)}
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
            nodes = await self._nodes(pool.name)
            removed = [node for node in nodes if _place(node) in places]
            operation = {"metadata": {"annotations": {_OPERATION: "AUTO_REPAIR_NODES"}}}
            await each(removed, lambda node: self._api.merge("Node", node["metadata"]["name"], operation))
            await self._remove(removed)
            names = {node["metadata"]["name"] for node in nodes}
            kept = {_place(node): node["metadata"]["name"] for node in removed}
            await self._create(pool, {place: kept.get(key) for key, place in places.items()}, names)
            await self._end_lost_pods(kept.values())

    async def _end_lost_pods(self, names: Collection[str]) -> None:
        """The new kubelets of these nodes end the pods of lost hosts, for which a Job with a podFailurePolicy waits."""
        pods = await self._api.list_by("Pod", _NODE, names)

        async def release(pod: Object) -> None:
            unmarked = {"metadata": {"annotations": {FAULT: None}}}
            with accepting(404):
                await self._api.merge("Pod", pod["metadata"]["name"], unmarked, pod["metadata"]["namespace"])

        await each(filter(_is_lost, pods), release)

    async def _nodes(self, pool: str) -> list[Object]:
        return await self._api.list("Node", labelSelector=f"{GKE_POOL_LABEL}={pool}" if pool else GKE_POOL_LABEL)

    async def _create(self, pool: Pool, new: Mapping[Place, str | None], taken: set[str]) -> None:
        """Create nodes of the pool at these places; one without a name gets one that is not among `taken`."""
        nodes = []
        networks = await self._networks(pool, len(new))
        for (place, known), network in zip(new.items(), networks, strict=True):
            name = known or pool.new_name(place.zone, taken)
            taken.add(name)
            nodes.append(pool.node(place, name, network))
        await each(nodes, self._api.create)

    async def _networks(self, pool: Pool, count: int) -> list[ipaddress.IPv4Network]:
        """Free ranges for nodes of the pool. The nodes are read only for the first, and where none is left."""
        block = pod_range(pool.cluster, pool.raw)
        if block in self._ranges:
            with contextlib.suppress(AddressesExhausted):
                return [self._ranges[block].take(pool.pods) for _ in range(count)]
        used = [network for node in await self._api.list("Node") if (network := node["spec"].get("podCIDR"))]
        self._ranges[block] = Addresses(block, used)
        return [self._ranges[block].take(pool.pods) for _ in range(count)]

    async def instances(self, pool: str) -> list[Instance]:
        """The machines of the nodes of the pool called `pool`, of all pools if it is empty."""
        nodes = await self._nodes(pool)
        return [_instance(node) for node in nodes if _place(node)]

    async def delete(self, name: str) -> None:
        """Drain and delete the nodes of the pool called `name`; nothing happens if there are none."""
        async with self._lock:
            nodes = await self._nodes(name)
            if used := await self._slices_on(nodes):
                raise ClusterError(f"{name} cannot be deleted while Slices use its nodes: {', '.join(used)}")
            await self._remove(nodes)

    async def _slices_on(self, nodes: list[Object]) -> list[str]:
        """The Slices that use partitions of these nodes, also while their links are being formed or removed."""
        ids = {node["metadata"]["labels"].get(label) for node in nodes for label in _PARTITIONS} - {None}
        slices: list[Object] = []
        if ids:
            with accepting(404):  # the slice controller was switched off
                slices = await self._api.list("Slice")
        using = [own for own in slices if ids & {*own["spec"]["partitionIds"]} and _formed(own)]
        return sorted(own["metadata"]["name"] for own in using)

    async def _remove(self, nodes: list[Object]) -> None:
        names = {node["metadata"]["name"] for node in nodes}
        if not names:
            return
        open_ones = [node["metadata"]["name"] for node in nodes if not node["spec"].get("unschedulable")]
        try:
            await each(open_ones, lambda name: self._cordon(name, True))
            pods = await self._api.list_by("Pod", _NODE, names)
            evicted = [pod for pod in pods if not _stays(pod) and pod["status"].get("phase") not in _ENDED]
            await each(evicted, self._evict)
            await self._await_end([pod for pod in evicted if not _is_lost(pod)])
            await each(names, lambda name: self._api.delete("Node", name))
        except Exception:
            # The nodes stay, and pods may come to them again; a person's own cordon stays too.
            await each(open_ones, self._uncordon)
            raise

    async def _await_end(self, pods: list[Object]) -> None:
        """Wait until these evicted pods are gone, while their kubelets still run: a Job waits for the last status."""
        deadline = time.monotonic() + _END_SECONDS
        uids = {pod["metadata"]["uid"] for pod in pods}
        while pods and time.monotonic() < deadline:
            found = await self._api.list_by("Pod", _NODE, {pod["spec"]["nodeName"] for pod in pods})
            pods = [pod for pod in found if pod["metadata"]["uid"] in uids]
            await asyncio.sleep(_LOOK_SECONDS if pods else 0)

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
    return not has_condition(node, "Ready") and MAINTENANCE_LABEL not in node["metadata"].get("labels", {})


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


def _formed(own: Object) -> bool:
    conditions = own.get("status", {}).get("conditions", ())
    return any(found["type"] == "Ready" and found["reason"] not in NOT_FORMED for found in conditions)


def _is_lost(pod: Object) -> bool:
    return FAULT in pod["metadata"].get("annotations", {})


def _stays(pod: Object) -> bool:
    owners = pod["metadata"].get("ownerReferences", [])
    return _MIRROR in pod["metadata"].get("annotations", {}) or any(owner["kind"] == "DaemonSet" for owner in owners)
