"""Jobs of a queue without a Kueue workload. They never start, and only Kueue's log has the reason. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tpuplane.labels import PRIORITY_CLASS_LABEL, QUEUE_LABEL
from tpuplane.status.objects import Object

JOB_KINDS = {
    "batch": {"Job": "jobs"},
    "jobset.x-k8s.io": {"JobSet": "jobsets"},
    "ray.io": {"RayCluster": "rayclusters", "RayJob": "rayjobs"},
}
"""Kinds of such jobs and their plural names, by API group."""

_WHY = (
    "Kueue has created no workload for it: a priority class is missing, it has more than 8 pod sets, or Kueue is down; "
    "see Kueue's log"
)


def without_workload(kind: str, jobs: Iterable[Object], workloads: Iterable[Object]) -> Iterator[dict[str, Any]]:
    """A waiting workload for each suspended job of a kind that has none, except for jobs with an owner."""
    known = {owner["uid"] for it in workloads for owner in it["metadata"].get("ownerReferences", ())}
    for job in jobs:
        metadata, labels = job["metadata"], job["metadata"].get("labels", {})
        if not job.get("spec", {}).get("suspend") or metadata.get("ownerReferences") or metadata["uid"] in known:
            continue
        yield {
            "metadata": {**metadata, "ownerReferences": [{"kind": kind, "name": metadata["name"]}]},
            "spec": {
                "queueName": labels.get(QUEUE_LABEL, ""),
                "priorityClassName": labels.get(PRIORITY_CLASS_LABEL, ""),
            },
            "status": {"conditions": [{"type": "QuotaReserved", "status": "False", "message": _WHY}]},
        }
