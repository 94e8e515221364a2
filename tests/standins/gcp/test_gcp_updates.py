"""What an update sends: nothing that is ignored, each change alone, and an error for what no request carries."""

from __future__ import annotations

from typing import Any

import pytest
from tpuplane_standins.providers.contract import InitFailed, ProviderError

from tests.support.providers.gcp_driver import CLUSTER, NODE_POOL, Deployed, Driver, cluster_inputs, pool_inputs
from tests.support.providers.google_api import GoogleApi

pytestmark = pytest.mark.twin

C1 = "/v1beta1/projects/acme/locations/us-central1/clusters/c1"
POOL = f"{C1}/nodePools/slice"
RANGES = {"clusterSecondaryRangeName": "pods", "servicesSecondaryRangeName": "services"}
DEFAULTS = "nodePoolDefaults"
NO_COMPONENTS = {"componentConfig": {"enableComponents": list[str]()}}


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
    ("before", "after", "field", "expected"),
    [
        ({"masterAuthorizedNetworksConfig": None}, {"masterAuthorizedNetworksConfig": {}}, None, None),
        ({}, {"identityServiceConfig": {"enabled": False}}, "desiredIdentityServiceConfig", {}),
        (
            {"verticalPodAutoscaling": {"enabled": True}},
            {"verticalPodAutoscaling": {"enabled": False}},
            "desiredVerticalPodAutoscaling",
            {},
        ),
        (
            {"managedMachineLearningDiagnosticsConfig": {"enabled": True}},
            {"managedMachineLearningDiagnosticsConfig": {"enabled": False}},
            "desiredManagedMachineLearningDiagnosticsConfig",
            {},
        ),
        ({}, {DEFAULTS: {"nodeConfigDefaults": {"gcfsConfig": {"enabled": False}}}}, "desiredGcfsConfig", {}),
        (
            {"resourceUsageExportConfig": {"bigqueryDestination": {"datasetId": "usage"}}},
            {"resourceUsageExportConfig": None},
            "desiredResourceUsageExportConfig",
            {},
        ),
        ({}, {"loggingConfig": {"enableComponents": []}}, "desiredLoggingConfig", NO_COMPONENTS),
    ],
)
def test_a_block_that_is_empty_or_turns_everything_off_is_sent(
    api: GoogleApi,
    driver: Driver,
    subnetwork: Deployed,
    before: dict[str, Any],
    after: dict[str, Any],
    field: str | None,
    expected: object,
) -> None:
    given = {name: value for name, value in cluster_inputs(**before).items() if value is not None}
    cluster = driver.create(CLUSTER, "c1", **given)
    api.requests.clear()
    changed = driver.update(cluster, **after)
    [(_, _, body)] = sent(api)
    if field is None:
        authorized = body["update"]["desiredControlPlaneEndpointsConfig"]["ipEndpointsConfig"][
            "authorizedNetworksConfig"
        ]
        assert authorized["enabled"] is True
    else:
        assert body["update"] == {field: expected}
    assert not driver.changes(changed)


def test_no_components_of_logs_and_metrics_are_sent_with_a_new_cluster(
    api: GoogleApi, driver: Driver, subnetwork: Deployed
) -> None:
    none: dict[str, Any] = {"enableComponents": []}
    cluster = driver.create(CLUSTER, "c1", **cluster_inputs(loggingConfig=none, monitoringConfig=none))
    [created] = [body["cluster"] for method, path, body in sent(api) if path == C1.rpartition("/")[0]]
    assert (created["loggingConfig"], created["monitoringConfig"]) == (NO_COMPONENTS, NO_COMPONENTS)
    assert not driver.changes(cluster)


def test_labels_that_someone_else_changed_are_an_error_until_a_refresh(
    api: GoogleApi, driver: Driver, cluster: Deployed
) -> None:
    driver.update(cluster, resourceLabels={"team": "other"})
    api.requests.clear()
    with pytest.raises(InitFailed, match="fingerprint mismatch"):
        driver.update(cluster, resourceLabels={"team": "mine"})
    assert len(sent(api)) == 1
    found = driver.refresh(cluster)
    assert found is not None
    assert driver.update(found, resourceLabels={"team": "mine"}).state["resourceLabels"] == {"team": "mine"}


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
