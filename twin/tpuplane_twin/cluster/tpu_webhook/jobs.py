"""Pods of Jobs and JobSets, as GKE's own TPU webhook treats them.

GKE does it for indexed Jobs with a headless service, and for the slices of a multislice JobSet. Its exact
conditions are not published; these follow from what its multislice guide relies on.
"""

import copy

from tpuplane_twin.cluster.tpu_webhook.pods import Pod, hosts, is_7x, set_env, tpu_containers

JOB = "batch.kubernetes.io/job-name"
INDEX = "batch.kubernetes.io/job-completion-index"
_JOBSET = "jobset.sigs.k8s.io"


def mutate(pod: Pod) -> Pod:
    """The pod as a worker of its slice; unchanged where it belongs to no multi-host slice. Raises `Rejected`."""
    labels, spec = pod["metadata"].get("labels", {}), pod["spec"]
    subdomain = spec.get("subdomain")
    if not tpu_containers(spec) or not subdomain or not {JOB, INDEX} <= labels.keys():
        return pod
    count = hosts(spec, pod["metadata"].get("annotations"))
    if count == 1:
        return pod
    pod = copy.deepcopy(pod)
    workers = tpu_containers(pod["spec"])
    for at, container in enumerate(workers):
        index = int(labels[INDEX])
        worker = index * len(workers) + at if is_7x(spec) else index
        set_env(container, "TPU_WORKER_ID", str(worker))
        names = (f"{labels[JOB]}-{number}.{subdomain}" for number in range(count))
        set_env(container, "TPU_WORKER_HOSTNAMES", ",".join(names))
        slices = int(labels.get(f"{_JOBSET}/replicatedjob-replicas", "1"))
        if slices > 1:
            stem = f"{labels[f'{_JOBSET}/jobset-name']}-{labels[f'{_JOBSET}/replicatedjob-name']}"
            set_env(container, "MEGASCALE_NUM_SLICES", str(slices))
            set_env(container, "MEGASCALE_SLICE_ID", labels[f"{_JOBSET}/job-index"])
            set_env(container, "MEGASCALE_COORDINATOR_ADDRESS", f"{stem}-0-0.{subdomain}")
    return pod
