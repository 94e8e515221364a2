"""Jobs of a queue that Kueue has made no workload of: they wait for ever, and only Kueue's log says why. Pure."""

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
"""By API group: the kinds that such jobs are of, and what their lists are called."""

_WHY = (
    "Kueue has made no workload of it: a priority class is missing, it has more than 8 parts, or Kueue is down; its "
    "log says which"
)


def without_workload(kind: str, jobs: Iterable[Object], workloads: Iterable[Object]) -> Iterator[dict[str, Any]]:
    """A workload that waits, as Kueue would have it, for each job of a kind that is held back and has none.

    Jobs that another object made are left out: Kueue looks at that one.
    """
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
