"""vLLM on one host with eight chips: a RayService whose application is Ray Serve LLM's own (`serve.yaml`)."""

from pathlib import Path

import pulumi
import pulumi_kubernetes as kubernetes
from tpuplane import RayService

config = pulumi.Config()
namespace = config.require("namespace")
inside = pulumi.ResourceOptions(provider=kubernetes.Provider("cluster", context=config.require("context")))

home = kubernetes.core.v1.Namespace("llm", metadata={"name": namespace}, opts=inside)
RayService(
    "llm",
    {
        "serve_config": Path("serve.yaml").read_text(),
        "cluster": {
            "namespace": namespace,
            "ray_version": "2.60.0",
            "workers": {
                "tpu": {
                    "generation": "v6e",
                    "topology": "2x4",
                    "machine_type": "ct6e-standard-8t",
                    "image": config.require("image"),  # built from the Dockerfile
                    # For vLLM's TPU backend.
                    "env": {"JAX_PLATFORMS": "tpu,cpu", "TPU_MULTIHOST_BACKEND": "ray"},
                }
            },
        },
    },
    pulumi.ResourceOptions.merge(inside, pulumi.ResourceOptions(depends_on=home)),
)
