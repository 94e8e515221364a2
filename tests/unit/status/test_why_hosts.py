"""`tpuplane why` of pods that no host takes: cordons, pins, compute classes, taints and labels of the hosts."""

from __future__ import annotations

import re
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
from tpuplane.labels import MAINTENANCE_LABEL, MODE_LABEL
from tpuplane.status.job_text import rows

from tests.support.e2e.recorded_jobs import ACCELERATOR, TOPOLOGY, V5E, V6E
from tests.support.status.recording import (
    BATCH,
    EVENT_LIST,
    FLAVORS,
    NODES,
    PODS,
    QUEUES,
    WORKLOADS,
    changed,
    item,
    lists,
    on,
    why,
)

pytestmark = pytest.mark.unit


def state_of(**spec: Any) -> Callable[[Any], None]:
    def change(node: Any) -> None:
        if "ready" in spec:
            next(condition for condition in node["status"]["conditions"] if condition["type"] == "Ready")["status"] = (
                spec["ready"]
            )
        node["metadata"]["labels"] |= spec.pop("labels", {})
        node["spec"].update({key: value for key, value in spec.items() if key != "ready"})

    return change


def test_a_cordoned_or_lost_host_is_the_reason() -> None:
    host = on("first-slice")[0]
    for change, message, help in (
        (
            state_of(unschedulable=True),
            "cordoned",
            f"Uncordon the hosts after their maintenance: kubectl uncordon {host}.",
        ),
        (
            state_of(ready="Unknown"),
            "not ready",
            f"Wait until GKE has repaired the hosts, or delete their VMs: {host}.",
        ),
        (
            state_of(taints=[{"key": "cloud.google.com/impending-node-termination", "effect": "NoSchedule"}]),
            "not ready",
            f"Wait until GKE has repaired the hosts, or delete their VMs: {host}.",
        ),
        (
            state_of(ready="False", labels={MAINTENANCE_LABEL: "ONGOING"}),
            "under maintenance",
            f"Wait until the maintenance of the hosts ends: {host}.",
        ),
        (
            lambda node: node["status"]["allocatable"].update({"google.com/tpu": "0"}),
            "",
            f"Restart the device plugin of the hosts (its pods in kube-system), or delete their VMs when they are "
            f"free: {host}.",
        ),
    ):
        answers = changed(NODES, host, change)
        item(answers, PODS, "combo")["spec"]["nodeSelector"] = {"kubernetes.io/hostname": host}
        found = why("default/combo", answers=answers)
        said = f"{host} is {message}" if message else f"{host} offers 0 of 4 chips"
        assert found["reasons"][0] == {"source": "hosts", "message": said}
        assert help in found["helps"]


def test_a_pool_of_ready_hosts_that_are_cordoned_is_not_shown_as_free() -> None:
    answers = lists()
    for node in answers[NODES]:
        node["spec"]["unschedulable"] = True
    cordons = [text for _, text in rows(why("research/waits", answers=answers)) if text.startswith("trainer-")]
    assert cordons
    assert all(re.search(r" ready, .*; \S+ is cordoned \(and 3 more\)$", text) for text in cordons)


def test_the_command_for_many_cordoned_hosts_names_all_of_them() -> None:
    answers = lists()
    for node in answers[NODES]:
        node["spec"]["unschedulable"] = True
    command = "kubectl uncordon --selector 'cloud.google.com/gke-nodepool in (evals-0)'."
    assert command in why("default/second", answers=answers)["helps"][0]


def test_a_pin_to_a_taken_host_is_removed_if_another_host_is_free() -> None:
    answers = lists()
    answers[PODS] = [
        pod
        for pod in answers[PODS]
        if not pod["metadata"]["name"].startswith("holds-slice") or pod["metadata"]["namespace"] == "product"
    ]
    assert why("default/onto", answers=answers)["helps"] == [
        "Wait until other jobs release their hosts: product/holds.",
        "Remove kubernetes.io/hostname from the node selector.",
    ]


def test_a_compute_class_that_exists_makes_its_hosts() -> None:
    answers = changed(
        PODS,
        "sunny",
        lambda found_object: found_object["spec"].update(nodeSelector={"cloud.google.com/compute-class": "any-v6e"}),
    )
    assert why("default/sunny", answers=answers)["helps"] == []
    answers = changed(
        PODS,
        "sunny",
        lambda found_object: found_object["spec"].update(nodeSelector={"cloud.google.com/compute-class": "v6e"}),
    )
    assert why("default/sunny", answers=answers)["helps"] == [
        "Set cloud.google.com/compute-class to any-v6e in the node selector.",
        "Remove cloud.google.com/compute-class from the node selector.",
    ]


def test_a_compute_class_that_is_not_healthy_is_a_problem_of_its_jobs() -> None:
    gone = "Nodepool gone specified by name has autoscaling disabled or doesn't exist in the cluster."
    misconfigured = {"type": "CrdMisconfigured", "status": "True", "reason": "NodePoolNotExist", "message": gone}
    health = {"type": "Health", "status": "False", "reason": "Health", "message": "Crd is not healthy."}
    answers = changed(
        PODS,
        "sunny",
        lambda found_object: found_object["spec"].update(nodeSelector={"cloud.google.com/compute-class": "any-v6e"}),
    )
    own = item(answers, "/apis/cloud.google.com/v1/computeclasses", "any-v6e")
    own["status"] = {"conditions": [misconfigured, health]}
    assert why("default/sunny", answers=answers)["problems"] == [f"the compute class any-v6e is not healthy: {gone}"]
    own["status"] = {"conditions": [{**health, "status": "True"}]}
    assert why("default/sunny", answers=answers)["problems"] == []


def test_a_taint_of_the_users_own_is_tolerated() -> None:
    taint = {"key": "team", "value": "a", "effect": "NoSchedule"}
    answers = lists()
    for node in answers[NODES]:
        node["spec"].setdefault("taints", []).append(taint)
    found = why("default/cores", answers={**answers, PODS: [smaller(pod) for pod in answers[PODS]]})
    assert found["helps"] == ["Add a toleration of team=a:NoSchedule, if the job belongs on these hosts."]


def test_pods_on_hosts_of_a_compute_class_select_the_class() -> None:
    answers = lists()
    for node in answers[NODES]:
        node["metadata"]["labels"]["cloud.google.com/compute-class"] = "fast"
        taint = {"key": "cloud.google.com/compute-class", "value": "fast", "effect": "NoSchedule"}
        node["spec"].setdefault("taints", []).append(taint)
    found = why("default/cores", answers={**answers, PODS: [smaller(pod) for pod in answers[PODS]]})
    assert found["helps"] == ["Set cloud.google.com/compute-class to fast in the node selector."]
    needs = dict(rows(found))["needs"]
    assert needs.endswith("; no node pool has nodes for such pods now")


def smaller(pod: Any) -> Any:
    if pod["metadata"]["name"].startswith("cores"):
        pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "1"
    return pod


@pytest.mark.parametrize(
    ("operator", "values", "fits"),
    [
        ("In", ["4x4"], True),
        ("NotIn", ["4x4"], False),
        ("Exists", [], True),
        ("DoesNotExist", [], False),
        ("Gt", ["1"], False),
    ],
)
def test_node_affinity_is_judged_too(operator: str, values: list[str], fits: bool) -> None:
    expression = {"key": "cloud.google.com/gke-tpu-topology", "operator": operator, "values": values}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}

    def change(pod: Any) -> None:
        pod["spec"]["nodeSelector"] = {"cloud.google.com/gke-tpu-accelerator": "tpu-v5-lite-podslice"}
        pod["spec"]["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}

    found = why("default/combo", answers=changed(PODS, "combo", change))
    (first, *_) = found["reasons"]
    assert (first["source"] == "scheduler") == fits  # its hosts are taken, which the scheduler states
    if not fits:
        said = " ".join(["has cloud.google.com/gke-tpu-topology", operator, *values])
        assert first["message"] == (
            f"no host of its node selector {said}; they have cloud.google.com/gke-tpu-topology=4x4"
        )
        assert "Set cloud.google.com/gke-tpu-topology to 4x4 in the node affinity." in found["helps"]


def test_an_affinity_for_a_name_of_a_node_is_judged_and_an_empty_term_matches_no_host() -> None:
    """So DaemonSets choose their nodes."""
    named: dict[str, Any] = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["gone"]}]}

    def found(*terms: dict[str, Any]) -> tuple[str, str, list[str]]:
        def change(pod: Any) -> None:
            required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
            pod["spec"]["nodeSelector"] = {"cloud.google.com/gke-tpu-accelerator": "tpu-v5-lite-podslice"}
            pod["spec"]["affinity"] = {"nodeAffinity": required}

        said = why("default/combo", answers=changed(PODS, "combo", change))
        (first, *_) = said["reasons"]
        return first["source"], first["message"], said["helps"]

    source, message, helps = found(named)
    assert (source, helps) == ("hosts", [])
    assert message.startswith(
        "no host of its node selector has kubernetes.io/hostname In gone; they have kubernetes.io/"
    )
    assert found({}) == ("hosts", "no host of its node selector has the labels of its node affinity together", [])
    assert found(named, {}) == found(named)
    either = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "Exists"}]}
    assert found(named, either)[0] == "scheduler"


@pytest.mark.parametrize("topology", ["slices", ""])
def test_kueue_judges_the_node_affinity_by_the_labels_of_a_flavor(topology: str) -> None:
    """Without a topology, the flavor has no hosts to judge. Kueue ignores labels that the flavor lacks."""
    answers = lists()
    for flavor in answers[FLAVORS]:
        flavor["spec"]["topologyName"] = topology
    (pods,) = item(answers, WORKLOADS, "jobset-giant")["spec"]["podSets"]

    def helps(*terms: list[dict[str, Any]]) -> list[str]:
        required = {"nodeSelectorTerms": [{"matchExpressions": term} for term in terms]}
        pods["template"]["spec"]["affinity"] = {
            "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}
        }
        return list(why("product/giant", answers=answers)["helps"])

    other = {"key": "tpuplane-flavor", "operator": "In", "values": ["v6e-2x2"]}
    own, unknown = {**other, "values": ["v6e-2x2", "v6e-4x4"]}, {**other, "key": "row"}
    assert not any("v6e-4x4" in text for text in helps([other]))
    assert helps([other], [own])[0] == helps([own])[0] == "Request at most 32 chips of v6e-4x4."
    if not topology:
        assert helps([other], [unknown]) == helps([own])


def with_cubes(count: int, **selector: str) -> dict[str, Any]:
    """The explanation of a job of a queue that has cubes too, half of them in the slice of another job."""
    answers = lists()
    (pods,) = item(answers, WORKLOADS, "job-other")["spec"]["podSets"]
    pods["count"] = count
    pods["template"]["spec"]["nodeSelector"] = {ACCELERATOR: selector["accelerator"], TOPOLOGY: selector["topology"]}
    flavor, labels = deepcopy(item(answers, FLAVORS, "v6e-4x4")), {ACCELERATOR: "tpu7x", MODE_LABEL: "PROVISION_ONLY"}
    flavor["metadata"]["name"], flavor["spec"]["nodeLabels"] = "cubes", {**labels, "tpuplane-flavor": "cubes"}
    answers[FLAVORS].append(flavor)
    for queue in answers[QUEUES]:
        flavors = queue["spec"]["resourceGroups"][0]["flavors"]
        own = deepcopy(next(each for each in flavors if each["name"] == "v6e-4x4"))
        flavors.insert(1, {**own, "name": "cubes"})
    hosts = [deepcopy(node) for node in answers[NODES] if node["metadata"]["labels"].get(TOPOLOGY) == "4x4"][:4]
    for at, host in enumerate(hosts):
        host["metadata"] |= {"name": f"cube-{at}", "labels": {**flavor["spec"]["nodeLabels"]}}
        host["metadata"]["labels"] |= {TOPOLOGY: "2x2x1"} if at % 2 else {}
    answers[NODES] += hosts
    return why("research/other", answers=answers)


def test_a_wrong_topology_is_named_and_not_another_generation_that_has_none() -> None:
    found = with_cubes(1, accelerator=V6E, topology="4x2")
    assert f"selects {TOPOLOGY}=4x2, but the flavor v6e-4x4 has {TOPOLOGY}=4x4" in [
        reason["message"] for reason in found["reasons"]
    ]


def test_a_slice_of_cubes_is_named_by_its_annotation() -> None:
    """Hosts of cubes have a topology only in the slice of another job."""
    (change,) = with_cubes(4, accelerator="tpu7x", topology="4x4x4")["helps"]
    assert change == (
        f"Remove {TOPOLOGY} from the node selector, and set the annotation cloud.google.com/gke-tpu-slice-topology of "
        "its pods to 4x4x4."
    )


def test_several_wrong_labels_are_changed_together() -> None:
    """A published manifest has another topology, and names a node pool of its author."""
    answers = lists()
    (pods,) = item(answers, WORKLOADS, "job-other")["spec"]["podSets"]
    pods["count"] = 4
    pods["template"]["spec"]["nodeSelector"] = {
        ACCELERATOR: V6E,
        TOPOLOGY: "2x4",
        "cloud.google.com/gke-nodepool": "authors-pool",
    }
    found = why("research/other", answers=answers)
    assert f"selects {TOPOLOGY}=2x4, but the flavor v6e-4x4 has {TOPOLOGY}=4x4" in [
        reason["message"] for reason in found["reasons"]
    ]
    assert found["helps"] == [f"In the node selector, set {TOPOLOGY} to 4x4, and remove cloud.google.com/gke-nodepool."]
    pods["count"] = 2  # all hosts of a slice of 2x4, and half of one of 4x4
    assert why("research/other", answers=answers)["helps"] == []
    pods["count"] = 4
    own = item(answers, NODES, on("first-slice")[0])["metadata"]["labels"]["cloud.google.com/gke-nodepool"]
    pods["template"]["spec"]["nodeSelector"] = {
        ACCELERATOR: V5E,
        TOPOLOGY: "9x9",
        "node.kubernetes.io/instance-type": "none",
        "cloud.google.com/gke-nodepool": own,
    }
    (first, *_) = why("research/other", answers=answers)["helps"]
    assert first.startswith(f"In the node selector, set {TOPOLOGY} to ")
    assert "gke-nodepool" not in first  # the pool exists
    labels = [node["metadata"]["labels"] for node in answers[NODES]]
    (other, *_) = [found["cloud.google.com/gke-nodepool"] for found in labels if found.get(ACCELERATOR) == V6E]
    pods["template"]["spec"]["nodeSelector"] |= {"cloud.google.com/gke-nodepool": other}
    helps = why("research/other", answers=answers)["helps"]
    assert helps
    assert all(text.endswith(", and remove cloud.google.com/gke-nodepool.") for text in helps)
    assert not any("set cloud.google.com/gke-nodepool" in text for text in helps)


def test_hosts_under_maintenance_and_lost_hosts_are_waited_for_together() -> None:
    names = on("first-slice")
    answers = changed(NODES, names[0], state_of(ready="False", labels={MAINTENANCE_LABEL: "ONGOING"}))
    state_of(ready="Unknown")(item(answers, NODES, names[1]))
    pool = item(answers, NODES, names[0])["metadata"]["labels"]["cloud.google.com/gke-nodepool"]
    (pods,) = item(answers, WORKLOADS, "job-other")["spec"]["podSets"]
    pods["count"] = 4
    pods["template"]["spec"]["nodeSelector"] = {ACCELERATOR: V5E, "cloud.google.com/gke-nodepool": pool}
    assert why("research/other", answers=answers)["helps"][0] == (
        f"Wait until the maintenance of the hosts ends: {names[0]}, and wait until GKE has repaired the hosts, "
        f"or delete their VMs: {names[1]}."
    )
    for name in names[2:]:
        state_of(ready="Unknown")(item(answers, NODES, name))
    pods["count"] = 1
    assert [text.partition(":")[0] for text in why("research/other", answers=answers)["helps"]][:2] == [
        "Wait until the maintenance of the hosts ends",
        "Wait until GKE has repaired the hosts, or delete their VMs",
    ]
    assert not any(", and wait" in text for text in why("research/other", answers=answers)["helps"])


def test_many_values_of_a_label_are_one_line() -> None:
    answers = changed(
        PODS, "combo", lambda found_object: found_object["spec"].update(nodeSelector={"example.com/rack": "none"})
    )
    for number, node in enumerate(answers[NODES]):
        node["metadata"]["labels"]["example.com/rack"] = f"r{number:02}"
    (first, *_) = why("default/combo", answers=answers)["helps"]
    assert re.fullmatch(r"Set example.com/rack to r\d\d or r\d\d or r\d\d or 12 more in the node selector\.", first)


def test_a_pool_without_chips_is_not_offered_to_a_tpu_job() -> None:
    pool = {"cloud.google.com/gke-nodepool": "none"}
    answers = changed(PODS, "combo", lambda found_object: found_object["spec"].update(nodeSelector=pool))
    (first, *_) = why("default/combo", answers=answers)["helps"]
    assert first == (
        "Set cloud.google.com/gke-nodepool to serving or evals-0 or notebooks or 2 more in the node selector."
    )


def test_a_hostname_that_does_not_exist_does_not_list_every_host() -> None:
    answers = changed(
        PODS, "combo", lambda found_object: found_object["spec"].update(nodeSelector={"kubernetes.io/hostname": "none"})
    )
    found = why("default/combo", answers=answers)
    assert found["reasons"][0]["message"].endswith("and 12 more")
    assert "Remove kubernetes.io/hostname from the node selector." in found["helps"]


def test_a_job_without_chips_on_tpu_hosts() -> None:
    """The taint of TPU hosts repels it: it has to request chips, or select other hosts."""

    def change(pod: Any) -> None:
        pod["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
        pod["spec"]["nodeSelector"] = {TOPOLOGY: "4x4", ACCELERATOR: V6E}
        pod["spec"]["tolerations"] = []

    assert why("default/combo", answers=changed(PODS, "combo", change))["helps"] == [
        "Request 4 chips in each pod, if the job uses them.",
        f"Remove {ACCELERATOR}, {TOPOLOGY} from the node selector.",
    ]


def test_memory_has_a_unit_and_the_advised_amount_fits() -> None:
    def change(pod: Any) -> None:
        pod["spec"]["containers"][0]["resources"]["requests"] = {"memory": "4Ti"}

    def host(node: Any) -> None:
        node["status"]["allocatable"]["memory"] = str(62_735_999_999)  # 58.4275 GiB

    answers = changed(PODS, "cores", change)
    for node_ in answers[NODES]:
        host(node_)
    found = why("default/cores", answers=answers)
    message = "requests 4096 GiB of memory in each pod, but its hosts have 58.42 GiB"
    assert {"source": "hosts", "message": message} in found["reasons"]
    assert found["helps"] == ["Request at most 58.42 GiB of memory in each pod."]


def test_an_exclusive_job_needs_a_pool_for_each_of_its_jobs() -> None:
    """Without other jobs, one slice is free for two jobs: no one's end helps, but another slice does."""
    answers = lists()
    answers[PODS] = [pod for pod in answers[PODS] if not pod["metadata"]["name"].startswith("first-")]
    leader = item(answers, PODS, "second-slice-0")
    other = deepcopy(leader)
    other["metadata"] |= {"name": "second-slice-1-0-abcde", "uid": "another"}
    answers[PODS].append(other)
    found = why("default/second", answers=answers)
    assert found["reasons"][0]["message"] == (
        "hosts have room for 4 of 8 pods; each group of 4 must be on nodes with the same cloud.google.com/gke-nodepool"
    )
    assert "Add 1 slice of v5e 4x4 to the pool evals." in found["helps"]
    assert not any(text.startswith("Wait until") for text in found["helps"])


def test_a_namesake_of_the_leaders_job_is_not_its_job() -> None:
    """The leader alone fits on the free host. Its own Job, which needs four, was deleted, and its name used again."""
    answers = lists()
    answers[PODS] = [pod for pod in answers[PODS] if not pod["metadata"]["name"].startswith("first-slice-0-0-")]
    leader = item(answers, PODS, "second-slice-0")["metadata"]["name"]
    assert why(f"default/{leader}", answers=answers)["helps"]
    item(answers, BATCH, "second-slice-0")["metadata"]["uid"] = "another"
    assert why(f"default/{leader}", answers=answers)["helps"] == []


@pytest.mark.parametrize(
    ("message", "is_cause"),
    [
        ("1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had untolerated taint {a: b}", False),
        ("1 Insufficient cpu, 1 node(s) had untolerated taint {google.com/tpu: present} (system: …)", False),
        ("1 max node group size reached, 1 Insufficient cpu", True),
    ],
)
def test_what_the_autoscaler_only_repeats_is_not_the_first_reason(message: str, is_cause: bool) -> None:
    answers = lists()
    pod = item(answers, PODS, "cores")["metadata"]
    event = {
        "metadata": {"name": "e", "namespace": "default"},
        "type": "Warning",
        "reason": "NotTriggerScaleUp",
        "message": f"pod didn't trigger scale-up: {message}",
        "involvedObject": {"kind": "Pod", **{key: pod[key] for key in ("namespace", "name", "uid")}},
        "lastTimestamp": "2030-01-01T00:00:00Z",
    }
    answers[EVENT_LIST].append(event)
    (first, *_) = why("default/cores", answers=answers)["reasons"]
    assert (first["source"] == "autoscaler") == is_cause
