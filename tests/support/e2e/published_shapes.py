"""TPU workloads in the shape in which Google's tools and recipes publish them.

Written anew from reading; nothing is copied. xpk is github.com/AI-Hypercomputer/xpk (`xpk workload create` and
`create-pathways`, June 2026), tpu-recipes is github.com/AI-Hypercomputer/tpu-recipes (training/ironwood/*/k8s and
microbenchmarks/ironwood, August 2026). Each has what a cluster judges: labels, annotations, policies, selectors,
tolerations, priorities, what containers ask for and what they want of the host.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Object = dict[str, Any]

QUEUE = "kueue.x-k8s.io/queue-name"
EXCLUSIVE = "alpha.jobset.sigs.k8s.io/exclusive-topology"
RESTARTED_EXITS = [42, *range(127, 256)]

XPK_PRIORITIES = {"very-low": 100, "low": 250, "medium": 500, "high": 750, "very-high": 1000}
"""The PriorityClasses that `xpk cluster create` makes, and that every workload of xpk names one of."""


@dataclass(frozen=True)
class Slices:
    """What a workload runs on: the labels of its nodes, hosts of a slice, chips of a host."""

    accelerator: str
    topology: str
    hosts: int
    chips: int = 4
    count: int = 1

    @property
    def selector(self) -> dict[str, str]:
        return {
            "cloud.google.com/gke-tpu-accelerator": self.accelerator,
            "cloud.google.com/gke-tpu-topology": self.topology,
        }


def xpk_priorities() -> list[Object]:
    return [
        {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value}
        for name, value in XPK_PRIORITIES.items()
    ]


def xpk_workload(name: str, queue: str, on: Slices) -> Object:
    """`xpk workload create`, with its stack-trace sidecar: exclusive node pools, the host's network, chips as limits
    only, a service account and a pull secret that are not there."""
    pod = {
        "schedulerName": "default-scheduler",
        "imagePullSecrets": [{"name": "None"}],
        "restartPolicy": "Never",
        "nodeSelector": on.selector,
        "priorityClassName": "medium",
        "hostNetwork": True,
        "dnsPolicy": "ClusterFirstWithHostNet",
        "terminationGracePeriodSeconds": 30,
        "serviceAccountName": None,
        "tolerations": [{"operator": "Exists", "key": "google.com/tpu"}],
        "containers": [
            {
                "name": "stacktrace-explorer",
                "image": "busybox:1.28",
                "args": ["/bin/sh", "-c", "exit 0"],
                "volumeMounts": [{"name": "tpu-stack-trace", "readOnly": True, "mountPath": "/tmp/debugging"}],
            },
            _trainer("jax-tpu", on.chips),
        ],
        "volumes": [{"name": "dshm-2", "emptyDir": {"medium": "Memory"}}, {"name": "tpu-stack-trace"}],
    }
    labels = {"xpk.google.com/workload": name}
    job = {
        "parallelism": on.hosts,
        "completions": on.hosts,
        "backoffLimit": 0,
        "podFailurePolicy": _fail_unless_restarted(),
        "template": {"metadata": {"labels": labels, "annotations": None}, "spec": pod},
    }
    return _jobset(
        name,
        {"labels": {QUEUE: queue, **labels}, "annotations": {EXCLUSIVE: "cloud.google.com/gke-nodepool"}},
        {
            "ttlSecondsAfterFinished": 43200,
            "failurePolicy": _fail_for_pods(),
            "replicatedJobs": [{"name": "slice-job", "replicas": on.count, "template": {"spec": job}}],
        },
    )


def xpk_pathways(name: str, queue: str, on: Slices, head_pool: str) -> Object:
    """`xpk workload create-pathways`: a head on CPUs with two sidecars before the user's program, then the slices.

    xpk's own head asks for 48 CPUs and 232 GB on the pool that xpk makes for it, called cpu-np; here it is smaller, and
    `head_pool` is the pool.
    """
    shared = {"name": "shared-tmp", "hostPath": {"path": "/tmp", "type": "DirectoryOrCreate"}}
    host = {"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet", "volumes": [shared]}
    mounts = [{"name": "shared-tmp", "mountPath": "/tmp"}]
    head = {
        **host,
        "nodeSelector": {"cloud.google.com/gke-nodepool": head_pool},
        "restartPolicy": "Never",
        "initContainers": [_sidecar("pathways-proxy", 29000, "2"), _sidecar("pathways-rm", 29001, "1")],
        "containers": [
            {
                "name": "jax-tpu",
                "image": "python:3.11",
                "securityContext": {"privileged": True},
                "env": [_of_label("PATHWAYS_HEAD", "jobset.sigs.k8s.io/coordinator")],
                "resources": {"limits": {"cpu": "2", "memory": "4G"}},
                "volumeMounts": mounts,
            }
        ],
    }
    worker = {
        **host,
        "terminationGracePeriodSeconds": 30,
        "priorityClassName": "medium",
        "nodeSelector": on.selector,
        "restartPolicy": "OnFailure",
        "tolerations": [{"operator": "Exists", "key": "google.com/tpu"}],
        "containers": [
            {
                "name": "pathways-worker",
                "image": "pathways/server",
                "env": [
                    _of_label("MEGASCALE_NUM_SLICES", "jobset.sigs.k8s.io/replicatedjob-replicas"),
                    _of_label("MEGASCALE_SLICE_ID", "jobset.sigs.k8s.io/job-index"),
                    _of_label("MEGASCALE_COORDINATOR_ADDRESS", "jobset.sigs.k8s.io/coordinator"),
                ],
                "ports": [{"containerPort": port} for port in (29005, 29006, 8471, 8080)],
                "resources": {"limits": {"google.com/tpu": str(on.chips)}},
                "volumeMounts": mounts,
            }
        ],
    }
    return _jobset(
        name,
        {"labels": {QUEUE: queue, "xpk.google.com/workload": name}},
        {
            "coordinator": {"replicatedJob": "pathways-head"},
            "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True},
            "failurePolicy": {"restartStrategy": "Recreate"},
            "replicatedJobs": [
                {"name": "pathways-head", "replicas": 1, "template": _indexed(head, 1, "kubernetes.io/hostname", 0)},
                {
                    "name": "worker",
                    "replicas": on.count,
                    "template": _indexed(worker, on.hosts, "cloud.google.com/gke-nodepool", 4 * on.hosts),
                },
            ],
            "startupPolicy": {"startupPolicyOrder": "InOrder"},
            "successPolicy": {"operator": "All", "targetReplicatedJobs": ["pathways-head"]},
            "suspend": False,
        },
    )


def recipe_training(name: str, queue: str, on: Slices) -> Object:
    """A training recipe of tpu-recipes (training/ironwood/MODEL/RUN/k8s): as xpk's, without priority and sidecar."""
    pod = {
        "restartPolicy": "Never",
        "nodeSelector": on.selector,
        "hostNetwork": True,
        "dnsPolicy": "ClusterFirstWithHostNet",
        "tolerations": [{"operator": "Exists", "key": "google.com/tpu"}],
        "containers": [{**_trainer("jax-tpu", on.chips), "ports": [{"containerPort": 8471}, {"containerPort": 8080}]}],
        "volumes": [{"name": "dshm-2", "emptyDir": {"medium": "Memory"}}],
    }
    job = {
        "parallelism": on.hosts,
        "completions": on.hosts,
        "backoffLimit": 0,
        "podFailurePolicy": _fail_unless_restarted(),
        "template": {"spec": pod},
    }
    return _jobset(
        name,
        {"labels": {QUEUE: queue}, "annotations": {EXCLUSIVE: "cloud.google.com/gke-nodepool"}},
        {
            "ttlSecondsAfterFinished": 43200,
            "failurePolicy": _fail_for_pods(),
            "replicatedJobs": [{"name": "slice-job", "replicas": on.count, "template": {"spec": job}}],
        },
    )


def recipe_benchmark(name: str, queue: str, on: Slices) -> list[Object]:
    """A microbenchmark of tpu-recipes (microbenchmarks/ironwood/automation): a suspended indexed Job behind a headless
    Service, without any toleration."""
    container = {
        "name": "jax-tpu",
        "image": "python:3.12",
        "securityContext": {"privileged": False},
        "env": [{"name": "JAX_PLATFORMS", "value": "tpu,cpu"}],
        "command": ["bash", "-c", "true"],
        "resources": {"requests": {"google.com/tpu": on.chips}, "limits": {"google.com/tpu": on.chips}},
    }
    pod = {"subdomain": f"headless-svc-{name}", "restartPolicy": "Never", "nodeSelector": on.selector}
    job = {
        "completionMode": "Indexed",
        "suspend": True,
        "parallelism": on.hosts,
        "completions": on.hosts,
        "backoffLimit": 0,
        "template": {"spec": {**pod, "containers": [container]}},
    }
    return [
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": f"headless-svc-{name}"},
            "spec": {"clusterIP": "None", "selector": {"job-name": name}},
        },
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "labels": {QUEUE: queue}}, "spec": job},
    ]


def _jobset(name: str, metadata: Object, spec: Object) -> Object:
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": name, **metadata},
        "spec": spec,
    }


def _indexed(pod: Object, hosts: int, exclusive: str, backoff: int) -> Object:
    return {
        "metadata": {"annotations": {EXCLUSIVE: exclusive}},
        "spec": {
            "backoffLimit": backoff,
            "completionMode": "Indexed",
            "completions": hosts,
            "parallelism": hosts,
            "template": {"spec": pod},
        },
    }


def _trainer(name: str, chips: int) -> Object:
    return {
        "name": name,
        "image": "python:3.11",
        "env": None,
        "securityContext": {"privileged": True},
        "command": ["bash", "-c", "echo XPK Start: $(date); python train.py"],
        "resources": {"limits": {"google.com/tpu": chips}},
        "volumeMounts": [{"mountPath": "/dev/shm", "name": "dshm-2"}],
    }


def _sidecar(name: str, port: int, cpu: str) -> Object:
    return {
        "name": name,
        "image": f"pathways/{name}",
        "imagePullPolicy": "Always",
        "restartPolicy": "Always",
        "env": [_of_label("PATHWAYS_HEAD", "jobset.sigs.k8s.io/coordinator")],
        "ports": [{"containerPort": port, "protocol": "TCP"}],
        "resources": {"limits": {"cpu": cpu, "memory": "4G"}},
    }


def _of_label(name: str, label: str) -> Object:
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": f"metadata.labels['{label}']"}}}


def _fail_for_pods() -> Object:
    return {"rules": [{"action": "FailJobSet", "onJobFailureReasons": ["PodFailurePolicy"]}], "maxRestarts": 0}


def _fail_unless_restarted() -> Object:
    exits = {"containerName": "jax-tpu", "operator": "NotIn", "values": RESTARTED_EXITS}
    return {"rules": [{"action": "FailJob", "onPodConditions": [], "onExitCodes": exits}]}
