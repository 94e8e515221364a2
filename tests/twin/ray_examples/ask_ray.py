"""Run by Ray's own Python: what Ray makes of a RayCluster and of a Serve configuration. JSON in, JSON out."""

from __future__ import annotations

import json
import sys
from typing import Any


class Kubernetes:
    """The API server as Ray's autoscaler uses it: one RayCluster without pods, and what is written into it."""

    def __init__(self, cluster: dict[str, Any]) -> None:
        self.cluster, self.patches = cluster, list[dict[str, Any]]()

    def get(self, path: str) -> dict[str, Any]:
        """The cluster, or its pods."""
        return self.cluster if path.startswith("rayclusters/") else {"items": [], "metadata": {"resourceVersion": "1"}}

    def patch(self, path: str, payload: list[dict[str, Any]], **_: Any) -> dict[str, Any]:
        """Keep it."""
        self.patches += payload
        return self.cluster


def scaled(cluster: dict[str, Any], replicas: list[dict[str, float]]) -> dict[str, int]:
    """What Ray's second autoscaler writes into a RayCluster without workers while these replicas wait."""
    from ray.autoscaler._private.kuberay.autoscaling_config import _derive_autoscaling_config_from_ray_cr
    from ray.autoscaler.v2.instance_manager.cloud_providers.kuberay.cloud_provider import KubeRayProvider
    from ray.autoscaler.v2.instance_manager.config import AutoscalingConfig
    from ray.autoscaler.v2.scheduler import ResourceDemandScheduler, SchedulingRequest
    from ray.autoscaler.v2.utils import ResourceRequestUtil

    config = AutoscalingConfig(_derive_autoscaling_config_from_ray_cr(cluster))
    waiting = [ResourceRequestUtil.make(replica) for replica in replicas]
    request = SchedulingRequest(
        disable_launch_config_check=True,
        node_type_configs=config.get_node_type_configs(),
        max_num_nodes=config.get_max_num_nodes(),
        resource_requests=ResourceRequestUtil.group_by_count(waiting),
    )
    reply = ResourceDemandScheduler(event_logger=None).schedule(request)
    assert not reply.infeasible_resource_requests, reply.infeasible_resource_requests
    kubernetes = Kubernetes(cluster)
    metadata = cluster["metadata"]
    provider = KubeRayProvider(metadata["name"], {"namespace": metadata["namespace"]}, None, kubernetes)
    provider.launch({launch.instance_type: launch.count for launch in reply.to_launch}, "first")
    return {patch["path"]: patch["value"] for patch in kubernetes.patches}


def bundles(model: dict[str, Any]) -> list[dict[str, float]]:
    """What one replica of a model asks for, in Ray Serve LLM's own reading of its configuration."""
    from ray.llm._internal.serve.core.configs.accelerators import TPUAccelerator
    from ray.llm._internal.serve.core.configs.llm_config import LLMConfig

    config = LLMConfig.model_validate(model)
    chips = config.engine_kwargs["tensor_parallel_size"]
    found: list[dict[str, float]] = TPUAccelerator(config.accelerator_config).default_bundles(
        num_devices=chips, accelerator_type_str=config.accelerator_type
    )
    return found


def main(asked: dict[str, Any]) -> dict[str, Any]:
    """Answer every question."""
    from ray.serve.schema import ServeDeploySchema

    for config in asked["serve"]:
        ServeDeploySchema.model_validate(config)
    return {
        "scaled": [scaled(scaling["cluster"], scaling["replicas"]) for scaling in asked["autoscaling"]],
        "bundles": [bundles(model) for model in asked["models"]],
    }


if __name__ == "__main__":
    print(json.dumps(main(json.load(sys.stdin))))
