"""A stack that changes: the plan says what it will do, and afterwards that is what stands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.support import BIN
from tests.support.e2e.platform_under_test import CENTRAL1, PlatformUnderTest

pytestmark = pytest.mark.e2e

GMP = "monitoring.googleapis.com"
TRAINER = ("trainer-0", "trainer-1")


@dataclass(frozen=True)
class Changed:
    """A platform after one update with all of the changes below."""

    platform: PlatformUnderTest
    former: dict[str, set[str]]
    planned: list[dict[str, Any]]

    def names(self, *steps: str) -> set[str]:
        """The node pools of these steps in the preview."""
        return {
            str(step["urn"]).rsplit("::", 1)[-1].removeprefix("platform-central1-")
            for step in self.planned
            if step["op"] in steps and ":NodePool::" in step["urn"]
        }


def change(described: dict[str, Any]) -> None:
    """Another topology of a pool, one more slice of another, and everything that observes."""
    cluster = described["clusters"]["central1"]
    cluster["pools"]["trainer"]["topology"] = "2x4"
    cluster["pools"]["evals"]["slices"] = 2
    cluster["addons"]["monitoring"] = {"frontend": {}}
    described["observability"] = {"alerts": {"idleChips": {"afterMinutes": 30}}}


@pytest.fixture(scope="module")
def changed(platform: PlatformUnderTest) -> Iterator[Changed]:
    """The changed platform; afterwards it is what it was."""
    former = uids(platform)
    with platform.described(change):
        planned = json.loads(platform.pulumi("preview", "--json").stdout)["steps"]
        platform.pulumi("up", "--yes", "--skip-preview")
        yield Changed(platform, former, planned)
    platform.pulumi("up", "--yes", "--skip-preview")
    now = uids(platform)
    assert {pool: len(now[pool]) for pool in now} == {pool: len(former[pool]) for pool in former}
    assert without(now, *TRAINER) == without(former, *TRAINER), "one slice less is the last"
    assert not of_type(platform, "Dashboard", "Metric", "AlertPolicy", "PodMonitoring")


def test_another_topology_replaces_the_pools_and_nothing_else(changed: Changed) -> None:
    replacements = ("replace", "create-replacement", "delete-replaced")
    assert changed.names(*replacements) == set(TRAINER)
    assert [
        step["urn"] for step in changed.planned if step["op"] in replacements and ":NodePool::" not in step["urn"]
    ] == []
    nodes = changed.platform.pools(CENTRAL1)
    for pool in TRAINER:
        assert len(nodes[pool]) == 2
        for node in nodes[pool]:
            assert node["metadata"]["labels"]["cloud.google.com/gke-tpu-topology"] == "2x4"
            assert node["metadata"]["uid"] not in changed.former["trainer-0"] | changed.former["trainer-1"]
    assert without(uids(changed.platform), *TRAINER, "evals-1") == without(changed.former, *TRAINER)


def test_one_more_slice_is_one_more_pool(changed: Changed) -> None:
    assert changed.names("create") == {"evals-1"}
    assert changed.names("delete") == set()
    assert uids(changed.platform).keys() == {*changed.former, "evals-1"}


def test_monitoring_is_found_again_as_it_was_made(changed: Changed) -> None:
    platform = changed.platform
    assert len(of_type(platform, "Dashboard", "Metric")) == 2
    alerts = {resource["outputs"]["displayName"] for resource in of_type(platform, "AlertPolicy")}
    assert alerts == {"Slice down", "Idle chips", "Queue starved"}
    collected = [monitor["metadata"]["name"] for monitor in platform.items(CENTRAL1, f"podmonitorings.{GMP}", "-A")]
    assert sorted(collected) == ["kueue", "tpu-device-plugin"]
    (frontend,) = platform.items(CENTRAL1, "deployments", "-n", "tpuplane-monitoring")
    assert frontend["status"]["readyReplicas"] == 2


def test_a_second_update_has_nothing_to_change(changed: Changed) -> None:
    changed.platform.pulumi("refresh", "--yes", "--skip-preview", "--expect-no-changes")
    changed.platform.pulumi("preview", "--expect-no-changes")


def test_a_wrong_topology_is_rejected_in_the_same_words(platform: PlatformUnderTest) -> None:
    def wrong(described: dict[str, Any]) -> None:
        described["clusters"]["central1"]["pools"]["trainer"]["topology"] = "4x5"

    with platform.described(wrong):
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


def without(found: dict[str, set[str]], *pools: str) -> dict[str, set[str]]:
    return {pool: nodes for pool, nodes in found.items() if pool not in pools}


def of_type(platform: PlatformUnderTest, *kinds: str) -> list[dict[str, Any]]:
    """The stack's resources of these kinds, as the state has them."""
    return [resource for resource in platform.resources() if resource["type"].rpartition(":")[2] in kinds]
