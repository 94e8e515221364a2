"""A scenario on the local stack: a lost host and its repair, and a job that waits for its team's quota."""

from __future__ import annotations

import json

import pytest
import yaml

from tests.support.e2e.platform_under_test import CENTRAL1, PlatformUnderTest

pytestmark = pytest.mark.e2e

JOBS = [
    {"name": "train", "team": "research", "shape": "v5e 4x4", "runs": "2h", "checkpoint": "30m"},
    {"name": "notebook", "team": "product", "shape": "v6e 2x2", "runs": "1h", "count": 3},
]
EVENTS = [{"at": "50m", "event": "fail-host", "of": "evals-0/0"}]
EXPECTED = [
    {"figure": "lost", "at": "55m", "equals": 4},
    {"figure": "lost", "at": "70m", "equals": 0},
    {"figure": "teams.research.chipHoursLost", "equals": 5.6},  # 21 minutes of 16 chips
    {"figure": "teams.product.waitSecondsMax", "equals": 3600},
    {"figure": "overall.succeeded", "equals": 5},
]


def test_a_scenario_says_what_happened_and_what_it_did_not_expect(platform: PlatformUnderTest) -> None:
    file = platform.folder / "scenario.yaml"
    file.write_text(yaml.safe_dump({"title": "small", "jobs": JOBS, "events": EVENTS, "expect": EXPECTED}))
    said = platform.twin("rehearse", str(file), "--json", check=False)
    assert said.returncode == 1, said.stderr
    found = json.loads(said.stdout)
    assert found["unmet"] == ["overall.succeeded is 4; expected: 5"]
    assert (
        json.loads((platform.folder / "twins" / platform.name / "timeline.json").read_text())["stacks"]
        == found["stacks"]
    )
    events = [(moment["at"] // 60, text) for moment in found["stacks"]["local"]["events"] for text in moment["events"]]
    assert [(at, text) for at, text in events if "train" in text] == [
        (0, "train starts"),
        (51, "train is interrupted: host lost"),
        (61, "train starts"),
        (151, "train has succeeded"),
    ]
    file.write_text(yaml.safe_dump({"title": "wrong", "events": [{"at": "9h", "event": "reclaim", "of": "evals-9"}]}))
    said = platform.twin("rehearse", str(file), check=False)
    assert "the event 'reclaim evals-9' at 9h: 'evals-9' is not a node pool or node; allowed: " in said.stderr
    assert [found for found in platform.items(CENTRAL1, "jobsets", "-A") if "rehearsal" in str(found)] == []
