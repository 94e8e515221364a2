"""Decisions about compute classes, moves and expired nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tpuplane_twin.elasticity.classes import readable_classes
from tpuplane_twin.elasticity.groups import Group, costs
from tpuplane_twin.elasticity.objects import Pod

from tests.support.elasticity.elastic_objects import CLUSTER, nodes, slice_group
from tests.support.elasticity.provisioning_views import (
    CLASS,
    TPU,
    G,
    Json,
    cheap,
    cheap_hosts,
    hosts,
    look,
    made,
    of_class,
    there,
    where,
    why,
)

pytestmark = pytest.mark.unit


def signatures(*capacities: str) -> frozenset[str]:
    return frozenset(f"ct6e-standard-4t/4x4/us-east5-b/{capacity}//cheap" for capacity in capacities)


def test_the_first_priority_that_is_not_left_alone_is_taken() -> None:
    first = made(look(cheap_hosts(), at=of_class()))
    second = made(look(cheap_hosts(), at=of_class(), backoff=signatures("spot")))
    assert [creation.pool.capacity for creation in (*first, *second)] == ["spot", "flex-start"]
    neither = look(cheap_hosts(), at=of_class(), backoff=signatures("spot", "flex-start"))
    assert why(neither) == "in backoff after failed scale-up"


def test_a_pool_of_a_higher_priority_is_made_before_one_of_a_lower_grows() -> None:
    lower = there("lower", "flex-start", 0)
    (growth,) = look(cheap_hosts(), lower, at=of_class()).up.growths
    assert growth.after.pool.capacity == "spot"


def test_while_capacity_is_awaited_lower_priorities_wait() -> None:
    decision = look(cheap_hosts(), at=of_class(), backoff=signatures("spot"), awaited=signatures("spot"))
    assert not decision.up.growths


def test_equal_scores_are_one_priority() -> None:
    spec = [
        {"tpu": TPU, "flexStart": {"enabled": True}, "priorityScore": 5},
        {"tpu": TPU, "spot": True, "priorityScore": 9},
        {"tpu": TPU, "priorityScore": 9},
    ]
    assert [(priority.rank, priority.capacity) for priority in cheap(priorities=spec).priorities] == [
        (0, "spot"),
        (0, "on-demand"),
        (1, "flex-start"),
    ]


def test_named_node_pools_are_a_priority() -> None:
    named = there("ours", "on-demand", 0)
    at = of_class(priorities=[{"nodepools": ["ours"]}, {"tpu": TPU, "spot": True}])
    (growth,) = look(cheap_hosts(), named, at=at).up.growths
    assert growth.after.name == "ours"


def test_a_pool_without_a_matching_priority_grows_only_if_the_class_allows_it() -> None:
    other = there("other", "on-demand", 0)
    no_others = {"nodePoolAutoCreation": {"enabled": False}}
    assert not look(cheap_hosts(), other, at=of_class(**no_others)).up.growths
    anyway = of_class(**no_others, whenUnsatisfiable="ScaleUpAnyway")
    (growth,) = look(cheap_hosts(), other, at=anyway).up.growths
    assert growth.after.name == "other"


def test_the_default_class_of_a_cluster_makes_nodes_without_a_taint_for_pods_that_request_no_class() -> None:
    default = replace(cheap(), name="default")
    (pool,) = made(look(hosts(4), at=where(classes=[default], nap=False, default_class=True)))
    assert pool.offer is not None
    assert (pool.compute_class, pool.offer.tainted) == ("default", False)
    assert not look(hosts(4), at=where(classes=[default], nap=False)).up.growths
    assert not look(hosts(4), at=where(nap=False, default_class=True)).up.growths
    (own,) = made(look(cheap_hosts(), at=where(classes=[default, cheap()], nap=False, default_class=True)))
    assert own.offer is not None
    assert (own.compute_class, own.offer.tainted) == ("cheap", True)


def test_a_class_that_is_not_there_is_named() -> None:
    decision = look(cheap_hosts(), at=where(nap=False))
    assert why(decision) == f"ComputeClass cheap of type {CLASS} not found"


@pytest.mark.parametrize("tpu", [{}, {"type": "tpu-v6e-slice"}, {"type": "tpu-v6e-slice", "topology": "4x4"}])
def test_a_priority_with_an_incomplete_tpu_is_ignored(tpu: Json) -> None:
    """GKE's definition requires no field of `tpu` and `gpu`."""
    priorities = [{"tpu": tpu, "machineType": "ct6e-standard-4t"}, {"gpu": {"count": 1}}, {"tpu": TPU, "spot": True}]
    at = of_class(priorities=priorities, whenUnsatisfiable="ScaleUpAnyway")
    (growth,) = look(cheap_hosts(), at=at).up.growths
    assert growth.after.pool.capacity == "spot"
    (growth,) = look(cheap_hosts(), there("other", "on-demand", 0), at=at, backoff=signatures("spot")).up.growths
    assert growth.after.name == "other"
    assert at.rank(growth.after) == 3


def test_a_class_that_cannot_be_read_is_left_out() -> None:
    items = [{"metadata": {"name": name}, "spec": {"priorities": given}} for name, given in (("odd", 7), ("good", []))]
    assert list(readable_classes(items)) == ["good"]


def running(pool: Group, **fields: Any) -> list[Pod]:
    placed = zip(cheap_hosts(**fields), nodes(pool), strict=True)
    return [replace(placed_pod, node=node.name, unschedulable=False) for placed_pod, node in placed]


def test_pods_move_to_a_higher_priority_and_the_old_slice_is_deleted() -> None:
    at = of_class(activeMigration={"optimizeRulePriority": True})
    low, high = there("low", "flex-start", 4), there("high", "spot", 4)
    pods = running(low)
    (growth,) = look(pods, low, at=at).moves.growths
    assert growth.after.pool.capacity == "spot"
    (emptied,) = look(pods, low, high, at=at).moves.emptied
    assert emptied.before.name == "low"
    assert len(emptied.nodes) == 4


@pytest.mark.parametrize("reason", ["off", "backoff", "bare"])
def test_pods_stay_where_they_are(reason: str) -> None:
    at = of_class(activeMigration={"optimizeRulePriority": reason != "off"})
    low = there("low", "flex-start", 4)
    pods = running(low)
    if reason == "bare":
        pods = [replace(pod, owner="") for pod in pods]
    backoff = signatures("spot") if reason == "backoff" else frozenset[str]()
    decision = look(pods, low, at=at, backoff=backoff)
    assert not decision.moves.growths
    assert not decision.moves.emptied


DAY = 86_400.0


@pytest.mark.parametrize(("now", "gone"), [(7 * DAY - 1, 0), (7 * DAY, 4)])
def test_flex_start_hosts_are_deleted_after_seven_days(now: float, gone: int) -> None:
    pool = there("flex", "flex-start", 4)
    born = {node.name: 0.0 for node in nodes(pool)}
    decision = look(running(pool), pool, at=of_class(), born=born, now=now)
    assert sum(len(removal.nodes) for removal in decision.ended) == gone


@pytest.mark.parametrize(
    ("lead", "now", "moves"), [("3600", 7 * DAY - 3601, 0), ("3600", 7 * DAY - 3600, 1), ("soon", 7 * DAY - 1, 0)]
)
def test_their_successors_come_before(lead: str, now: float, moves: int) -> None:
    pool = there("flex", "flex-start", 4, **{f"{G}/gke-node-recycle-lead-time-seconds": lead})
    born = {node.name: 0.0 for node in nodes(pool)}
    decision = look(running(pool), pool, at=of_class(), born=born, now=now)
    assert len(decision.moves.growths) == moves


@pytest.mark.parametrize(("now", "going"), [(599.0, 0), (600.0, 1)])
def test_a_class_sets_how_long_idle_nodes_stay(now: float, going: int) -> None:
    pool = there("idle", "spot", 4)
    since = {node.name: 0.0 for node in nodes(pool)}
    at = of_class(autoscalingPolicy={"consolidationDelayMinutes": 10})
    assert len(look([], pool, at=at, since=since, now=now).down) == going


def test_an_empty_pool_is_deleted_unless_it_waits_for_capacity() -> None:
    pool = there("empty", "spot", 0)
    assert look([], pool, at=of_class()).deleted == [pool]
    assert look([], pool, at=of_class(), awaited=signatures("spot")).deleted == []
    assert look([], slice_group("declared")).deleted == []


def test_a_node_counts_for_its_machine() -> None:
    assert costs({"config": {"machineType": "ct6e-standard-8t"}}, CLUSTER) == {
        "cpu": 180,
        "memory": 1440,
        "tpu-v6e-slice": 8,
    }
