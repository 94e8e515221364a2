"""The examples on the local stack, by `pulumi up`: accepted, admitted by Kueue, placed. The pods are simulated."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.other_programs import REPOSITORY, Program, Twin
from tests.e2e.platform_under_test import CENTRAL1, PlatformUnderTest
from tests.e2e.test_workloads import running

pytestmark = pytest.mark.e2e

NAMESPACE = "research"
RAY = {"ray-train": (1, 4), "ray-multislice": (1, 8), "ray-serve": (1, 4)}


@contextmanager
def example(platform: PlatformUnderTest, folder: Path, name: str) -> Iterator[Program]:
    """The example's program on the platform's twin, destroyed afterwards."""
    twin = Twin(folder, platform.name, {})
    twin.variables = {**platform.variables}
    # A copy: what is configured stands in its stack file.
    shutil.copytree(REPOSITORY / "examples" / name, folder / name)
    about = folder / name / "pyproject.toml"
    about.write_text(about.read_text().replace("../../components", str(REPOSITORY / "components")))
    program = twin.program(folder / name)
    try:
        program.up()
        yield program
    finally:
        program.destroy()


@pytest.mark.parametrize("name", RAY)
def test_a_ray_example_has_its_slices_whole(platform: PlatformUnderTest, tmp_path: Path, name: str) -> None:
    platform.kubectl(CENTRAL1, "delete", "raycluster", "--all", "-n", "default", "--wait")
    heads, workers = RAY[name]
    with example(platform, tmp_path, name) as program:
        pods = running(platform, CENTRAL1, "ray.io/node-type=worker", workers, namespace=NAMESPACE)
        running(platform, CENTRAL1, "ray.io/node-type=head", heads, namespace=NAMESPACE)
        assert len({platform.pool_of(CENTRAL1, pod) for pod in pods}) == workers // 4
        assert not program.steps()


def test_two_slices_for_one_jobset(platform: PlatformUnderTest, tmp_path: Path) -> None:
    with example(platform, tmp_path, "jobset-multislice"):
        pods = running(platform, CENTRAL1, "jobset.sigs.k8s.io/jobset-name=pretrain", 8, namespace=NAMESPACE)
        assert len({platform.pool_of(CENTRAL1, pod) for pod in pods}) == 2


def test_idle_work_makes_room(platform: PlatformUnderTest, tmp_path: Path) -> None:
    with example(platform, tmp_path, "idle-chips") as program:
        program.pulumi("config", "set", "slices", "2", "--stack", "dev")
        program.up()
        running(platform, CENTRAL1, "jobset.sigs.k8s.io/jobset-name=sweep", 8, namespace=NAMESPACE)
        program.pulumi("config", "set", "urgent", "true", "--stack", "dev")
        program.up()
        running(platform, CENTRAL1, "jobset.sigs.k8s.io/jobset-name=deadline", 8, namespace=NAMESPACE)
        running(platform, CENTRAL1, "jobset.sigs.k8s.io/jobset-name=sweep", 0, namespace=NAMESPACE)
        program.pulumi("config", "rm", "urgent", "--stack", "dev")
        program.up()
        running(platform, CENTRAL1, "jobset.sigs.k8s.io/jobset-name=sweep", 8, namespace=NAMESPACE)
