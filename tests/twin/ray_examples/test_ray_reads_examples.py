"""What Ray itself makes of the examples, without a cluster: its autoscaler, Serve's and Serve LLM's configuration."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from tpuplane.workloads import RayClusterSpec, ray_cluster_manifest
from tpuplane_twin_ray import environment as ray

pytestmark = pytest.mark.ray

EXAMPLES = Path(__file__).parents[3] / "examples"
V5E = {
    "generation": "v5e",
    "topology": "2x4",
    "machineType": "ct5lp-hightpu-8t",
    "image": "i",
    "slices": 0,
    "maxSlices": 2,
}
V6E = {"generation": "v6e", "topology": "4x4", "image": "i", "slices": 0, "maxSlices": 2}
L4 = {"accelerator": "nvidia-l4", "image": "i", "replicas": 0, "maxReplicas": 2}


@pytest.fixture(scope="module")
def python() -> Path:
    """Ray's own."""
    return ray.build() / "bin" / "python"


def ask(python: Path, **questions: list[Any]) -> dict[str, Any]:
    asked = {"serve": [], "autoscaling": [], "models": []} | questions
    command = [str(python), str(Path(__file__).with_name("ask_ray.py"))]
    result = subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    answers: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return answers


def cluster(**groups: Any) -> dict[str, Any]:
    """A Ray cluster that scales."""
    spec = RayClusterSpec.model_validate({"namespace": "inference", "autoscaling": True, **groups})
    return ray_cluster_manifest("softmax", spec)


def serve(example: str) -> dict[str, Any]:
    config: dict[str, Any] = yaml.safe_load((EXAMPLES / example / "serve.yaml").read_text())
    return config


@pytest.mark.parametrize(
    ("groups", "wants", "count", "replicas"),
    [
        ({"workers": {"tpu": V5E}}, {"CPU": 1, "TPU": 8}, 2, {"/spec/workerGroupSpecs/0/replicas": 2}),
        ({"gpuWorkers": {"gpu": L4}}, {"CPU": 1, "GPU": 1}, 1, {"/spec/workerGroupSpecs/0/replicas": 1}),
        # Ray counts pods and rounds down: a slice of four hosts comes for work on all of them.
        ({"workers": {"tpu": V6E}}, {"CPU": 1, "TPU": 4}, 4, {"/spec/workerGroupSpecs/0/replicas": 1}),
        ({"workers": {"tpu": V6E}}, {"CPU": 1, "TPU": 4}, 3, {}),
    ],
)
def test_rays_autoscaler_knows_what_a_group_that_is_not_there_would_have(
    python: Path, groups: dict[str, Any], wants: dict[str, float], count: int, replicas: dict[str, int]
) -> None:
    assert ask(python, autoscaling=[{"cluster": cluster(**groups), "replicas": [wants] * count}])["scaled"] == [
        replicas
    ]


def test_a_replica_of_the_service_wants_a_slice_of_its_group(python: Path) -> None:
    config = serve("ray-serve-autoscaling")
    options = config["applications"][0]["deployments"][0]["ray_actor_options"]
    wants = {"CPU": options["num_cpus"], **options["resources"]}
    question = {"cluster": cluster(workers={"tpu": V5E}), "replicas": [wants]}
    (scaled,) = ask(python, serve=[config], autoscaling=[question])["scaled"]
    assert list(scaled.values()) == [1]


def test_a_replica_of_the_model_wants_the_chips_of_one_host(python: Path) -> None:
    config = serve("ray-vllm")
    models = config["applications"][0]["args"]["llm_configs"]
    ((bundle,),) = ask(python, serve=[config], models=models)["bundles"]
    assert bundle["TPU"] == 8
