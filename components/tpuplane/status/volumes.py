"""Why disks of waiting pods do not exist, from PersistentVolumeClaims, storage classes and drivers. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tpuplane.quantities import counted
from tpuplane.status.detail_objects import Claim, StorageClass
from tpuplane.status.objects import Pod

_LATE = "WaitForFirstConsumer"  # the disk is created when its pod has a node
_CLASS = "volume.beta.kubernetes.io/storage-class"  # the former place of a claim's class
_SELECTED = "volume.kubernetes.io/selected-node"  # of a claim whose disk waits for a pod: the scheduler has a node
_IN_TREE = {"kubernetes.io/gce-pd": "pd.csi.storage.gke.io"}
"""Kubernetes replaces these provisioners by a driver. Source:
https://kubernetes.io/docs/concepts/storage/volumes/#gcepersistentdisk"""


class Unbound(NamedTuple):
    """A claim without a disk, and the help for it. Other claims that wait for the same reason are only counted."""

    message: str
    help: str


def unbound(pods: Iterable[Pod], details: Mapping[str, Sequence[Any]]) -> Iterator[Unbound]:
    """The claims of waiting pods that do not exist or have no disk. `details` has the lists that were read."""
    if "claims" not in details:
        return
    claims = {(claim.namespace, claim.name): claim for claim in details["claims"]}
    named = dict.fromkeys(
        # https://kubernetes.io/docs/concepts/storage/ephemeral-volumes/#persistentvolumeclaim-naming
        (pod.namespace, volume.claim or f"{pod.name}-{volume.name}", not volume.claim)
        for pod in pods
        for volume in pod.spec.volumes
        if volume.claim or volume.template
    )
    found: dict[str, list[Unbound]] = {}
    for namespace, name, own in named:
        claim = claims.get((namespace, name))
        if claim is not None and claim.phase != "Bound":
            for problem, remedy in _pending(claim, details):
                text = f"the PersistentVolumeClaim {name} is {claim.phase or 'Pending'}: {problem}"
                found.setdefault(problem, []).append(Unbound(text, remedy))
        elif claim is None and not own:
            remedy = f"Create the claim {name} in namespace {namespace}, or correct the name of the claim."
            found[name] = [Unbound(f"the PersistentVolumeClaim {name} does not exist", remedy)]
    for alike in found.values():
        more = len(alike) - 1
        yield alike[0]._replace(message=alike[0].message + (f" ({counted(more, 'more such claim')})" if more else ""))


def _pending(claim: Claim, details: Mapping[str, Sequence[Any]]) -> Iterator[tuple[str, str]]:
    """Why the claim has no disk, and the help; nothing if its disk is created when its pod has a node."""
    name = claim.storage_class or claim.annotations.get(_CLASS, "")
    classes = {storage_class.name: storage_class for storage_class in details.get("storageClasses", ())}
    if not name:
        remedy = f"Create a PersistentVolume, or a claim with a storage class: {', '.join(classes) or 'none exists'}."
        yield "it has no storage class, and no PersistentVolume fits it", remedy
    elif classes and name not in classes:
        remedy = f"Create a claim with an existing storage class: {', '.join(classes)}."
        yield f"its storage class {name} does not exist", remedy
    elif driver := _absent(classes.get(name), details):
        remedy = "Enable the driver's add-on in GKE, or create a PersistentVolume for the claim."
        yield f"the cluster has no driver {driver}, so its disk is not created", remedy
    elif claim.phase == "Lost" or _SELECTED in claim.annotations or not classes or classes[name].binding != _LATE:
        remedy = f"Read its events: kubectl describe pvc {claim.name} --namespace {claim.namespace}"
        yield "its disk is not created yet", remedy


def _absent(storage_class: StorageClass | None, details: Mapping[str, Sequence[Any]]) -> str:
    """The driver of the class, if the cluster does not have it; otherwise "", also if the drivers were not read."""
    provisioner = storage_class.provisioner if storage_class else ""
    driver = _IN_TREE.get(provisioner, provisioner)
    installed = {each.name for each in details.get("drivers", ())}
    return driver if "drivers" in details and driver not in installed else ""
