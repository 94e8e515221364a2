"""A stack that changes: the plan says what it will do, and afterwards that is what stands."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.e2e.platform_under_test import BIN, CENTRAL1, PlatformUnderTest

pytestmark = pytest.mark.e2e


def test_another_topology_replaces_the_pools_and_nothing_else(platform: PlatformUnderTest) -> None:
    former = uids(platform)
    with platform.edited(trainer={"topology": "2x4"}):
        replaced = [step for step in preview(platform) if step["op"].startswith("replace")]
        assert {name(step) for step in replaced} == {"platform-central1-trainer-0", "platform-central1-trainer-1"}
        platform.pulumi("up", "--yes", "--skip-preview")
        nodes = platform.pools(CENTRAL1)
        for pool in ("trainer-0", "trainer-1"):
            assert len(nodes[pool]) == 2
            for node in nodes[pool]:
                assert node["metadata"]["labels"]["cloud.google.com/gke-tpu-topology"] == "2x4"
                assert node["metadata"]["uid"] not in former["trainer-0"] | former["trainer-1"]
        now = uids(platform)
        assert {pool: now[pool] for pool in now if not pool.startswith("trainer")} == {
            pool: former[pool] for pool in former if not pool.startswith("trainer")
        }
        assert not platform.steps()
    platform.pulumi("up", "--yes", "--skip-preview")
    assert {pool: len(nodes) for pool, nodes in platform.pools(CENTRAL1).items() if pool.startswith("trainer")} == {
        "trainer-0": 4,
        "trainer-1": 4,
    }


def test_one_more_slice_is_one_more_pool_and_one_less_the_last(platform: PlatformUnderTest) -> None:
    former = uids(platform)
    with platform.edited(trainer={"slices": 3}):
        assert platform.steps()["create"] == 1
        platform.pulumi("up", "--yes", "--skip-preview")
        assert set(uids(platform)) == {*former, "trainer-2"}
    assert platform.steps()["delete"] == 1
    platform.pulumi("up", "--yes", "--skip-preview")
    assert uids(platform) == former


def test_a_wrong_topology_is_refused_in_the_same_words(platform: PlatformUnderTest) -> None:
    with platform.edited(trainer={"topology": "4x5"}):
        words = "clusters.central1.pools.trainer.topology: '4x5' is not a v6e topology; allowed: "
        checked = platform.run(BIN / "tpuplane", "check", platform.stack_file, check=False)
        previewed = platform.pulumi("preview", check=False)
        for said in (checked, previewed):
            assert said.returncode
            output = said.stdout + said.stderr
            assert words in output
            assert "nearest: 4x4, 4x8" in output
            assert "Traceback" not in output


def uids(platform: PlatformUnderTest) -> dict[str, set[str]]:
    return {pool: {node["metadata"]["uid"] for node in nodes} for pool, nodes in platform.pools(CENTRAL1).items()}


def preview(platform: PlatformUnderTest) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = json.loads(platform.pulumi("preview", "--json").stdout)["steps"]
    return steps


def name(step: dict[str, Any]) -> str:
    return str(step["urn"]).rsplit("::", 1)[-1]
