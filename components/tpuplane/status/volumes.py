"""Why disks of waiting pods do not exist, from PersistentVolumeClaims, storage classes and drivers. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tpuplane.status.objects import Claim, Pod

_CLASS = "volume.beta.kubernetes.io/storage-class"  # the former place of a claim's class
_IN_TREE = {"kubernetes.io/gce-pd": "pd.csi.storage.gke.io"}
"""Kubernetes replaces these provisioners by a driver. Source:
https://kubernetes.io/docs/concepts/storage/volumes/#gcepersistentdisk"""


class Unbound(NamedTuple):
    """A claim without a disk, and the help for it."""

    message: str
    help: str


def unbound(pods: Iterable[Pod], details: Mapping[str, Sequence[Any]]) -> Iterator[Unbound]:
    """The claims of waiting pods that do not exist or have no disk. `details` has the lists that were read."""
    if "claims" not in details:
        return
    claims = {(claim.namespace, claim.name): claim for claim in details["claims"]}
    named = dict.fromkeys((pod.namespace, volume.claim) for pod in pods for volume in pod.spec.volumes if volume.claim)
    for namespace, name in named:
        if (claim := claims.get((namespace, name))) is None:
            remedy = f"Create the claim {name} in namespace {namespace}, or correct the name of the claim."
            yield Unbound(f"the PersistentVolumeClaim {name} does not exist", remedy)
        elif claim.phase != "Bound":
            yield _pending(claim, details)


def _pending(claim: Claim, details: Mapping[str, Sequence[Any]]) -> Unbound:
    problem, name = f"the PersistentVolumeClaim {claim.name} is {claim.phase or 'Pending'}", claim.storage_class
    name = name or claim.annotations.get(_CLASS, "")
    classes = {storage_class.name: storage_class for storage_class in details.get("storageClasses", ())}
    if not name:
        remedy = f"Create a PersistentVolume, or a claim with a storage class: {', '.join(classes) or 'none exists'}."
        return Unbound(f"{problem}: it has no storage class, and no PersistentVolume fits it", remedy)
    if classes and name not in classes:
        remedy = f"Create a claim with an existing storage class: {', '.join(classes)}."
        return Unbound(f"{problem}: its storage class {name} does not exist", remedy)
    provisioner = classes[name].provisioner if classes else ""
    driver = _IN_TREE.get(provisioner, provisioner)
    if driver and "drivers" in details and driver not in {installed.name for installed in details["drivers"]}:
        return Unbound(
            f"{problem}: the cluster has no driver {driver}, so its disk is not created",
            "Enable the driver's add-on in GKE, or create a PersistentVolume for the claim.",
        )
    remedy = f"Read its events: kubectl describe pvc {claim.name} --namespace {claim.namespace}"
    return Unbound(f"{problem}: its disk is not created yet", remedy)
