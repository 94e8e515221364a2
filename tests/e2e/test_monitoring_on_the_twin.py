"""Monitoring switched on for a platform that stands: made once, found again as it was made, and taken away."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.e2e.platform_under_test import CENTRAL1, PlatformUnderTest

pytestmark = pytest.mark.e2e

GMP = "monitoring.googleapis.com"


def watched(described: dict[str, Any]) -> None:
    """Everything that observes: of the project, and of the cluster with Kueue."""
    described["observability"] = {"alerts": {"idleChips": {"afterMinutes": 30}}}
    described["clusters"]["central1"]["addons"]["monitoring"] = {"frontend": {}}


def of_type(platform: PlatformUnderTest, *kinds: str) -> list[dict[str, Any]]:
    """The stack's resources of these kinds, as the state has them."""
    state = json.loads(platform.pulumi("stack", "export").stdout)["deployment"]["resources"]
    return [it for it in state if it["type"].rpartition(":")[2] in kinds]


def test_a_second_up_has_nothing_to_observe_anew(platform: PlatformUnderTest) -> None:
    with platform.described(watched):
        platform.pulumi("up", "--yes", "--skip-preview")
        platform.pulumi("preview", "--expect-no-changes")
        platform.pulumi("refresh", "--yes", "--skip-preview", "--expect-no-changes")
        platform.pulumi("preview", "--expect-no-changes")

        assert len(of_type(platform, "Dashboard", "Metric")) == 2
        alerts = {it["outputs"]["displayName"] for it in of_type(platform, "AlertPolicy")}
        assert alerts == {"Slice down", "Idle chips", "Queue starved"}
        collected = [it["metadata"]["name"] for it in platform.items(CENTRAL1, f"podmonitorings.{GMP}", "-A")]
        assert sorted(collected) == ["kueue", "tpu-device-plugin"]
        (frontend,) = platform.items(CENTRAL1, "deployments", "-n", "tpuplane-monitoring")
        assert frontend["status"]["readyReplicas"] == 2
    platform.pulumi("up", "--yes", "--skip-preview")
    assert not of_type(platform, "Dashboard", "Metric", "AlertPolicy", "PodMonitoring")
    assert not platform.steps()
