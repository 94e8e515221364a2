"""`tpuplane why` of jobs in the queues of fixed and of autoscaled pools, whose hosts Kueue does not compare."""

from __future__ import annotations

from copy import deepcopy

import pytest

from tests.support.e2e.recorded_jobs import ACCELERATOR, TOPOLOGY, V5E
from tests.support.status.recording import (
    BATCH,
    FLAVORS,
    LOCAL_QUEUES,
    NODES,
    PODS,
    QUEUES,
    WORKLOADS,
    Lists,
    item,
    lists,
    why,
)

pytestmark = pytest.mark.unit

JOB, WORKLOAD = "research/other", "job-other"
CLAIMS = "/api/v1/persistentvolumeclaims"
COUNT, MACHINE = "cloud.google.com/gke-accelerator-count", "node.kubernetes.io/instance-type"
ELASTIC = {"cpu": "cpu-elastic", "v5e-4x4": "v5e-2x4-8t-elastic"}
NO_MATCH = "couldn't assign flavors to pod set main: flavor v5e-2x4-8t-elastic doesn't match node affinity"
NO_CHIPS = (
    "insufficient quota for google.com/tpu in flavor cpu-elastic, previously considered podsets requests (0) + current "
    "podset request (4) > maximum capacity (0)"
)


def with_elastic(queue: str, *, message: str, chips: str = "4", **selected: str) -> Lists:
    """The recorded lists; the team has a quota in an autoscaled pool too. The job selects v5e, and waits in `queue`."""
    answers = lists()
    for name, renamed in ELASTIC.items():
        flavor = deepcopy(item(answers, FLAVORS, name))
        flavor["metadata"]["name"] = renamed
        del flavor["spec"]["topologyName"]
        if renamed != "cpu-elastic":
            of_hosts = {TOPOLOGY: "2x4", COUNT: "8", MACHINE: "ct5lp-hightpu-8t", "tpuplane-flavor": renamed}
            flavor["spec"]["nodeLabels"] |= of_hosts
        answers[FLAVORS].append(flavor)
    other = deepcopy(item(answers, QUEUES, "research"))
    other["metadata"]["name"] = "research-elastic"
    (group,) = other["spec"]["resourceGroups"]
    group["flavors"] = [{**own, "name": ELASTIC[own["name"]]} for own in group["flavors"] if own["name"] in ELASTIC]
    answers[QUEUES].append(other)
    local = deepcopy(next(own for own in answers[LOCAL_QUEUES] if own["metadata"]["namespace"] == "research"))
    local["metadata"]["name"], local["spec"]["clusterQueue"] = "default-elastic", "research-elastic"
    answers[LOCAL_QUEUES].append(local)
    workload = item(answers, WORKLOADS, WORKLOAD)
    workload["spec"]["queueName"] = queue
    (pods,) = workload["spec"]["podSets"]
    pods["template"]["spec"]["nodeSelector"] = {ACCELERATOR: V5E, **selected}
    pods["template"]["spec"]["containers"][0]["resources"]["limits"]["google.com/tpu"] = chips
    for condition in workload["status"]["conditions"]:
        condition["message"] = message
    return answers


def test_no_chips_are_advised_in_a_flavor_of_cpus() -> None:
    answers = with_elastic("default-elastic", message=f"{NO_MATCH}, {NO_CHIPS}", **{TOPOLOGY: "4x4"})
    found = why(JOB, answers=answers)
    assert not any("cpu-elastic" in text for text in found["helps"])
    assert found["reasons"][0]["message"] == (
        f"selects {TOPOLOGY}=4x4, but the flavor v5e-2x4-8t-elastic has {TOPOLOGY}=2x4"
    )


@pytest.mark.parametrize("hosts", [True, False])
def test_chips_of_a_flavor_without_labels_of_tpus_are_those_of_its_hosts(hosts: bool) -> None:
    """An own flavor selects its hosts by another label."""
    answers = with_elastic("default-elastic", message=NO_CHIPS)
    queue = item(answers, QUEUES, "research-elastic")
    (group,) = queue["spec"]["resourceGroups"]
    group["flavors"] = [own for own in group["flavors"] if own["name"] == "v5e-2x4-8t-elastic"]
    for quota in group["flavors"][0]["resources"]:
        if quota["name"] == "google.com/tpu":
            quota["nominalQuota"] = "2"
    own_pool = "evals-0" if hosts else "system"
    item(answers, FLAVORS, "v5e-2x4-8t-elastic")["spec"]["nodeLabels"] = {"cloud.google.com/gke-nodepool": own_pool}
    raised = any("Raise the team's quota of v5e-2x4-8t-elastic" in text for text in why(JOB, answers=answers)["helps"])
    assert raised == hosts


def test_the_selected_pool_is_of_another_flavor() -> None:
    """Kueue compares only labels that a flavor has, and the autoscaler adds no host of the flavor to the pool."""
    answers = with_elastic("default-elastic", message=NO_MATCH, **{TOPOLOGY: "2x4", "tpuplane-pool": "evals"})
    found = why(JOB, answers=answers)
    assert found["reasons"][0]["message"] == (
        "selects tpuplane-pool=evals, whose hosts are not of the flavor v5e-2x4-8t-elastic"
    )
    assert found["helps"] == ["Remove tpuplane-pool from the node selector."]


@pytest.mark.parametrize(
    ("queue", "topology", "chips", "advised"),
    [
        ("default", "2x4", "8", "default-elastic"),
        ("default-elastic", "4x4", "4", "default"),
        ("default", "2x4", "16", None),  # more than a host has
        ("default-elastic", "8x8", "4", None),
    ],
)
def test_a_job_in_the_wrong_queue_is_sent_to_the_one_that_can_run_it(
    queue: str, topology: str, chips: str, advised: str | None
) -> None:
    helps = why(JOB, answers=with_elastic(queue, message=NO_MATCH, chips=chips, **{TOPOLOGY: topology}))["helps"]
    label = [text for text in helps if "queue-name" in text]
    assert label == ([f"Set the label kueue.x-k8s.io/queue-name to {advised}."] if advised else [])
    assert helps[: len(label)] == label


@pytest.mark.parametrize(("pool", "advised"), [("empty", True), ("gone", False)])
def test_no_queue_is_advised_for_a_node_pool_that_does_not_exist(pool: str, advised: bool) -> None:
    labels = {TOPOLOGY: "2x4", "cloud.google.com/gke-nodepool": pool}
    answers = with_elastic("default", message=NO_MATCH, chips="8", **labels)
    found = why(JOB, answers=answers, pools=[{"name": "empty", "config": {"machineType": "ct5lp-hightpu-8t"}}])["helps"]
    assert any("queue-name" in text for text in found) == advised


@pytest.mark.parametrize("stopped", [True, False])
def test_no_queue_is_advised_that_is_stopped_or_lacks_the_topology_of_the_job(stopped: bool) -> None:
    answers = with_elastic("default", message=NO_MATCH, chips="8", **{TOPOLOGY: "2x4"})
    if stopped:
        for condition in item(answers, LOCAL_QUEUES, "default-elastic")["status"]["conditions"]:
            condition["status"] = "False"
    else:
        (pods,) = item(answers, WORKLOADS, WORKLOAD)["spec"]["podSets"]
        pods["topologyRequest"]["required"] = "cloud.google.com/gke-nodepool"
    assert not any("queue-name" in text for text in why(JOB, answers=answers)["helps"])


@pytest.mark.parametrize("hosts", [True, False])
def test_more_quota_than_an_autoscaled_pool_has_needs_a_larger_pool(hosts: bool) -> None:
    """The pool of the flavor is not known while it has no host."""
    answers = with_elastic("default-elastic", message="insufficient quota", chips="8", **{TOPOLOGY: "2x4"})
    item(answers, WORKLOADS, WORKLOAD)["spec"]["podSets"][0]["count"] = 3
    if hosts:
        host = deepcopy(item(answers, NODES, "gke-lab-central1-evals-0"))
        host["metadata"]["labels"] |= item(answers, FLAVORS, "v5e-2x4-8t-elastic")["spec"]["nodeLabels"]
        host["metadata"]["labels"] |= {"tpuplane-pool": "burst", "cloud.google.com/gke-nodepool": "burst"}
        host["status"]["allocatable"]["google.com/tpu"] = host["status"]["capacity"]["google.com/tpu"] = "8"
        answers[NODES].append(host)
    pool = "pool burst" if hosts else "pool of the flavor"
    assert why(JOB, answers=answers)["helps"] == [
        "Request at most 16 chips of v5e-2x4-8t-elastic.",
        f"Raise maxSlices of the {pool} by 1.",
    ]


def test_a_new_host_has_no_chips_until_its_device_plugin_runs() -> None:
    answers = with_elastic("default-elastic", message="insufficient quota", chips="8", **{TOPOLOGY: "2x4"})
    host = deepcopy(item(answers, NODES, "gke-lab-central1-evals-0"))
    host["metadata"]["labels"] |= item(answers, FLAVORS, "v5e-2x4-8t-elastic")["spec"]["nodeLabels"]
    for amounts in (host["status"]["allocatable"], host["status"]["capacity"]):
        del amounts["google.com/tpu"]
    answers[NODES].append(host)
    assert not any("in each pod" in reason["message"] for reason in why(JOB, answers=answers)["reasons"])


def test_a_claim_without_a_disk_does_not_make_a_job_pending_that_waits_for_kueue() -> None:
    answers = with_elastic("default-elastic", message=NO_MATCH, **{TOPOLOGY: "4x4"})
    job = item(answers, BATCH, "other")["metadata"]
    for path, name in ((PODS, "disk-0"), (CLAIMS, "data-disk-0")):
        mine = deepcopy(item(answers, path, name))
        mine["metadata"] |= {"uid": f"{name} of other", "namespace": job["namespace"]}
        answers[path].append(mine)
    owner = {"kind": "Job", "name": "other", "uid": job["uid"], "apiVersion": "batch/v1"}
    answers[PODS][-1]["metadata"]["ownerReferences"] = [owner]
    found = why(JOB, answers=answers)
    assert [reason["source"] for reason in found["reasons"]][:3] == ["hosts", "Kueue", "volume"]
    assert found["state"] == "waiting"


def test_hosts_that_are_not_free_are_no_wrong_labels() -> None:
    """Kueue's message is about the flavor that it tried last, also if the hosts of another one are only not free."""
    said = 'topology "slices" doesn\'t allow to fit any of 4 pod(s). Total nodes: 8; excluded: nodeSelector: 8'
    answers = lists()
    for name in ("jobset-waits", "job-waits"):
        for workload in (own for own in answers[WORKLOADS] if own["metadata"]["name"].startswith(name)):
            for condition in workload["status"]["conditions"]:
                condition["message"] = f"couldn't assign flavors to pod set main: {said}"
    found = why("research/waits", answers=answers)
    assert not any("has the requested labels" in reason["message"] for reason in found["reasons"])
