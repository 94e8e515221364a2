"""Volumes of workloads: ConfigMaps and claims of the namespace, and Cloud Storage buckets, as folders."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic.alias_generators import to_camel

from tpuplane.data_files import filled
from tpuplane.spec.core.errors import shown
from tpuplane.spec.core.fields import reject
from tpuplane.workloads.pods import PARTS, Manifest


def _folder(path: str) -> str:
    # A canonical path, so that two keys cannot mean the same folder.
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if not path.startswith("/") or not parts or ".." in parts or ":" in path:
        raise reject(f"{shown(path)} is not a folder; allowed: an absolute path without ':' and '..', such as /data")
    if path != (shortest := "/" + "/".join(parts)):
        raise reject(f"{shown(path)} is not in its shortest form; nearest: {shortest}")
    return path


Folder = Annotated[str, AfterValidator(_folder)]

BUCKET_DRIVER = "gcsfuse.csi.storage.gke.io"
BUCKET_SIDECAR = "gke-gcsfuse/volumes"
"""The annotation of pods that lets GKE add the sidecar, which mounts their buckets."""

# https://cloud.google.com/storage/docs/buckets#naming
Bucket = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$")]


def check_folders(taken: str | None, **volumes: Mapping[str, str]) -> None:
    """Raise a pydantic error if two volumes have the same folder. `volumes` are the folders of each field, and `taken`
    is the folder of another volume."""
    owners: dict[str, str] = {}
    for name, folders in volumes.items():
        field = to_camel(name)
        for path in folders:
            if path == taken:
                raise reject(f"{field}.{path}: the pods have another volume in this folder; choose another")
            if owners.setdefault(path, field) != field:
                raise reject(f"{field}.{path}: {owners[path]} also has this folder; choose another")


def mount(
    template: Manifest, *, config_maps: Mapping[str, str], buckets: Mapping[str, str], claims: Mapping[str, str]
) -> None:
    """Mount them in the first container of a pod template, each in its folder; buckets are writable.

    Buckets, and the claims that a platform makes for them, use GKE's Cloud Storage FUSE driver
    (https://cloud.google.com/kubernetes-engine/docs/how-to/cloud-storage-fuse-csi-driver-ephemeral).
    """
    pod, container = template["spec"], template["spec"]["containers"][0]
    for kind, folders in (("config", config_maps), ("bucket", buckets), ("claim", claims)):
        volumes = {name: f"{kind}-{number}" for number, name in enumerate(dict.fromkeys(folders.values()))}
        if volumes:
            given = ({"$volume": own, "$name": name, "$driver": BUCKET_DRIVER} for name, own in volumes.items())
            pod.setdefault("volumes", []).extend(filled(PARTS["volumes"][kind], values) for values in given)
            options = {"readOnly": True} if kind == "config" else {}
            mounts = ({"name": volumes[name], "mountPath": path, **options} for path, name in folders.items())
            container.setdefault("volumeMounts", []).extend(mounts)
    if buckets or claims:
        template.setdefault("metadata", {}).setdefault("annotations", {})[BUCKET_SIDECAR] = "true"
