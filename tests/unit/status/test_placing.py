"""Why pods have no node: the scheduler's words, the autoscaler's last ones, and why pods are not created."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from tpuplane.status.holders import outside_queues
from tpuplane.status.owners import Owners
from tpuplane.status.reasons import never
from tpuplane.status.waiting import Placing

from tests.support.status.api_server import parsed
from tests.support.status.events import event
from tests.support.status.queues import LOCAL_QUEUE, NODES, QUEUE, described, workload
from tests.support.status.recording import EVENT_LIST, PODS, item, lists
from tests.support.status.recording import why as explained

pytestmark = pytest.mark.unit


def placing(*events: dict[str, Any]) -> Placing:
    return Placing(parsed("warnings", events))


def why(pods: list[dict[str, Any]], *events: dict[str, Any], job: Sequence[str] = ()) -> str:
    return placing(*events).why(job, parsed("pods", pods))


SCHEDULER = "0/2 nodes are available: 2 Insufficient google.com/tpu"


def pod(name: str, *, node: str = "", gates: tuple[str, ...] = (), **metadata: Any) -> dict[str, Any]:
    """The recorded pod of a Job, with this node, gates and metadata."""
    made: dict[str, Any] = item(lists(), PODS, "eight")
    reason, said = ("SchedulingGated", "") if gates else ("Unschedulable", f"{SCHEDULER}. preemption: 0/2 nodes")
    made["metadata"] = {"name": name, "namespace": "research", "uid": name, **metadata}
    made["spec"] |= {
        "containers": [{"resources": {"limits": {"google.com/tpu": "4"}}}],
        **({"nodeName": node} if node else {}),
    }
    made["spec"]["schedulingGates"] = [{"name": gate} for gate in gates]
    (condition,) = made["status"]["conditions"]
    condition |= {"status": str(bool(node)), "reason": reason, "message": said}
    return made


ASKED = event(
    "p0", "TriggeredScaleUp", "pod triggered scale-up: [{https://c.example/v1/zones/z/gke-lab-grp 1->3 (max: 4)}]"
)
FAILED = event("p0", "FailedScaleUp", "Node scale up failed: GCE_STOCKOUT", second=1)
REJECTED = event("p0", "NotTriggerScaleUp", "pod didn't trigger scale-up: 1 in backoff", second=2)


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ([], ""),
        ([ASKED], "; pod triggered scale-up: [{gke-lab-grp 1->3 (max: 4)}]"),
        ([FAILED, ASKED], "; Node scale up failed: GCE_STOCKOUT"),
        ([REJECTED, FAILED, ASKED], "; Node scale up failed: GCE_STOCKOUT; pod didn't trigger scale-up: 1 in backoff"),
        (
            [REJECTED, {**ASKED, "series": {"count": 2, "lastObservedTime": "2026-11-22T15:00:09.000000Z"}}],
            "; pod triggered scale-up: [{gke-lab-grp 1->3 (max: 4)}]",
        ),
        (
            [REJECTED, {**ASKED, "lastTimestamp": "2026-11-22T15:00:09Z"}],
            "; pod triggered scale-up: [{gke-lab-grp 1->3 (max: 4)}]",
        ),
        ([event("p1", "FailedScaleUp", "another pod's"), event("p0", "FailedScheduling", "the scheduler's")], ""),
    ],
)
def test_the_scheduler_and_what_the_autoscaler_said_last(events: list[dict[str, Any]], said: str) -> None:
    assert why([pod("p0")], *events) == f"its pod has no node: {SCHEDULER}{said}"


def test_pods_are_counted_and_the_most_frequent_reason_is_shown() -> None:
    pods = [pod("p0", node="n0"), pod("p1"), pod("p2"), pod("p3", gates=("kueue.x-k8s.io/topology",))]
    assert why(pods) == f"3 of 4 pods have no node: {SCHEDULER}"
    assert why(pods[3:]) == "its pod has no node: held back by kueue.x-k8s.io/topology"
    assert why(pods[:1]) == ""


def test_a_pod_that_was_never_scheduled_has_no_node() -> None:
    assert why([{**pod("p0"), "status": {}}]) == "its pod has no node"


def test_pods_that_cannot_be_created_say_why() -> None:
    """The last failure of the job and its parts counts, if no pod is newer."""
    events = [
        event("part", "FailedCreate", 'pods "x" is forbidden', kind="Job", second=1),
        event("another", "FailedCreate", "another job's", kind="Job", second=2),
        event("job", "FailedToUpdateServeApplications", "no failure to create", kind="RayService", second=3),
    ]
    assert why([], *events, job=["job", "part"]) == 'its pods cannot be created: pods "x" is forbidden'
    assert why([], *events, job=["job"]) == ""
    pods = [pod("p0", node="n0", creationTimestamp=f"2026-11-22T15:00:0{second}Z") for second in (0, 1)]
    assert why(pods[:1], *events, job=["part"]) == 'more of its pods cannot be created: pods "x" is forbidden'
    assert why(pods, *events, job=["part"]) == ""


@pytest.mark.parametrize(
    ("reason", "kind"),
    [("JobCreationFailed", "JobSet"), ("HeadlessServiceCreationFailed", "JobSet"), ("FailedToCreateService", "RayJob")],
)
def test_parts_without_which_no_pod_is_created_say_why(reason: str, kind: str) -> None:
    said = why([], event("job", reason, "exceeded quota", kind=kind), job=["job"])
    assert said == "its pods cannot be created: exceeded quota"


def test_admitted_work_says_why_it_cannot_be_placed() -> None:
    admitted = workload("runs", "research", Admitted=("True", ""))
    elsewhere = {**workload("far", "research", Admitted=("True", ""))}
    elsewhere["status"] = {**elsewhere["status"], "clusterName": "lab-east"}
    of_runs = {"annotations": {"kueue.x-k8s.io/workload": "jobset-runs"}}
    pods = [pod("p0", node="n0", **of_runs), pod("p1", **of_runs)]
    events = placing(event("far", "FailedCreate", "not here", kind="JobSet"))
    (found,) = described([QUEUE], [LOCAL_QUEUE], [admitted, elsewhere], pods, NODES, placing=events)
    assert [(row["job"], row["nodePools"], row["why"]) for row in found["workloads"]] == [
        ("runs", ["trainer-0"], f"1 of 2 pods have no node: {SCHEDULER}"),
        ("far", [], ""),
    ]


SAMPLE = [{"kind": "RayCluster", "name": "sample", "uid": "sample", "controller": True}]


def test_pods_outside_of_queues_are_listed_by_job() -> None:
    pods = [
        pod("w0", node="n0", ownerReferences=SAMPLE),
        pod("w1", ownerReferences=SAMPLE),
        pod("queued", annotations={"kueue.x-k8s.io/workload": "jobset-runs"}),
        pod("gated", labels={"kueue.x-k8s.io/managed": "true"}),
        pod("device-plugin", ownerReferences=[{"kind": "DaemonSet", "name": "device-plugin"}]),
        {**pod("idle", node="n1"), "spec": {"nodeName": "n1", "containers": []}},
        {**pod("cpu"), "spec": {"containers": [{"resources": {"requests": {"cpu": "500m"}}}]}},
    ]
    read = parsed("pods", pods)
    found = outside_queues(read, parsed("nodes", NODES), Placing(), Owners({"Pod": read}))
    assert [tuple(row.values()) for row in found] == [
        ("research", "cpu", "Pod", "cpu", 0, 0, 0.5, [], "", f"its pod has no node: {SCHEDULER}"),
        (
            "research",
            "sample",
            "RayCluster",
            "sample",
            8,
            0,
            0,
            ["trainer-0"],
            "",
            f"1 of 2 pods have no node: {SCHEDULER}",
        ),
    ]


INCOMPLETE = "'pg' group has fewer runnable pods than expected"
HELD = f"held back by kueue.x-k8s.io/admission: {INCOMPLETE}"


def of_group(name: str) -> dict[str, Any]:
    labels = {"kueue.x-k8s.io/managed": "true", "kueue.x-k8s.io/pod-group-name": "pg"}
    return pod(name, gates=("kueue.x-k8s.io/admission",), labels=labels)


def test_an_incomplete_group_of_pods_is_listed_with_kueues_reason() -> None:
    """Kueue creates no workload of it, and reports it of one of its pods."""
    single = pod("single", gates=("kueue.x-k8s.io/admission",), labels={"kueue.x-k8s.io/managed": "true"})
    read = parsed("pods", [of_group("pg-0"), of_group("pg-1"), single])
    events = placing(event("pg-1", "ErrWorkloadCompose", INCOMPLETE))

    def listed(*workloads: dict[str, Any]) -> list[tuple[str, str, int, str]]:
        owners, nodes = Owners({"Pod": read}), parsed("nodes", NODES)
        rows = outside_queues(read, nodes, events, owners, parsed("workloads", workloads))
        return [(row["job"], row["kind"], row["chips"], row["why"]) for row in rows]

    group = ("pg", "PodGroup", 8, f"2 of 2 pods have no node: {HELD}")
    assert listed() == [group, ("single", "Pod", 4, "its pod has no node: held back by kueue.x-k8s.io/admission")]
    of_single, complete = workload("single", "research"), workload("any", "research")
    of_single["metadata"]["ownerReferences"] = [{"kind": "Pod", "name": "single", "uid": "single"}]
    assert listed(of_single) == [group]
    complete["metadata"]["name"] = "pg"
    assert listed(of_single, complete) == []


def test_a_pod_of_an_incomplete_group_is_explained() -> None:
    answers = lists()
    answers[PODS].append(of_group("pg-0"))
    answers[EVENT_LIST].append({**event("pg-1", "ErrWorkloadCompose", INCOMPLETE), "type": "Warning"})
    found = explained("research/pg-0", answers=answers)
    assert (found["state"], found["reasons"]) == (
        "pending",
        [{"source": "scheduler", "message": f"its pod has no node: {HELD}"}],
    )
    assert never(HELD)
    (help,) = found["helps"]
    assert help.startswith("Create the other pods of the group")
