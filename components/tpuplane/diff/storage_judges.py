"""The class of a change to storage that depends on the values."""

from tpuplane.diff.compare import Difference
from tpuplane.diff.node_pools import Platform
from tpuplane.quantities import counted
from tpuplane.spec.core.changes import ChangeClass
from tpuplane.spec.core.errors import Path


def aging(path: Path, before: Platform, after: Platform) -> str:
    """A sentence if a bucket deletes objects that it keeps now."""
    if path[:2] != ("storage", "buckets") or path[-1] not in ("purpose", "deleteAfterDays"):
        return ""
    old, new = (
        next((own.delete_after_days for own in side.plan.storage if own.key == path[2]), 0) for side in (before, after)
    )
    return f" Objects older than {counted(new, 'day')} are deleted." if new and not 0 < old <= new else ""


def bucket(edit: Difference, before: Platform, after: Platform) -> ChangeClass:
    """The namespace of a bucket is chosen when it is created."""
    made = [
        {bucket.key: bucket.hierarchical for bucket in side.plan.storage if not bucket.existing}
        for side in (before, after)
    ]
    old, new = (side.get(str(edit.path[2])) for side in made)
    return "in-place" if old is None or new is None or old == new else "deletes"


def persistent_disk(edit: Difference, before: Platform, after: Platform) -> ChangeClass:
    """Only a cluster with the driver has the storage classes of the platform's disks."""
    old, new = (
        {disk.name for own in side.plan.clusters if own.key == edit.path[1] for disk in own.disks}
        for side in (before, after)
    )
    return "deletes" if old - new else "creates" if new - old else "in-place"
