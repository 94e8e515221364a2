"""The labels of a job: its queue and its priority class, as Kueue reads them."""

from __future__ import annotations

from tpuplane.labels import PRIORITY_CLASS_LABEL, QUEUE_LABEL

# Kueue takes no other queue while a job runs; another priority class it takes in place
# (https://github.com/kubernetes-sigs/kueue/blob/v0.16.1/pkg/controller/jobframework/validation.go).
QUEUE_PATH = f'metadata.labels["{QUEUE_LABEL}"]'


def job_labels(queue: str | None, priority_class: str | None) -> dict[str, str]:
    """Labels of a job; never none, because the engine calls the first and the last label a change of `metadata.labels`,
    which does not lie below `QUEUE_PATH`."""
    said = {QUEUE_LABEL: queue, PRIORITY_CLASS_LABEL: priority_class}
    return {"app.kubernetes.io/managed-by": "tpuplane", **{label: value for label, value in said.items() if value}}
