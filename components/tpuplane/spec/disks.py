"""Disks of pods in the description: storage classes, from which each pod of a job gets disks of its own."""

from typing import Annotated, Literal

from tpuplane.spec.core.changes import Change, T
from tpuplane.spec.core.fields import Spec

_REPLACES = "A change deletes the storage class and creates another one. Existing disks do not change."
_ReplacesClass = Annotated[T, Change("deletes", _REPLACES, source="storage_class")]
_JOBS = "A change applies to jobs that `tpuplane job` prints after it. No resource changes."


class DiskSpec(Spec):
    """A storage class in each cluster with the driver. A pod that mounts it gets a disk, deleted with the pod."""

    type: _ReplacesClass[Literal["hyperdisk-balanced", "pd-balanced"]]
    """Type of the disks. v6e and tpu7x support only hyperdisk-balanced, older generations only pd-balanced."""

    size_gib: Annotated[int, Change("nothing", _JOBS, source="spec")]
    """Size of each disk in GiB."""

    iops: _ReplacesClass[int | None] = None
    """I/O operations per second of each disk, for hyperdisk-balanced: at most 160,000, and 500 for each GiB. Default:
    Compute Engine's, which grows with the size."""

    throughput: _ReplacesClass[int | None] = None
    """Throughput of each disk in MiB per second, for hyperdisk-balanced: 140 to 2,400, and at most a quarter of `iops`.
    Default: Compute Engine's, which grows with the size."""
