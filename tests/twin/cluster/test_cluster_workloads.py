"""The package's own workloads, on real operators: accepted as they are, and each slice whole on one pool."""

from __future__ import annotations

from typing import Any

import pytest
from tpuplane.workloads import (
    MultisliceSpec,
    RayClusterSpec,
    RayJobSpec,
    RayServiceSpec,
    multislice_manifest,
    ray_cluster_manifest,
    ray_job_manifest,
    ray_service_manifest,
)
from tpuplane_twin.cluster.api import Api

from tests.support.cluster.cluster_objects import (
    JOBSETS,
    RAY,
    MakePools,
    empty,
    environment,
    pools_of,
    running_pods,
    slice_pool,
)

pytestmark = [pytest.mark.twin, pytest.mark.asyncio(loop_scope="session")]

V6E = {"generation": "v6e", "topology": "4x4", "image": "rayproject/ray:2.52.0"}


def ray(namespace: str, slices: int = 2) -> dict[str, Any]:
    """A Ray cluster with a small head and one worker group."""
    return {
        "namespace": namespace,
        "head": {"cpu": 1, "memoryGb": 2},
        "workers": {"tpu": {**V6E, "slices": slices, "cpu": 8, "memoryGb": 16}},
    }


async def test_each_replica_of_a_worker_group_is_one_slice(api: Api, make_pools: MakePools, namespace: str) -> None:
    await make_pools(*(slice_pool(f"ray-{index}", "ct6e-standard-4t", "4x4", 4) for index in range(2)))
    manifest = ray_cluster_manifest("train", RayClusterSpec.model_validate(ray(namespace)))
    await api.request("POST", f"{RAY}/{namespace}/rayclusters", body=manifest)
    pods = await running_pods(api, namespace, 9)
    placed = await pools_of(api, pods)
    slices: dict[str, set[str]] = {}
    for pod in pods:
        if replica := pod["metadata"]["labels"].get("ray.io/worker-group-replica-name"):
            slices.setdefault(replica, set()).add(placed[pod["metadata"]["name"]])
    assert sorted(map(sorted, slices.values())) == [["ray-0"], ["ray-1"]]
    await api.request("DELETE", f"{RAY}/{namespace}/rayclusters/train")
    await empty(api, namespace)


async def test_a_multislice_program_has_a_slice_for_each_job_and_knows_its_place(
    api: Api, make_pools: MakePools, namespace: str
) -> None:
    await make_pools(*(slice_pool(f"multi-{index}", "ct6e-standard-4t", "4x4", 4) for index in range(2)))
    spec = MultisliceSpec.model_validate(
        {
            **V6E,
            "namespace": namespace,
            "slices": 2,
            "command": ["python", "train.py"],
            "placement": "exclusive",
            "setMegascale": True,
        }
    )
    await api.request("POST", f"{JOBSETS}/{namespace}/jobsets", body=multislice_manifest("pretrain", spec))
    pods = await running_pods(api, namespace, 8)
    placed = await pools_of(api, pods)
    slices: dict[str, set[str]] = {}
    for pod in pods:
        slices.setdefault(pod["metadata"]["labels"]["jobset.sigs.k8s.io/job-index"], set()).add(
            placed[pod["metadata"]["name"]]
        )
        assert environment(pod)["MEGASCALE_NUM_SLICES"] == "2"
    assert sorted(map(sorted, slices.values())) == [["multi-0"], ["multi-1"]]
    await api.request("DELETE", f"{JOBSETS}/{namespace}/jobsets/pretrain")
    await empty(api, namespace)


async def test_every_kind_is_accepted_by_its_definition_to_the_last_field(api: Api, namespace: str) -> None:
    job = RayJobSpec.model_validate(
        {
            "cluster": {**ray(namespace), "rayVersion": "2.52.0", "queue": "default", "priorityClass": "high"},
            "entrypoint": "python train.py",
            "runtimeEnv": "env_vars: {A: b}",
            "deadlineSeconds": 3600,
            "retries": 2,
        }
    )
    service = RayServiceSpec.model_validate({"cluster": ray(namespace), "serveConfig": "applications: []"})
    scaled = ray(namespace) | {
        "autoscaling": True,
        "workers": {"tpu": {**V6E, "slices": 1, "minSlices": 0, "maxSlices": 3, "capacity": "spot"}},
    }
    multislice = MultisliceSpec.model_validate(
        {
            **V6E,
            "namespace": namespace,
            "slices": 2,
            "command": ["true"],
            "queue": "default",
            "priorityClass": "high",
            "keepSeconds": 60,
        }
    )
    for path, manifest in (
        (f"{RAY}/{namespace}/rayjobs", ray_job_manifest("train", job)),
        (f"{RAY}/{namespace}/rayservices", ray_service_manifest("chat", service)),
        (f"{RAY}/{namespace}/rayclusters", ray_cluster_manifest("scaled", RayClusterSpec.model_validate(scaled))),
        (f"{JOBSETS}/{namespace}/jobsets", multislice_manifest("pretrain", multislice)),
    ):
        # Strict: an unknown field is an error, not a warning.
        params = {"dryRun": "All", "fieldValidation": "Strict"}
        answer = await api.request("POST", path, body=manifest, params=params)
        assert answer["metadata"]["name"] == manifest["metadata"]["name"]
