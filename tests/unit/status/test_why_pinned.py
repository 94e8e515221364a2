"""`tpuplane why` of a job whose pods Kueue pinned to hosts that other pods occupy, after the loss of a host."""

from __future__ import annotations

import sys
from collections import Counter
from copy import deepcopy
from typing import Any

import pytest

from tests.support.status.recording import NODES, PODS, WORKLOADS, Lists, item, lists, on, why

pytestmark = pytest.mark.unit

HOST = "kubernetes.io/hostname"


def pods_of(answers: Lists, namespace: str) -> list[Any]:
    metadata = ((pod["metadata"], pod) for pod in answers[PODS])
    return [
        found_object
        for own, found_object in metadata
        if own["namespace"] == namespace and own["name"].startswith("holds-slice")
    ]


def pinned(*, slices: int = 2, requests: tuple[str, ...] = ()) -> Lists:
    """`product/holds` with its pods pinned to the hosts of `research/holds`, and without a node."""
    answers = lists()
    for pod, other in zip(pods_of(answers, "product"), pods_of(answers, "research"), strict=True):
        pod["spec"]["nodeSelector"][HOST] = other["spec"]["nodeName"]
        del pod["spec"]["nodeName"]
        pod["status"] = {"phase": "Pending"}
    for namespace in requests:
        workload = next(
            found_object
            for found_object in answers[WORKLOADS]
            if (found_object["metadata"]["namespace"], found_object["metadata"]["name"][:12])
            == (namespace, "jobset-holds")
        )
        workload["spec"]["podSets"][0]["template"]["spec"]["containers"][0]["resources"]["requests"] |= {
            "google.com/tpu": "4"
        }
    if slices == 1:
        answers[NODES] = [
            node
            for node in answers[NODES]
            if node["metadata"]["labels"]["cloud.google.com/gke-nodepool"] != "trainer-0"
        ]
    return answers


WAIT = "Wait until other jobs release their hosts: research/holds."
OWN = "Delete the job, and submit it again with requests and limits of google.com/tpu."
BOTH = "Delete the job and research/holds, and submit them again with requests and limits of google.com/tpu."


def test_the_reason_names_the_occupied_hosts() -> None:
    answers = pinned()
    hosts = sorted(found_object["spec"]["nodeName"] for found_object in pods_of(answers, "research"))
    first = why("product/holds", answers=answers)["reasons"][0]
    said = ", ".join(f"{host} (research/holds)" for host in hosts[:3])
    assert first == {
        "source": "hosts",
        "message": f"Kueue pinned its pods to hosts that other pods occupy: {said} and 1 more",
    }


@pytest.mark.parametrize(
    ("slices", "requests", "helps"),
    [
        (2, ("research",), [OWN, WAIT]),  # a slice is free: Kueue finds it
        (1, ("research",), [WAIT, OWN]),  # no slice is free: it waits in its queue
        (2, (), [BOTH, WAIT]),  # Kueue does not count the hosts of the other job
        (2, ("product",), [BOTH, WAIT]),
        (2, ("product", "research"), ["Delete the job, and submit it again.", WAIT]),
    ],
)
def test_the_job_is_submitted_again_where_that_helps(slices: int, requests: tuple[str, ...], helps: list[str]) -> None:
    assert why("product/holds", answers=pinned(slices=slices, requests=requests))["helps"] == helps


def test_a_cluster_without_such_hosts_offers_no_new_submission() -> None:
    answers = pinned(requests=("research",))
    for node in answers[NODES]:
        if node["metadata"]["name"] not in on("holds-slice"):
            continue
        node["status"]["allocatable"]["google.com/tpu"] = "2"
    assert not any(text.startswith("Delete") for text in why("product/holds", answers=answers)["helps"])


def test_the_users_own_pin_is_not_kueues() -> None:
    answers = pinned(requests=("research",))
    workload = next(
        found_object
        for found_object in answers[WORKLOADS]
        if found_object["metadata"]["name"].startswith("jobset-holds")
    )
    assert workload["metadata"]["namespace"] == "product"
    workload["spec"]["podSets"][0]["template"]["spec"]["nodeSelector"] = {HOST: "one"}
    assert item(answers, PODS, "holds-slice")
    assert not any(text.startswith("Delete") for text in why("product/holds", answers=answers)["helps"])


def crowded(more: int) -> Lists:
    """`product/holds` with so many more pods and hosts: Kueue pinned each pod to a host of its own."""
    answers = pinned()
    pod = pods_of(answers, "product")[0]
    like = item(answers, NODES, pod["spec"]["nodeSelector"][HOST])
    for number in range(more):
        name = f"more-{number}"
        node, another = deepcopy(like), deepcopy(pod)
        node["metadata"] |= {"name": name, "uid": name, "labels": {**like["metadata"]["labels"], HOST: name}}
        another["metadata"] |= {"name": name, "uid": f"pod-{number}"}
        another["spec"]["nodeSelector"][HOST] = name
        answers[NODES].append(node)
        answers[PODS].append(another)
    return answers


def calls(answers: Lists) -> int:
    """The calls of functions that explain the job."""
    count: Counter[str] = Counter()
    sys.setprofile(lambda frame, event, argument: count.update([event]))
    try:
        why("product/holds", answers=answers)
    finally:
        sys.setprofile(None)
    return count["call"]


def test_twice_the_pods_on_twice_the_hosts_take_twice_the_work() -> None:
    few, more, most = (calls(crowded(number)) for number in (0, 50, 100))
    assert (most - more) < 1.2 * (more - few)
