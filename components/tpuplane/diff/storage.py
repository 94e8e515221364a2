"""The effects of a change on storage: the claims that it replaces or deletes, and its class if values decide it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tpuplane.diff.compare import Difference
from tpuplane.diff.node_pools import Platform
from tpuplane.plan import ClusterPlan, PlatformPlan
from tpuplane.plan.queue_model import ClaimPlan
from tpuplane.quantities import counted
from tpuplane.spec.core.changes import ChangeClass
from tpuplane.spec.core.errors import Path

_FIELDS = ("purpose", "name", "existing", "location", "readers", "writers")
"""The fields of a bucket from which its volumes are made."""


@dataclass(frozen=True, slots=True)
class ClaimChange:
    """A PersistentVolumeClaim that a change reaches, with its volume. Kubernetes deletes a claim after its last pod."""

    cluster: str
    """Its name in GKE."""
    namespace: str
    claim: str
    done: Literal["replaced", "deleted"]


def claim_changes(path: Path, before: PlatformPlan, after: PlatformPlan) -> Iterator[ClaimChange]:
    """The effects of a change to the field at `path`, in clusters and namespaces of both plans."""
    cluster, volume = None, None
    match path:
        case ("storage", "lustre" | "filestore", name, *_):
            volume = name
        case ("storage", "buckets", name, *field) if not field or field[0] in _FIELDS:
            volume = name
        case ("clusters", key, "version") | ("clusters", key, "storage", *_):
            cluster = key
        case _:
            return
    later = {own.key: own for own in after.clusters}
    for own in before.clusters:
        if cluster in (None, own.key) and own.key in later:
            claims = claims_of(later[own.key])
            for namespace, olds in claims_of(own).items():
                news = claims.get(namespace, olds)  # a deleted namespace takes its pods with it
                for name, claim in olds.items():
                    if volume in (None, name) and news.get(name) != claim:
                        yield ClaimChange(own.name, namespace, name, "replaced" if name in news else "deleted")


def claims_of(cluster: ClusterPlan) -> dict[str, dict[str, ClaimPlan]]:
    """The claims in a cluster by their names, by namespace."""
    teams = cluster.queues.teams if cluster.queues else ()
    return {own.name: {claim.name: claim for claim in own.claims} for team in teams for own in team.namespaces}


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
