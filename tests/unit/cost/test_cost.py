"""Costs worked out by hand, what a missing price does to a sum, and that sums add up."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest
from tpuplane.cost import PlatformCost, charging, cost
from tpuplane.cost.rates import rate
from tpuplane.plan import plan
from tpuplane.spec import load_stack, parse_platform
from tpuplane.spec.pools.hosts import Capacity
from tpuplane.tpu import PriceModel, catalogue

pytestmark = pytest.mark.unit

ACME = Path(__file__).parents[1] / "acme.yaml"


def costs_of(location: str, estimate: bool = False, **pools: dict[str, Any]) -> PlatformCost:
    description = {
        "name": "lab",
        "project": "tpuplane-lab",
        "clusters": {"main": {"location": location, "pools": pools}},
    }
    return cost(plan(parse_platform(description)), estimate=estimate)


def test_chips_times_price_at_the_minimum_and_at_full_scale() -> None:
    """v6e on demand is 2.70 in us-east5; 4x4 has 16 chips."""
    costs = costs_of(
        "us-east5",
        fixed={"generation": "v6e", "topology": "4x4", "zone": "us-east5-b", "slices": 2},
        scaling={
            "generation": "v6e",
            "topology": "4x4",
            "zone": "us-east5-b",
            "autoscaling": {"minSlices": 1, "maxSlices": 5},
        },
    )
    fixed, scaling = (pool.sum for pool in costs.pools)
    assert (fixed.min.usd_per_hour, fixed.max.usd_per_hour) == pytest.approx((86.40, 86.40))
    assert (scaling.min.usd_per_hour, scaling.max.usd_per_hour) == pytest.approx((43.20, 216.00))
    assert costs.total.max.usd_per_month == pytest.approx((86.40 + 216.00) * 730)


def test_what_auto_provisioning_may_add_is_shown_next_to_the_sums() -> None:
    """64 chips in all, 16 of them declared: 48 at 2.70."""
    pool = {"generation": "v6e", "topology": "4x4", "zone": "us-east5-b"}
    nap = {"limits": {"cpu": 4000, "memoryGb": 16000, "tpu": {"v6e": 64}}}
    cluster = {"location": "us-east5", "autoProvisioning": nap, "pools": {"fixed": pool}}
    description = {"name": "lab", "project": "tpuplane-lab", "clusters": {"main": cluster}}
    costs = cost(plan(parse_platform(description)))
    (provisioned,) = costs.provisioned
    assert provisioned.limit.up_to == 48
    assert provisioned.up_to.usd_per_hour == pytest.approx(48 * 2.7)
    assert costs.total.max.usd_per_hour == pytest.approx(16 * 2.7)


def test_each_capacity_has_its_own_price() -> None:
    pool = {"generation": "v6e", "topology": "2x2", "zone": "us-east5-b", "autoscaling": {"maxSlices": 1}}
    costs = costs_of(
        "us-east5", now={**pool}, maybe={**pool, "capacity": "spot"}, later={**pool, "capacity": "flex-start"}
    )
    by_capacity = {name: amounts.max.usd_per_hour for name, amounts in costs.by_capacity.items()}
    assert by_capacity == pytest.approx({"on-demand": 4 * 2.7, "spot": 4 * 1.4033, "flex-start": 4 * 1.35})


def test_how_every_capacity_is_charged_is_on_record() -> None:
    assert set(charging().models) == set(get_args(Capacity))
    assert set(charging().models.values()) <= set(get_args(PriceModel))
    assert set(charging().notes) <= set(get_args(Capacity))


def test_a_region_without_a_price_has_none() -> None:
    """v5e spot is on record for us-west4 and asia-southeast1 only."""
    assert rate("v5e", "us-central1", "spot").price is None
    assert "for us-central1, only for asia-southeast1, us-west4" in rate("v5e", "us-central1", "spot").reason
    costs = costs_of("us-central1", sweeps={"generation": "v5e", "topology": "4x4", "capacity": "spot"})
    assert costs.total.max.missing == ("lab-main sweeps",)
    assert not costs.total.max.known


def test_a_pool_without_a_price_costs_nothing_while_it_has_no_slices() -> None:
    pool = {"generation": "v5e", "topology": "4x4", "capacity": "spot", "autoscaling": {"maxSlices": 2}}
    total = costs_of("us-central1", sweeps=pool).total
    assert (total.min.usd_per_hour, total.min.missing, total.min.known) == (0, (), True)
    assert total.max.missing == ("lab-main sweeps",)


def test_an_estimate_takes_the_dearest_price_of_the_continent_and_says_so() -> None:
    near = rate("v5e", "us-central1", "spot", estimate=True)
    assert near.stand_in
    assert near.price is not None
    assert (near.price.region, near.price.usd_per_chip_hour) == ("us-west4", 0.5779)
    far = rate("v5e", "europe-west4", "spot", estimate=True)
    assert far.price is not None
    assert (far.price.region, far.price.usd_per_chip_hour) == ("asia-southeast1", 0.78)
    pool = {"generation": "v5e", "topology": "4x4", "capacity": "spot"}
    total = costs_of("us-central1", estimate=True, sweeps=pool).total.max
    assert (total.estimated, total.missing) == (("lab-main sweeps",), ())
    assert total.usd_per_hour == pytest.approx(16 * 0.5779)


def test_an_estimate_leaves_a_price_alone_that_is_on_record() -> None:
    for price in catalogue().prices:
        if price.model in charging().models.values():
            found = rate(price.generation, price.region, price.model, estimate=True)
            assert found == rate(price.generation, price.region, price.model)
            assert not found.stand_in


def test_what_has_no_price_anywhere_is_not_guessed() -> None:
    found = rate("tpu7x", "us-central1", "spot", estimate=True)
    assert found.price is None
    assert found.reason == "no spot price of tpu7x is on record for any region"


@pytest.mark.parametrize("estimate", [False, True])
def test_sums_by_cluster_and_by_capacity_add_up(estimate: bool) -> None:
    costs = cost(plan(load_stack(ACME)), estimate=estimate)
    total = costs.total.max.usd_per_hour
    clusters = dict.fromkeys(pool.cluster for pool in costs.pools)
    assert sum(costs.of_cluster(name).max.usd_per_hour for name in clusters) == pytest.approx(total)
    assert sum(amounts.max.usd_per_hour for amounts in costs.by_capacity.values()) == pytest.approx(total)
    assert costs.total.min.usd_per_hour <= total


def test_the_age_of_a_cost_is_that_of_its_oldest_price() -> None:
    dated = costs_of("us-central2-b", cubes={"generation": "v4", "topology": "2x2x2"})
    assert (dated.oldest, dated.sources) == ("2026-10", ("sgl",))
    undated = costs_of("us-central2-b", cubes={"generation": "v4", "topology": "2x2x2", "capacity": "spot"})
    assert (undated.oldest, undated.sources) == (None, ("gpuhunt",))
