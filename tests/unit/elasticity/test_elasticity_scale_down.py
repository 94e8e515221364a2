"""Which nodes go, when, and which never do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tpuplane_twin.elasticity.decision import Decision, View, decide
from tpuplane_twin.elasticity.groups import Group
from tpuplane_twin.elasticity.objects import Pod
from tpuplane_twin.elasticity.scale_down import Budget

from tests.support.elasticity.elastic_objects import cpu_group, nodes, pod, serving_group, slice_group, tpu_pod

pytestmark = pytest.mark.unit


def after_a_while(group: Group, pods: list[Pod], **view: Any) -> Decision:
    """What is decided at 0 s and again at 60 s, when nothing has changed."""
    seen = View(view.pop("nodes", nodes(group)), pods, [group], **view)
    first = decide(seen, {}, 0, 60)
    assert not first.down
    assert not decide(seen, first.since, 59.9, 60).down
    return decide(seen, first.since, 60, 60)


def gone(decision: Decision) -> list[str]:
    return [node.place for removal in decision.down for node in removal.nodes]


def on(group: Group, number: int, name: str = "p", **fields: Any) -> Pod:
    return pod(name, node=nodes(group)[number].name, **fields)


def test_idle_nodes_go_down_to_the_minimum_and_busy_ones_stay() -> None:
    group = serving_group(nodes=4)
    decision = after_a_while(group, [on(group, 3, requests={"google.com/tpu": 8})])
    assert gone(decision) == ["us-east5-b/2", "us-east5-b/1", "us-east5-b/0"]
    assert decision.down[0].after.numbers == {"us-east5-b": [3]}
    assert gone(after_a_while(group, [])) == ["us-east5-b/3", "us-east5-b/2", "us-east5-b/1"]


def test_total_limits_count_over_all_zones() -> None:
    zones = ("us-east5-a", "us-east5-b")
    group = cpu_group(nodes=2, zones=zones, totalMinNodeCount=3, totalMaxNodeCount=9)
    assert gone(after_a_while(group, [])) == ["us-east5-a/1"]


def test_a_slice_is_deleted_whole_or_not_at_all() -> None:
    group = slice_group(nodes=4)
    assert len(gone(after_a_while(group, []))) == 4
    assert after_a_while(group, [on(group, 2)]) == Decision()
    assert gone(after_a_while(group, [], nodes=nodes(group)[:3])) != []
    kept = [replace(node, removable=False) if node.place.endswith("/1") else node for node in nodes(group)]
    assert gone(after_a_while(group, [], nodes=kept)) == []


def test_pods_of_every_node_need_no_node() -> None:
    group = serving_group(nodes=2)
    mirror = on(group, 1, "mirror", annotations={"kubernetes.io/config.mirror": "x"})
    daemon = on(group, 1, "daemon", owner="DaemonSet")
    assert gone(after_a_while(group, [mirror, daemon])) == ["us-east5-b/1"]


def test_a_node_that_is_needed_again_starts_from_the_beginning() -> None:
    group = serving_group(nodes=2)
    idle, busy = View(nodes(group), [], [group]), View(nodes(group), [on(group, 0), on(group, 1, "q")], [group])
    first = decide(idle, {}, 0, 60)
    between = decide(busy, first.since, 30, 60)
    assert not between.since
    again = decide(idle, between.since, 40, 60)
    assert not decide(idle, again.since, 99, 60).down
    assert decide(idle, again.since, 100, 60).down


def test_a_node_that_a_pod_waits_for_stays() -> None:
    """The scheduler has not got round to it yet."""
    group = serving_group(nodes=2, least=0)
    waiting = [tpu_pod(f"p{n}", chips=8, topology="2x4") for n in range(2)]
    assert gone(after_a_while(group, waiting)) == []


def budget(allowed: int) -> Budget:
    spec = {"selector": {"matchLabels": {"app": "web"}}}
    return Budget.parse({"metadata": {"namespace": "default"}, "spec": spec, "status": {"disruptionsAllowed": allowed}})


@pytest.mark.parametrize(
    ("fields", "budgets", "goes"),
    [
        ({}, [], True),
        ({"requests": {"cpu": 2}}, [], False),
        ({"annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}}, [], False),
        ({"ownerReferences": []}, [], False),
        ({"ownerReferences": [], "annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"}}, [], True),
        ({"namespace": "kube-system"}, [], False),
        ({"labels": {"app": "web"}}, [budget(1)], True),
        ({"labels": {"app": "web"}}, [budget(0)], False),
        ({"labels": {"app": "other"}}, [budget(0)], True),
    ],
)
def test_a_little_used_node_is_emptied_if_its_pods_may_move(
    fields: dict[str, Any], budgets: list[Budget], goes: bool
) -> None:
    """Node 0 is well used and has room for one core; node 1 has the pod in question."""
    group = cpu_group(nodes=2)
    anchor = on(group, 0, "anchor", requests={"cpu": "2100m"})
    decision = after_a_while(group, [anchor, on(group, 1, **fields)], budgets=budgets)
    assert gone(decision) == (["us-east5-b/1"] if goes else [])


def test_nodes_are_emptied_one_at_a_time() -> None:
    group = cpu_group(nodes=4)
    pods = [on(group, 0, "anchor", requests={"cpu": 2}), *(on(group, n, f"p{n}") for n in (1, 2, 3))]
    assert len(gone(after_a_while(group, pods))) == 1


def test_nothing_is_emptied_into_nodes_that_go_themselves() -> None:
    group = cpu_group(nodes=2)
    assert gone(after_a_while(group, [on(group, 0)])) == ["us-east5-b/1"]
