"""Every rule of the spec's table against Google's API: the right platform is made, the broken one rejected by GKE."""

from __future__ import annotations

from typing import Any

import pytest
from tpuplane_standins.providers.contract import InitFailed, ProviderError

from tests.support.providers.gcp_driver import NODE_POOL, Driver
from tests.support.providers.platform_on_api import deploy_on
from tests.support.spec.rule_table import ROWS, described, names

pytestmark = pytest.mark.twin

# Left out: hundreds of pools, slices that already have a workload policy, and existing clusters.
LEFT_OUT = ("cluster-nodes", "pool-workload-policy")
MADE = [row for row in ROWS if row["rule"] not in LEFT_OUT and "existing" not in row["right"].get("cluster", {})]
KNOWN_TO_GKE = [row for row in ROWS if "api" in row]


@pytest.mark.parametrize("row", MADE, ids=names(MADE))
def test_the_right_side_is_made_and_stays_as_it_is(row: dict[str, Any], driver: Driver) -> None:
    made = list(deploy_on(driver, described(row["right"]), {}))
    assert any(made_one.resource.urn.type == NODE_POOL for made_one in made)
    for resource, ignored in made:
        found = driver.refresh(resource)
        assert found is not None
        assert not driver.diff(found, *ignored).changes, resource.urn


@pytest.mark.parametrize("row", KNOWN_TO_GKE, ids=names(KNOWN_TO_GKE))
def test_what_breaks_it_is_rejected_by_gke_too(row: dict[str, Any], driver: Driver) -> None:
    with pytest.raises((ProviderError, InitFailed)) as rejected:
        list(deploy_on(driver, described(row["right"]), row["api"]["change"]))
    assert row["api"]["rejection"] in str(rejected.value)
