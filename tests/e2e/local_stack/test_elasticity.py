"""An autoscaled pool follows its load, and Pulumi has nothing to say to it."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from tests.support.e2e.platform_under_test import CENTRAL1, PlatformUnderTest
from tests.support.eventually import wait_until

pytestmark = pytest.mark.e2e

CHIPS = {"google.com/tpu": "8"}
SERVER = {
    "nodeSelector": {
        "cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice",
        "cloud.google.com/gke-tpu-topology": "2x4",
    },
    "containers": [{"name": "serve", "image": "serve", "resources": {"requests": CHIPS, "limits": CHIPS}}],
}


def resized(platform: PlatformUnderTest, count: int) -> None:
    """Wait until the pool `serving` has so many nodes."""
    wait_until(lambda: len(platform.pools(CENTRAL1)["serving"]), count.__eq__)


def test_growth_is_no_change_to_pulumi(platform: PlatformUnderTest) -> None:
    names = [f"elastic-{number}" for number in range(3)]
    pods = [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": SERVER} for name in names]
    manifest = platform.folder / "elastic.json"
    manifest.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": pods}))
    resized(platform, 1)
    platform.kubectl(CENTRAL1, "apply", "-f", str(manifest))
    try:
        platform.kubectl(
            CENTRAL1, "wait", "--for=condition=Ready", "--timeout=180s", *(f"pod/{name}" for name in names)
        )
        assert len(platform.pools(CENTRAL1)["serving"]) == 3
        assert platform.steps() == Counter()
        refreshed = json.loads(platform.pulumi("refresh", "--preview-only", "--json").stdout)
        assert set(refreshed["changeSummary"]) == {"same"}
    finally:
        platform.kubectl(CENTRAL1, "delete", "-f", str(manifest), "--wait=true")
    resized(platform, 1)
