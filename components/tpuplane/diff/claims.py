"""Claims of teams for buckets and file systems that a change replaces or deletes.

Kubernetes deletes a claim after its last pod.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tpuplane.plan import ClusterPlan, PlatformPlan
from tpuplane.plan.queue_model import ClaimPlan
from tpuplane.spec.core.errors import Path

_FIELDS = ("purpose", "name", "existing", "location", "readers", "writers")
"""The fields of a bucket from which its volumes are made."""


@dataclass(frozen=True, slots=True)
class ClaimChange:
    """A PersistentVolumeClaim that a change reaches, with its PersistentVolume."""

    cluster: str
    """Its name in GKE."""
    namespace: str
    claim: str
    done: Literal["replaced", "deleted"]


def claim_changes(path: Path, before: PlatformPlan, after: PlatformPlan) -> list[ClaimChange]:
    """The effects of a change to the field at `path`, in clusters and namespaces of both plans."""
    return sorted(_changes(path, before, after), key=lambda claim: (claim.cluster, claim.done))


def _changes(path: Path, before: PlatformPlan, after: PlatformPlan) -> Iterator[ClaimChange]:
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
