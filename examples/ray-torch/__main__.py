"""`train.py` on a slice or, with `gpu` in the configuration, on GPU nodes: a RayJob either way."""

import hashlib
from pathlib import Path

import pulumi
import pulumi_kubernetes as kubernetes
from tpuplane import RayClusterArgs, RayJob

FOLDER = "/home/ray/program"
CHECKPOINTS = "/checkpoints"  # also in train.py

config = pulumi.Config()
namespace = config.require("namespace")
accelerator = config.get("gpu")  # such as nvidia-l4
nodes = config.get_int("nodes") or 2
cluster = kubernetes.Provider("cluster", context=config.require("context"))

text = Path("train.py").read_text()
# Another text is another ConfigMap, and Ray starts again with it.
name = f"torch-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
program = kubernetes.core.v1.ConfigMap(
    "torch",
    metadata={"namespace": namespace, "name": name},
    data={"train.py": text},
    opts=pulumi.ResourceOptions(provider=cluster),
)
on_cluster: RayClusterArgs = {
    "namespace": namespace,
    "queue": config.get("queue") or "default",
    "ray_version": "2.60.0",
    "config_maps": {FOLDER: name},
    "buckets": {CHECKPOINTS: config.require("bucket")},
}
if accelerator:
    image = config.get("image") or "rayproject/ray:2.60.0-py311-gpu"
    on_cluster["gpu_workers"] = {"gpu": {"accelerator": accelerator, "gpus": 1, "replicas": nodes, "image": image}}
    where, packages = f"--on gpu --workers {nodes}", "torch"
else:
    image = config.get("image") or "rayproject/ray:2.60.0-py311-tpu"
    on_cluster["workers"] = {"tpu": {"generation": "v6e", "topology": "4x4", "image": image}}
    where, packages = "--on tpu", "torch-tpu"
RayJob(
    "torch",
    {
        "entrypoint": f"python {FOLDER}/train.py {where}",
        "runtime_env": f"pip: [{packages}]",  # remove this line if the image contains them
        "cluster": on_cluster,
    },
    pulumi.ResourceOptions(provider=cluster, depends_on=program),
)
