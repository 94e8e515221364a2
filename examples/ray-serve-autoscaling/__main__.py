"""A pool that scales from no host, and on it the application of `../ray-serve`, which scales from no slice.

Serve wants replicas for the requests that wait, Ray's autoscaler slices for them, and GKE's autoscaler makes the hosts.
"""

import hashlib
from pathlib import Path

import pulumi
import pulumi_kubernetes as kubernetes
import yaml
from tpuplane import ExistingCluster, RayService, TpuNodePool

NAME = "softmax"
FOLDER = "/home/ray/program"  # also in serve.yaml
SLICES = 2

config = pulumi.Config()
namespace = config.require("namespace")
idle = config.get_int("idleTimeoutSeconds") or 300  # idle seconds until Ray removes the replica and its slice
serve = yaml.safe_load(Path("serve.yaml").read_text())
for deployment in serve["applications"][0]["deployments"]:
    deployment["autoscaling_config"]["downscale_delay_s"] = idle
cluster = ExistingCluster(
    "cluster",
    {
        "project": pulumi.Config("gcp").require("project"),
        "name": config.require("cluster"),
        "location": config.require("location"),
        "service_account": config.require("nodeServiceAccount"),
    },
)
pool = TpuNodePool(
    NAME,
    {
        "cluster": cluster.ref,
        "zone": config.require("zone"),
        "generation": "v5e",
        "topology": "2x4",
        "machine_type": "ct5lp-hightpu-8t",
        "autoscaling": {"min_slices": 0, "max_slices": SLICES},
    },
)
inside = cluster.in_cluster()
# A separate namespace, because Kueue admits every Ray cluster in a team's namespace, and rejects autoscaling.
home = kubernetes.core.v1.Namespace(NAME, metadata={"name": namespace}, opts=inside)
text = Path("../ray-serve/app.py").read_text()
# Another text is another ConfigMap, and Ray starts again with it.
application = f"{NAME}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
program = kubernetes.core.v1.ConfigMap(
    NAME,
    metadata={"namespace": namespace, "name": application},
    data={"app.py": text},
    opts=pulumi.ResourceOptions.merge(inside, pulumi.ResourceOptions(depends_on=home)),
)
RayService(
    NAME,
    {
        "serve_config": yaml.safe_dump(serve),
        "cluster": {
            "namespace": namespace,
            "ray_version": "2.60.0",
            "config_maps": {FOLDER: application},
            "autoscaling": True,
            "idle_timeout_seconds": idle,
            "workers": {
                "tpu": {
                    "generation": "v5e",
                    "topology": "2x4",
                    "machine_type": "ct5lp-hightpu-8t",
                    "image": config.get("image") or "rayproject/ray:2.60.0-py311-tpu",
                    "slices": 0,
                    "max_slices": SLICES,
                }
            },
        },
    },
    pulumi.ResourceOptions.merge(inside, pulumi.ResourceOptions(depends_on=[program, pool])),
)
