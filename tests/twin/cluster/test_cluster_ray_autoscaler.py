"""Ray's second autoscaler beside a real head: a slice comes when a program asks for one, and goes when none does."""

from __future__ import annotations

from pathlib import Path

import pytest
from cluster_objects import RAY, Cluster, eventually
from real_ray import NAMESPACE, PATIENCE, PROGRAM, cluster, program, proxy
from tpuplane.workloads import RayClusterSpec, ray_cluster_manifest
from tpuplane_twin.cluster.api import Api, Object
from tpuplane_twin.tools import ray

pytestmark = [pytest.mark.ray, pytest.mark.asyncio(loop_scope="session")]

ONE_SLICE = """
import ray
from ray.util.tpu import slice_placement_group

ray.init()
found = slice_placement_group(topology="4x4", accelerator_version="v6e", head_reservation_timeout_s=900)
ray.get(found.placement_group.ready())
print("slice of", found.num_hosts)
found.shutdown()
"""
WORKERS = "ray.io/node-type=worker"


async def test_a_slice_comes_with_a_program_and_goes_after_it(with_ray: Cluster, research: Api, tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(ONE_SLICE)
    await program(research, "one", tmp_path / "one.py")
    image = f"rayproject/ray:{ray.version()}"
    group = {"generation": "v6e", "topology": "4x4", "image": image, "slices": 0, "min_slices": 0, "max_slices": 1}
    spec = cluster("one", workers={"tpu": group}, autoscaling=True, idle_timeout_seconds=10)
    manifest = ray_cluster_manifest("elastic", RayClusterSpec.model_validate(spec))
    await research.request("POST", f"{RAY}/{NAMESPACE}/rayclusters", body=manifest)
    head = "elastic-head-svc:8265"

    async def submitted() -> str:
        answer = await proxy(research, head, "api/jobs/", body={"entrypoint": f"python {PROGRAM}/one.py"})
        return str(answer.get("submission_id", ""))

    job = await eventually(submitted, within=PATIENCE)
    assert not await research.list("Pod", NAMESPACE, labelSelector=WORKERS)

    async def ended() -> Object | None:
        found = await proxy(research, head, f"api/jobs/{job}")
        return found if found.get("status") in ("SUCCEEDED", "FAILED", "STOPPED") else None

    found = await eventually(ended, within=PATIENCE)
    assert found["status"] == "SUCCEEDED", found
    assert len(await research.list("Pod", NAMESPACE, labelSelector=WORKERS)) == 4
    assert "slice of 4" in (await proxy(research, head, f"api/jobs/{job}/logs"))["logs"]

    async def idle() -> bool:
        return not await research.list("Pod", NAMESPACE, labelSelector=WORKERS)

    await eventually(idle, within=PATIENCE)
