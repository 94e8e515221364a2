"""`tpuplane why` of jobs that their queue has too little quota for: all resources of a flavor come with its slices."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.status.recording import QUEUES, WORKLOADS, Lists, item, lists, why

pytestmark = pytest.mark.unit

MORE = "Add 1 slice of v6e 4x4 to the pool trainer."
RELEASED = "Kueue admits it when other jobs release {} of v6e-4x4."


def requesting(name: str, cores: str) -> Lists:
    """The recorded lists: the pods of a workload and of the jobs that run request so many cores."""
    answers = lists()
    for workload in (name, "jobset-holds"):
        for own in answers[WORKLOADS]:
            if own["metadata"]["name"].startswith(workload):
                _container(own)["requests"]["cpu"] = cores
    for queue in answers[QUEUES]:
        for use in queue["status"]["flavorsReservation"]:
            if use["name"] == "v6e-4x4":
                next(own for own in use["resources"] if own["name"] == "cpu")["total"] = str(4 * int(cores))
    return answers


def _container(workload: Any) -> Any:
    (pods,) = workload["spec"]["podSets"]
    return pods["template"]["spec"]["containers"][0]["resources"]


@pytest.mark.parametrize("chips", ["4", None])
def test_a_job_with_cores_waits_for_all_resources_of_a_flavor(chips: str | None) -> None:
    """Its chips are in use, and so are the cores of the same hosts."""
    answers = requesting("jobset-waits", "170")
    if chips is None:
        _container(item(answers, WORKLOADS, "jobset-waits"))["limits"] = {}
    unit = "chips" if chips else "cores"
    assert why("research/waits", answers=answers)["helps"] == [RELEASED.format(unit), MORE]


def with_quota(answers: Lists, flavor: str, **amounts: str) -> Lists:
    """The lists with these quotas of each queue."""
    for queue in answers[QUEUES]:
        for own in queue["spec"]["resourceGroups"][0]["flavors"]:
            if own["name"] == flavor:
                for quota in own["resources"]:
                    quota["nominalQuota"] = amounts.get(quota["name"], quota["nominalQuota"])
    return answers


def test_a_job_that_lacks_cores_alone_gets_the_quota_of_a_slice() -> None:
    answers = with_quota(requesting("jobset-giant", "170"), "v6e-4x4", cpu="340")
    item(answers, WORKLOADS, "jobset-giant")["spec"]["podSets"][0]["count"] = 8
    assert why("product/giant", answers=answers)["helps"] == ["Request at most 680 cores of v6e-4x4.", MORE]


def test_a_pod_requests_less_of_each_resource_that_its_queue_lacks() -> None:
    answers = with_quota(lists(), "cpu", cpu="2", memory="4Gi")
    workload = item(answers, WORKLOADS, "job-rooted")
    _container(workload)["requests"] = {"cpu": "6", "memory": "10Gi"}
    workload["spec"]["podSets"][0]["template"]["spec"]["nodeSelector"] = {"tpuplane-pool": "system"}
    workload["status"] = {"conditions": [{"type": "QuotaReserved", "status": "False", "message": "no quota"}]}
    assert why("research/rooted", answers=answers)["helps"] == [
        "Request at most 4 cores and 8 GiB of memory of cpu.",
        "Raise the team's quota of cpu from 2 cores to 4 cores, and from 4 GiB of memory to 6 GiB of memory.",
    ]


OF_CORES = "previously considered podsets requests (0) + current podset request (2040) > maximum capacity (1440)"
UNUSED = "insufficient unused quota for cpu in flavor"


@pytest.mark.parametrize(
    ("job", "message", "shown"),
    [
        ("research/waits", f"{UNUSED} v6e-4x4, 600 more needed", "needs 16 more free chips of v6e-4x4"),
        (
            "research/waits",
            f"{UNUSED} v6e-4x4, 600 more needed, insufficient unused quota for google.com/tpu in flavor v6e-4x4, 16 "
            "more needed",
            "needs 600 more free cores of v6e-4x4, needs 16 more free chips of v6e-4x4",
        ),
        ("research/waits", f"{UNUSED} v6e-4x4-spot, 6 more needed", "needs 6 more free cores of v6e-4x4-spot"),
        (
            "product/giant",
            f"insufficient quota for cpu in flavor v6e-4x4, {OF_CORES}",
            "requests 48 chips of v6e-4x4, but its queue can get 32 chips",
        ),
    ],
)
def test_the_reason_names_chips_if_they_are_lacking_too(job: str, message: str, shown: str) -> None:
    """Kueue sometimes names only one resource of a flavor."""
    name = f"jobset-{job.partition('/')[2]}"
    answers = requesting(name, "170")
    for condition in item(answers, WORKLOADS, name)["status"]["conditions"]:
        condition["message"] = message
    assert [reason["message"] for reason in why(job, answers=answers)["reasons"]] == [shown]
