"""`app.py` on the hosts of one slice: its text in a ConfigMap, a RayService that imports it."""

import hashlib
from pathlib import Path

import pulumi
import pulumi_kubernetes as kubernetes
from tpuplane import RayService

FOLDER = "/home/ray/program"  # also in serve.yaml

config = pulumi.Config()
image = config.get("image") or "rayproject/ray:2.60.0-py311-tpu"
namespace = config.require("namespace")
cluster = kubernetes.Provider("cluster", context=config.require("context"))

text = Path("app.py").read_text()
# Another text is another ConfigMap, and Ray starts again with it.
name = f"softmax-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
program = kubernetes.core.v1.ConfigMap(
    "softmax",
    metadata={"namespace": namespace, "name": name},
    data={"app.py": text},
    opts=pulumi.ResourceOptions(provider=cluster),
)
RayService(
    "softmax",
    {
        "serve_config": Path("serve.yaml").read_text(),
        "cluster": {
            "namespace": namespace,
            "queue": config.get("queue") or "default",
            "ray_version": "2.60.0",
            "config_maps": {FOLDER: name},
            "workers": {"tpu": {"generation": "v6e", "topology": "4x4", "image": image}},
        },
    },
    pulumi.ResourceOptions(provider=cluster, depends_on=program),
)
