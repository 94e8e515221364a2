"""Properties of decisions for all clusters, pods and limits."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tpuplane_twin.elasticity.decision import View, decide
from tpuplane_twin.elasticity.groups import Group
from tpuplane_twin.elasticity.objects import Pod

from tests.support.elasticity.elastic_objects import cpu_group, nodes, pod, replica, serving_group, slice_group, tpu_pod

pytestmark = pytest.mark.unit

ZONES = ("us-east5-a", "us-east5-b", "us-east5-c")


@st.composite
def some_groups(draw: st.DrawFn) -> list[Group]:
    groups = [slice_group(f"slice-{n}", nodes=draw(st.sampled_from([0, 4]))) for n in range(draw(st.integers(0, 3)))]
    most = draw(st.integers(1, 4))
    least = draw(st.integers(0, most))
    groups.append(serving_group(nodes=draw(st.integers(least, most)), least=least, most=most))
    policy, size = draw(st.sampled_from(["ANY", "BALANCED"])), draw(st.integers(0, 2))
    limits = (
        {"totalMinNodeCount": draw(st.integers(0, 3)), "totalMaxNodeCount": draw(st.integers(6, 8))}
        if draw(st.booleans())
        else {"minNodeCount": draw(st.integers(0, 1)), "maxNodeCount": draw(st.integers(2, 3))}
    )
    return [*groups, cpu_group(nodes=size, zones=ZONES, locationPolicy=policy, **limits)]


@st.composite
def some_pods(draw: st.DrawFn) -> list[Pod]:
    pods = [pod for n in range(draw(st.integers(0, 3))) for pod in replica(f"r{n}", draw(st.integers(1, 5)))]
    pods += [tpu_pod(f"t{n}") for n in range(draw(st.integers(0, 6)))]
    pods += [tpu_pod(f"s{n}", chips=8, topology="2x4") for n in range(draw(st.integers(0, 5)))]
    sizes = draw(st.lists(st.integers(1, 5), max_size=8))
    return [*pods, *(pod(f"c{n}", requests={"cpu": cores}) for n, cores in enumerate(sizes))]


def within_limits(group: Group) -> bool:
    if group.is_slice:
        return group.size in (0, group.hosts)
    if group.totals:
        return group.totals[0] <= group.size <= group.totals[1]
    return all(group.minimum <= len(numbers) <= group.maximum for numbers in group.numbers.values())


@given(groups=some_groups(), pods=some_pods(), order=st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_pools_grow_within_their_limits_and_for_pods(
    groups: list[Group], pods: list[Pod], order: random.Random
) -> None:
    plan = decide(View(nodes(*groups), pods, groups), {}, 0, 60).up
    for growth in plan.growths:
        assert within_limits(growth.after)
        assert growth.after.size > growth.before.size
        assert growth.pods
        for zone in growth.before.zones:
            assert set(growth.before.numbers[zone]) <= set(growth.after.numbers[zone])
        if not growth.before.is_slice:
            assert growth.after.size - growth.before.size <= len(growth.pods)
    helped = [pod.key for growth in plan.growths for pod in growth.pods]
    rejected = [pod.key for pod, _ in plan.unhelped]
    assert len(set(helped + rejected)) == len(helped + rejected)
    assert all(reasons.keys() == {group.name for group in groups} for _, reasons in plan.unhelped)

    # Nothing depends on the order in which pods, pools and nodes are listed.
    others = [list(pods), list(groups), nodes(*groups)]
    for items in others:
        order.shuffle(items)
    again = decide(View(sorted(others[2], key=lambda node: node.name), *others[:2]), {}, 0, 60).up
    first = decide(View(sorted(nodes(*groups), key=lambda node: node.name), pods, groups), {}, 0, 60).up
    assert [(growth.after.key, growth.after.numbers) for growth in again.growths] == [
        (growth.after.key, growth.after.numbers) for growth in first.growths
    ]

    # What has been asked for is enough: once it is on its way, nobody asks for more.
    grown = {growth.after.key: growth.after for growth in plan.growths}
    later = [grown.get(group.key, group) for group in groups]
    assert not decide(View(nodes(*groups), pods, later), {}, 0, 60).up.growths


@given(groups=some_groups(), data=st.data())
@settings(max_examples=60)
def test_pools_shrink_within_their_limits_and_never_under_pods(groups: list[Group], data: st.DataObject) -> None:
    there = nodes(*groups)
    busy = data.draw(st.sets(st.sampled_from(range(len(there)))) if there else st.just(set()))
    pods = [pod(f"p{n}", node=there[n].name, owner="Job", requests={"cpu": 2, "memory": 1}) for n in sorted(busy)]
    unmovable = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}
    pods = [
        pod(placed_pod.name, node=placed_pod.node, requests={"cpu": 2}, annotations=unmovable)
        if data.draw(st.booleans())
        else placed_pod
        for placed_pod in pods
    ]
    view = View(there, pods, groups)
    first = decide(view, {}, 0, 60)
    decision = decide(view, first.since, 60, 60)
    needed = {candidate.node for candidate in pods if candidate.safe_to_evict == "false"}
    for shrinkage in decision.down:
        assert within_limits(shrinkage.after)
        assert shrinkage.before.size - shrinkage.after.size == len(shrinkage.nodes) > 0
        assert not needed & {node.name for node in shrinkage.nodes}
        assert all(shrinkage.before.has(node) and not shrinkage.after.has(node) for node in shrinkage.nodes)
        if shrinkage.before.is_slice:
            assert shrinkage.after.size == 0
            assert not {each_pod.node for each_pod in pods} & {node.name for node in shrinkage.nodes}
