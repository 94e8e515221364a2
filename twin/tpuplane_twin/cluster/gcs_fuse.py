"""Cloud Storage FUSE: a pod mounts a bucket. Here a bucket is a folder of the twin, the same for all its clusters.

As on GKE (https://cloud.google.com/kubernetes-engine/docs/how-to/cloud-storage-fuse-csi-driver-ephemeral) the cluster
must have the driver, and the pod the annotation by which it gets the sidecar that mounts.
"""

from tpuplane_twin.cluster.api import Api, Object

DRIVER = "gcsfuse.csi.storage.gke.io"
_KIND = "CSIDriver"
_ANNOTATION = "gke-gcsfuse/volumes"


def bucket(volume: Object) -> str | None:
    """The bucket that a pod's volume is; None where it is something else."""
    csi = volume.get("csi", {})
    return str(csi.get("volumeAttributes", {}).get("bucketName", "")) if csi.get("driver") == DRIVER else None


async def claimed(api: Api, volume: Object, namespace: str) -> Object:
    """A pod's volume, or for a claim of a bucket the same volume as if the pod named the bucket itself."""
    if not (wanted := volume.get("persistentVolumeClaim")):
        return volume
    claim = await api.get("PersistentVolumeClaim", wanted["claimName"], namespace)
    bound = claim and claim["spec"].get("volumeName")
    source = (await api.get("PersistentVolume", bound) if bound else None) or {"spec": {}}
    csi = source["spec"].get("csi", {})
    if csi.get("driver") != DRIVER:
        return volume
    attributes = {**csi.get("volumeAttributes", {}), "bucketName": csi["volumeHandle"]}
    return {"name": volume["name"], "csi": {"driver": DRIVER, "volumeAttributes": attributes}}


async def rejection(api: Api, pod: Object, volume: Object) -> str | None:
    """Why the bucket `volume` of `pod` cannot be mounted; None if it can."""
    name = bucket(volume)
    if await api.get(_KIND, DRIVER) is None:
        return f"driver name {DRIVER} not found in the list of registered CSI drivers: the cluster has none (gcsFuse)"
    if pod["metadata"].get("annotations", {}).get(_ANNOTATION) != "true":
        return f'volume "{volume["name"]}": the pod has no sidecar; it needs the annotation {_ANNOTATION}: "true"'
    # No slash, so it is a folder's name; "_" would be all buckets that the pod's account may see.
    if not name or name.strip("._") == "" or "/" in name:
        return f'volume "{volume["name"]}": {name!r} is not a bucket\'s name'
    return None
