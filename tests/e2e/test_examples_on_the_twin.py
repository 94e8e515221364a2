"""An example on the local stack, by `pulumi up`: accepted, admitted by Kueue, placed. The pods are simulated."""

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
EXAMPLE = "ray-train"


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


def test_a_ray_example_has_its_slice_whole(platform: PlatformUnderTest, tmp_path: Path) -> None:
    platform.kubectl(CENTRAL1, "delete", "raycluster", "--all", "-n", "default", "--wait")
    with example(platform, tmp_path, EXAMPLE) as program:
        pods = running(platform, CENTRAL1, "ray.io/node-type=worker", 4, namespace=NAMESPACE)
        running(platform, CENTRAL1, "ray.io/node-type=head", 1, namespace=NAMESPACE)
        assert len({platform.pool_of(CENTRAL1, pod) for pod in pods}) == 1
        assert not program.steps()
