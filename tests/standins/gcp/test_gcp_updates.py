"""What an update sends: nothing that is ignored, each change alone, and an error for what no request carries."""

from __future__ import annotations

import pytest
from tpuplane_standins.providers.contract import InitFailed, ProviderError

from tests.support.providers.gcp_driver import CLUSTER, NODE_POOL, Deployed, Driver, cluster_inputs, pool_inputs
from tests.support.providers.google_api import GoogleApi

pytestmark = pytest.mark.twin

C1 = "/v1beta1/projects/acme/locations/us-central1/clusters/c1"
POOL = f"{C1}/nodePools/slice"
RANGES = {"clusterSecondaryRangeName": "pods", "servicesSecondaryRangeName": "services"}
DEFAULTS = "nodePoolDefaults"


def sent(api: GoogleApi) -> list[tuple[str, str, object]]:
    """The requests that change something."""
    return [(item.method, item.path, item.body) for item in api.requests if item.method != "GET"]


def test_an_update_sends_nothing_of_what_is_ignored(api: GoogleApi, driver: Driver, cluster: Deployed) -> None:
    pool = driver.create(NODE_POOL, "slice", **pool_inputs())
    pool.state["nodeCount"] = 3
    api.requests.clear()
    driver.update(pool, "nodeCount", nodeCount=1, nodeConfig={**pool_inputs()["nodeConfig"], "labels": {"a": "b"}})
    assert sent(api) == [("PUT", POOL, {"name": "slice", "labels": {"labels": {"a": "b"}}})]


@pytest.mark.parametrize(
    ("ignore", "left"),
    [
        ('nodeConfig.labels["team"]', {'nodeConfig.labels["a/b"]'}),
        ('nodeConfig.labels["a/b"]', {"nodeConfig.labels.team"}),
        ("nodeConfig.labels[*]", set()),
        ('nodeConfig["labels"]', set()),
        ("*.labels", set()),
        ("nodeConfig.tags", {"nodeConfig.labels.team", 'nodeConfig.labels["a/b"]'}),
    ],
)
def test_paths_of_what_is_ignored(driver: Driver, cluster: Deployed, ignore: str, left: set[str]) -> None:
    config = pool_inputs()["nodeConfig"]
    pool = driver.create(NODE_POOL, "slice", **pool_inputs(nodeConfig={**config, "labels": {"team": "1", "a/b": "1"}}))
    labels = {"team": "2", "a/b": "2"}
    assert driver.diff(pool, ignore, nodeConfig={**config, "labels": labels}).changes.keys() == left


@pytest.mark.parametrize(
    ("name", "value", "field", "expected"),
    [
        ("allowNetAdmin", True, "desiredAutopilotWorkloadPolicyConfig", {"allowNetAdmin": True}),
        ("clusterTelemetry", {"type": "ENABLED"}, "desiredClusterTelemetry", {"type": "ENABLED"}),
        ("workloadAltsConfig", {"enableAlts": True}, "desiredWorkloadAltsConfig", {"enableAlts": True}),
        ("ipAllocationPolicy", {**RANGES, "autoIpamConfig": {"enabled": True}}, "desiredAutoIpamConfig", None),
        (
            "nodePoolAutoConfig",
            {"resourceManagerTags": {"tagKeys/1": "tagValues/2"}},
            "desiredNodePoolAutoConfigResourceManagerTags",
            {"tags": {"tagKeys/1": "tagValues/2"}},
        ),
        (
            "nodePoolAutoConfig",
            {"nodeKubeletConfig": {"insecureKubeletReadonlyPortEnabled": "FALSE"}},
            "desiredNodePoolAutoConfigKubeletConfig",
            {"insecureKubeletReadonlyPortEnabled": False},
        ),
        (DEFAULTS, {"nodeConfigDefaults": {"gcfsConfig": {"enabled": True}}}, "desiredGcfsConfig", {"enabled": True}),
    ],
)
def test_a_change_of_a_cluster_is_sent_alone(
    api: GoogleApi, driver: Driver, cluster: Deployed, name: str, value: object, field: str, expected: object
) -> None:
    changed = driver.update(cluster, **{name: value})
    [(method, path, body)] = sent(api)
    assert (method, path) == ("PUT", C1)
    assert body["update"] == {field: expected or {"enabled": True}}
    assert not driver.changes(changed)


@pytest.mark.parametrize(
    ("path", "inputs"),
    [
        (
            "ipAllocationPolicy.additionalPodRangesConfig",
            {"ipAllocationPolicy": {**RANGES, "additionalPodRangesConfig": {"podRangeNames": ["more"]}}},
        ),
        (
            "maintenancePolicy.recurringMaintenanceWindow",
            {
                "maintenancePolicy": {
                    "recurringMaintenanceWindow": {
                        "windowStartTime": {"hours": 1, "minutes": 0, "seconds": 0},
                        "windowDuration": "14400s",
                        "recurrence": "FREQ=WEEKLY",
                    }
                }
            },
        ),
        (
            "maintenancePolicy.disruptionBudget",
            {
                "maintenancePolicy": {
                    "dailyMaintenanceWindow": {"startTime": "03:00"},
                    "disruptionBudget": {"minorVersionDisruptionInterval": "86400s"},
                }
            },
        ),
        ("nodeVersion", {"nodeVersion": "1.35.1-gke.1"}),
        ("rollbackSafeUpgrade", {"rollbackSafeUpgrade": {"controlPlaneSoakDuration": "21600s"}}),
    ],
)
def test_what_no_request_of_a_cluster_carries_is_an_error(
    api: GoogleApi, driver: Driver, cluster: Deployed, path: str, inputs: dict[str, object]
) -> None:
    with pytest.raises(InitFailed, match=f"{path}: this stand-in for the gcp provider does not serve"):
        driver.update(cluster, **inputs)
    with pytest.raises(ProviderError, match=f"{path}: this stand-in for the gcp provider does not serve"):
        driver.create(CLUSTER, "c2", **{**cluster_inputs(name="c2"), **inputs})
    assert sent(api) == []


def test_an_inline_node_pool_is_an_error_in_an_update(api: GoogleApi, driver: Driver, cluster: Deployed) -> None:
    with pytest.raises(InitFailed, match="nodePools: this stand-in for the gcp provider does not serve"):
        driver.update(cluster, nodePools=[{"name": "inline", "nodeCount": 1}])
    assert sent(api) == []
