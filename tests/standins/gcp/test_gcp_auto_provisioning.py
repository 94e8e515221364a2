"""Node auto-provisioning through component, provider and API: on, changed in place, off, without a lasting diff."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.components.deployment import deploy_platform
from tests.support.providers.gcp_driver import CLUSTER, Deployed, Driver
from tests.support.providers.platform_on_api import deploy_on
from tests.support.spec.rule_table import described

pytestmark = pytest.mark.twin

ON: dict[str, Any] = {
    "limits": {"cpu": 4000, "memoryGb": 16000, "tpu": {"v6e": 64}},
    "autoscalingProfile": "OPTIMIZE_UTILIZATION",
}


def description(nap: dict[str, Any] | None) -> dict[str, Any]:
    cluster: dict[str, Any] = {} if nap is None else {"autoProvisioning": nap}
    return described({"pool": {"generation": "v6e", "topology": "4x4"}, "cluster": cluster})


def asked(nap: dict[str, Any] | None) -> Any:
    return deploy_platform(description(nap)).one(CLUSTER, "platform-main").inputs["clusterAutoscaling"]


def made(driver: Driver, nap: dict[str, Any] | None) -> Deployed:
    return next(
        created.resource for created in deploy_on(driver, description(nap), {}) if created.resource.urn.type == CLUSTER
    )


def test_it_is_changed_in_place_and_taken_away_again(driver: Driver) -> None:
    cluster = made(driver, None)
    email = cluster.inputs["nodeConfig"]["serviceAccount"]
    for nap in (ON, {**ON, "limits": {"cpu": 8000, "memoryGb": 32000, "tpu": {"v6e": 64, "v5e": 32}}}, None):
        block = asked(nap)
        if nap is not None:
            block["autoProvisioningDefaults"]["serviceAccount"] = email
        changes = driver.diff(cluster, "nodeConfig", clusterAutoscaling=block).changes
        assert changes
        assert not any(change.replaces for change in changes.values()), changes
        cluster = driver.update(cluster, "nodeConfig", clusterAutoscaling=block)
        found = driver.refresh(cluster)
        assert found is not None
        assert not driver.diff(found, "nodeConfig", clusterAutoscaling=block).changes
        state = found.state["clusterAutoscaling"]
        assert state["enabled"] is (nap is not None)
        assert len(state["resourceLimits"]) == len(block["resourceLimits"])


def test_a_key_for_boot_disks_replaces_the_cluster(driver: Driver) -> None:
    cluster = made(driver, ON)
    block = asked(ON)
    block["autoProvisioningDefaults"]["serviceAccount"] = cluster.inputs["nodeConfig"]["serviceAccount"]
    block["autoProvisioningDefaults"]["bootDiskKmsKey"] = "projects/p/locations/l/keyRings/r/cryptoKeys/k"
    changes = driver.diff(cluster, "nodeConfig", clusterAutoscaling=block).changes
    assert [path for path, change in changes.items() if change.replaces] == [
        "clusterAutoscaling.autoProvisioningDefaults.bootDiskKmsKey"
    ]
