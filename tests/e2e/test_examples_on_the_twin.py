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
JOBSET = "jobset.sigs.k8s.io/jobset-name"
JOB = "jobset.sigs.k8s.io/job-index"


@contextmanager
def example(platform: PlatformUnderTest, folder: Path, name: str, **settings: str) -> Iterator[Program]:
    """The example's program on the platform's twin, with these settings beside its own; destroyed afterwards."""
    # The sample that `rehearse` left running has a slice.
    platform.kubectl(CENTRAL1, "delete", "raycluster", "--all", "-n", "default", "--wait")
    platform.kubectl(CENTRAL1, "wait", "pod", "--for=delete", "-n", "default", "-l", "ray.io/cluster", "--timeout=300s")
    twin = Twin(folder, platform.name, {})
    twin.variables = {**platform.variables}
    # A copy: what is configured stands in its stack file.
    shutil.copytree(REPOSITORY / "examples" / name, folder / name)
    about = folder / name / "pyproject.toml"
    about.write_text(about.read_text().replace("../../components", str(REPOSITORY / "components")))
    program = twin.program(folder / name)
    for key, value in settings.items():
        program.pulumi("config", "set", key, value, "--stack", "dev")
    try:
        program.up()
        yield program
    finally:
        program.destroy()
        program.pulumi("stack", "rm", "dev", "--yes")  # the next test of the same example has a stack of this name


def slices(platform: PlatformUnderTest, jobset: str, count: int) -> list[str]:
    """The node pool of each slice of a JobSet, once all of its pods run; fails where a slice is on several."""
    pools: dict[str, set[str]] = {}
    for pod in running(platform, CENTRAL1, f"{JOBSET}={jobset}", 4 * count, namespace=NAMESPACE):
        pools.setdefault(pod["metadata"]["labels"][JOB], set()).add(platform.pool_of(CENTRAL1, pod))
    assert [len(of) for of in pools.values()] == [1] * count, pools
    return sorted(pool for of in pools.values() for pool in of)


def test_a_ray_example_has_its_slice_whole(platform: PlatformUnderTest, tmp_path: Path) -> None:
    with example(platform, tmp_path, "ray-train") as program:
        pods = running(platform, CENTRAL1, "ray.io/node-type=worker", 4, namespace=NAMESPACE)
        running(platform, CENTRAL1, "ray.io/node-type=head", 1, namespace=NAMESPACE)
        assert len({platform.pool_of(CENTRAL1, pod) for pod in pods}) == 1
        assert not program.steps()


def test_two_slices_for_one_jobset(platform: PlatformUnderTest, tmp_path: Path) -> None:
    with example(platform, tmp_path, "jobset-multislice") as program:
        assert slices(platform, "pretrain", 2) == ["trainer-0", "trainer-1"]
        assert not program.steps()


def test_idle_work_fills_idle_chips_makes_room_and_comes_back(platform: PlatformUnderTest, tmp_path: Path) -> None:
    with example(platform, tmp_path, "idle-chips") as program:
        trials = [slices(platform, f"trial-{number}", 1) for number in range(2)]
        assert sorted(trials) == [["trainer-0"], ["trainer-1"]]
        program.pulumi("config", "set", "urgent", "true", "--stack", "dev")
        program.up()
        given = slices(platform, "deadline", 1)
        running(platform, CENTRAL1, f"{JOBSET} in (trial-0, trial-1)", 4, namespace=NAMESPACE)
        assert given in trials, "one trial makes room, and no more than one"
        program.pulumi("config", "rm", "urgent", "--stack", "dev")
        program.up()
        trials = [slices(platform, f"trial-{number}", 1) for number in range(2)]
        assert sorted(trials) == [["trainer-0"], ["trainer-1"]]
