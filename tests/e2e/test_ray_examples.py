"""Ray's examples end to end: the local stack, `pulumi up` of the example, and its program runs in real Ray pods."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from tpuplane_twin.tools import ray

from tests.e2e.platform_under_test import CENTRAL1, PlatformUnderTest
from tests.e2e.test_examples_on_the_twin import example

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
    numbers = tmp_path / "numbers.json"
    numbers.write_text("[0, 0]")
    url = f"/api/v1/namespaces/{NAMESPACE}/services/http:softmax-serve-svc:8000/proxy/"
    with example(lab, tmp_path, "ray-serve"):

        def ask() -> dict[str, Any]:
            asked = lab.run("kubectl", "--context", CENTRAL1, "create", "--raw", url, "-f", str(numbers), check=False)
            found: dict[str, Any] = json.loads(asked.stdout) if asked.returncode == 0 else {}
            return found

        assert eventually(ask)["softmax"] == [0.5, 0.5]
        hosts = {f"tpu-0-{number}" for number in range(4)}
        seen: set[str] = set()
        eventually(lambda: seen.add(ask().get("host", "")) or seen >= hosts)


def finished(lab: PlatformUnderTest, name: str) -> str:
    """How a RayJob ended."""

    def look() -> str | None:
        status = json.loads(lab.kubectl(CENTRAL1, "get", "rayjob", name, "-n", NAMESPACE, "-o", "json")).get(
            "status", {}
        )
        return status.get("jobStatus") if status.get("jobDeploymentStatus") in ("Complete", "Failed") else None

    return str(eventually(look))


def said(lab: PlatformUnderTest, name: str) -> str:
    """What the program of a RayJob wrote, as `kubectl logs` shows it."""
    return lab.kubectl(CENTRAL1, "logs", "-n", NAMESPACE, "-l", f"job-name={name}", "--tail=-1")


def eventually(look: Callable[[], T]) -> T:
    """The first truthy answer."""
    deadline = time.monotonic() + PATIENCE
    while not (answer := look()):
        assert time.monotonic() < deadline, f"after {PATIENCE} s still {answer!r}"
        time.sleep(1)
    return answer
