"""Decisions about compute classes, moves and expired nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tpuplane_twin.elasticity.classes import ComputeClass, readable_classes
from tpuplane_twin.elasticity.demand import Provisioning
from tpuplane_twin.elasticity.failures import Failures
from tpuplane_twin.elasticity.groups import Group, costs
from tpuplane_twin.elasticity.objects import Pod

from tests.support.elasticity.elastic_objects import CLUSTER, group, nodes, slice_group
from tests.support.elasticity.provisioning_views import CLASS, TPU, G, Json, hosts, look, made, where, why

pytestmark = pytest.mark.unit


def there(name: str, capacity: str, size: int, **labels: str) -> Group:
    """A slice that was made for the class `cheap`, bought as `capacity`."""
    config: Json = {"machineType": "ct6e-standard-4t", "labels": {CLASS: "cheap", **labels}}
    if capacity == "spot":
        config["spot"] = True
    if capacity == "flex-start":
        config["flexStart"] = True
    return group(
        name,
        "ct6e-standard-4t",
        config=config,
        initialNodeCount=size,
        placementPolicy={"type": "COMPACT", "tpuTopology": "4x4"},
        autoscaling={"enabled": True, "maxNodeCount": 4, "autoprovisioned": True},
    )


def cheap(**spec: Any) -> ComputeClass:
    priorities = spec.pop("priorities", [{"tpu": TPU, "spot": True}, {"tpu": TPU, "flexStart": {"enabled": True}}])
    whole = {"nodePoolAutoCreation": {"enabled": True}, "priorities": priorities, **spec}
    return ComputeClass.parse({"metadata": {"name": "cheap"}, "spec": whole})


def of_class(**spec: Any) -> Provisioning:
    return where(classes=[cheap(**spec)], nap=False)


def cheap_hosts(count: int = 4, **fields: Any) -> list[Pod]:
    return hosts(count, compute_class="cheap", **fields)


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


@pytest.mark.parametrize(("now", "moves"), [(7 * DAY - 3601, 0), (7 * DAY - 3600, 1)])
def test_their_successors_come_before(now: float, moves: int) -> None:
    pool = there("flex", "flex-start", 4, **{f"{G}/gke-node-recycle-lead-time-seconds": "3600"})
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


def test_capacity_is_asked_for_again_until_the_wait_is_over() -> None:
    failures = Failures()
    pool = there("waits", "spot", 0, **{f"{G}/gke-capacity-check-wait-time-seconds": "25"})
    failures.failed(pool, 0, "GCE_STOCKOUT")
    assert failures.awaited(0) == {pool.signature}
    assert pool.signature in failures.backoff(9)
    assert pool.signature not in failures.backoff(10)
    failures.failed(pool, 20, "GCE_STOCKOUT")
    assert pool.signature not in failures.backoff(25)
    assert not failures.awaited(25)
    failures.failed(pool, 25, "GCE_STOCKOUT")
    assert pool.signature in failures.backoff(324)
    assert not failures.backoff(325)


def test_pauses_double_up_to_half_an_hour_and_end_with_success() -> None:
    failures, pool, now, pauses = Failures(), there("fails", "spot", 0), 0.0, list[float]()
    for _ in range(5):
        failures.failed(pool, now, "GCE_STOCKOUT")
        pauses.append(next(failures.dues()) - now)
        now = next(failures.dues())
    assert pauses == [300, 600, 1200, 1800, 1800]
    assert failures.report(now - 90) == [{"pool": "fails", "seconds": 90, "cause": "GCE_STOCKOUT"}]
    assert failures.report(now) == []
    failures.succeeded(pool)
    assert not failures.backoff(now - 1)


def test_a_node_counts_for_its_machine() -> None:
    assert costs({"config": {"machineType": "ct6e-standard-8t"}}, CLUSTER) == {
        "cpu": 180,
        "memory": 1440,
        "tpu-v6e-slice": 8,
    }
