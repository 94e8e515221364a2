"""Who holds which slices, who waits and why: from Kueue's objects, and in plain words."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from rich.console import Console
from tpuplane.cli.status_table import queue_table
from tpuplane.labels import STOPPED_FOR
from tpuplane.status.job_text import quota_text
from tpuplane.status.queues import NO_QUEUE
from tpuplane.status.reasons import helps, in_plain_words, never

from tests.support.status.queues import LOCAL_QUEUE, NODES, QUEUE, WORDS, described, workload

pytestmark = pytest.mark.unit


@pytest.mark.parametrize("row", WORDS, ids=[row["plain"] for row in WORDS])
def test_kueues_words_are_said_plainly(row: dict[str, Any]) -> None:
    assert in_plain_words(row["kueue"], row.get("unrelated")) == row["plain"]


def test_a_job_for_chips_has_no_reason_of_a_flavor_without_chips() -> None:
    *_, row = (row for row in WORDS if "v5e-2x4 doesn't match" in row["kueue"])
    waits = workload("waits", "research", QuotaReserved=("False", row["kueue"]))
    waits["spec"]["podSets"][0]["name"] = "main"
    queue = deepcopy(QUEUE)
    first, *_, last = queue["spec"]["resourceGroups"][0]["flavors"]  # type: ignore[index]
    first["name"], last["name"] = "v5e-2x4", "cpu"
    (found,) = described([queue], [LOCAL_QUEUE], [waits], [], [])
    assert [job["why"] for job in found["workloads"]] == [row["plain"]]


def test_a_queue_shows_who_holds_and_who_waits() -> None:
    pods = [
        {
            "metadata": {
                "name": node,
                "namespace": "research",
                "annotations": {"kueue.x-k8s.io/workload": "jobset-runs"},
            },
            "spec": {"nodeName": node, "containers": []},
        }
        for node in ("n0", "n1")
    ]
    (found,) = described(
        [QUEUE],
        [LOCAL_QUEUE],
        [
            workload("waits", "research", QuotaReserved=("False", WORDS[0]["kueue"])),
            workload("runs", "research", Admitted=("True", "The workload is admitted")),
            workload("done", "research", Admitted=("True", ""), Finished=("True", "")),
        ],
        pods,
        NODES,
    )
    assert [(row["job"], row["state"], row["chips"], row["nodePools"]) for row in found["workloads"]] == [
        ("runs", "admitted", 8, ["trainer-0"]),
        ("waits", "waiting", 8, []),
    ]
    assert found["workloads"][1]["why"] == WORDS[0]["plain"]
    assert found["workloads"][1]["message"] == WORDS[0]["kueue"]


def test_a_quota_is_in_chips_or_gpus_and_else_in_cores() -> None:
    """A host's CPUs go with its chips, and a flavor without quota and use is no news."""
    (found,) = described([QUEUE], [], [], [], [])
    assert [tuple(quota.values()) for quota in found["quotas"]] == [
        ("v6e-4x4", "google.com/tpu", 16, 24, 8, 0),
        ("g2-standard-12", "nvidia.com/gpu", 4, 0, 0, 0),
        ("cpu", "cpu", 24, 1.5, 0, 0),
    ]


@pytest.mark.parametrize(
    ("cohort", "nominal", "shown"),
    [
        ("lab", 0, "24 chips without its own quota, 24 borrowed"),
        ("", 16, "24 of 16 chips, 8 over its lowered quota until jobs end"),
        ("", 0, "24 chips without its own quota, 24 over its lowered quota until jobs end"),
    ],
)
def test_what_jobs_keep_after_a_quota_was_lowered(cohort: str, nominal: int, shown: str) -> None:
    """Kueue counts it as borrowed, also in a queue without a cohort."""
    flavor = {"name": "v6e-4x4", "resources": [{"name": "google.com/tpu", "nominalQuota": nominal}]}
    use = [{"name": "google.com/tpu", "total": 24, "borrowed": 24 - nominal}]
    queue = {
        **QUEUE,
        "spec": {"cohortName": cohort, "resourceGroups": [{"flavors": [flavor]}]},
        "status": {"flavorsReservation": [{"name": "v6e-4x4", "resources": use}]},
    }
    (found,) = described([queue], [], [], [], [])
    assert [quota_text(quota, "chip") for quota in found["quotas"]] == [shown]


def test_a_job_with_quota_says_which_check_it_waits_for() -> None:
    waits = workload("waits", "research", QuotaReserved=("True", "Quota reserved in ClusterQueue research"))
    waits["status"]["admissionChecks"] = [
        {"name": "done", "state": "Ready"},
        {"name": "provisioning", "state": "Pending", "message": "no capacity in the zone yet"},
    ]
    (found,) = described([QUEUE], [LOCAL_QUEUE], [waits], [], [])
    (job,) = found["workloads"]
    assert (job["state"], job["why"]) == (
        "waiting",
        "has its quota, and waits for provisioning (no capacity in the zone yet)",
    )


def test_a_job_whose_queue_is_not_there_is_shown_too() -> None:
    lost = workload("lost", "product", QuotaReserved=("False", WORDS[3]["kueue"]))
    research, rest = described([QUEUE], [LOCAL_QUEUE], [lost], [], [])
    assert research["workloads"] == []
    assert (rest["name"], rest["active"]) == (NO_QUEUE, False)
    assert [(job["job"], job["why"]) for job in rest["workloads"]] == [("lost", WORDS[3]["plain"])]


def test_a_job_holds_the_quota_of_its_former_queue_when_its_local_queue_has_another_one() -> None:
    job = workload("runs", "research", Admitted=("True", ""))
    job["status"]["admission"] = {"clusterQueue": "research", "podSetAssignments": []}
    moved = {**LOCAL_QUEUE, "spec": {"clusterQueue": "product"}}
    for local_queues in ([moved], []):
        (research,) = described([QUEUE], local_queues, [job], [], [])
        assert [row["job"] for row in research["workloads"]] == ["runs"]


def test_queues_may_say_nothing_of_themselves() -> None:
    """Kueue's definitions require no spec of a queue."""
    bare = {"metadata": {"name": "default", "namespace": "research"}}
    job = workload("lost", "research", QuotaReserved=("False", WORDS[3]["kueue"]))
    research, rest = described([{"metadata": {"name": "research"}}], [bare], [job], [], [])
    assert (research["quotas"], research["workloads"]) == ([], [])
    assert [row["job"] for row in rest["workloads"]] == ["lost"]


def test_a_job_that_was_let_in_smaller_asks_for_what_it_has() -> None:
    """By Kueue's partial admission."""
    job = workload("parts", "research", Admitted=("True", ""))
    job["spec"]["podSets"][0]["name"] = "main"
    job["status"]["admission"] = {"podSetAssignments": [{"name": "main", "count": 1}]}
    (found,) = described([QUEUE], [LOCAL_QUEUE], [job], [], [])
    assert [(row["chips"], row["cores"]) for row in found["workloads"]] == [(4, 8)]


@pytest.mark.parametrize("size", [1, 2])
def test_a_group_of_pods_is_shown_by_its_own_name(size: int) -> None:
    """Its owners are its pods, those of a StatefulSet too."""
    group = workload("crew", "research", QuotaReserved=("False", ""))
    group["metadata"]["annotations"] = {"kueue.x-k8s.io/is-group-workload": "true"}
    group["metadata"]["ownerReferences"] = [
        {"kind": "Pod", "name": f"crew-{number}", "uid": f"crew-{number}"} for number in range(size)
    ]
    (found,) = described([QUEUE], [LOCAL_QUEUE], [group], [], [])
    assert [(job["job"], job["kind"]) for job in found["workloads"]] == [("jobset-crew", "PodGroup")]


def test_more_important_jobs_wait_in_front() -> None:
    jobs = [workload(name, "research", QuotaReserved=("False", "")) for name in ("first", "second", "urgent")]
    jobs[1]["metadata"]["creationTimestamp"] = "2026-11-21T10:05:00Z"
    jobs[2]["metadata"]["creationTimestamp"] = "2026-11-21T10:10:00Z"
    jobs[2]["spec"]["priority"] = 1000
    (found,) = described([QUEUE], [LOCAL_QUEUE], jobs, [], [])
    assert [job["job"] for job in found["workloads"]] == ["urgent", "first", "second"]


def test_the_former_version_of_kueues_objects_is_read_too() -> None:
    """v1beta1 has other names for cohort and priority class."""
    queue = {**QUEUE, "spec": {**QUEUE["spec"], "cohort": "old"}}  # type: ignore[dict-item]
    del queue["spec"]["cohortName"]
    job = workload("waits", "research", QuotaReserved=("False", ""))
    job["spec"]["priorityClassName"] = "high"
    (found,) = described([queue], [LOCAL_QUEUE], [job], [], [])
    assert (found["cohort"], found["workloads"][0]["priorityClass"]) == ("old", "high")


def test_a_manager_says_where_a_job_runs_and_whom_it_asks() -> None:
    runs = workload("runs", "research", QuotaReserved=("True", ""), Admitted=("True", ""))
    runs["status"]["clusterName"] = "lab-east"
    asks = workload("asks", "research", QuotaReserved=("True", "Quota reserved in ClusterQueue research"))
    check = {"name": "multikueue-research", "state": "Pending"}
    asks["status"] |= {"nominatedClusterNames": ["lab-east", "lab-central"], "admissionChecks": [check]}
    (found,) = described([QUEUE], [LOCAL_QUEUE], [runs, asks], [], [])
    assert [(row["job"], row["cluster"], row["why"]) for row in found["workloads"]] == [
        ("runs", "lab-east", ""),
        ("asks", "", "has its quota, and waits for room in lab-central or lab-east"),
    ]


EXCEEDED = "The workload is deactivated due to exceeding the maximum number of re-queuing retries"
LOST = "Workload eviction triggered due to multiple TAS assigned node failures, including: host-0, host-1"
LATE = "Exceeded the PodsReady timeout research/jobset-waits"


@pytest.mark.parametrize(
    ("change", "evicted", "why"),
    [
        ({"spec": {"active": False}}, EXCEEDED, f"t{EXCEEDED[1:]}; spec.active of its workload is false"),
        # It was activated again, or its hosts have returned, and Kueue has not tried it yet.
        ({}, EXCEEDED, f"t{EXCEEDED[1:].replace(' is ', ' was ')}; not evaluated yet"),
        ({}, LOST, "lost several of its hosts: host-0, host-1; not evaluated yet"),
        (
            {"spec": {"active": False}, "metadata": {"annotations": {STOPPED_FOR: "trainer-0"}}},
            "The workload is deactivated",
            "the workload is deactivated; stopped by `tpuplane drain trainer-0`",
        ),
        (
            {"spec": {"active": False}, "metadata": {"annotations": {STOPPED_FOR: "trainer-0,evals-0"}}},
            "",
            "stopped by `tpuplane drain trainer-0 evals-0`",
        ),
        (
            {"status": {"requeueState": {"requeueAt": "2026-11-21T10:30:00Z"}}},
            LATE,
            f"e{LATE[1:]}; Kueue tries it again at 2026-11-21T10:30:00Z",
        ),
    ],
)
def test_jobs_that_kueue_does_not_admit_now(change: dict[str, Any], evicted: str, why: str) -> None:
    """Those that someone must activate are behind all others of the queue."""
    said = evicted or "The workload is deactivated"
    job = workload("waits", "research", QuotaReserved=("False", said), Requeued=("False", said))
    job["status"]["conditions"] += [{"type": "Evicted", "status": "True", "message": evicted}] if evicted else []
    for part, values in change.items():
        job[part] |= values
    later = workload("later", "research", QuotaReserved=("False", "no quota"))
    later["metadata"]["creationTimestamp"] = "2026-11-21T10:05:00Z"
    (found,) = described([QUEUE], [LOCAL_QUEUE], [job, later], [], [])
    active = "spec" not in change
    assert [row["job"] for row in found["workloads"]] == (["waits", "later"] if active else ["later", "waits"])
    shown = next(row["why"] for row in found["workloads"] if row["job"] == "waits")
    assert (shown, never(shown)) == (why, not active)


@pytest.mark.parametrize(
    ("reason", "help_"),
    [
        ("Max nodepool size reached: later-0", "Raise the pool's maximum"),
        ("Max cluster size reached", "Raise the cluster's limit"),
        ("Provisioning Request cannot be scheduled in a single zone of a single nodepool", "One node pool must hold"),
        ("No nodepool with QueuedProvisioning enabled is available for scale up", "Set flexStart.queued of a pool"),
        ("Nodepool in backoff after failed scale-up: later-0", "After a failed scale-up"),
    ],
)
def test_what_the_autoscaler_said_of_a_request_has_its_remedy(reason: str, help_: str) -> None:
    said = in_plain_words(
        f'Evicted due to AdmissionCheck in Retry state: "v6e-4x4-flex-start-queued" (Retrying after failure: {reason})'
    )
    first, second = helps(said, {}, general=False)
    assert first.startswith("Kueue admits the job again after a while.")
    assert second.startswith(help_)


def test_a_pod_that_the_autoscaler_backs_off_from_has_an_event_with_the_cause() -> None:
    (help_,) = helps("pod didn't trigger scale-up: 1 in backoff", {"namespace": "research"}, general=False)
    assert help_.endswith(": kubectl get events --namespace research --field-selector reason=FailedScaleUp")


@pytest.mark.parametrize(
    "message",
    [
        "ClusterQueue research doesn't exist",
        "ClusterQueue research not found",
        "Workload namespace doesn't match ClusterQueue selector",
        "resources didn't satisfy LimitRange constraints: spec.podSets[0]",
    ],
)
def test_a_job_whose_queue_cannot_admit_it_waits_for_a_change(message: str) -> None:
    assert never(in_plain_words(message))


def test_a_stopped_local_queue_is_named_with_the_quotas() -> None:
    stopped = {**LOCAL_QUEUE, "spec": {**LOCAL_QUEUE["spec"], "stopPolicy": "Hold"}}
    (found,) = described([QUEUE], [stopped], [], [], [])
    assert (found["active"], found["message"]) == (True, "LocalQueue research/default is stopped (Hold)")
    out = Console(width=200)
    with out.capture() as shown:
        out.print(queue_table([found]))
    assert "LocalQueue research/default is stopped (Hold); v6e-4x4 24 of 16" in shown.get()


def test_what_is_being_deleted_is_named_with_the_work_that_it_waits_for() -> None:
    """Kueue leaves the condition of such a queue as it was."""
    deleted = {"deletionTimestamp": "2026-11-21T10:00:02Z"}
    queue, flavor = {**QUEUE, "metadata": {**QUEUE["metadata"], **deleted}}, {"metadata": {"name": "cpu", **deleted}}
    runs = workload("runs", "research", QuotaReserved=("True", ""), Admitted=("True", ""))
    runs["status"]["admission"] = {"podSetAssignments": [{"name": "slice", "flavors": {"google.com/tpu": "v6e-4x4"}}]}
    waits = workload("waits", "research", QuotaReserved=("False", ""))
    (found,) = described([queue], [LOCAL_QUEUE], [runs, waits], [], [])
    assert (found["active"], found["message"]) == (
        False,
        "is being deleted, and admits no jobs; waits for the end of jobs with quota: research/runs",
    )
    (kept,) = described([QUEUE], [LOCAL_QUEUE], [], [], [], flavors=[flavor])
    assert (kept["active"], kept["message"]) == (
        True,
        "the flavor cpu is being deleted, and waits until no queue has it",
    )
