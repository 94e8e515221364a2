"""`tpuplane why` reads a cluster: it finds a job of any kind, with pods that fail, ended or not readable."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from tpuplane.cli import app
from tpuplane.labels import ANNOUNCED_LABEL, MAINTENANCE_LABEL, STOPPED_FOR
from typer.testing import CliRunner, Result

from tests.support.status.api_server import KUEUE, ApiServer, kubeconfig, serving
from tests.support.status.recording import (
    BATCH,
    EVENT_LIST,
    JOBSETS,
    NODES,
    PODS,
    QUEUES,
    RECORDED,
    WORKLOADS,
    changed,
    item,
    lists,
    why,
)

pytestmark = pytest.mark.unit

RAY_JOBS, RAY_SERVICES = "/apis/ray.io/v1/rayjobs", "/apis/ray.io/v1/rayservices"
SETS = "/apis/apps/v1/statefulsets"
NEEDS_16 = "needs 16 more free chips of v6e-4x4"


@pytest.fixture
def server() -> Iterator[ApiServer]:
    with serving(lists(), page_size=20) as made:
        made.groups = RECORDED["groups"]
        yield made


def run(server: ApiServer, folder: Path, *arguments: str) -> Result:
    file = kubeconfig(folder, server.server_port)
    return CliRunner().invoke(app, ["why", *arguments, "--kubeconfig", str(file)])


def explained(server: ApiServer, folder: Path, *arguments: str) -> dict[str, Any]:
    result = run(server, folder, *arguments, "--json")
    assert result.exit_code == 0, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_a_job_that_kueue_deactivates_again() -> None:
    """Kueue 0.18.3 keeps the condition of a job that ran for its longest time, so that a patch changes nothing."""
    answers = lists()
    waits = item(answers, WORKLOADS, "jobset-waits")
    waits["spec"]["active"] = False
    said = "The workload is deactivated due to exceeding the maximum execution time"
    conditions = {"QuotaReserved": ("False", said), "Evicted": ("True", said), "DeactivationTarget": ("True", "")}
    waits["status"]["conditions"] = [
        {"type": kind, "status": status, "message": message} for kind, (status, message) in conditions.items()
    ]
    raised, submitted = why("research/waits", answers=answers)["helps"]
    assert "kueue.x-k8s.io/max-exec-time-seconds has: raise this number" in raised
    assert submitted == "Remove the cause of the deactivation, delete the job, and submit it again."


def test_a_job_whose_pods_kueue_ends() -> None:
    """It has its quota, and is suspended, until they have ended. No controller is at fault."""
    said = "Preempted to accommodate a workload (UID: a, JobUID: b) due to prioritization in the ClusterQueue; more"
    evicted = {"type": "Evicted", "status": "True", "message": said}
    answers = changed(WORKLOADS, "jobset-holds", lambda holds: holds["status"]["conditions"].append(evicted))
    found = why("research/holds", answers=answers)
    message = "Kueue ends its pods: it was preempted by a job of its team with higher priority"
    assert {"source": "Kueue", "message": message} in found["reasons"]
    assert found["helps"] == ["Kueue admits it again when chips are free."]
    for holds in (found for found in answers[WORKLOADS] if found["metadata"]["name"].startswith("jobset-holds")):
        holds["spec"]["active"], holds["metadata"]["annotations"] = False, {STOPPED_FOR: "trainer-0,trainer-1"}
    message = "Kueue ends its pods: it was stopped by `tpuplane drain trainer-0 trainer-1`"
    assert {"source": "Kueue", "message": message} in why("research/holds", answers=answers)["reasons"]


def test_the_job_of_a_jobset_that_reached_its_time_limit() -> None:
    """JobSet names the failed Job, and not why it failed. A number of failed pods explains nothing."""
    answers = lists()
    for path, name, reason, message in (
        (JOBSETS, "first", "FailJobSetFailurePolicyAction", "applying (first failed job: first-slice-0)"),
        (BATCH, "first-slice-0", "DeadlineExceeded", "Job was active longer than specified deadline"),
        (JOBSETS, "second", "FailedJobs", "jobset failed"),
        (BATCH, "second-slice-0", "BackoffLimitExceeded", "Job has reached the specified backoff limit"),
    ):
        condition = {"type": "Failed", "status": "True", "reason": reason, "message": message}
        item(answers, path, name)["status"]["conditions"] = [condition]
    found = why("default/first", answers=answers)
    job = {"source": "Job", "message": "first-slice-0: DeadlineExceeded: Job was active longer than specified deadline"}
    assert (found["state"], found["reasons"][1]) == ("failed", job)
    assert "raise the limit, delete the job, and submit it again" in found["helps"][0]
    assert "Job" not in {reason["source"] for reason in why("default/second", answers=answers)["reasons"]}


def test_a_job_of_a_cron_job_says_once_why_it_failed() -> None:
    answers = lists()
    job = item(answers, BATCH, "nightly")
    job["metadata"]["ownerReferences"] = [{"kind": "CronJob", "name": "nightly", "uid": "cron", "controller": True}]
    limit = {"reason": "DeadlineExceeded", "message": "Job was active longer than specified deadline"}
    job["status"]["conditions"] = [{"type": "Failed", "status": "True", **limit}]
    message = f"{limit['reason']}: {limit['message']}"
    found = why(f"{job['metadata']['namespace']}/nightly", answers=answers)
    assert [reason for reason in found["reasons"] if limit["message"] in reason["message"]] == [
        {"source": "Job", "message": message}
    ]


def test_a_job_that_waits_for_quota(server: ApiServer, tmp_path: Path) -> None:
    item(server.lists, WORKLOADS, "jobset-waits")["metadata"]["creationTimestamp"] = "2030-01-01T00:00:00Z"
    found = explained(server, tmp_path, "waits")
    assert (found["state"], found["kind"], found["queue"], len(found["ahead"])) == ("waiting", "JobSet", "research", 3)
    assert found["reasons"] == [{"source": "Kueue", "message": NEEDS_16}]
    (quota,) = found["quotas"]
    assert (quota["used"], quota["nominal"], quota["borrowed"]) == (16, 16, 0)
    amounts = {holder["job"]: holder["amount"] for holder in quota["heldBy"]}
    assert amounts == {"product/holds": 16, "research/holds": 16}
    assert found["helps"][0] == "Kueue admits it when other jobs release chips of v6e-4x4."
    shown = " ".join(run(server, tmp_path, "research/waits").stdout.split())
    assert "JobSet research/waits waits for Kueue (since 20" in shown
    assert f"jobs ahead of it: 3 ({', '.join(found['ahead'])})" in shown
    assert "research uses 16 of 16 chips of v6e-4x4; cohort lab uses 32 of 32" in shown


def test_the_jobs_that_hold_a_quota_of_cores() -> None:
    """A RayJob has its head in the flavor of CPUs, and its chips in another one."""
    answers = lists()
    (assigned,) = item(answers, WORKLOADS, "jobset-holds")["status"]["admission"]["podSetAssignments"]
    head = {"name": "head", "count": 1, "flavors": {"cpu": "cpu"}, "resourceUsage": {"cpu": "4"}}
    item(answers, WORKLOADS, "jobset-holds")["status"]["admission"]["podSetAssignments"] = [head, assigned]
    for condition in item(answers, WORKLOADS, "jobset-waits")["status"]["conditions"]:
        condition["message"] = "insufficient unused quota for cpu in flavor cpu, 4 more needed"
    quotas = why("research/waits", answers=answers)["quotas"]
    held = [(quota["flavor"], {by["job"]: by["amount"] for by in quota["heldBy"]}) for quota in quotas]
    assert held == [("cpu", {"product/holds": 4, "research/rooted": 0.1})]


def test_a_job_in_an_inactive_queue_has_the_cause() -> None:
    """Kueue says in the workload only that the queue is inactive."""
    cause = "Can't admit new workloads: references missing ResourceFlavor(s): v6e-4x4."
    answers = lists()
    item(answers, WORKLOADS, "jobset-waits")["status"]["conditions"][0]["message"] = "ClusterQueue research is inactive"
    item(answers, QUEUES, "research")["status"]["conditions"] = [
        {"type": "Active", "status": "False", "reason": "FlavorNotFound", "message": cause}
    ]
    found = why("research/waits", answers=answers)
    assert {"source": "ClusterQueue", "message": cause} in found["reasons"]

    item(answers, QUEUES, "research")["status"]["conditions"] = []  # Kueue has not looked at the queue yet
    assert "ClusterQueue" not in [reason["source"] for reason in why("research/waits", answers=answers)["reasons"]]


@pytest.mark.parametrize(
    ("change", "said", "help"),
    [
        (
            {"spec": {"active": False}},
            "The workload is deactivated",
            "Remove the cause of the deactivation, then let Kueue admit the job again: kubectl patch workload "
            "jobset-waits-",
        ),
        (
            {"spec": {"active": False}, "metadata": {"annotations": {STOPPED_FOR: "trainer-0,trainer-1"}}},
            "The workload is deactivated",
            "The command activates it when its pods have ended. If the command was killed, run: "
            "tpuplane drain trainer-0 trainer-1 --undo. If the pools no longer exist, run: "
            "kubectl patch workload jobset-waits-",
        ),
        (
            {},
            "LocalQueue default is inactive",
            "Set spec.stopPolicy of the LocalQueue default to None, or remove the cause in its condition Active: "
            "kubectl describe LocalQueue default --namespace research",
        ),
        (  # as in the queues of `status`
            {},
            "LocalQueue research/default is stopped (Hold)",
            "Set spec.stopPolicy of the LocalQueue default to None, ",
        ),
        (
            {},
            "ClusterQueue research is stopped",
            "Set spec.stopPolicy of the ClusterQueue research to None, or remove the cause in its condition Active: "
            "kubectl describe ClusterQueue research. ",
        ),
        ({}, "ClusterQueue research doesn't exist", "Create the ClusterQueue ("),
        ({}, "ClusterQueue research not found", "Create the ClusterQueue ("),
        (
            {},
            "Workload namespace doesn't match ClusterQueue selector",
            "Label the namespace research as spec.namespaceSelector of the ClusterQueue requires",
        ),
        (
            {},
            "resources didn't satisfy LimitRange constraints: spec.podSets[0].template.spec: Invalid value: x",
            "Correct the requests and limits of the pods, or change the LimitRange: ",
        ),
        (
            {},
            "resources validation failed: spec.podSets[0].template.spec.containers[0]: Invalid value: "
            '["cpu"]: requests must not exceed its limits',
            "Correct the requests and limits of the pods, or change the LimitRange: ",
        ),
        (
            {},
            "spec.podSets[1].template.spec.resourceClaims[0].resourceClaimTemplateName: Not found: "
            '"DeviceClass netdev.google.com is not mapped in DRA configuration for podset tpu-group"',
            "Remove the resourceClaims of netdev.google.com from the pods: ",
        ),
    ],
)
def test_a_job_that_kueue_does_not_admit_for_another_reason_than_quota(
    change: dict[str, Any], said: str, help: str
) -> None:
    answers = lists()
    workload = item(answers, WORKLOADS, "jobset-waits")
    for part, values in change.items():
        workload[part] |= values
    next(each for each in workload["status"]["conditions"] if each["type"] == "QuotaReserved")["message"] = said
    (found,) = why("research/waits", answers=answers)["helps"]
    assert found.startswith(help)


def failing(status: dict[str, Any]) -> dict[str, list[Any]]:
    """The recorded cluster, with this status of two pods of the JobSet product/holds."""
    answers = lists()
    pods = [pod for pod in answers[PODS] if pod["metadata"]["namespace"] == "product"]
    for pod in pods[:2]:
        pod["status"] = {"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}], **status}
    return answers


def container(**state: Any) -> dict[str, Any]:
    return {"containerStatuses": [{"name": "main", "restartCount": 3, **state}]}


@pytest.mark.parametrize(
    ("status", "said", "help"),
    [
        (
            container(state={"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image x"}}),
            "container main: ImagePullBackOff: Back-off pulling image x",
            "Correct the name of the image.",
        ),
        (
            container(
                state={"waiting": {"reason": "CrashLoopBackOff"}},
                lastState={"terminated": {"reason": "Error", "exitCode": 1}},
            ),
            "container main: CrashLoopBackOff; Error, exit code 1, 3 restarts",
            "Read the log: kubectl logs --namespace product holds-slice-0-",
        ),
        (
            container(state={"terminated": {"reason": "OOMKilled", "exitCode": 137}}),
            "container main: OOMKilled, exit code 137, 3 restarts",
            "Raise the memory limit of container main",
        ),
        ({"reason": "Evicted", "message": "The node was low on resource"}, "Evicted: The node was low on resource", ""),
    ],
)
def test_pods_that_fail_say_why(status: dict[str, Any], said: str, help: str) -> None:
    """The twin runs no kubelet, so that these statuses are changes of recorded pods."""
    found = why("product/holds", answers=failing(status))
    assert (found["state"], found["pods"], found["podsReady"]) == ("failing", 4, 2)
    (message,) = [reason["message"] for reason in found["reasons"]]
    assert message.startswith("2 pods, such as holds-slice-0-")
    assert message.endswith(said)
    assert any(text.startswith(help) for text in found["helps"]) or not help


def test_pods_that_failed_before_hold_nothing_and_are_no_state(server: ApiServer, tmp_path: Path) -> None:
    former = [pod for pod in deepcopy(server.lists[PODS]) if pod["metadata"]["name"].startswith("holds-slice-0-")]
    for pod in former:
        pod["metadata"] |= {"name": f"{pod['metadata']['name']}-former", "uid": f"former-{pod['metadata']['uid']}"}
        ended = {"name": "main", "restartCount": 0, "state": {"terminated": {"reason": "Error", "exitCode": 1}}}
        pod["status"] = {"phase": "Failed", "containerStatuses": [ended]}
    before = explained(server, tmp_path, "product/holds")
    server.lists[PODS] += former
    found = explained(server, tmp_path, "product/holds")
    assert (found["state"], found["pods"], found["podsReady"]) == (before["state"], before["pods"], before["podsReady"])
    assert before["state"] == "running"
    (reason,) = found["reasons"]
    assert reason["message"].endswith("container main: Error, exit code 1")
    (help,) = found["helps"]
    assert help.startswith("Read the log: kubectl logs --namespace product holds-slice-0-")
    assert help.endswith("-former --container main")


def test_a_lost_host_under_pods_that_still_count_as_ready(server: ApiServer, tmp_path: Path) -> None:
    """Kubernetes ends the pods of a node without contact only after minutes."""
    pod = next(pod for pod in server.lists[PODS] if pod["metadata"]["namespace"] == "product")
    host = item(server.lists, NODES, pod["spec"]["nodeName"])
    ready = next(each for each in host["status"]["conditions"] if each["type"] == "Ready")
    ready |= {"status": "Unknown", "message": "Kubelet stopped posting node status."}
    found = explained(server, tmp_path, "product/holds")
    said = f"{pod['spec']['nodeName']} is not ready: Kubelet stopped posting node status."
    assert (found["state"], found["reasons"]) == ("failing", [{"source": "hosts", "message": said}])


@pytest.mark.parametrize(
    ("label", "said", "helps"),
    [
        (ANNOUNCED_LABEL, "begins at 2025-11-30T17:35:00Z", "save a checkpoint before. To start"),
        (MAINTENANCE_LABEL, "has begun", "save a checkpoint now."),
    ],
)
def test_maintenance_of_the_hosts_of_a_job_that_runs(label: str, said: str, helps: str) -> None:
    answers = lists()
    pod = next(pod for pod in answers[PODS] if pod["metadata"]["namespace"] == "product")
    item(answers, NODES, pod["spec"]["nodeName"])["metadata"]["labels"][label] = "1764524100"
    found = why("product/holds", answers=answers)
    reason = {"source": "hosts", "message": f"maintenance of 1 of 4 hosts {said}"}
    assert (found["state"], found["reasons"]) == ("running", [reason])
    assert helps in found["helps"][0]


def test_a_volume_that_cannot_be_mounted() -> None:
    answers = failing({"containerStatuses": [{"name": "main", "state": {"waiting": {"reason": "ContainerCreating"}}}]})
    assert why("product/holds", answers=answers)["state"] == "starting"
    pod = next(manifest for manifest in answers[PODS] if manifest["metadata"]["namespace"] == "product")["metadata"]
    event = dict(item(answers, EVENT_LIST, "combo"), reason="FailedMount", message="secret x not found")
    event["involvedObject"] = {"kind": "Pod", **{key: pod[key] for key in ("namespace", "name", "uid")}}
    answers[EVENT_LIST].append(event)
    said = {"source": "kubelet", "message": f"{pod['name']}: FailedMount: secret x not found"}
    assert why("product/holds", answers=answers)["reasons"] == [said]


@pytest.mark.parametrize(
    ("body", "state", "message"),
    [
        ({"status": {"conditions": [{"type": "Complete", "status": "True"}]}}, "succeeded", "Complete"),
        (
            {"status": {"conditions": [{"type": "Failed", "status": "True", "reason": "Deadline", "message": "late"}]}},
            "failed",
            "Deadline: late",
        ),
        ({"status": {"jobDeploymentStatus": "Failed", "message": "no such file"}}, "failed", "no such file"),
        (
            {"status": {"jobDeploymentStatus": "ValidationFailed", "reason": "ValidationFailed", "message": "no ttl"}},
            "failed",
            "ValidationFailed: no ttl",
        ),
        (
            {"status": {"jobDeploymentStatus": "Complete", "jobStatus": "STOPPED", "message": "Job was stopped."}},
            "failed",
            "STOPPED: Job was stopped.",
        ),
        ({"status": {"jobDeploymentStatus": "Complete", "jobStatus": "SUCCEEDED"}}, "succeeded", "Complete"),
        ({"spec": {"suspend": True}}, "suspended", "it is suspended, and Kueue does not manage it"),
        ({"spec": {}, "status": {}}, "created", "it has no pods yet"),
    ],
)
def test_jobs_without_pods(body: dict[str, Any], state: str, message: str) -> None:
    answers = {**lists(), PODS: []}
    item(answers, RAY_JOBS, "tune").update(body)
    found = why("default/tune", answers=answers)
    assert (found["kind"], found["state"], found["reasons"][0]["message"]) == ("RayJob", state, message)


@pytest.mark.parametrize(
    ("applications", "state", "messages"),
    [
        ({}, "starting", ["Initializing: waiting for serve apps"]),
        (
            {"llm": {"status": "DEPLOY_FAILED", "message": "no module x"}, "ok": {"status": "RUNNING"}},
            "failing",
            ["application llm is DEPLOY_FAILED: no module x", "Initializing: waiting for serve apps"],
        ),
    ],
)
@pytest.mark.parametrize("which", ["active", "pending"])
def test_a_service_whose_pods_are_ready_may_not_serve(
    applications: dict[str, Any], state: str, messages: list[str], which: str
) -> None:
    answers = lists()
    service = item(answers, RAY_SERVICES, "serve")
    ready = {"type": "Ready", "status": "False", "reason": "Initializing", "message": "waiting for serve apps"}
    service["status"] = {"conditions": [ready], f"{which}ServiceStatus": {"applicationStatuses": applications}}
    answers[PODS] = [item(answers, PODS, "holds-slice-0-0")]
    owner = {"kind": "RayService", "name": "serve", "uid": service["metadata"]["uid"], "controller": True}
    answers[PODS][0]["metadata"] |= {"namespace": "default", "ownerReferences": [owner], "annotations": {}}
    found = why("default/serve", "RayService", answers)
    assert (found["state"], [reason["message"] for reason in found["reasons"]]) == (state, messages)


def test_a_group_of_pods_is_in_its_queue() -> None:
    """Kueue manages the pods of a StatefulSet as a group, whose workload belongs to the pods."""
    answers = lists()
    pod, workload = (
        item(answers, PODS, "web-0")["metadata"],
        item(answers, KUEUE + "workloads", "jobset-waits")["metadata"],
    )
    pod.update(namespace="research", labels={"kueue.x-k8s.io/pod-group-name": workload["name"]})
    item(answers, SETS, "web")["metadata"]["namespace"] = "research"
    workload["ownerReferences"] = [{"kind": "Pod", "name": pod["name"], "uid": pod["uid"]}]
    found = why("research/web", answers=answers)
    assert (found["kind"], found["state"], found["queue"]) == ("StatefulSet", "waiting", "research")


def test_a_group_of_pods_is_found_by_its_name(server: ApiServer, tmp_path: Path) -> None:
    holds = item(server.lists, WORKLOADS, "jobset-holds")["metadata"]
    members = [pod for pod in server.lists[PODS] if pod["metadata"]["namespace"] == holds["namespace"]]
    for pod in members:
        pod["metadata"] |= {"labels": {"kueue.x-k8s.io/pod-group-name": holds["name"]}, "ownerReferences": []}
        pod["metadata"]["annotations"].pop("kueue.x-k8s.io/workload", None)
    holds["ownerReferences"] = [
        {"kind": "Pod", **{key: pod["metadata"][key] for key in ("name", "uid")}} for pod in members
    ]
    name = f"{holds['namespace']}/{holds['name']}"
    for kind in ((), ("--kind", "PodGroup")):
        found = explained(server, tmp_path, name, *kind)
        assert (found["kind"], found["state"], found["pods"]) == ("PodGroup", "running", 4)
    waits = explained(server, tmp_path, "research/waits")
    assert name in {job for need in waits["needs"] for pool in need["nodePools"] for job in pool["heldBy"]}
    assert "error: no Flow " in run(server, tmp_path, name, "--kind", "Flow").stderr


def test_a_job_of_an_unknown_kind_is_found_by_its_workload(server: ApiServer, tmp_path: Path) -> None:
    workload = item(server.lists, WORKLOADS, "jobset-waits")["metadata"]
    workload["ownerReferences"] = [{"kind": "Flow", "name": "flow", "uid": "flow"}]
    found = explained(server, tmp_path, "flow")
    assert (found["kind"], found["state"], found["queue"]) == ("Flow", "waiting", "research")
    server.forbidden = {NODES}
    assert "error: no job 'flow' in any namespace" in run(server, tmp_path, "flow").stderr


def test_an_owner_of_an_unknown_kind_is_named(server: ApiServer, tmp_path: Path) -> None:
    assert "ConfigMap flow, which is not read: its kind is unknown here" in run(server, tmp_path, "step").stdout


def test_several_jobs_of_a_name_are_the_choices(server: ApiServer, tmp_path: Path) -> None:
    several = run(server, tmp_path, "serve")
    assert several.exit_code == 1
    assert "RayService default/serve, Deployment default/serve; name one" in several.stderr
    assert explained(server, tmp_path, "default/serve", "--kind", "RayService")["kind"] == "RayService"
    assert explained(server, tmp_path, "holds", "-n", "product")["namespace"] == "product"


def test_what_does_not_exist_is_said(server: ApiServer, tmp_path: Path) -> None:
    for arguments, said in (
        (["none"], "no job 'none' in any namespace; see: kubectl get pods --all-namespaces"),
        (["a/none", "--kind", "Job"], "no Job 'none' in namespace a"),
        (["none", "--kind", "jobs"], "no jobs 'none'; allowed kinds: Job, JobSet, "),
    ):
        result = run(server, tmp_path, *arguments)
        assert (result.exit_code, result.stderr.startswith(f"error: {said}")) == (1, True), result.stderr
    for arguments in (["a/b/c"], ["/b"], ["a/"], ["a/b", "-n", "c"]):
        assert run(server, tmp_path, *arguments).exit_code == 2


def test_a_member_of_a_team_reads_its_own_namespace(server: ApiServer, tmp_path: Path) -> None:
    """What the user may not read of the cluster is named, and nothing else is lost."""
    server.forbidden = {path for path in server.lists if path != KUEUE + "resourceflavors"}
    result = run(server, tmp_path, "waits")
    assert (result.exit_code, "name its namespace with -n" in result.stderr) == (1, True)
    found = explained(server, tmp_path, "-n", "research", "waits")
    assert found["reasons"] == [{"source": "Kueue", "message": NEEDS_16}]
    assert {"nodes", "queues", "pods", "workloads"} <= set(found["unread"])
    assert "Kueue admits it when other jobs release chips" in found["helps"][0]
    assert "to list these in all namespaces: nodes" in run(server, tmp_path, "research/waits").stdout


def test_what_may_not_be_read_is_not_taken_for_absent(server: ApiServer, tmp_path: Path) -> None:
    server.forbidden = {"/apis/storage.k8s.io/v1/csidrivers", "/apis/cloud.google.com/v1/computeclasses"}
    found = explained(server, tmp_path, "disk", "-n", "default")
    assert found["unread"] == ["drivers", "computeClasses"]
    assert found["reasons"][0]["message"].endswith("its disk is not created yet")
    assert found["helps"] == ["Read its events: kubectl describe pvc data-disk-0 --namespace default"]
