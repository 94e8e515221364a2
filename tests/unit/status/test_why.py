"""`tpuplane why` finds a job of any kind, and says what it waits for, what holds that, and what would help."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tpuplane.cli import app
from typer.testing import CliRunner, Result

from tests.unit.status.api_server import KUEUE, ApiServer, group, kubeconfig, serving
from tests.unit.status.test_placing import FAILED, event
from tests.unit.status.test_pool_status import HOSTS
from tests.unit.status.test_queue_status import LOCAL_QUEUE, QUEUE, WORDS, workload

pytestmark = pytest.mark.unit

JOBSETS = "/apis/jobset.x-k8s.io/v1alpha2/jobsets"
RAY = "/apis/ray.io/v1/"
NEEDS_16 = next(it for it in WORDS if it["plain"] == "needs 16 more free chips of v6e-4x4")


def job(name: str, *, namespace: str = "research", owner: tuple[str, str] | None = None, **body: Any) -> dict[str, Any]:
    owners = [{"kind": owner[0], "name": owner[1], "uid": f"{owner[0]} {owner[1]}"}] if owner else []
    return {"metadata": {"name": name, "namespace": namespace, "ownerReferences": owners}, **body}


def pod(name: str, of: str, *, node: str | None = "h0", topology: str = "4x4", **status: Any) -> dict[str, Any]:
    selector = {
        "cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice",
        "cloud.google.com/gke-tpu-topology": topology,
        "kubernetes.io/hostname": name,
    }
    container = {"name": "train", "resources": {"limits": {"google.com/tpu": "4"}}}
    labels = {"jobset.sigs.k8s.io/jobset-name": of}
    spec = {"containers": [container], "nodeSelector": selector, **({"nodeName": node} if node else {})}
    metadata = {"name": name, "namespace": "research", "uid": name, "labels": labels}
    ready = {"type": "Ready", "status": "False"}
    return {"metadata": metadata, "spec": spec, "status": {"phase": "Pending", "conditions": [ready], **status}}


@pytest.fixture
def server() -> Iterator[ApiServer]:
    """Two jobs in a queue, one of which holds chips, and a slice."""
    holds = workload("holds", "research", Admitted=("True", ""), QuotaReserved=("True", ""))
    holds["status"]["admission"] = {"podSetAssignments": [{"name": "main", "flavors": {"google.com/tpu": "v6e-4x4"}}]}
    lists = {
        "/api/v1/nodes": HOSTS,
        KUEUE + "clusterqueues": [QUEUE],
        KUEUE + "localqueues": [LOCAL_QUEUE],
        KUEUE + "workloads": [holds, workload("waits", "research", QuotaReserved=("False", NEEDS_16["kueue"]))],
        JOBSETS: [],
        **{RAY + it: [] for it in ("rayclusters", "rayjobs", "rayservices")},
        "/apis/batch/v1/jobs": [],
    }
    with serving(lists) as made:
        made.groups += [group("batch", "v1"), group("jobset.x-k8s.io", "v1alpha2"), group("ray.io", "v1")]
        yield made


def add(server: ApiServer, path: str, *jobs: dict[str, Any], kind: str) -> None:
    for it in jobs:
        it["metadata"]["uid"] = f"{kind} {it['metadata']['name']}"
    server.lists[path] = [*server.lists[path], *jobs]


def run(server: ApiServer, folder: Path, *arguments: str) -> Result:
    file = kubeconfig(folder, server.server_port)
    return CliRunner().invoke(app, ["why", *arguments, "--kubeconfig", str(file)])


def explained(server: ApiServer, folder: Path, *arguments: str) -> dict[str, Any]:
    result = run(server, folder, *arguments, "--json")
    assert result.exit_code == 0, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_a_job_that_waits_for_quota(server: ApiServer, tmp_path: Path) -> None:
    add(server, JOBSETS, job("waits"), kind="JobSet")
    found = explained(server, tmp_path, "waits")
    assert (found["state"], found["kind"], found["queue"], found["ahead"]) == ("waiting", "JobSet", "research", 0)
    assert found["reasons"] == [{"source": "Kueue", "message": NEEDS_16["plain"]}]
    (quota,) = found["quotas"]
    assert (quota["used"], quota["nominal"], quota["borrowed"]) == (24, 16, 8)
    assert quota["heldBy"] == [{"job": "research/holds", "amount": 8}]
    assert found["helps"][0].startswith("Kueue admits it when other jobs release chips of v6e-4x4.")
    shown = " ".join(run(server, tmp_path, "research/waits").stdout.split())
    assert "JobSet research/waits waits for Kueue since 2026-11-21T10:00:01Z" in shown
    assert "research uses 24 of 16 chips of v6e-4x4, 8 borrowed held by research/holds (8)" in shown


def test_pods_without_a_node_join_the_scheduler_the_autoscaler_and_the_labels(
    server: ApiServer, tmp_path: Path
) -> None:
    add(server, JOBSETS, job("wrong"), kind="JobSet")
    unplaced = {"type": "PodScheduled", "status": "False", "message": "0/4 nodes are available: 4 do not match. x"}
    server.lists["/api/v1/pods"] = [pod("p0", "wrong", node=None, topology="4x5", conditions=[unplaced])]
    server.lists["/api/v1/events"] = [FAILED]
    found = explained(server, tmp_path, "wrong")
    assert found["state"] == "pending"
    assert found["reasons"] == [
        {"source": "scheduler", "message": "its pod has no node: 0/4 nodes are available: 4 do not match"},
        {"source": "autoscaler", "message": "Node scale up failed: GCE_STOCKOUT"},
    ]
    assert found["needs"][0]["missing"] == [
        {"label": "cloud.google.com/gke-tpu-topology", "value": "4x5", "nodesHave": ["4x4"]}
    ]
    assert "No node has cloud.google.com/gke-tpu-topology=4x5; nodes have 4x4." in found["helps"][0]
    assert found["helps"][1].startswith("Google Cloud has no such hosts in this zone now")


def container(**state: Any) -> dict[str, Any]:
    return {"containerStatuses": [{"name": "train", "restartCount": 3, **state}]}


@pytest.mark.parametrize(
    ("status", "said", "help"),
    [
        (
            container(state={"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image x"}}),
            "2 pods, such as p0, container train: ImagePullBackOff: Back-off pulling image x",
            "Correct the name of the image.",
        ),
        (
            container(
                state={"waiting": {"reason": "CrashLoopBackOff"}},
                lastState={"terminated": {"reason": "Error", "exitCode": 1}},
            ),
            "2 pods, such as p0, container train: CrashLoopBackOff; Error, exit code 1, 3 restarts",
            "Read the log: kubectl logs --namespace research p0 --container train --previous",
        ),
        (
            container(state={"terminated": {"reason": "OOMKilled", "exitCode": 137}}),
            "2 pods, such as p0, container train: OOMKilled, exit code 137, 3 restarts",
            "Raise the memory of container train",
        ),
        (
            {"reason": "Evicted", "message": "The node was low on resource"},
            "2 pods, such as p0: Evicted: The node was low on resource",
            "",
        ),
    ],
)
def test_pods_that_fail_say_why(
    server: ApiServer, tmp_path: Path, status: dict[str, Any], said: str, help: str
) -> None:
    add(server, JOBSETS, job("crashes"), kind="JobSet")
    server.lists["/api/v1/pods"] = [pod(name, "crashes", **status) for name in ("p0", "p1")]
    found = explained(server, tmp_path, "crashes")
    assert (found["state"], found["pods"], found["podsReady"]) == ("failing", 2, 0)
    assert [it["message"] for it in found["reasons"]] == [said]
    assert any(it.startswith(help) for it in found["helps"]) or not help


def test_a_volume_that_cannot_be_mounted(server: ApiServer, tmp_path: Path) -> None:
    add(server, JOBSETS, job("mounts"), kind="JobSet")
    creating = {"containerStatuses": [{"name": "train", "state": {"waiting": {"reason": "ContainerCreating"}}}]}
    server.lists["/api/v1/pods"] = [pod("p0", "mounts", **creating)]
    assert explained(server, tmp_path, "mounts")["state"] == "starting"
    server.lists["/api/v1/events"] = [event("p0", "FailedMount", "secret x not found")]
    assert explained(server, tmp_path, "mounts")["reasons"] == [
        {"source": "kubelet", "message": "p0: FailedMount: secret x not found"}
    ]


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
        ({"spec": {"suspend": True}}, "suspended", "it is suspended, and Kueue does not manage it"),
        ({"spec": {}}, "created", "it has no pods yet"),
    ],
)
def test_jobs_without_pods(server: ApiServer, tmp_path: Path, body: dict[str, Any], state: str, message: str) -> None:
    add(server, RAY + "rayjobs", job("one", **body), kind="RayJob")
    found = explained(server, tmp_path, "one")
    assert (found["kind"], found["state"], found["reasons"][0]["message"]) == ("RayJob", state, message)


def test_pods_that_cannot_be_created(server: ApiServer, tmp_path: Path) -> None:
    add(server, "/apis/batch/v1/jobs", job("big"), kind="Job")
    said = 'Error creating: pods "big-x" is forbidden: exceeded quota: team'
    server.lists["/api/v1/events"] = [event("big", "FailedCreate", said, kind="Job")]
    found = explained(server, tmp_path, "big")
    assert found["reasons"] == [{"source": "controller", "message": f"its pods cannot be created: {said}"}]
    assert found["helps"] == ["Raise the ResourceQuota of namespace research, or request less."]


def test_a_part_is_explained_by_its_job(server: ApiServer, tmp_path: Path) -> None:
    add(server, JOBSETS, job("whole"), kind="JobSet")
    add(server, "/apis/batch/v1/jobs", job("whole-0", owner=("JobSet", "whole")), kind="Job")
    part = pod("whole-0-x", "whole", conditions=[{"type": "Ready", "status": "True"}])
    part["metadata"]["ownerReferences"] = [{"kind": "Job", "name": "whole-0", "uid": "Job whole-0"}]
    server.lists["/api/v1/pods"] = [part]
    for name in ("whole-0", "whole-0-x"):
        found = explained(server, tmp_path, "-n", "research", name)
        assert (found["kind"], found["job"], found["state"]) == ("JobSet", "whole", "running")
        assert found["part"].endswith(f" {name}")
        assert found["nodePools"] == ["trainer-0"]


def owned(name: str, kind: str, owner: str, *, node: str | None = "h0", **labels: str) -> dict[str, Any]:
    made = pod(name, "", node=node, conditions=[{"type": "Ready", "status": "True"}])
    made["metadata"]["labels"] = labels
    made["metadata"]["ownerReferences"] = [{"kind": kind, "name": owner, "uid": f"{kind} {owner}"}]
    return made


def test_deployments_and_leader_worker_sets_own_their_pods(server: ApiServer, tmp_path: Path) -> None:
    """Of a LeaderWorkerSet, the pods of workers belong to a StatefulSet of the leader's pod."""
    server.groups.append(group("leaderworkerset.x-k8s.io", "v1"))
    sets = "/apis/leaderworkerset.x-k8s.io/v1/leaderworkersets"
    server.lists[sets] = []
    add(server, sets, job("llm"), kind="LeaderWorkerSet")
    parts = job("llm", owner=("LeaderWorkerSet", "llm")), job("llm-0", owner=("Pod", "llm-0"))
    add(server, "/apis/apps/v1/statefulsets", *parts, kind="StatefulSet")
    add(server, "/apis/apps/v1/deployments", job("web"), kind="Deployment")
    add(server, "/apis/apps/v1/replicasets", job("web-6c8d", owner=("Deployment", "web")), kind="ReplicaSet")
    of_set = {"leaderworkerset.sigs.k8s.io/name": "llm"}
    pods = (
        owned("llm-0", "StatefulSet", "llm", **of_set),
        owned("llm-0-1", "StatefulSet", "llm-0", **of_set),
        owned("web-6c8d-x2", "ReplicaSet", "web-6c8d", **{"pod-template-hash": "6c8d"}),
    )
    add(server, "/api/v1/pods", *pods, kind="Pod")
    for name in ("llm", "llm-0-1"):
        found = explained(server, tmp_path, name)
        assert (found["kind"], found["job"], found["state"], found["pods"]) == ("LeaderWorkerSet", "llm", "running", 2)
    for name in ("web", "web-6c8d", "web-6c8d-x2"):
        found = explained(server, tmp_path, name)
        assert (found["kind"], found["job"], found["state"], found["pods"]) == ("Deployment", "web", "running", 1)


def test_a_group_of_pods_is_in_its_queue(server: ApiServer, tmp_path: Path) -> None:
    """Kueue manages the pods of a StatefulSet or LeaderWorkerSet as a group, whose workload belongs to the pods."""
    add(server, "/apis/apps/v1/statefulsets", job("crew"), kind="StatefulSet")
    group_of = {"kueue.x-k8s.io/pod-group-name": "jobset-crew", "kueue.x-k8s.io/managed": "true"}
    add(server, "/api/v1/pods", owned("crew-0", "StatefulSet", "crew", node=None, **group_of), kind="Pod")
    waits = workload("crew", "research", QuotaReserved=("False", NEEDS_16["kueue"]))
    waits["metadata"]["annotations"] = {"kueue.x-k8s.io/is-group-workload": "true"}
    server.lists[KUEUE + "workloads"] = [waits]
    found = explained(server, tmp_path, "crew")
    assert (found["kind"], found["state"], found["queue"]) == ("StatefulSet", "waiting", "research")


def test_an_owner_of_an_unknown_kind_is_named(server: ApiServer, tmp_path: Path) -> None:
    add(server, "/api/v1/pods", owned("step", "Workflow", "flow"), kind="Pod")
    found = explained(server, tmp_path, "step")
    assert (found["kind"], found["state"], found["pods"], found["owner"]) == ("Pod", "running", 1, "Workflow flow")
    assert "Workflow flow, which is not read: its kind is unknown here" in run(server, tmp_path, "step").stdout


def test_several_jobs_of_a_name_are_the_choices(server: ApiServer, tmp_path: Path) -> None:
    add(server, JOBSETS, job("same"), job("same", namespace="product"), kind="JobSet")
    add(server, "/apis/batch/v1/jobs", job("same"), kind="Job")
    several = run(server, tmp_path, "same")
    assert several.exit_code == 1
    assert "Job research/same, JobSet research/same, JobSet product/same; name one" in several.stderr
    assert explained(server, tmp_path, "research/same", "--kind", "Job")["kind"] == "Job"
    assert explained(server, tmp_path, "same", "-n", "product")["namespace"] == "product"


def test_what_does_not_exist_is_said(server: ApiServer, tmp_path: Path) -> None:
    for arguments, said in (
        (["none"], "no job 'none' in any namespace; see: kubectl get pods --all-namespaces"),
        (["a/none", "--kind", "Job"], "no Job 'none' in namespace a"),
        (["none", "--kind", "jobs"], "the cluster has no kind 'jobs'; allowed: Job, JobSet, "),
    ):
        result = run(server, tmp_path, *arguments)
        assert (result.exit_code, result.stderr.startswith(f"error: {said}")) == (1, True), result.stderr
    for arguments in (["a/b/c"], ["/b"], ["a/"], ["a/b", "-n", "c"]):
        assert run(server, tmp_path, *arguments).exit_code == 2


def test_a_member_of_a_team_reads_its_own_namespace(server: ApiServer, tmp_path: Path) -> None:
    """What the user may not read of the cluster is named, and nothing else is lost."""
    add(server, JOBSETS, job("waits"), kind="JobSet")
    server.forbidden = {path for path in server.lists if path != KUEUE + "resourceflavors"}
    result = run(server, tmp_path, "waits")
    assert (result.exit_code, "name its namespace with -n" in result.stderr) == (1, True)
    found = explained(server, tmp_path, "-n", "research", "waits")
    assert found["reasons"] == [{"source": "Kueue", "message": NEEDS_16["plain"]}]
    assert {"nodes", "queues", "pods", "workloads"} <= set(found["unread"])
    assert "you may not read these of all namespaces: nodes" in run(server, tmp_path, "research/waits").stdout
