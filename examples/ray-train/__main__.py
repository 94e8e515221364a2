"""`train.py` on one slice or more: its text in a ConfigMap, a RayJob that mounts and runs it."""

import hashlib
from pathlib import Path

import pulumi
import pulumi_kubernetes as kubernetes
from tpuplane import RayJob
from tpuplane.args import WorkerGroupArgs

FOLDER = "/home/ray/program"
CHECKPOINTS = "/checkpoints"  # also in train.py

config = pulumi.Config()
image = config.get("image") or "rayproject/ray:2.60.0-py311-tpu"
namespace = config.require("namespace")
slices = config.get_int("slices") or 1
cluster = kubernetes.Provider("cluster", context=config.require("context"))

one_slice: WorkerGroupArgs = {"generation": "v6e", "topology": "4x4", "image": image}
text = Path("train.py").read_text()
# Another text is another ConfigMap, and Ray starts again with it.
name = f"train-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
program = kubernetes.core.v1.ConfigMap(
    "train",
    metadata={"namespace": namespace, "name": name},
    data={"train.py": text},
    opts=pulumi.ResourceOptions(provider=cluster),
)
RayJob(
    "train",
    {
        "entrypoint": f"python {FOLDER}/train.py --slices {slices}",
        "cluster": {
            "namespace": namespace,
            "queue": config.get("queue") or "default",
            "ray_version": "2.60.0",
            "config_maps": {FOLDER: name},
            "buckets": {CHECKPOINTS: config.require("bucket")},
            # One group for each slice, because Kueue does not know the replicas of a group.
            "workers": {f"tpu-{number}": one_slice for number in range(slices)},
        },
    },
    pulumi.ResourceOptions(provider=cluster, depends_on=program),
)
