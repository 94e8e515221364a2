"""A platform of one small cluster: quick to change, to break and to repair."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.support.e2e.platform_under_test import PlatformUnderTest


@pytest.fixture(scope="session")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlatformUnderTest]:
    """The platform of `one_cluster.yaml`, as the stack local of a twin of its own."""
    small = PlatformUnderTest(tmp_path_factory.mktemp("one-cluster"), "one-cluster")
    stack = yaml.safe_load(small.stack_file.read_text())
    stack["config"]["tpuplane:platform"] = yaml.safe_load((Path(__file__).parent / "one_cluster.yaml").read_text())
    small.stack_file.write_text(yaml.safe_dump(stack))
    with small.taken_down():
        small.rehearse("--no-sample")
        yield small
