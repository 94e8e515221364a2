"""Fields of the spec with another value, of the platform with one cluster: the diff, held against the real engine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from tpuplane.diff import diff
from tpuplane.spec import load_stack

from tests.support.diff.done import of_diff, of_steps
from tests.support.diff.every_field import PLATFORMS, Changed, batches, together
from tests.support.e2e.platform_under_test import PlatformUnderTest

pytestmark = [pytest.mark.e2e, pytest.mark.long]

# Their charts or images are not on the twin.
ELSEWHERE = {"launchAgent", "certManager", "custom", "leaderWorkerSet", "ray"}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """To form the groups takes a minute of each worker, also of those that then leave these tests out."""
    left_out = "not long" in metafunc.config.getoption("markexpr")
    groups = (
        [one for one in batch if not set(one.place) & ELSEWHERE] for batch in (() if left_out else batches("lab"))
    )
    metafunc.parametrize("batch", [group for group in groups if group], ids=lambda batch: str(batch[0]))


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlatformUnderTest]:
    """The platform with something of everything, as the stack local of a twin of its own."""
    every = PlatformUnderTest(tmp_path_factory.mktemp("every-change"), "every-change")
    stack = yaml.safe_load(every.stack_file.read_text())
    stack["config"]["tpuplane:platform"] = PLATFORMS["lab"]
    every.stack_file.write_text(yaml.safe_dump(stack))
    with every.taken_down():
        every.rehearse("--no-sample")
        yield every


def test_the_engine_plans_what_the_diff_says(batch: list[Changed], platform: PlatformUnderTest) -> None:
    after = together(batch)
    before = load_stack(platform.stack_file)

    def change(described: dict[str, Any]) -> None:
        described.clear()
        described.update(after)

    with platform.described(change):
        said = of_diff(diff(before, load_stack(platform.stack_file)))
        steps = json.loads(platform.pulumi("preview", "--json").stdout)["steps"]
    assert of_steps(steps) == said, "\n".join(map(str, batch))
