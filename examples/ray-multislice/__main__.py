"""`program.py` on two slices: its text in a ConfigMap, a RayJob that mounts and runs it."""

import hashlib
from pathlib import Path

import pulumi
import pulumi_kubernetes as kubernetes
from tpuplane import RayJob
from tpuplane.args import WorkerGroupArgs

FOLDER = "/home/ray/program"

config = pulumi.Config()
image = config.get("image") or "rayproject/ray:2.60.0-py311-tpu"
namespace = config.require("namespace")
cluster = kubernetes.Provider("cluster", context=config.require("context"))

one_slice: WorkerGroupArgs = {"generation": "v6e", "topology": "4x4", "image": image}
text = Path("program.py").read_text()
# Another text is another ConfigMap, and Ray starts again with it.
name = f"multislice-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
program = kubernetes.core.v1.ConfigMap(
    "multislice",
    metadata={"namespace": namespace, "name": name},
    data={"program.py": text},
    opts=pulumi.ResourceOptions(provider=cluster),
)
RayJob(
    "multislice",
    {
        "entrypoint": f"python {FOLDER}/program.py",
        "cluster": {
            "namespace": namespace,
            "queue": config.get("queue") or "default",
            "ray_version": "2.60.0",
            "config_maps": {FOLDER: name},
            # One group for each slice, because Kueue does not know the replicas of a group.
            "workers": {"first": one_slice, "second": one_slice},
        },
    },
    pulumi.ResourceOptions(provider=cluster, depends_on=program),
)
