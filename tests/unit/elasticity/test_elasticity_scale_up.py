"""The pools that grow for pending pods, and the reasons of pools that do not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tpuplane_twin.elasticity.decision import View, decide
from tpuplane_twin.elasticity.groups import Group
from tpuplane_twin.elasticity.objects import Pod
from tpuplane_twin.elasticity.scale_up import ScaleUp, reasons_message

from tests.support.elasticity.elastic_objects import (
    TOPOLOGY,
    cpu_group,
    group,
    nodes,
    pod,
    replica,
    serving_group,
    slice_group,
    tpu_pod,
)

pytestmark = pytest.mark.unit


def scale_up(pods: list[Pod], *groups: Group, **view: object) -> ScaleUp:
    return decide(View(nodes(*groups), pods, groups, **view), {}, 0, 60).up


def sizes(plan: ScaleUp) -> dict[str, int]:
    return {growth.before.name: growth.after.size for growth in plan.growths}


def why(plan: ScaleUp) -> dict[str, dict[str, str]]:
    return {pod.name: reasons for pod, reasons in plan.unhelped}


def test_one_pod_brings_a_whole_slice() -> None:
    plan = scale_up([tpu_pod("leader")], slice_group("a"), slice_group("b"))
    assert sizes(plan) == {"a": 4}
    assert plan.growths[0].info == "[{https://gce/zones/us-east5-b/instanceGroups/gke-a-grp 0->4 (max: 4)}]"


def test_every_replica_gets_a_slice_of_its_own() -> None:
    pods = [*replica("blue", 4), *replica("green", 4), *replica("red", 4)]
    plan = scale_up(pods, slice_group("a"), slice_group("b"))
    assert sizes(plan) == {"a": 4, "b": 4}
    assert {name.split("-")[0] for name in why(plan)} == {"red"}
    assert why(plan)["red-0"] == {"a": "max node group size reached", "b": "max node group size reached"}


def test_a_gang_that_does_not_fit_a_slice_brings_none() -> None:
    plan = scale_up(replica("big", 5), slice_group("a"))
    assert sizes(plan) == {}
    assert why(plan)["big-4"] == {"a": "not all pods that must share one node pool fit"}


def test_a_gang_waits_for_a_slice_that_is_coming_whole() -> None:
    """The pool has its nodes in the API, none of them is there yet: nothing more is asked for."""
    plan = decide(View([], replica("blue", 4), [slice_group("a", nodes=4), slice_group("b")]), {}, 0, 60).up
    assert (sizes(plan), why(plan)) == ({}, {})


def test_the_rest_of_a_gang_follows_its_first() -> None:
    """The leader of an exclusive job runs; the others have affinity to it and room beside it."""
    pool = slice_group("a", nodes=4)
    running, *others = replica("blue", 4)
    first = replace(running, node=nodes(pool)[0].name, unschedulable=False)
    plan = decide(View(nodes(pool), [first, *others], [pool, slice_group("b")]), {}, 0, 60).up
    assert (sizes(plan), why(plan)) == ({}, {})


def test_single_hosts_come_one_by_one_up_to_the_maximum() -> None:
    pods = [tpu_pod(f"p{n}", chips=8, topology="2x4") for n in range(6)]
    plan = scale_up(pods, serving_group(nodes=1, most=4))
    assert sizes(plan) == {"serving": 4}
    assert len(plan.growths[0].pods) == 3
    assert list(why(plan).values()) == [{"serving": "max node group size reached"}] * 2


def test_small_pods_share_nodes() -> None:
    """Of 3.92 allocatable cores three pods of one core each take one node."""
    assert sizes(scale_up([pod(f"p{n}") for n in range(7)], cpu_group())) == {"cpu": 3}


@pytest.mark.parametrize(("policy", "zones"), [("BALANCED", [2, 2, 2]), ("ANY", [4, 2, 0])])
def test_location_policies(policy: str, zones: list[int]) -> None:
    names = ("us-east5-a", "us-east5-b", "us-east5-c")
    plan = scale_up(
        [pod(f"p{n}", requests={"cpu": 3}) for n in range(6)],
        cpu_group(zones=names, maxNodeCount=4, locationPolicy=policy),
    )
    assert [len(plan.growths[0].after.numbers[zone]) for zone in names] == zones


def test_the_zone_of_the_pod_grows() -> None:
    chosen = pod("p", spec={"nodeSelector": {"topology.kubernetes.io/zone": "us-east5-c"}})
    plan = scale_up([chosen], cpu_group(zones=("us-east5-a", "us-east5-c"), totalMaxNodeCount=3))
    assert plan.growths[0].after.numbers == {"us-east5-a": [], "us-east5-c": [0]}


def test_the_least_idle_chips_win_then_spot() -> None:
    free_choice = pod("p", requests={"google.com/tpu": 4})
    single = {"enabled": True, "maxNodeCount": 1}
    spot = group("z", "ct6e-standard-4t", autoscaling=single, config={"machineType": "ct6e-standard-4t", "spot": True})
    plan = scale_up(
        [free_choice],
        slice_group("a"),
        serving_group(nodes=0, least=0),
        group("b", "ct6e-standard-4t", autoscaling=single),
        spot,
    )
    assert sizes(plan) == {"z": 1}
    two = {"enabled": True, "maxNodeCount": 2}
    large = group("a", "ct6e-standard-8t", autoscaling=two, config={"machineType": "ct6e-standard-8t", "spot": True})
    assert sizes(scale_up([free_choice], large, group("b", "ct6e-standard-4t", autoscaling=two))) == {"b": 1}


def test_host_ports_do_not_share_a_node() -> None:
    port = {"containers": [{"name": "c", "ports": [{"hostPort": 8471}], "resources": {"requests": {"cpu": "1"}}}]}
    assert sizes(scale_up([pod(f"p{n}", spec=port) for n in range(3)], cpu_group())) == {"cpu": 3}


def test_pods_that_the_scheduler_has_not_rejected_trigger_nothing() -> None:
    running = pod("p", node="somewhere", requests={"cpu": 3})
    assert decide(View([], [running], [cpu_group()]), {}, 0, 60).up == ScaleUp()


@pytest.mark.parametrize(
    ("pod", "reason"),
    [
        (tpu_pod("p", topology="16x16"), "node(s) didn't match Pod's node affinity/selector"),
        (tpu_pod("p", chips=8), "Insufficient google.com/tpu"),
        (pod("p", spec={"nodeSelector": {TOPOLOGY: "4x4"}}), "node(s) had untolerated taint {google.com/tpu: present}"),
    ],
)
def test_reasons(pod: Pod, reason: str) -> None:
    plan = scale_up([pod], slice_group("a"))
    assert why(plan) == {"p": {"a": reason}}


def test_pools_in_backoff_and_queued_pools_do_not_grow() -> None:
    queued = group(
        "queued",
        "e2-standard-4",
        queuedProvisioning={"enabled": True},
        autoscaling={"enabled": True, "maxNodeCount": 2},
    )
    queueing = pod("p", spec={"tolerations": [{"key": "cloud.google.com/gke-queued", "operator": "Exists"}]})
    plan = scale_up([queueing], cpu_group(), queued, backoff=frozenset({"pools/cpu/us-east5-b"}))
    assert sizes(plan) == {}
    assert why(plan)["p"] == {
        "cpu": "in backoff after failed scale-up",
        "queued": "nodes come for ProvisioningRequests only",
    }


def test_the_message_counts_reasons_and_names_pools() -> None:
    assert reasons_message({"a": "x", "b": "y", "c": "x"}) == ("pod didn't trigger scale-up: 2 x, 1 y (a, c: x; b: y)")
