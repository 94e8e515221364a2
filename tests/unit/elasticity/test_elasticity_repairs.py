"""Nodes that are missing or broken: when they are created again."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tpuplane_twin.elasticity.failures import Kept, Repairs, lost

from tests.support.elasticity.elastic_objects import group, nodes, serving_group

pytestmark = pytest.mark.unit


def test_nodes_that_a_pool_should_have_are_missed_by_zone_and_number() -> None:
    pool = group("cpu", "e2-standard-4", zones=("us-east5-a", "us-east5-b"), initialNodeCount=2)
    gone = {"us-east5-a/1", "us-east5-b/0"}
    there = [node for node in nodes(pool, serving_group(3)) if node.pool != "cpu" or node.place not in gone]
    numbers = {"cpu": pool.numbers, "serving": {"us-east5-b": [0, 1, 2]}}
    wanted = {f"clusters/c/nodePools/{name}": Kept(found, auto_repair=False) for name, found in numbers.items()}
    assert lost(wanted, there) == {"clusters/c/nodePools/cpu": {"us-east5-a": [1], "us-east5-b": [0]}}


def test_another_pools_node_at_the_same_place_is_no_help() -> None:
    (one,) = nodes(serving_group(1))
    other = replace(one, labels={**one.labels, "cloud.google.com/gke-nodepool": "other"})
    kept = {"pools/serving": Kept({"us-east5-b": [0]}, auto_repair=False)}
    assert lost(kept, [other]) == {"pools/serving": {"us-east5-b": [0]}}


@pytest.mark.parametrize("auto_repair", [True, False])
def test_a_node_that_is_not_ready_is_lost_to_auto_repair_alone(auto_repair: bool) -> None:
    broken, healthy = nodes(serving_group(2))
    kept = {"pools/serving": Kept({"us-east5-b": [0, 1]}, auto_repair)}
    found = lost(kept, [replace(broken, broken=True), healthy])
    assert found == ({"pools/serving": {"us-east5-b": [0]}} if auto_repair else {})


def gone(*pools: str, number: int = 0) -> dict[str, dict[str, list[int]]]:
    return {pool: {"us-east5-b": [number]} for pool in pools}


def test_a_pool_is_repaired_after_it_has_lacked_a_node_for_a_while() -> None:
    repairs = Repairs(lambda: 10.0)
    assert repairs.ripe(gone("a"), 0) == []
    (due,) = repairs.dues()
    assert repairs.ripe(gone("a", "b"), due) == ["a"]
    repairs.done("a")
    assert repairs.ripe(gone("a"), due) == []


def test_each_node_is_waited_for() -> None:
    repairs = Repairs(lambda: 10.0)
    repairs.ripe(gone("a"), 0)
    repairs.ripe(gone("a", number=1), 8)
    assert repairs.ripe(gone("a", number=1), 10) == []
    assert repairs.ripe(gone("a", number=1), 18) == ["a"]


def test_a_node_that_comes_meanwhile_is_not_waited_for() -> None:
    repairs = Repairs(lambda: 10.0)
    repairs.ripe(gone("a"), 0)
    assert repairs.ripe({}, 5) == []
    assert not list(repairs.dues())
    assert repairs.ripe(gone("a"), 10) == []


def test_a_repair_that_failed_is_tried_again_later() -> None:
    repairs = Repairs(lambda: 10.0)
    repairs.ripe(gone("a"), 0)
    assert repairs.ripe(gone("a"), 10) == ["a"]
    repairs.failed("a", 10)
    assert repairs.ripe(gone("a"), 69) == []
    assert repairs.ripe(gone("a"), 70) == ["a"]
