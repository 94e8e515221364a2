"""The examples that scale, that serve a model, and that move to GPUs: what their two files say must fit together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from tpuplane.tpu import Slice

from tests.support.components.examples import EXAMPLES, run

pytestmark = pytest.mark.components


def group_of(spec: dict[str, Any]) -> dict[str, Any]:
    (group,) = (spec.get("rayClusterSpec") or spec["rayClusterConfig"])["workerGroupSpecs"]
    found: dict[str, Any] = group
    return found


def chips(group: dict[str, Any]) -> int:
    (container,) = group["template"]["spec"]["containers"]
    return int(container["resources"]["limits"]["google.com/tpu"]) * int(group["numOfHosts"])


def application(example: str) -> dict[str, Any]:
    (found,) = yaml.safe_load((EXAMPLES / example / "serve.yaml").read_text())["applications"]
    app: dict[str, Any] = found
    return app


def test_serve_ray_and_the_pool_all_scale_from_nothing_and_as_far(monkeypatch: pytest.MonkeyPatch) -> None:
    made = run("ray-serve-autoscaling", monkeypatch)
    spec = made.one("v1:RayService").inputs["spec"]
    cluster, group = spec["rayClusterConfig"], group_of(spec)
    (deployment,) = application("ray-serve-autoscaling")["deployments"]
    serve = deployment["autoscaling_config"]
    pool = made.one("nodePool:NodePool").inputs["autoscaling"]
    assert cluster["enableInTreeAutoscaling"] is True
    assert (group["minReplicas"], group["replicas"], group["maxReplicas"]) == (0, 0, serve["max_replicas"])
    assert (serve["min_replicas"], pool["minNodeCount"], pool["maxNodeCount"]) == (0, 0, serve["max_replicas"])
    # A replica has a slice for itself, or Ray would start two on one.
    assert deployment["ray_actor_options"]["resources"] == {"TPU": chips(group)}


@pytest.mark.parametrize(("settings", "seconds"), [({}, 300), ({"idleTimeoutSeconds": "20"}, 20)])
def test_replicas_and_slices_wait_equally_long_for_requests(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], seconds: int
) -> None:
    spec = run("ray-serve-autoscaling", monkeypatch, **settings).one("v1:RayService").inputs["spec"]
    (deployment,) = yaml.safe_load(spec["serveConfigV2"])["applications"][0]["deployments"]
    assert deployment["autoscaling_config"]["downscale_delay_s"] == seconds
    assert spec["rayClusterConfig"]["autoscalerOptions"]["idleTimeoutSeconds"] == seconds


def test_a_service_that_scales_is_in_no_teams_namespace(monkeypatch: pytest.MonkeyPatch) -> None:
    made = run("ray-serve-autoscaling", monkeypatch)
    service = made.one("v1:RayService").inputs["metadata"]
    assert "kueue.x-k8s.io/queue-name" not in service["labels"]
    assert made.one("v1:Namespace").inputs["metadata"]["name"] == service["namespace"]


def test_a_model_is_on_all_chips_of_the_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = run("ray-vllm", monkeypatch, image="vllm").one("v1:RayService").inputs["spec"]
    assert spec["serveConfigV2"] == (EXAMPLES / "ray-vllm" / "serve.yaml").read_text()
    (model,) = application("ray-vllm")["args"]["llm_configs"]
    group = group_of(spec)
    assert model["engine_kwargs"]["tensor_parallel_size"] == chips(group)
    topology = group["template"]["spec"]["nodeSelector"]["cloud.google.com/gke-tpu-topology"]
    assert model["accelerator_config"] == {"kind": "tpu", "topology": topology}
    ray = yaml.safe_load(f"[{spec['rayClusterConfig']['rayVersion']}]")
    assert f"=={ray[0]}" in (EXAMPLES / "ray-vllm" / "Dockerfile").read_text()


def test_one_word_moves_the_torch_program_to_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    on_tpu = run("ray-torch", monkeypatch).one("v1:RayJob").inputs["spec"]
    on_gpu = run("ray-torch", monkeypatch, gpu="nvidia-l4", nodes="3").one("v1:RayJob").inputs["spec"]
    assert chips(group_of(on_tpu)) == Slice.of("v6e", "4x4").chips == _constant("CHIPS")
    group = group_of(on_gpu)
    (container,) = group["template"]["spec"]["containers"]
    assert container["resources"]["limits"]["nvidia.com/gpu"] == "1"
    assert on_gpu["entrypoint"].endswith(f"train.py --on gpu --workers {int(group['replicas'])}")
    assert on_tpu["rayClusterSpec"]["headGroupSpec"].keys() == on_gpu["rayClusterSpec"]["headGroupSpec"].keys()


def _constant(name: str) -> int:
    """A number that `train.py` has: it is not imported, for there is no Ray here."""
    text = Path(EXAMPLES / "ray-torch" / "train.py").read_text()
    (line,) = [candidate for candidate in text.splitlines() if f" {name} = " in candidate]
    names, values = line.split(" = ")
    return int(dict(zip(names.split(", "), values.split(", "), strict=True))[name])
