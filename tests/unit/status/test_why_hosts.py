"""`tpuplane why` of pods that no host takes: cordons, pins, compute classes, taints and labels of the hosts."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.status.recording import NODES, PODS, changed, item, lists, on, why

pytestmark = pytest.mark.unit


def state_of(**spec: Any) -> Callable[[Any], None]:
    def change(node: Any) -> None:
        if "ready" in spec:
            next(it for it in node["status"]["conditions"] if it["type"] == "Ready")["status"] = spec["ready"]
        node["spec"].update({key: it for key, it in spec.items() if key != "ready"})

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
    ):
        of = changed(NODES, host, change)
        item(of, PODS, "second-slice")["spec"]["nodeSelector"]["kubernetes.io/hostname"] = host
        found = why("default/second", of=of)
        assert found["reasons"][0] == {"source": "hosts", "message": f"{host} is {message}"}
        assert help in found["helps"]


def test_a_pin_to_a_taken_host_is_removed_if_another_host_is_free() -> None:
    of = lists()
    of[PODS] = [
        it
        for it in of[PODS]
        if not it["metadata"]["name"].startswith("holds-slice") or it["metadata"]["namespace"] == "product"
    ]
    assert why("default/onto", of=of)["helps"] == [
        "Wait until other jobs release their hosts: product/holds.",
        "Remove kubernetes.io/hostname from the node selector.",
    ]


def test_a_compute_class_that_exists_makes_its_hosts() -> None:
    of = changed(
        PODS, "sunny", lambda it: it["spec"].update(nodeSelector={"cloud.google.com/compute-class": "any-v6e"})
    )
    assert why("default/sunny", of=of)["helps"] == []
    of = changed(PODS, "sunny", lambda it: it["spec"].update(nodeSelector={"cloud.google.com/compute-class": "v6e"}))
    assert why("default/sunny", of=of)["helps"] == [
        "Set cloud.google.com/compute-class to any-v6e in the node selector.",
        "Remove cloud.google.com/compute-class from the node selector.",
    ]


def test_a_taint_of_the_users_own_is_tolerated() -> None:
    taint = {"key": "team", "value": "a", "effect": "NoSchedule"}
    of = lists()
    for node in of[NODES]:
        node["spec"].setdefault("taints", []).append(taint)
    found = why("default/cores", of={**of, PODS: [smaller(it) for it in of[PODS]]})
    assert found["helps"] == ["Add a toleration of team=a:NoSchedule, if the job belongs on these hosts."]


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

    (first, *_) = why("default/combo", of=changed(PODS, "combo", change))["reasons"]
    assert (first["source"] == "scheduler") == fits  # its hosts are taken, which the scheduler states
    assert fits or first["message"] == "no host has the labels of its node affinity"


def test_many_values_of_a_label_are_one_line() -> None:
    of = changed(PODS, "combo", lambda it: it["spec"].update(nodeSelector={"example.com/rack": "none"}))
    for number, node in enumerate(of[NODES]):
        node["metadata"]["labels"]["example.com/rack"] = f"r{number:02}"
    (first, *_) = why("default/combo", of=of)["helps"]
    assert re.fullmatch(r"Set example.com/rack to r\d\d or r\d\d or r\d\d or 12 more in the node selector\.", first)


def test_a_pool_without_chips_is_not_offered_to_a_tpu_job() -> None:
    pool = {"cloud.google.com/gke-nodepool": "none"}
    of = changed(PODS, "combo", lambda it: it["spec"].update(nodeSelector=pool))
    (first, *_) = why("default/combo", of=of)["helps"]
    assert first.startswith("Set cloud.google.com/gke-nodepool to evals-0 or notebooks or serving")
    assert "system" not in first
