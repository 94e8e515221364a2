"""Multi-tier checkpointing: RAM disks for checkpoints on the hosts of slices, and their bucket."""

from typing import Annotated

from pydantic import Field

from tpuplane.spec.core.changes import Change, T
from tpuplane.spec.core.fields import Name, Spec

# GKE's controller makes a driver for each object, and never changes it. So another object takes its place.
_REPLACES = "A change deletes the RAM disks with their checkpoints, and creates others."
_ReplacesDisks = Annotated[T, Change("deletes-work", _REPLACES, source="checkpointing")]
_Pools = Annotated[T, Change(new="creates", removed="deletes-work", named="RAM disk", source="checkpointing")]


class CheckpointingPoolSpec(Spec):
    """The RAM disk on each host of a pool."""

    ram_disk_gb: _ReplacesDisks[Annotated[int, Field(ge=1)]]
    """Size in GB, for about two checkpoints of the host's part of the model. Kubernetes does not reserve it: leave this
    much memory free in the requests of pods."""


class CheckpointingSpec(Spec):
    """Multi-tier checkpointing: jobs write checkpoints to RAM disks. GKE copies them to other hosts, and backs them up
    to a bucket."""

    bucket: _ReplacesDisks[Name]
    """The bucket for backups: a name in `storage.buckets`, with purpose `checkpoints`, in the cluster's region."""

    pools: _Pools[Annotated[dict[Name, CheckpointingPoolSpec], Field(min_length=1)]]
    """TPU pools whose hosts get a RAM disk, by name."""
