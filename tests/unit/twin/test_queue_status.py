"""Who holds which slices, who waits and why: from Kueue's objects, and in plain words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from tpuplane_twin.kueue_words import in_plain_words
from tpuplane_twin.queues import describe_queues

pytestmark = pytest.mark.unit

WORDS = yaml.safe_load(Path(__file__).with_name("kueue_words.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("row", WORDS, ids=[row["plain"] for row in WORDS])
def test_kueues_words_are_said_plainly(row: dict[str, str]) -> None:
    assert in_plain_words(row["kueue"]) == row["plain"]


def workload(name: str, team: str, **conditions: tuple[str, str]) -> dict[str, Any]:
    """A JobSet's workload of two pods with four chips each."""
    container = {"resources": {"requests": {"cpu": "8"}, "limits": {"google.com/tpu": "4"}}}
    return {
        "metadata": {
            "name": f"jobset-{name}",
            "namespace": team,
            "creationTimestamp": "2026-11-21T10:00:00Z",
            "ownerReferences": [{"kind": "JobSet", "name": name}],
        },
        "spec": {
            "queueName": "default",
            "priority": 500,
            "podSets": [{"count": 2, "template": {"spec": {"containers": [container]}}}],
        },
        "status": {
            "conditions": [
                {"type": kind, "status": status, "message": message, "lastTransitionTime": "2026-11-21T10:00:01Z"}
                for kind, (status, message) in conditions.items()
            ]
        },
    }


def test_a_queue_shows_who_holds_and_who_waits() -> None:
    quota = {"name": "google.com/tpu", "nominalQuota": "16"}
    cpu = {"name": "memory", "nominalQuota": "64Gi"}
    queue = {
        "metadata": {"name": "research"},
        "spec": {
            "cohortName": "lab",
            "resourceGroups": [{"flavors": [{"name": "v6e-4x4", "resources": [quota, cpu]}]}],
        },
        "status": {
            "conditions": [{"type": "Active", "status": "True", "message": "Can admit new workloads"}],
            "flavorsUsage": [
                {"name": "v6e-4x4", "resources": [{"name": "google.com/tpu", "total": "24", "borrowed": "8"}]}
            ],
        },
    }
    pods = [
        {
            "metadata": {"namespace": "research", "annotations": {"kueue.x-k8s.io/workload": "jobset-runs"}},
            "spec": {"nodeName": node},
        }
        for node in ("n0", "n1")
    ]
    nodes = [
        {"metadata": {"name": node, "labels": {"cloud.google.com/gke-nodepool": "trainer-0"}}} for node in ("n0", "n1")
    ]
    (found,) = describe_queues(
        [queue],
        [{"metadata": {"name": "default", "namespace": "research"}, "spec": {"clusterQueue": "research"}}],
        [
            workload("waits", "research", QuotaReserved=("False", WORDS[0]["kueue"])),
            workload("runs", "research", Admitted=("True", "The workload is admitted")),
            workload("done", "research", Admitted=("True", ""), Finished=("True", "")),
        ],
        pods,
        nodes,
    )
    assert found["chips"] == [{"flavor": "v6e-4x4", "nominal": 16, "used": 24, "borrowed": 8}]
    assert [(it["job"], it["state"], it["chips"], it["nodePools"]) for it in found["workloads"]] == [
        ("runs", "admitted", 8, ["trainer-0"]),
        ("waits", "waiting", 8, []),
    ]
    assert found["workloads"][1]["why"] == WORDS[0]["plain"]
    assert found["workloads"][1]["message"] == WORDS[0]["kueue"]
