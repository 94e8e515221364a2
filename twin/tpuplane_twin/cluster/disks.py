"""Disks of Compute Engine: a PersistentVolume for each claim that waits for one, as GKE's driver creates it.

https://docs.cloud.google.com/kubernetes-engine/docs/concepts/persistent-volumes. A disk has no files here, and each
machine type supports each type of disk.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Any

from tpuplane_twin.cluster.api import Api, Object, accepting, event, path
from tpuplane_twin.cluster.mirror import Mirror

DRIVER = "pd.csi.storage.gke.io"
_PROVISIONER = "volume.kubernetes.io/storage-provisioner"
_HOST = "volume.kubernetes.io/selected-node"
_BY = "pv.kubernetes.io/provisioned-by"
_ZONE = "topology.gke.io/zone"
_SHARED = (
    "rpc error: code = InvalidArgument desc = VolumeCapabilities is invalid: specified multi writer with mount access "
    "type"
)
_AGAIN_SECONDS = 1.0

log = logging.getLogger(__name__)


class _NoPlaceYet(Exception):
    """No node says in which project and zone the disk is."""


class Disks:
    """The driver in one cluster. Runs until cancelled."""

    def __init__(self, api: Api) -> None:
        """Nothing is read before `run`."""
        self._api = api
        self._changed = asyncio.Event()
        self._waiting = Mirror(api, "PersistentVolumeClaim", _waiting, self._changed)
        self._unused = Mirror(api, "PersistentVolume", _unused, self._changed)
        self._rejected: set[str] = set()  # the claims whose event is written

    async def run(self) -> None:
        """Create and delete disks, through restarts of the API server."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._waiting.run())
            group.create_task(self._unused.run())
            while True:
                await self._changed.wait()
                self._changed.clear()
                claims, volumes = list(self._waiting.items.values()), list(self._unused.items.values())
                done = [await self._tried(self._create, claim) for claim in claims]
                done += [await self._tried(partial(self._api.delete, "PersistentVolume"), name) for name in volumes]
                if not all(done):
                    await asyncio.sleep(_AGAIN_SECONDS)
                    self._changed.set()

    async def _tried(self, action: Callable[[Any], Awaitable[None]], item: object) -> bool:
        """Whether it succeeded. A failure must not end the disks of others."""
        try:
            await action(item)
        except _NoPlaceYet:
            return False
        except Exception:
            log.exception("a disk was neither created nor deleted; trying again")
            return False
        return True

    async def _create(self, claim: Object) -> None:
        metadata, spec = claim["metadata"], claim["spec"]
        if (found := await self._api.get("StorageClass", spec["storageClassName"])) is None:
            return
        if "ReadWriteMany" in spec["accessModes"] and spec["volumeMode"] == "Filesystem":
            await self._reject(claim)
        elif (host := metadata["annotations"].get(_HOST)) is None:
            await self._api.create(_volume(claim, found, await self._api.list("Node")))
        elif (node := await self._api.get("Node", host)) is not None:
            await self._api.create(_volume(claim, found, [node]))
        else:
            # The scheduler then selects another host.
            with accepting(404):
                change = {"metadata": {"annotations": {_HOST: None}}}
                await self._api.merge("PersistentVolumeClaim", metadata["name"], change, metadata["namespace"])

    async def _reject(self, claim: Object) -> None:
        metadata = claim["metadata"]
        if metadata["uid"] in self._rejected:
            return
        self._rejected.add(metadata["uid"])
        about = {"apiVersion": "v1", "kind": "PersistentVolumeClaim"}
        about |= {field: metadata[field] for field in ("name", "namespace", "uid")}
        text = f'failed to provision volume with StorageClass "{claim["spec"]["storageClassName"]}": {_SHARED}'
        body = event(about, "Warning", "ProvisioningFailed", text, component=DRIVER)
        await self._api.request("POST", path("Event", None, metadata["namespace"]), body=body)


def _waiting(claim: Object) -> Object | None:
    """A claim for which Kubernetes' controller asks for a disk."""
    asked = claim["metadata"].get("annotations", {}).get(_PROVISIONER) == DRIVER
    return claim if asked and not claim["spec"].get("volumeName") else None


def _unused(volume: Object) -> str | None:
    """The name of a disk whose claim is deleted, and which the class does not retain."""
    spec, made = volume["spec"], volume["metadata"].get("annotations", {}).get(_BY) == DRIVER
    released = volume["status"].get("phase") == "Released" and spec["persistentVolumeReclaimPolicy"] == "Delete"
    return str(volume["metadata"]["name"]) if made and released else None


def _place(nodes: Iterable[Object]) -> tuple[str, str]:
    """Project and zone of the first node of Compute Engine. Raises `_NoPlaceYet`."""
    for node in nodes:
        provider, zone = node["spec"].get("providerID", ""), node["metadata"].get("labels", {}).get(_ZONE)
        if provider.startswith("gce://") and zone:
            return provider.split("/")[2], zone
    raise _NoPlaceYet


def _volume(claim: Object, storage_class: Object, nodes: Iterable[Object]) -> dict[str, Any]:
    metadata, spec = claim["metadata"], claim["spec"]
    name, (project, zone) = f"pvc-{metadata['uid']}", _place(nodes)
    in_zone = {"matchExpressions": [{"key": _ZONE, "operator": "In", "values": [zone]}]}
    handle = f"projects/{project}/zones/{zone}/disks/{name}"
    owner = {field: metadata[field] for field in ("name", "namespace", "uid")}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "annotations": {_BY: DRIVER}},
        "spec": {
            "accessModes": spec["accessModes"],
            "capacity": {"storage": spec["resources"]["requests"]["storage"]},
            "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", **owner},
            "csi": {"driver": DRIVER, "volumeHandle": handle, "fsType": "ext4"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [in_zone]}},
            "persistentVolumeReclaimPolicy": storage_class["reclaimPolicy"],
            "storageClassName": spec["storageClassName"],
            "volumeMode": spec["volumeMode"],
        },
    }
