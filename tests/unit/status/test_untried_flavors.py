"""Why jobs wait when Kueue's message does not name all flavors: it tries only those after one without free hosts."""

from __future__ import annotations

from typing import Any

import pytest
from tpuplane.status.reasons import never

from tests.support.status.queues import LOCAL_QUEUE, QUEUE, described, workload
from tests.support.status.recording import FLAVORS, NODES, WORKLOADS, Lists, item, lists, why

pytestmark = pytest.mark.unit

NO_QUOTA = "previously considered podsets requests (0) + current podset request (8) > maximum capacity (0)"
REST = (
    "couldn't assign flavors to pod set slice: flavor g2-standard-12 doesn't match node affinity, insufficient quota "
    f"for google.com/tpu in flavor cpu, {NO_QUOTA}, insufficient quota for google.com/tpu in flavor v5e-4x8, {NO_QUOTA}"
)
"""The message about the queue of these tests after the hosts of its first flavor, v6e-4x4, were not free."""
ALL = f"{REST}, flavor v6e-4x4 doesn't match node affinity"
WAITS = "too few hosts of v6e-4x4 are free and ready"
NOTHING = "has a node selector or affinity that matches none of the flavors cpu, g2-standard-12, v5e-4x8, v6e-4x4"
MOST = "but its queue can get at most 0, including borrowed chips"
NO_CHIPS = f"requests 8 chips of cpu, {MOST}, requests 8 chips of v5e-4x8, {MOST}"
TWO = f"{WAITS}, requests a, but its queue has no quota for it"
V6E = {"metadata": {"name": "v6e-4x4"}, "spec": {"nodeLabels": {"tpuplane-flavor": "v6e-4x4"}}}


def affinity(operator: str) -> dict[str, Any]:
    term = {"matchExpressions": [{"key": "tpuplane-flavor", "operator": operator, "values": ["v6e-4x4"]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}


@pytest.mark.parametrize(
    ("message", "spec", "said"),
    [
        (REST, {}, WAITS),
        (REST, {"nodeSelector": {"tpuplane-flavor": "v6e-4x4"}}, WAITS),
        (REST, {"nodeSelector": {"tpuplane-flavor": "other"}}, NO_CHIPS),
        (REST, {"affinity": affinity("In")}, WAITS),
        (REST, {"affinity": affinity("NotIn")}, NO_CHIPS),
        (ALL, {}, NOTHING),
        (f"{REST}; couldn't assign flavors to pod set other: resource a unavailable in ClusterQueue", {}, TWO),
    ],
)
def test_a_flavor_that_kueue_did_not_try_this_time_is_not_ruled_out(
    message: str, spec: dict[str, Any], said: str
) -> None:
    job = workload("waits", "research", QuotaReserved=("False", message))
    job["spec"]["podSets"][0]["template"]["spec"] |= spec
    (found,) = described([QUEUE], [LOCAL_QUEUE], [job], [], [], flavors=[V6E])
    (shown,) = (row["why"] for row in found["workloads"])
    assert shown == said
    assert never(shown) == (shown != WAITS)


def test_the_local_queue_has_the_flavors_for_users_who_may_not_read_its_cluster_queue() -> None:
    job = workload("waits", "research", QuotaReserved=("False", REST))
    names = ("cpu", "g2-standard-12", "v5e-4x8", "v6e-4x4")
    local = {**LOCAL_QUEUE, "status": {"flavorsReservation": [{"name": name} for name in names]}}
    (found,) = described([], [local], [job], [], [])
    assert found["workloads"][0]["why"] == WAITS


def after_v6e(cores: str) -> Lists:
    """The recorded `research/waits` with these cores in each pod, after the hosts of its last flavor were not free."""
    answers = lists()
    waits = item(answers, WORKLOADS, "jobset-waits")
    waits["spec"]["podSets"][0]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = cores
    (condition,) = waits["status"]["conditions"]
    condition["message"] = "couldn't assign flavors to pod set slice: flavor v5e-4x4 doesn't match node affinity"
    return answers


def test_pods_with_more_cores_than_any_host_have_the_true_reason() -> None:
    found = why("research/waits", answers=after_v6e("200"))
    large = "requests 200 cores in each pod, but its hosts have 179.48"
    assert [reason["message"] for reason in found["reasons"]] == [large]
    assert never(large)
    assert found["helps"] == ["Request at most 179.48 cores in each pod."]
    answers = after_v6e("200")
    for flavor in answers[FLAVORS]:
        del flavor["spec"]["topologyName"]  # the autoscaler can add larger hosts
    assert why("research/waits", answers=answers)["reasons"][0]["message"] == WAITS


def test_a_lost_host_is_shown_with_the_flavor_that_waits_for_it() -> None:
    answers = after_v6e("10")
    lost = []
    for node in answers[NODES]:
        if node["metadata"]["labels"].get("tpuplane-flavor") == "v6e-4x4":
            lost.append(node["metadata"]["name"])
            ready = next(each for each in node["status"]["conditions"] if each["type"] == "Ready")
            ready["status"] = "Unknown"
    reasons = [reason["message"] for reason in why("research/waits", answers=answers)["reasons"]]
    assert reasons[0] == WAITS
    assert f"{lost[0]} is not ready" in reasons[1]
