"""`tpuplane why` of jobs that the real controllers made: who owns which pod, the true reason, and changes that help."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from tpuplane.status.fitting import Block, Hosts, Pods
from tpuplane.status.objects import Node
from tpuplane_twin.tools.catalogue import catalogue

from tests.support.e2e.recorded_jobs import HOLDERS, WAITING, Submitted
from tests.support.status.recording import (
    BATCH,
    EVENT_LIST,
    LOCAL_QUEUES,
    NODES,
    PODS,
    QUEUES,
    RECORDED,
    WORKLOADS,
    Lists,
    changed,
    item,
    lists,
    objects,
    why,
)

pytestmark = pytest.mark.unit

EVERY = [*HOLDERS, *WAITING]


def name_of(job: Submitted) -> str:
    return f"{job.manifest['metadata']['namespace']}/{job.manifest['metadata']['name']}"


def test_the_recording_is_of_the_programs_of_the_twin() -> None:
    """After a change of a version, docs/testing.md says how to record again."""
    versions = {source.name: source.version for source in catalogue().sources}
    assert RECORDED["recorded"] == {name: versions[name] for name in ("kubernetes", "kuberay", "kueue", "jobset")}


@pytest.mark.parametrize("job", EVERY, ids=[f"{job_.manifest['kind']} {name_of(job_)}" for job_ in EVERY])
def test_each_recorded_job_has_its_state_pods_and_reason(job: Submitted) -> None:
    found = why(name_of(job), job.manifest["kind"])
    assert (found["kind"], found["state"], found["pods"]) == (job.manifest["kind"], job.state, job.pods)
    assert job.reason in "; ".join(reason["message"] for reason in found["reasons"])


def test_pods_belong_to_the_outermost_owner_and_not_to_a_namesake() -> None:
    held = {node_pool["name"]: node_pool["heldBy"] for node_pool in objects().described()["nodePools"]}
    assert held["notebooks"] == ["default/serve", "default/tune"]
    assert held["trainer-0"] != held["trainer-1"]
    outside = objects().described()["outsideQueues"]
    assert {(row["job"], row["kind"]): row["chips"] for row in outside if row["chips"]} == {
        ("combo", "Job"): 4,
        ("eight", "Job"): 8,
        ("first", "JobSet"): 16,
        ("lost", "RayJob"): 16,
        ("onto", "Job"): 4,
        ("second", "JobSet"): 4,
        ("serve", "RayService"): 4,
        ("tune", "RayJob"): 4,
    }
    assert why("default/serve", "RayService")["nodePools"] == ["notebooks", "system"]
    assert why("default/serve", "Deployment")["nodePools"] == ["system"]


def test_a_part_is_explained_by_its_job() -> None:
    for path, kind, job in (
        (PODS, "Pod", "tune"),
        ("/apis/ray.io/v1/rayclusters", "RayCluster", "tune"),
        (PODS, "Pod", "web"),
    ):
        part = item(lists(), path, f"{job}-")["metadata"]["name"]
        found = why(f"default/{part}")
        assert (found["job"], found["part"]) == (job, f"{kind} {part}")


def test_an_event_of_a_deleted_namesake_is_not_a_reason() -> None:
    """The Job `rooted` was deleted and created again: its former events have another uid."""
    answers = changed(BATCH, "rooted", lambda found_object: found_object["metadata"].update(uid="new"))
    assert why("research/rooted", answers=answers)["reasons"] == [
        {"source": "controller", "message": "it has no pods yet"}
    ]


def test_a_pod_whose_owner_is_of_an_unknown_kind() -> None:
    found = why("default/step")
    assert (found["kind"], found["state"], found["pods"], found["owner"]) == ("Pod", "running", 1, "ConfigMap flow")


HELPS = {
    "product/giant": ["Request at most 32 chips of v6e-4x4.", "Add 1 slice of v6e 4x4 to the pool trainer."],
    "research/waits": [
        "Kueue admits it when other jobs release chips of v6e-4x4.",
        "Add 1 slice of v6e 4x4 to the pool trainer.",
    ],
    "research/large": ["Request at most 4 chips in each pod."],
    "research/mixed": ["Set cloud.google.com/gke-tpu-topology to 4x4 in the node selector."],
    "product/astray": [
        "Set the label kueue.x-k8s.io/queue-name to an existing queue; local queues of product that can run it: "
        "default."
    ],
    "product/classed": [
        "Set the label kueue.x-k8s.io/queue-name to an existing queue; local queues of product that can run it: "
        "default."
    ],
    "product/unranked": [
        "Set the label kueue.x-k8s.io/priority-class to an existing class: kubectl get workloadpriorityclasses"
    ],
    "default/ranked": ["Create the PriorityClass none, or correct priorityClassName: kubectl get priorityclasses"],
    "product/level": [
        "Request the topology level cloud.google.com/gke-nodepool, or submit the job to the queue of fixed pools."
    ],
    "product/five": ["Request at most 4 pods in each group with the same cloud.google.com/gke-nodepool."],
    "research/other": [
        "Set cloud.google.com/gke-tpu-topology to 4x4 in the node selector, and run 4 pods with 4 chips each, one "
        "on each host of the slice."
    ],
    "research/rooted": [
        "Correct these fields of the pod template: host namespaces (hostNetwork=true). Otherwise the namespace "
        "research needs a lower level than baseline (podSecurity of its team)."
    ],
    "small/many": ["Raise the ResourceQuota of namespace small, or request less."],
    "default/second": [
        "Wait until other jobs release their hosts: default/first.",
        "Add 1 slice of v5e 4x4 to the pool evals.",
        "With exclusive-topology, JobSet creates the other pods when the first pod of each job has a node: see the "
        "reason of that pod.",
    ],
    "default/disk": ["Enable the driver's add-on in GKE, or create a PersistentVolume for the claim."],
    "default/scratch": ["Enable the driver's add-on in GKE, or create a PersistentVolume for the claim."],
    "default/cores": ["Request at most 15.89 cores in each pod."],
    "default/combo": [
        "Set cloud.google.com/gke-tpu-accelerator to tpu-v6e-slice in the node selector.",
        "Set cloud.google.com/gke-tpu-topology to 4x4 in the node selector, and run 4 pods with 4 chips each, one "
        "on each host of the slice.",
        "Add a pool with 1 slice of v5e 2x2.",
    ],
    "default/eight": [
        "Set cloud.google.com/gke-tpu-topology to 2x4 in the node selector.",
        "Request at most 4 chips in each pod.",
    ],
    "default/onto": ["Wait until other jobs release their hosts: product/holds."],
    "default/sunny": ["Remove example.com/sunny from the node selector."],
    "default/lost": [],  # its region has no v4
}


def test_each_waiting_job_has_a_list_of_changes() -> None:
    assert {name_of(job) for job in EVERY if job.state not in ("starting", "running")} == set(HELPS)


@pytest.mark.parametrize("job", HELPS)
def test_only_changes_that_would_work_are_shown(job: str) -> None:
    assert why(job)["helps"] == HELPS[job]


@pytest.mark.parametrize(
    ("path", "name", "change"),
    [
        (QUEUES, "product", lambda queue: queue["spec"]["resourceGroups"][0]["flavors"].pop()),  # v6e-4x4
        (QUEUES, "product", lambda queue: [own["resources"].pop(0) for own in _flavors(queue)]),  # chips
        (QUEUES, "product", lambda queue: queue.pop("spec")),
        (LOCAL_QUEUES, "default", lambda queue: queue["status"]["conditions"][0].update(status="False")),
    ],
)
def test_only_a_queue_that_can_run_the_job_is_advised(path: str, name: str, change: Callable[[Any], object]) -> None:
    found = why("product/astray", answers=changed(path, name, change))
    assert found["helps"] == ["No local queue of product can run it."]


def _flavors(queue: Any) -> list[Any]:
    return [flavor for group in queue["spec"]["resourceGroups"] for flavor in group["flavors"]]


def test_the_true_reason_is_first() -> None:
    assert why("default/combo")["reasons"][0]["message"] == (
        "no host has cloud.google.com/gke-tpu-accelerator=tpu-v5-lite-podslice together with "
        "cloud.google.com/gke-tpu-topology=2x2; hosts with the other label have "
        "cloud.google.com/gke-tpu-accelerator=tpu-v6e-slice; cloud.google.com/gke-tpu-topology=4x4"
    )
    assert why("product/astray")["reasons"] == [{"source": "Kueue", "message": "LocalQueue none doesn't exist"}]
    assert [reason["source"] for reason in why("default/second")["reasons"]] == ["scheduler", "controller"]
    assert why("default/disk")["reasons"][0] == {
        "source": "volume",
        "message": "the PersistentVolumeClaim data-disk-0 is Pending: the cluster has no driver "
        "filestore.csi.storage.gke.io, so its disk is not created",
    }
    claims = why("default/scratch")["reasons"][0]["message"]
    assert re.fullmatch(r"the PersistentVolumeClaim scratch-\w+-data is Pending: .* \(2 more such claims\)", claims)


def test_hosts_with_a_taint_are_not_offered_to_other_jobs() -> None:
    assert [node_pool["name"] for node_pool in why("small/many")["needs"][0]["nodePools"]] == ["system"]
    assert why("default/eight")["needs"][0]["nodePools"] == []


@pytest.mark.parametrize(
    ("selected", "asked", "needed"),
    [
        ({"accelerator": "tpu-v6e-slice", "topology": "8x8"}, "4x4", ("v6e 4x4", 3, ["trainer-0"])),
        ({"accelerator": "tpu-v6e-slice", "topology": "8x8"}, "16x16", ("v6e 8x8", 1, ["trainer-0"])),  # not a part
        ({"accelerator": "tpu7x"}, "2x4x4", ("tpu7x 2x4x4", 2, [])),  # of cubes
    ],
)
def test_a_part_of_a_slice_is_the_need(
    selected: dict[str, str], asked: str, needed: tuple[str, int, list[str]]
) -> None:
    answers = lists()
    for node in answers[NODES]:
        if node["metadata"]["labels"].get("cloud.google.com/gke-nodepool") == "trainer-0":
            node["metadata"]["labels"]["cloud.google.com/gke-tpu-topology"] = "8x8"
    (pods,) = item(answers, WORKLOADS, "jobset-giant")["spec"]["podSets"]
    pods["template"]["metadata"]["annotations"] = {"cloud.google.com/gke-tpu-slice-topology": asked}
    pods["template"]["spec"]["nodeSelector"] = {f"cloud.google.com/gke-tpu-{key}": own for key, own in selected.items()}
    (need,) = why("product/giant", answers=answers)["needs"]
    assert (need["slice"], need["slices"], [pool["name"] for pool in need["nodePools"]]) == needed
    assert need["chips"] == 48


def limited(resource: str, **limits: str) -> Callable[[Any], None]:
    def change(queue: Any) -> None:
        for flavor in queue["spec"]["resourceGroups"][0]["flavors"]:
            for quota in flavor["resources"]:
                if quota["name"] == resource:
                    quota.update(limits)

    return change


def test_a_borrowing_limit_is_raised_only_if_there_is_one_and_it_would_help() -> None:
    answers = changed(QUEUES, "product", limited("google.com/tpu", borrowingLimit="0"))
    workload = item(answers, WORKLOADS, "jobset-giant")
    workload["spec"]["podSets"][0]["count"] = 8
    found = why("product/giant", answers=answers)["helps"]
    assert found[:2] == ["Request at most 16 chips of v6e-4x4.", "Raise the team's borrowing limit of v6e-4x4."]
    assert not any("borrowing" in text for text in why("product/giant")["helps"])


def test_a_lending_limit_of_another_team_is_raised() -> None:
    answers = changed(QUEUES, "research", limited("google.com/tpu", lendingLimit="0"))
    item(answers, WORKLOADS, "jobset-giant")["spec"]["podSets"][0]["count"] = 8
    assert "Raise the lending limits of the other teams for v6e-4x4." in why("product/giant", answers=answers)["helps"]


def test_a_flavor_with_fewer_hosts_than_its_quota() -> None:
    answers = changed(QUEUES, "product", limited("google.com/tpu", nominalQuota="64"))
    found = why("product/giant", answers=answers)
    assert {
        "source": "hosts",
        "message": "hosts have room for 8 of 12 pods; each group of 4 must be on nodes with the same "
        "cloud.google.com/gke-nodepool",
    } in found["reasons"]
    assert found["helps"] == ["Add 1 slice of v6e 4x4 to the pool trainer."]


def test_no_host_has_the_level_of_a_pod_set() -> None:
    answers, level = lists(), "cloud.google.com/gce-topology-block"
    (pods,) = item(answers, WORKLOADS, "jobset-giant")["spec"]["podSets"]
    pods["topologyRequest"] = {"podSetSliceRequiredTopology": level, "podSetSliceSize": 2}
    found = why("product/giant", answers=answers)
    assert not any("v6e-4x4" in text for text in found["helps"])
    assert f"no host of its node selector has {level}" in [reason["message"] for reason in found["reasons"]]
    hosts = Hosts.of(map(Node.model_validate, answers[NODES]), ())
    assert hosts.block(Pods(12, {}, (), (), {}, level, 2)) == Block("labels", f"no host has {level}")


def test_all_groups_of_a_pod_set_need_one_domain() -> None:
    answers = changed(QUEUES, "product", limited("google.com/tpu", nominalQuota="64"))
    (pods,) = item(answers, WORKLOADS, "jobset-giant")["spec"]["podSets"]
    pods["topologyRequest"]["required"] = "cloud.google.com/gke-nodepool"
    messages = " ".join(reason["message"] for reason in why("product/giant", answers=answers)["reasons"])
    assert "room for 4 of 12 pods" in messages
    assert "; all must be on nodes with the same cloud.google.com/gke-nodepool" in messages


def scaled(message: str, reason: str = "NotTriggerScaleUp", pod_name: str = "combo") -> Lists:
    answers = lists()
    pod = item(answers, PODS, pod_name)["metadata"]
    event = {"metadata": {"name": "e", "namespace": "default"}, "type": "Warning", "reason": reason, "message": message}
    event["involvedObject"] = {"kind": "Pod", **{key: pod[key] for key in ("namespace", "name", "uid")}}
    answers[EVENT_LIST].append({**event, "lastTimestamp": "2026-11-24T23:00:00Z"})
    return answers


def test_auto_provisioning_that_could_create_the_host_is_considered() -> None:
    limit = "pod didn't trigger scale-up: 1 TPU type \"tpu-v5-lite-podslice\" doesn't have a limit defined"
    found = why("default/combo", answers=scaled(limit))
    assert found["reasons"][0] == {"source": "autoscaler", "message": limit}
    assert found["helps"][0].startswith("Set a limit for tpu-v5-lite-podslice in autoProvisioning.limits.tpu")
    assert (
        why("default/combo", answers=scaled("pod triggered scale-up: [{nap 0->1}]", "TriggeredScaleUp"))["helps"] == []
    )


WAITS = [text for text in HELPS["default/second"] if not text.startswith("Add")]


def test_the_maximum_of_an_autoscaled_pool_is_raised() -> None:
    answers = scaled("pod didn't trigger scale-up: 1 max node group size reached", pod_name="second")
    raised = "Raise maxSlices of the pool evals by 1."
    assert why("default/second", answers=answers)["helps"] == [WAITS[0], raised, WAITS[1]]


def test_no_slice_is_added_to_an_autoscaled_pool_below_its_maximum() -> None:
    answers = lists()
    for node in answers[NODES]:
        node["metadata"]["labels"]["tpuplane-flavor"] = "v5e-4x4-elastic"
    assert why("default/second", answers=answers)["helps"] == WAITS


def test_a_list_of_changes_has_at_most_five() -> None:
    """The pod has another value of the label `row` than each host, and requests more chips than each host has."""

    def larger(pod: Any) -> None:
        pod["spec"]["nodeSelector"] = {"row": "none"}
        pod["spec"]["containers"][0]["resources"]["requests"] = {"google.com/tpu": "64"}

    answers = changed(PODS, "combo", larger)
    for number, node in enumerate(answers[NODES]):
        node["metadata"]["labels"]["row"] = f"a{number}"
    helps = why("default/combo", answers=answers)["helps"]
    assert len(helps) == 5
    assert len({change.partition(", and ")[0] for change in helps}) == 5


DISK = {"name": "data-disk-0", "namespace": "default"}
SELECTED = "volume.kubernetes.io/selected-node"


@pytest.mark.parametrize(
    ("change", "message", "help"),
    [
        (
            {"spec": {"storageClassName": "fast"}},
            "its storage class fast does not exist",
            "Create a claim with an existing storage class: files, premium-rwo, standard, standard-rwo.",
        ),
        (
            {"spec": {}},
            "it has no storage class, and no PersistentVolume fits it",
            "Create a PersistentVolume, or a claim with a storage class: files, premium-rwo, standard, standard-rwo.",
        ),
        (
            {"metadata": {"name": "other", "namespace": "default"}},
            "does not exist",
            "Create the claim data-disk-0 in namespace default, or correct the name of the claim.",
        ),
        (  # its disk is created when its pod has a node
            {"spec": {"storageClassName": "standard-rwo"}},
            "0/18 nodes are available: pod has unbound immediate PersistentVolumeClaims",
            "",
        ),
        (
            {"spec": {"storageClassName": "standard-rwo"}, "metadata": {**DISK, "annotations": {SELECTED: "n0"}}},
            "its disk is not created yet",
            "Read its events: kubectl describe pvc data-disk-0 --namespace default",
        ),
        (
            {"status": {"phase": "Bound"}},
            "0/18 nodes are available: pod has unbound immediate PersistentVolumeClaims",
            "",
        ),
    ],
)
def test_a_claim_without_a_disk(change: dict[str, Any], message: str, help: str) -> None:
    answers = changed("/api/v1/persistentvolumeclaims", "data-disk", lambda found_object: found_object.update(change))
    found = why("default/disk", answers=answers)
    assert found["reasons"][0]["message"].endswith(message)
    assert found["helps"] == ([help] if help else [])
