"""Decisions about new pools for pods that fit nowhere, within limits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tpuplane_twin.elasticity.objects import Pod

from tests.support.elasticity.elastic_objects import slice_group
from tests.support.elasticity.provisioning_views import hosts, look, made, where, why

pytestmark = pytest.mark.unit


def test_a_slice_is_made_whole_for_its_hosts() -> None:
    (pool,) = made(look(hosts(4)))
    assert pool.is_slice
    assert pool.numbers == {"us-east5-b": [0, 1, 2, 3]}
    assert pool.pool.autoprovisioned
    assert pool.name.startswith("nap-ct6e-standa-4t-")
    assert len(pool.name) <= 40


def test_every_slice_is_a_pool_of_its_own_with_a_name_of_its_own() -> None:
    pools = made(look(hosts(12)))
    assert [pool.size for pool in pools] == [4, 4, 4]
    assert len({pool.name for pool in pools}) == 3


def test_existing_pools_come_first() -> None:
    declared = slice_group("declared")
    decision = look(hosts(4), declared)
    assert [growth.after.name for growth in decision.up.growths] == ["declared"]


@pytest.mark.parametrize(
    ("selector", "capacity", "reservation"),
    [
        ({}, "on-demand", ""),
        ({"gke_spot": "true"}, "spot", ""),
        ({"gke_provisioning": "spot"}, "spot", ""),
        ({"gke_flex_start": "true", "gke_max_run_duration_seconds": "3600"}, "flex-start", ""),
        ({"reservation_name": "ours", "reservation_affinity": "specific"}, "reservation", "ours"),
        (
            {"reservation_name": "r", "reservation_project": "p", "reservation_affinity": "specific"},
            "reservation",
            "projects/p/reservations/r",
        ),
    ],
)
def test_the_selectors_decide_the_provisioning_model(selector: dict[str, str], capacity: str, reservation: str) -> None:
    (pool,) = made(look(hosts(4, **selector)))
    assert (pool.pool.capacity, "".join(pool.pool.reservation_names)) == (capacity, reservation)
    assert ("-spot-" in pool.name) == (capacity == "spot")


@pytest.mark.parametrize(
    ("pods", "most", "reason"),
    [
        (
            hosts(4, label="tpu-v5p-slice", topology="2x2x2"),
            None,
            'TPU type "tpu-v5p-slice" doesn\'t have a limit defined',
        ),
        (hosts(1, label="tpu-v9"), None, 'TPU type "tpu-v9" not supported'),
        (hosts(1, chips=3), None, "Accelerator count 3 is not supported for TPU type tpu-v6e-slice with topology 4x4"),
        (hosts(4), {"cpu": 9999, "memory": 9999, "tpu-v6e-slice": 8}, "max cluster tpu-v6e-slice limit reached"),
        (hosts(4), {"cpu": 100, "memory": 99999, "tpu-v6e-slice": 64}, "max cluster cpu limit reached"),
        (
            hosts(4, gke_spot="true", gke_flex_start="true"),
            None,
            "pod has misconfigured Flex Start node selectors: Flex Start is incompatible with Spot",
        ),
        (
            hosts(2, label="tpu7x", topology="2x2x2"),
            {"cpu": 9999, "memory": 9999, "tpu7x": 64},
            "multi-host slices of tpu7x need a workload policy, which the twin does not make by itself",
        ),
    ],
)
def test_why_nothing_is_made(pods: list[Pod], most: dict[str, int] | None, reason: str) -> None:
    decision = look(pods, at=where(most=most))
    assert not decision.up.growths
    assert why(decision) == reason


def test_the_limits_count_declared_pools_and_hold_them_back() -> None:
    busy = slice_group("busy", nodes=4)
    declared = slice_group("declared")
    few = {"cpu": 9999, "memory": 99999, "tpu-v6e-slice": 16}
    decision = look(hosts(4), busy, declared, at=where(busy, most=few))
    # The idle slice takes the pods; for four more there is no room left.
    assert not decision.up.growths
    assert not decision.up.unhelped
    more = look(hosts(8), busy, declared, at=where(busy, most=few))
    assert not more.up.growths
    assert more.up.unhelped[0][1]["declared"] == "max cluster tpu-v6e-slice limit reached"


@given(count=st.integers(1, 20), most=st.integers(0, 96))
def test_no_limit_is_ever_exceeded(count: int, most: int) -> None:
    limits = {"cpu": 100_000, "memory": 400_000, "tpu-v6e-slice": most}
    decision = look(hosts(count), at=where(most=limits))
    chips = sum(4 * growth.after.size for growth in decision.up.growths)
    assert chips <= most
    assert all(growth.after.size == 4 for growth in decision.up.growths)
    helped = sum(len(growth.pods) for growth in decision.up.growths)
    assert helped + len(decision.up.unhelped) == count
    assert helped == min(count, 4 * (most // 16))
