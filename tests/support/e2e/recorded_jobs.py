"""Jobs on the cluster central1 of the local stack, for the recording that unit tests of `tpuplane why` read."""

from __future__ import annotations

from typing import Any, NamedTuple

Json = dict[str, Any]

POOL = "cloud.google.com/gke-nodepool"
ACCELERATOR, TOPOLOGY = "cloud.google.com/gke-tpu-accelerator", "cloud.google.com/gke-tpu-topology"
QUEUE, PRIORITY = "kueue.x-k8s.io/queue-name", "kueue.x-k8s.io/priority-class"
V6E, V5E, V4 = "tpu-v6e-slice", "tpu-v5-lite-podslice", "tpu-v4-podslice"


REQUIRED = "kueue.x-k8s.io/podset-required-topology"
KEPT = "cluster-autoscaler.kubernetes.io/safe-to-evict"  # nodes of other tests are removed meanwhile
NAMESPACES = ("default", "product", "research", "small")


class Submitted(NamedTuple):
    """A job with the state that `tpuplane why` shows, and a part of its first reason."""

    manifest: Json
    state: str
    reason: str = ""
    pods: int = 0


def container(chips: int = 0, **requests: Any) -> Json:
    resources = {"requests": requests or {"cpu": "100m"}, **({"limits": {"google.com/tpu": chips}} if chips else {})}
    return {"name": "main", "image": "python:3.11", "resources": resources}


def selector(accelerator: str, topology: str) -> Json:
    return {"nodeSelector": {ACCELERATOR: accelerator, TOPOLOGY: topology}}


def made(kind: str, version: str, name: str, spec: Json, **metadata: Any) -> Json:
    namespace, _, own = name.rpartition("/")
    described = {"name": own, **({"namespace": namespace} if namespace else {}), **metadata}
    return {"apiVersion": version, "kind": kind, "metadata": described, **({"spec": spec} if spec else {})}


def job(name: str, pods: int = 1, chips: int = 0, *, annotations: Json | None = None, **spec: Any) -> Json:
    labels = spec.pop("labels", {})
    pod = {"restartPolicy": "Never", "containers": [container(chips, **spec.pop("requests", {}))], **spec}
    template = {"metadata": {"annotations": annotations or {}}, "spec": pod}
    batch = {"parallelism": pods, "completions": pods, "backoffLimit": 0, "template": template}
    return made("Job", "batch/v1", name, batch, labels=labels)


def jobset(name: str, slices: int = 1, *, exclusive: bool = False, labels: Json | None = None, **shape: Any) -> Json:
    """A JobSet of slices of four hosts. In a queue, each slice is one node pool."""
    within = {} if exclusive else {REQUIRED: POOL}
    if slices > 1 and not exclusive:
        within = {
            "kueue.x-k8s.io/podset-slice-required-topology": POOL,
            "kueue.x-k8s.io/podset-slice-size": "4",
            "kueue.x-k8s.io/podset-preferred-topology": POOL,
        }
    batch = job("", 4, 4, annotations=within, requests={"cpu": 10}, **{**selector(V6E, "4x4"), **shape})["spec"]
    annotations = {"alpha.jobset.sigs.k8s.io/exclusive-topology": POOL} if exclusive else {}
    spec = {"replicatedJobs": [{"name": "slice", "replicas": slices, "template": {"spec": batch}}]}
    return made("JobSet", "jobset.x-k8s.io/v1alpha2", name, spec, annotations=annotations, labels=labels or {})


def ray(accelerator: str, topology: str, hosts: int = 1) -> Json:
    image = "rayproject/ray:2.52.0"
    head = {"containers": [{**container(cpu=1), "image": image}]}
    worker = {"containers": [{**container(4), "image": image}], **selector(accelerator, topology)}
    group = {"groupName": "tpu", "replicas": 1, "minReplicas": 1, "maxReplicas": 1, "numOfHosts": hosts}
    return {
        "rayVersion": "2.52.0",
        "headGroupSpec": {"rayStartParams": {}, "template": {"spec": head}},
        "workerGroupSpecs": [{**group, "rayStartParams": {}, "template": {"spec": worker}}],
    }


def replicated(kind: str, name: str, pods: int, **spec: Any) -> Json:
    labels = {"app": name.rpartition("/")[2]}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container()], **spec.pop("pod", {})}}
    return made(
        kind, "apps/v1", name, {"replicas": pods, "selector": {"matchLabels": labels}, "template": template, **spec}
    )


CLAIM = {
    "metadata": {"name": "data"},
    "spec": {
        "accessModes": ["ReadWriteMany"],
        "storageClassName": "files",
        "resources": {"requests": {"storage": "10Gi"}},
    },
}
SERVE = "applications: [{name: echo, import_path: 'echo:app'}]"

BEFORE = [
    made("Namespace", "v1", "small", {}),
    {**made("ConfigMap", "v1", "default/flow", {}), "data": {}},
    # Its driver is an add-on that the cluster does not have.
    {**made("StorageClass", "storage.k8s.io/v1", "files", {}), "provisioner": "filestore.csi.storage.gke.io"},
    made("ResourceQuota", "v1", "small/pods", {"hard": {"pods": "1"}}),
    made(
        "ComputeClass",
        "cloud.google.com/v1",
        "any-v6e",
        {
            "priorities": [{"tpu": {"type": V6E, "count": 4, "topology": "2x2"}}],
            "nodePoolAutoCreation": {"enabled": True},
            "whenUnsatisfiable": "DoNotScaleUp",
        },
    ),
]

FLOW = {"apiVersion": "v1", "kind": "ConfigMap", "name": "flow", "uid": "$flow"}
HOLDERS = [
    Submitted(
        made("Pod", "v1", "default/step", {"containers": [container()]}, ownerReferences=[FLOW]), "running", pods=1
    ),
    Submitted(
        made("RayService", "ray.io/v1", "default/serve", {"serveConfigV2": SERVE, "rayClusterConfig": ray(V6E, "2x2")}),
        "starting",
        "Initializing: RayService is initializing",
        pods=2,
    ),
    Submitted(replicated("Deployment", "default/serve", 2), "running", pods=2),
    Submitted(
        made(
            "RayJob", "ray.io/v1", "default/tune", {"entrypoint": "python tune.py", "rayClusterSpec": ray(V6E, "2x2")}
        ),
        "running",
        pods=3,
    ),
    Submitted(
        made(
            "RayJob",
            "ray.io/v1",
            "default/lost",
            {"entrypoint": "python lost.py", "rayClusterSpec": ray(V4, "2x2x4", 4)},
        ),
        "pending",
        "4 of 5 pods have no node",
        5,
    ),
    Submitted(replicated("StatefulSet", "default/web", 1, serviceName="web"), "running", pods=1),
    Submitted(job("default/nightly", annotations={KEPT: "false"}), "running", pods=1),
    Submitted(jobset("product/holds"), "running", pods=4),
    Submitted(jobset("research/holds"), "running", pods=4),
    Submitted(jobset("default/first", exclusive=True, **selector(V5E, "4x4")), "running", pods=4),
]

WAITING = [
    Submitted(jobset("product/giant", 3), "waiting", "48 chips"),
    Submitted(jobset("research/waits"), "waiting", "16 more free chips"),
    Submitted(jobset("default/second", exclusive=True, **selector(V5E, "4x4")), "pending", "no node", 1),
    Submitted(
        job("research/large", 1, 8, **selector(V6E, "4x4"), requests={"cpu": 1}), "waiting", "8 chips in each pod"
    ),
    Submitted(job("research/mixed", 1, 4, **selector(V5E, "4x5"), requests={"cpu": 1}), "waiting", ""),
    Submitted(job("product/astray", 1, 4, **selector(V6E, "4x4"), labels={QUEUE: "none"}), "waiting", "LocalQueue"),
    Submitted(
        job(
            "product/classed", 1, 4, nodeSelector={"cloud.google.com/compute-class": "any-v6e"}, labels={QUEUE: "none"}
        ),
        "waiting",
        "LocalQueue",
    ),
    Submitted(job("product/unranked", labels={PRIORITY: "none"}), "waiting", "priority class"),
    Submitted(job("research/rooted", hostNetwork=True), "created", "PodSecurity"),
    Submitted(job("small/many", 3), "pending", "exceeded quota", 1),
    Submitted(
        replicated(
            "StatefulSet",
            "default/disk",
            1,
            serviceName="disk",
            volumeClaimTemplates=[CLAIM],
            pod={"containers": [{**container(), "volumeMounts": [{"name": "data", "mountPath": "/data"}]}]},
        ),
        "pending",
        "",
        1,
    ),
    Submitted(
        job(
            "default/scratch",
            3,
            volumes=[{**CLAIM["metadata"], "ephemeral": {"volumeClaimTemplate": {"spec": CLAIM["spec"]}}}],
        ),
        "pending",
        "",
        3,
    ),
    Submitted(job("default/ranked", priorityClassName="none"), "created", "no PriorityClass"),
    Submitted(
        job(
            "product/level",
            4,
            4,
            **selector(V6E, "4x4"),
            requests={"cpu": 1},
            annotations={REQUIRED: "example.com/row"},
        ),
        "waiting",
        "topology level",
    ),
    Submitted(
        job("product/five", 5, 4, **selector(V6E, "4x4"), requests={"cpu": 1}, annotations={REQUIRED: POOL}),
        "waiting",
        "20 more free chips",
    ),
    Submitted(job("research/other", 1, 4, **selector(V6E, "2x2"), requests={"cpu": 1}), "waiting", "matches none of"),
    Submitted(job("default/cores", requests={"cpu": 170}), "pending", "Insufficient cpu", 1),
    Submitted(job("default/combo", 1, 4, **selector(V5E, "2x2")), "pending", "no node", 1),
    Submitted(job("default/eight", 1, 8, **selector(V6E, "4x4")), "pending", "no node", 1),
    Submitted(
        job(
            "default/onto", 1, 4, nodeSelector={ACCELERATOR: V6E, TOPOLOGY: "4x4", "kubernetes.io/hostname": "$holder"}
        ),
        "pending",
        "no node",
        1,
    ),
    Submitted(job("default/sunny", nodeSelector={"example.com/sunny": "yes"}), "pending", "no node", 1),
]
