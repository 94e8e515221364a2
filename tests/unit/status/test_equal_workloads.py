"""Kueue evaluates one of several equal workloads of a queue: the others wait for the same reason."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from tpuplane.status.queues import NOT_EVALUATED

from tests.support.status.queues import LOCAL_QUEUE, QUEUE, WORDS, described, workload
from tests.support.status.recording import WORKLOADS, item, lists, why

pytestmark = pytest.mark.unit

TRIED, PLAIN = WORDS[0]["kueue"], WORDS[0]["plain"]


def reason(change: Any, message: str = TRIED) -> str:
    """Of a workload without a condition, next to an equal one with this message; `change` makes them differ."""
    first = workload("first", "research", QuotaReserved=("False", message))
    second = workload("second", "research")
    second["metadata"]["creationTimestamp"] = "2026-11-21T09:00:00Z"  # in front of it
    change(second)
    (found, *_) = described([QUEUE], [LOCAL_QUEUE], [first, second], [], [])
    return str(next(row["why"] for row in found["workloads"] if row["job"] == "second"))


def spec_of(job: Any) -> Any:
    return job["spec"]["podSets"][0]["template"]["spec"]


def test_an_equal_workload_waits_for_the_same_reason() -> None:
    assert reason(lambda job: None) == PLAIN
    # Only what decides about hosts and quota counts.
    assert reason(lambda job: spec_of(job)["containers"][0].update(image="other", command=["other"])) == PLAIN


@pytest.mark.parametrize(
    "change",
    [
        lambda job: job["spec"].update(priority=1000),
        lambda job: job["spec"]["podSets"][0].update(count=1),
        lambda job: spec_of(job).update(nodeSelector={"cloud.google.com/gke-tpu-topology": "4x4"}),
        lambda job: spec_of(job)["containers"][0]["resources"]["limits"].update({"google.com/tpu": "1"}),
        lambda job: job["spec"]["podSets"][0].update(topologyRequest={"required": "cloud.google.com/gke-nodepool"}),
    ],
)
def test_other_workloads_are_not_evaluated_yet(change: Any) -> None:
    assert reason(change) == NOT_EVALUATED


def test_a_message_about_one_workload_is_not_the_reason_of_its_equals() -> None:
    assert reason(lambda job: None, "Exceeded the PodsReady timeout research/jobset-first") == NOT_EVALUATED


def test_a_job_of_several_workloads_has_the_reason_of_the_evaluated_one() -> None:
    """Such as a Deployment, whose pods have a workload each."""
    answers = lists()
    waits = item(answers, WORKLOADS, "jobset-waits")
    larger = deepcopy(waits)
    larger["metadata"] |= {"name": "jobset-waits-larger", "uid": "larger", "creationTimestamp": "2026-01-01T00:00:00Z"}
    larger["spec"]["podSets"][0]["count"] = 8
    larger["status"] = {}
    answers[WORKLOADS].insert(0, larger)
    (first, *_) = why("research/waits", answers=answers)["reasons"]
    assert first == {"source": "Kueue", "message": "needs 16 more free chips of v6e-4x4"}
