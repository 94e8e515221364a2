"""What an API server answers for one job that runs and one that waits."""

from __future__ import annotations

from tests.support.status.api_server import KUEUE
from tests.support.status.hosts import HOSTS
from tests.support.status.queues import LOCAL_QUEUE, QUEUE, WORDS, workload

JOB = {
    "metadata": {
        "name": "p0",
        "namespace": "research",
        "ownerReferences": [{"kind": "JobSet", "name": "runs", "uid": "runs"}],
        "annotations": {"kueue.x-k8s.io/workload": "jobset-runs"},
    },
    "spec": {"nodeName": "h0", "containers": [{"resources": {"requests": {"google.com/tpu": "4"}}}]},
}
LISTS = {
    "/api/v1/nodes": HOSTS,
    "/api/v1/pods": [JOB],
    KUEUE + "clusterqueues": [QUEUE],
    KUEUE + "localqueues": [LOCAL_QUEUE],
    KUEUE + "workloads": [
        workload("runs", "research", Admitted=("True", "")),
        workload("waits", "research", QuotaReserved=("False", WORDS[0]["kueue"])),
    ],
}
