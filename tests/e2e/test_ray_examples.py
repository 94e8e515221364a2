"""Ray's examples end to end: the local stack, `pulumi up` of the example, and its program runs in real Ray pods."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from tpuplane_twin_ray import environment as ray

from tests.support import REPOSITORY
from tests.support.e2e.other_programs import example
from tests.support.e2e.platform_under_test import CENTRAL1, PlatformUnderTest
from tests.support.eventually import wait_until

pytestmark = pytest.mark.ray

T = TypeVar("T")
NAMESPACE = "research"
PATIENCE = 900.0  # seconds: five Ray nodes on two processors, which others may use, too


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlatformUnderTest]:
    """The local stack's central1 on a twin whose Ray pods are processes."""
    ray.build()
    platform = PlatformUnderTest(tmp_path_factory.mktemp("ray"), name="ray")
    platform.variables[ray.SWITCH] = "1"
    try:
        with platform.rewritten(lambda clusters: clusters.pop("central2")):
            platform.rehearse("--no-sample")
        yield platform
    finally:
        platform.twin("down")


def test_a_jax_trainer_finishes_and_leaves_its_checkpoint(lab: PlatformUnderTest, tmp_path: Path) -> None:
    with example(lab, tmp_path, "ray-train"):
        assert finished(lab, "train") == "SUCCEEDED", said(lab, "train")
        assert "'devices': 16, 'processes': 4, 'slices': 1" in said(lab, "train")
    buckets = lab.folder / "twins" / lab.name / "buckets"
    assert list((buckets / "tpuplane-lab-checkpoints" / "linear").glob("checkpoint_*/weights.npy"))


def test_a_jax_trainer_spans_two_slices(lab: PlatformUnderTest, tmp_path: Path) -> None:
    with example(lab, tmp_path, "ray-train", slices="2"):
        assert finished(lab, "train") == "SUCCEEDED", said(lab, "train")
        assert "'devices': 32, 'processes': 8, 'slices': 2" in said(lab, "train")


def test_a_program_has_two_slices_each_of_them_whole(lab: PlatformUnderTest, tmp_path: Path) -> None:
    with example(lab, tmp_path, "ray-multislice"):
        assert finished(lab, "multislice") == "SUCCEEDED", said(lab, "multislice")
        placed = dict(
            re.findall(
                r"slice (\d): \{'([^']+)': \[\(0, 4\), \(1, 4\), \(2, 4\), \(3, 4\)\]\}", said(lab, "multislice")
            )
        )
        assert placed.keys() == {"0", "1"}
        assert len(set(placed.values())) == 2, placed


def test_every_host_of_a_slice_serves(lab: PlatformUnderTest, tmp_path: Path) -> None:
    with example(lab, tmp_path, "ray-serve"):

        def host() -> str:
            return str(asked(lab, NAMESPACE).get("host", ""))

        assert wait_until(lambda: asked(lab, NAMESPACE), within=PATIENCE)["softmax"] == [0.5, 0.5]
        hosts = {f"tpu-0-{number}" for number in range(4)}
        seen: set[str] = set()
        wait_until(lambda: seen.add(host()) or seen >= hosts, within=PATIENCE)


def test_a_service_comes_from_no_host_for_a_request_and_goes_again(lab: PlatformUnderTest, tmp_path: Path) -> None:
    shutil.copytree(REPOSITORY / "examples" / "ray-serve", tmp_path / "ray-serve")
    with example(lab, tmp_path, "ray-serve-autoscaling", idleTimeoutSeconds="20"):
        wait_until(lambda: endpoints(lab, "inference", "softmax"), within=PATIENCE)
        assert not workers(lab, "inference")
        assert "softmax" not in lab.pools(CENTRAL1)

        # A request waits until there is who answers it.
        answer = wait_until(lambda: asked(lab, "inference"), within=PATIENCE)
        assert answer["softmax"] == [0.5, 0.5]
        assert len(answer["devices"]) == 8

        wait_until(lambda: not workers(lab, "inference") and "softmax" not in lab.pools(CENTRAL1), within=PATIENCE)
        head = ("-n", "inference", "-l", "ray.io/node-type=head", "--tail=-1")
        written = lab.kubectl(CENTRAL1, "logs", *head, "-c", "autoscaler")
        assert "Adding 1 node(s) of type tpu" in written
        assert f"Terminating worker pods: ['{answer['host']}']" in written
        (cluster,) = lab.items(CENTRAL1, "rayclusters", "-n", "inference")
        (group,) = cluster["spec"]["workerGroupSpecs"]
        assert (group["replicas"], group["scaleStrategy"]["workersToDelete"]) == (0, [answer["host"]])


def workers(lab: PlatformUnderTest, namespace: str) -> list[dict[str, Any]]:
    """The Ray workers of a namespace."""
    return lab.items(CENTRAL1, "pods", "-n", namespace, "-l", "ray.io/node-type=worker")


def endpoints(lab: PlatformUnderTest, namespace: str, name: str) -> int:
    """How many pods of a RayService take requests."""
    service = json.loads(lab.kubectl(CENTRAL1, "get", "rayservice", name, "-n", namespace, "-o", "json"))
    return int(service.get("status", {}).get("numServeEndpoints", 0))


def asked(lab: PlatformUnderTest, namespace: str) -> dict[str, Any]:
    """What the service softmax of a namespace answers; nothing where it does not."""
    url = f"/api/v1/namespaces/{namespace}/services/http:softmax-serve-svc:8000/proxy/"
    numbers = lab.folder / "numbers.json"
    numbers.write_text("[0, 0]")
    told = lab.run("kubectl", "--context", CENTRAL1, "create", "--raw", url, "-f", str(numbers), check=False)
    found: dict[str, Any] = json.loads(told.stdout) if told.returncode == 0 else {}
    return found


def finished(lab: PlatformUnderTest, name: str) -> str:
    """How a RayJob ended."""

    def look() -> str | None:
        status = json.loads(lab.kubectl(CENTRAL1, "get", "rayjob", name, "-n", NAMESPACE, "-o", "json")).get(
            "status", {}
        )
        return status.get("jobStatus") if status.get("jobDeploymentStatus") in ("Complete", "Failed") else None

    return str(wait_until(look, within=PATIENCE))


def said(lab: PlatformUnderTest, name: str) -> str:
    """What the program of a RayJob wrote, as `kubectl logs` shows it."""
    return lab.kubectl(CENTRAL1, "logs", "-n", NAMESPACE, "-l", f"job-name={name}", "--tail=-1")
