"""What GPU pools cost, and that a pool without a price is said to be without one."""

from __future__ import annotations

from typing import Any

import pytest
from tpuplane.cost import PlatformCost, cost
from tpuplane.plan import plan
from tpuplane.spec import parse_platform

pytestmark = pytest.mark.unit


def costs_of(estimate: bool = False, **pools: dict[str, Any]) -> PlatformCost:
    cluster = {"location": "us-central1", "gpuPools": pools}
    spec = parse_platform({"name": "lab", "project": "tpuplane-lab", "clusters": {"main": cluster}})
    return cost(plan(spec), estimate=estimate)


def test_a_node_costs_its_host_and_its_gpus_in_every_zone() -> None:
    zones = ["us-central1-a", "us-central1-b"]
    pool = {"machineType": "g2-standard-12", "zones": zones, "capacity": "spot", "autoscaling": {"maxNodes": 3}}
    found = costs_of(serving=pool).total
    # 12 vCPUs with memory for 0.17621 and one L4 for 0.2231, as the listing has them.
    assert found.min.usd_per_hour == 0
    assert found.max.usd_per_hour == pytest.approx(2 * 3 * (0.17621 + 0.2231), rel=1e-3)


def test_a_pool_without_a_price_is_missing_from_the_sum() -> None:
    found = costs_of(
        known={"accelerator": "nvidia-h100-mega-80gb", "zones": ["us-central1-a"]},
        unknown={"accelerator": "nvidia-b200", "capacity": "spot"},
    )
    assert found.total.max.missing == ("lab-main unknown",)
    assert found.total.max.usd_per_hour == pytest.approx(9.46006 + 82.75421, rel=1e-3)
    (reason,) = (pool.rate.reason for pool in found.pools if pool.pool.name == "unknown")
    assert reason == "no spot price of a4-highgpu-8g is on record for any region"


def test_an_estimate_takes_the_dearest_price_of_the_continent() -> None:
    pool = {"machineType": "a3-highgpu-8g", "zones": ["us-central1-a"]}
    assert costs_of(training=pool).total.max.missing
    estimated = costs_of(estimate=True, training=pool)
    (rate,) = (pool.rate for pool in estimated.pools)
    assert rate.stand_in
    assert rate.price is not None
    assert rate.price.region == "us-east5"
