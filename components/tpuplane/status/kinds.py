"""The kinds of jobs whose status is known: their API groups, and whether Kueue suspends them."""

from typing import NamedTuple


class JobKind(NamedTuple):
    """Where the API serves a kind of jobs."""

    group: str
    plural: str
    suspends: bool = False
    """Whether it has `spec.suspend`."""


JOB_KINDS = {
    "Job": JobKind("batch", "jobs", suspends=True),
    "JobSet": JobKind("jobset.x-k8s.io", "jobsets", suspends=True),
    "RayCluster": JobKind("ray.io", "rayclusters", suspends=True),
    "RayJob": JobKind("ray.io", "rayjobs", suspends=True),
    "RayService": JobKind("ray.io", "rayservices"),
    "LeaderWorkerSet": JobKind("leaderworkerset.x-k8s.io", "leaderworkersets"),
    "StatefulSet": JobKind("apps", "statefulsets"),
    "Deployment": JobKind("apps", "deployments"),
    "Pod": JobKind("", "pods"),
}
