"""`tpuplane why` of jobs by their workloads: jobs that wait again, or have a workload for each pod."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import pytest
from tpuplane.labels import GKE_POOL_LABEL as POOL
from tpuplane.labels import MAINTENANCE_LABEL, STOPPED_FOR
from tpuplane.status.finding import in_status
from tpuplane.status.job import explain
from tpuplane.status.kueue_objects import Workload
from tpuplane.status.objects import Job, Pod
from tpuplane.status.owners import Owners
from tpuplane.status.reasons import never

from tests.support.status.recording import BATCH, EVENT_LIST, JOBSETS, NODES, PODS, WORKLOADS, item, lists, objects, why

pytestmark = pytest.mark.unit

DEPLOYMENTS, SETS = "/apis/apps/v1/deployments", "/apis/apps/v1/statefulsets"


def test_a_job_that_waits_again_needs_all_its_pods() -> None:
    """After the loss of a host: Kueue has evicted the JobSet, and the pod of the host is not deleted yet."""
    answers = lists()
    last = item(answers, PODS, "holds-slice-0-0")
    last["metadata"]["deletionTimestamp"] = "2026-11-29T04:50:00Z"
    namespace = last["metadata"]["namespace"]
    others = [pod for pod in answers[PODS] if pod["metadata"]["namespace"] == namespace and pod is not last]
    answers[PODS] = [pod for pod in answers[PODS] if pod not in others]
    workload = next(
        own
        for own in answers[WORKLOADS]
        if own["metadata"]["namespace"] == namespace and own["metadata"]["name"].startswith("jobset-holds")
    )
    workload["spec"]["podSets"][0]["count"] = 8
    message = "couldn't assign flavors to pod set slice: no topology domains at level: cloud.google.com/gke-nodepool"
    workload["status"] = {"conditions": [{"type": "QuotaReserved", "status": "False", "message": message}]}
    found = why(f"{namespace}/holds", answers=answers)
    assert (found["state"], found["pods"], found["podsReady"]) == ("waiting", 0, 0)
    (need,) = found["needs"]
    assert (need["pods"], need["chips"], need["slices"]) == (8, 32, 2)


def test_a_job_of_several_workloads_needs_the_pods_of_all_that_wait() -> None:
    """Such as a Deployment or a LeaderWorkerSet."""
    answers = lists()
    waits = item(answers, WORKLOADS, "jobset-waits")
    another, admitted = (deepcopy(waits) for _ in range(2))
    for workload, name in ((another, "waits-1"), (admitted, "waits-2")):
        workload["metadata"] |= {"name": name, "uid": name}
    admitted["status"] = {"conditions": [{"type": "Admitted", "status": "True"}]}
    answers[WORKLOADS] += [another, admitted]
    (need,) = why("research/waits", answers=answers)["needs"]
    assert (need["pods"], need["chips"], need["slices"]) == (8, 32, 2)


def test_each_reason_of_a_job_of_several_workloads_is_named_with_its_remedy() -> None:
    """Such as that of the group of a LeaderWorkerSet that a killed `tpuplane drain` has stopped."""
    answers = lists()
    waits = item(answers, WORKLOADS, "jobset-waits")
    stopped, unseen = (deepcopy(waits) for _ in range(2))
    stopped["metadata"] |= {"name": "waits-1", "uid": "waits-1", "annotations": {STOPPED_FOR: "trainer-0"}}
    stopped["spec"]["active"] = False
    stopped["status"] = {"conditions": []}
    unseen["metadata"] |= {"name": "waits-2", "uid": "waits-2"}
    unseen["spec"]["priority"] = 7
    unseen["status"] = {"conditions": []}
    answers[WORKLOADS] += [stopped, unseen]
    alone, found = why("research/waits"), why("research/waits", answers=answers)
    messages = [reason["message"] for reason in found["reasons"]]
    assert messages == [*(one["message"] for one in alone["reasons"]), "stopped by `tpuplane drain trainer-0`"]
    (undo,) = (text for text in found["helps"] if "tpuplane drain trainer-0 --undo" in text)
    assert "kubectl patch workload waits-1 --namespace research" in undo


def test_a_group_belongs_to_its_leaderworkerset_after_its_leader_is_deleted() -> None:
    """As in an eviction: the other pods, their StatefulSet and the deleted pods among the owners remain for a while."""
    labels, controls = {"leaderworkerset.sigs.k8s.io/name": "llm"}, {"controller": True}
    own = {"kind": "LeaderWorkerSet", "name": "llm", "uid": "llm"}
    leader = {"kind": "Pod", "name": "llm-0", "uid": "deleted"}
    metadata = {"name": "llm-0", "namespace": "art", "uid": "group", "labels": labels}
    group = Job.model_validate({"metadata": {**metadata, "ownerReferences": [{**leader, **controls}]}})
    above = [{"kind": "StatefulSet", "name": "llm-0", "uid": "group", **controls}]
    pod = Pod.model_validate({"metadata": {**metadata, "name": "llm-0-1", "uid": "pod", "ownerReferences": above}})
    made = deepcopy(item(lists(), WORKLOADS, "jobset-waits"))
    made["metadata"] |= {
        "namespace": "art",
        "ownerReferences": [own, leader, {"kind": "Pod", "name": "x", "uid": "pod"}],
    }
    serves = Job.model_validate({"metadata": {"name": "llm", "namespace": "art", "uid": "llm"}})
    read = {"StatefulSet": [group], "LeaderWorkerSet": [serves]}
    for kinds in (read, {"LeaderWorkerSet": [serves]}):
        owners = Owners({"Pod": [pod], **kinds})
        job = owners.of_workload(Workload.model_validate(made))
        assert job is not None
        assert (job.kind, job.name, owners.job("Pod", pod).name) == ("LeaderWorkerSet", "llm", "llm")
    assert Owners({"Pod": [pod], "StatefulSet": [group]}).job("Pod", pod).name == "llm-0"  # it is not read


@pytest.mark.parametrize(
    ("path", "job", "namespace"),
    [(JOBSETS, "product/holds", "jobset-system"), (BATCH, "research/rooted", "kueue-system")],
)
def test_an_admitted_job_that_kueue_cannot_resume(path: str, job: str, namespace: str) -> None:
    """Its webhook is down: Kueue's request to resume it fails."""
    team, _, name = job.partition("/")
    answers = {**lists(), PODS: [], EVENT_LIST: []}
    for found_object in answers[path]:
        if (found_object["metadata"]["namespace"], found_object["metadata"]["name"]) == (team, name):
            found_object["spec"]["suspend"] = True
    said = "Kueue has admitted it, but it is still suspended: its controller or webhook does not answer"
    queues = objects(answers).described()["queues"]
    shown = {f"{row['namespace']}/{row['job']}": row["why"] for queue in queues for row in queue["workloads"]}
    assert [own for own, text in shown.items() if text == said] == [job]
    found = why(job, answers=answers)
    assert (found["state"], found["reasons"]) == ("suspended", [{"source": "Kueue", "message": said}])
    (help,) = found["helps"]
    assert help.endswith(f"has ready pods: kubectl get deployments,pods --namespace {namespace}")


def test_a_job_of_several_workloads_is_one_holder_and_not_its_own() -> None:
    answers = lists()
    waits, holds = (item(answers, WORKLOADS, name) for name in ("jobset-waits", "jobset-holds"))
    more = [deepcopy(holds) for _ in range(3)]
    for number, workload in enumerate(more):
        workload["metadata"] |= {"name": f"more-{number}", "uid": f"more-{number}"}
    more[2]["metadata"] |= {key: waits["metadata"][key] for key in ("namespace", "ownerReferences")}
    answers[WORKLOADS] += more
    (quota,) = why("research/waits", answers=answers)["quotas"]
    assert {holder["job"]: holder["amount"] for holder in quota["heldBy"]} == {
        "product/holds": 48,
        "research/holds": 16,
    }
    assert len(quota["heldBy"]) == 2


@pytest.mark.parametrize(
    ("label", "said", "help"),
    [
        ("none", "the priority class none", "Set the label kueue.x-k8s.io/priority-class to an existing class: "),
        ("", "the PriorityClass of its pods", "Correct priorityClassName of the pod template, or create the "),
    ],
)
def test_the_missing_class_of_a_job_without_a_workload(label: str, said: str, help: str) -> None:
    """Kueue takes the priority from the label, otherwise from the pods."""
    answers = lists()
    labels = item(answers, BATCH, "unranked")["metadata"]["labels"]
    labels.pop("kueue.x-k8s.io/priority-class")
    if label:
        labels["kueue.x-k8s.io/priority-class"] = label
    found = why("product/unranked", answers=answers)
    (message,) = (reason["message"] for reason in found["reasons"])
    assert message.startswith(f"Kueue has created no workload for it: {said} does not exist, ")
    assert never(message)
    (shown,) = found["helps"]
    assert shown.startswith(help)


def test_the_missing_class_of_the_pods_of_a_job_with_a_workload() -> None:
    """Kueue takes the priority from the label, and the pods would be rejected."""
    answers = lists()
    spec = item(answers, WORKLOADS, "jobset-waits")["spec"]["podSets"][0]["template"]["spec"]
    spec |= {"priorityClassName": "medium", "nodeSelector": {**spec["nodeSelector"], "rack": "none"}}
    found = why("research/waits", answers=answers)
    messages = [reason["message"] for reason in found["reasons"]]
    assert messages[0] == (
        "the PriorityClass medium of its pods does not exist, so Kueue can admit the job, but not run it"
    )
    assert never(messages[0])
    assert any("rack=none" in message for message in messages)
    assert found["helps"][0] == (
        "Create the PriorityClass medium, or name one of these in priorityClassName of the pod template: "
        "system-cluster-critical, system-node-critical."
    )
    assert not any("node selector" in help for help in found["helps"])
    spec["priorityClassName"] = "system-node-critical"
    assert any("rack" in help for help in why("research/waits", answers=answers)["helps"])


def test_a_job_whose_owner_is_of_an_unknown_kind_waits_in_the_queue_of_its_owner() -> None:
    """Kueue's workload belongs to the owner, and the job has no pods yet."""
    answers = lists()
    owner = {"kind": "Flow", "name": "flow", "uid": "flow", "controller": True}
    for each in (item(answers, WORKLOADS, "jobset-waits"), item(answers, JOBSETS, "waits")):
        each["metadata"]["ownerReferences"] = [owner]
    found = why("research/waits", answers=answers)
    assert (found["state"], found["queue"], found["owner"]) == ("waiting", "research", "Flow flow")
    assert not any("spec" in help for help in found["helps"])


def test_the_end_of_other_jobs_does_not_release_what_the_job_itself_holds() -> None:
    """Such as a Deployment or a LeaderWorkerSet with more replicas than its queue can ever admit."""
    answers = lists()
    waits = item(answers, WORKLOADS, "jobset-waits")
    ((at, holds),) = (
        (index, own)
        for index, own in enumerate(answers[WORKLOADS])
        if own["status"].get("admission", {}).get("clusterQueue") == "research"
        and own["metadata"]["name"].startswith("jobset-holds")
    )
    waits["spec"]["podSets"][0]["count"] = 8
    del waits["spec"]["podSets"][0]["topologyRequest"]
    assert why("research/waits", answers=answers)["helps"][0].startswith("Kueue admits it when other jobs release")
    holds["metadata"]["ownerReferences"] = waits["metadata"]["ownerReferences"]
    helps = why("research/waits", answers=answers)["helps"]
    assert helps[0] == "Request at most 16 chips of v6e-4x4."
    assert not any("other jobs" in help for help in helps)
    flow = deepcopy(answers)  # the steps of a workflow end by themselves
    for owned in (item(flow, WORKLOADS, "jobset-waits"), item(flow, JOBSETS, "waits"), flow[WORKLOADS][at]):
        owned["metadata"]["ownerReferences"] = [{"kind": "Flow", "name": "flow", "uid": "flow", "controller": True}]
    assert why("research/waits", answers=flow)["helps"][0].startswith("Kueue admits it when other jobs release")
    waits["metadata"].setdefault("annotations", {})["kueue.x-k8s.io/workload-slice-replacement-for"] = (
        f"{holds['metadata']['namespace']}/{holds['metadata']['name']}"
    )
    assert why("research/waits", answers=answers)["helps"][0].startswith("Kueue admits it when other jobs release")


def test_a_job_outside_of_queues_waits_for_other_jobs_and_hosts_and_not_for_its_own_pods() -> None:
    answers = lists()
    members = [pod for pod in answers[PODS] if pod["metadata"]["namespace"] == "product"]
    owner = [{"kind": "Job", "name": "more", "uid": "more", "controller": True}]
    pending = deepcopy(members[0])
    answers[BATCH].append({"metadata": {"name": "more", "namespace": "product", "uid": "more"}})
    pending["metadata"] |= {
        "name": "more-0",
        "uid": "pending",
        "ownerReferences": owner,
        "annotations": {},
        "labels": {},
    }
    pending["spec"]["nodeName"] = ""
    answers[PODS].append(pending)
    waiting = "Wait until other jobs release their hosts: product/holds."
    (pool,) = {item(answers, NODES, pod["spec"]["nodeName"])["metadata"]["labels"][POOL] for pod in members}
    pending["spec"]["nodeSelector"] = {POOL: pool}
    assert waiting in why("product/more", answers=answers)["helps"]
    host = item(answers, NODES, members[0]["spec"]["nodeName"])
    kept = {**answers, PODS: [pod for pod in answers[PODS] if pod is not members[0]], NODES: deepcopy(answers[NODES])}
    maintained = item(kept, NODES, host["metadata"]["name"])
    maintained["metadata"]["labels"][MAINTENANCE_LABEL] = "ONGOING"
    maintained["status"]["conditions"] = []
    ends = f"Wait until the maintenance of the hosts ends: {host['metadata']['name']}."
    assert {waiting, ends} <= set(why("product/more", answers=kept)["helps"])
    for pod in members:
        pod["metadata"]["ownerReferences"] = owner
    helps = why("product/more", answers=answers)["helps"]
    assert not any(help.startswith("Wait until other jobs") for help in helps)
    answers[BATCH].pop()
    for kind, waits in (("PyTorchJob", False), ("Workflow", True)):  # its steps end one after the other
        owner[0]["kind"] = kind
        status = objects(answers).described()
        (found,) = in_status(status, "more", "product", kind)
        helps = explain(objects(answers), status, found)["helps"]
        assert any(help.startswith("Wait until other jobs") for help in helps) == waits


@pytest.mark.parametrize("active", [True, False])
def test_only_a_group_of_plain_pods_needs_new_pods_after_its_pods_have_failed(active: bool) -> None:
    """Kueue deletes the pods of a group whose workload is deactivated; a controller would create others."""
    answers = lists()
    group = item(answers, WORKLOADS, "jobset-waits")
    name, status = group["metadata"]["name"], group["status"]
    members = deepcopy(answers[PODS][:2])
    for at, pod in enumerate(members):
        labels = {"kueue.x-k8s.io/pod-group-name": name}
        pod["metadata"] = {"name": f"plain-{at}", "namespace": "research", "uid": f"plain-{at}", "labels": labels}
    group["metadata"]["ownerReferences"] = [{"kind": "Pod", "name": uid, "uid": uid} for uid in ("plain-0", "plain-1")]
    group["spec"]["active"] = active
    status["conditions"] += [{"type": "Evicted", "status": "True", "message": "The workload is deactivated"}]

    def helps(alive: bool, owner: str = "", lost: int = 0) -> list[str]:
        for pod in members:
            pod["metadata"]["ownerReferences"] = [{"kind": owner, "name": "own", "uid": "own"}] if owner else []
        read_objects = objects({**answers, PODS: [*answers[PODS], *(members[lost:] if alive else ())]})
        failed = [Pod.model_validate(pod) for pod in (members[:lost] if alive else members)]
        rows = read_objects.described()
        (found,) = in_status(rows, name, "research", "PodGroup")
        shown: list[str] = explain(replace(read_objects, ended=failed), rows, found)["helps"]
        return shown

    advice = f"Create the pods of the group again, or delete its workload: kubectl delete workload {name} "
    again = "Remove the cause of the deactivation, then let Kueue admit the job again: "
    shown = helps(alive=False)
    assert any(help.startswith(advice) for help in shown)
    assert any(help.startswith(again) for help in shown) != active
    assert not any(help.startswith(advice) for help in [*helps(alive=True), *helps(alive=False, owner="ReplicaSet")])
    assert not any(help.startswith(advice) for help in why("product/holds")["helps"])
    replace_ = "Create pods of the group with other names in place of those that failed, "
    group["spec"]["podSets"][0]["count"] = 2
    assert any(help.startswith(replace_) for help in helps(alive=True, lost=1))
    status["reclaimablePods"] = [{"name": "main", "count": 1}]  # the other one has succeeded
    assert not any(help.startswith(replace_) for help in helps(alive=True, lost=1))
    del status["reclaimablePods"]
    group["spec"]["podSets"][0]["count"] = 1  # it has a pod in place of the failed one
    assert not any(help.startswith(replace_) for help in helps(alive=True, lost=1))


def test_a_job_waits_for_kueue_to_run_if_none_of_its_pods_is_ready() -> None:
    answers = lists()
    name, pod = {"name": "kueue-controller-manager", "namespace": "kueue-system"}, deepcopy(answers[PODS][0])
    answers[DEPLOYMENTS] = [{"metadata": {**name, "uid": "kueue"}}]
    said = "Kueue does not run: no pod of the Deployment kueue-system/kueue-controller-manager is ready"
    assert said in objects(answers).described()["problems"]
    found = why("research/waits", answers=answers)
    assert (found["state"], found["reasons"][0]["message"], found["problems"]) == ("waiting", said, [])
    (help,) = found["helps"]
    assert help.endswith("kubectl describe deployment kueue-controller-manager --namespace kueue-system")
    pod["metadata"] = {
        **name,
        "uid": "pod",
        "ownerReferences": [{"kind": "Deployment", "name": "kueue", "uid": "kueue"}],
    }
    running = {"name": "manager", "state": {"running": {"startedAt": "2026-11-30T23:57:35Z"}}}
    pod["status"] = {"containerStatuses": [running]}
    answers[PODS].append(pod)
    starts = f"{said}; its pod started at 2026-11-30T23:57:35Z, and Kubernetes waits until it is ready"
    assert starts in objects(answers).described()["problems"]
    pod["status"] = {"conditions": [{"type": "Ready", "status": "True"}]}
    assert said not in objects(answers).described()["problems"]
    answers[DEPLOYMENTS].append({"metadata": {**name, "namespace": "former", "uid": "former"}})
    assert objects(answers).stopped == {}, "one that runs is enough"


@pytest.mark.parametrize("name", ["jobset-controller", "jobset-controller-manager"])
def test_an_operator_that_does_not_run_is_named_by_its_deployment_in_any_namespace(name: str) -> None:
    """JobSet's chart and its manifests differ."""
    answers = lists()
    answers[DEPLOYMENTS] = [{"metadata": {"name": name, "namespace": "kubeflow", "uid": "jobset"}}]
    said = f"JobSet does not run: no pod of the Deployment kubeflow/{name} is ready"
    assert said in objects(answers).described()["problems"]


@pytest.mark.parametrize(
    ("kind", "job", "field", "helps"),
    [
        (
            BATCH,
            "cores",
            "parallelism",
            [
                "Set parallelism to 1 or more. A job in a queue of Kueue must be deleted and submitted again, because "
                "Kueue has admitted it without pods."
            ],
        ),
        (SETS, "web", "replicas", ["Set replicas to 1 or more."]),
    ],
)
def test_work_of_no_pods_is_named_with_its_field(kind: str, job: str, field: str, helps: list[str]) -> None:
    answers = {**lists(), PODS: [], EVENT_LIST: []}
    item(answers, kind, job)["spec"][field] = 0
    found = why(f"default/{job}", answers=answers)
    assert found["reasons"][0]["message"] == f"it has no pods, because its spec.{field} is 0"
    assert found["helps"] == helps
