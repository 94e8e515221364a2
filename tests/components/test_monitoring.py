"""What is measured, shown and told: who may read what, in which order, and that the project's objects say the plan."""

from __future__ import annotations

from typing import Any

import pytest
from tpuplane.spec.observability import frontend_url

from tests.support.components.deployment import Deployment, Inputs, deploy_platform

pytestmark = pytest.mark.components

GMP = "kubernetes:monitoring.googleapis.com/v1"
CHANNEL = "projects/tpuplane-lab/notificationChannels/1"


@pytest.fixture
def watched(lab: Inputs) -> Deployment:
    lab["observability"] = {"notificationChannels": [CHANNEL]}
    lab["clusters"]["central1"]["addons"] = {"kueue": {}, "monitoring": {}}
    return deploy_platform(lab)


def of_type(deployment: Deployment, ending: str) -> list[Any]:
    return [resource for resource in deployment.custom() if resource.type.endswith(ending)]


def test_alerts_reach_the_channels(watched: Deployment) -> None:
    alerts = of_type(watched, ":AlertPolicy")
    assert {resource.inputs["displayName"] for resource in alerts} == {"Slice down", "Idle chips", "Queue starved"}
    for alert in alerts:
        assert alert.inputs["notificationChannels"] == [CHANNEL]
        (condition,) = alert.inputs["conditions"]
        assert condition["conditionPrometheusQueryLanguage"]["query"]


def test_the_dashboard_comes_after_the_metric_that_it_shows(watched: Deployment) -> None:
    (dashboard,), (metric,) = of_type(watched, ":Dashboard"), of_type(watched, "logging/metric:Metric")
    assert metric.urn in dashboard.request.dependencies
    assert "user_tpuplane_lab_libtpu_errors" in dashboard.inputs["dashboardJson"]
    assert metric.inputs["name"] == "tpuplane/lab/libtpu_errors"


def test_kueues_metrics_are_read_with_an_account_that_may_nothing_else(watched: Deployment) -> None:
    (kueue,) = [
        monitor for monitor in of_type(watched, "PodMonitoring") if monitor.inputs["metadata"]["name"] == "kueue"
    ]
    credentials = kueue.inputs["spec"]["endpoints"][0]["authorization"]["credentials"]["secret"]
    (token,) = [secret for secret in of_type(watched, ":Secret") if secret.name.endswith("monitoring-kueue-token")]
    assert token.inputs["metadata"]["name"] == credentials["name"]
    assert "data" not in token.inputs
    assert "stringData" not in token.inputs
    (role,) = [
        resource for resource in of_type(watched, ":ClusterRole") if resource.name.endswith("monitoring-kueue-metrics")
    ]
    assert role.inputs["rules"] == [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]
    (reading,) = [
        resource for resource in of_type(watched, "v1:Role") if resource.name.endswith("monitoring-kueue-token")
    ]
    assert reading.inputs["rules"][0]["resourceNames"] == [token.inputs["metadata"]["name"]]
    assert token.urn in kueue.request.dependencies


def test_what_is_in_the_cluster_goes_with_it(watched: Deployment) -> None:
    (cluster,) = of_type(watched, "container/cluster:Cluster")
    for scrape in of_type(watched, "PodMonitoring"):
        assert scrape.type.startswith(GMP)
        assert scrape.request.deletedWith == cluster.urn


def test_a_frontend_may_read_metrics_by_its_identity_and_nothing_else(lab: Inputs) -> None:
    lab["clusters"]["central1"]["addons"] = {"monitoring": {"frontend": {}}}
    network = {"nodesCidr": "10.1.0.0/20", "podsCidr": "10.68.0.0/14", "servicesCidr": "10.33.0.0/20"}
    addons = {"monitoring": {"frontend": {"replicas": 1}}}
    lab["clusters"]["east5"] = {"location": "us-east5", "network": network, "addons": addons}
    made = deploy_platform(lab)
    frontends = [
        deployment for deployment in of_type(made, ":Deployment") if deployment.inputs["metadata"]["name"] == "frontend"
    ]
    assert sorted(resource.inputs["spec"]["replicas"] for resource in frontends) == [1, 2]
    # One identity for both clusters, and so one binding: with two, removing either would end the other's.
    (grant,) = [resource for resource in of_type(made, ":IAMMember") if "svc.id.goog" in resource.inputs["member"]]
    assert grant.inputs["role"] == "roles/monitoring.viewer"
    # The first cluster brings the project's identity pool, without which Google rejects the member.
    assert {cluster.urn for cluster in of_type(made, "container/cluster:Cluster")} <= set(grant.request.dependencies)
    for frontend in frontends:
        pod = frontend.inputs["spec"]["template"]["spec"]
        namespace, account = frontend.inputs["metadata"]["namespace"], pod["serviceAccountName"]
        assert grant.inputs["member"] == f"serviceAccount:tpuplane-lab.svc.id.goog[{namespace}/{account}]"
        assert pod["automountServiceAccountToken"] is False
        bindings = of_type(made, "RoleBinding")
        assert account not in {subject["name"] for binding in bindings for subject in binding.inputs["subjects"]}
    (budget,) = of_type(made, ":PodDisruptionBudget")
    assert budget.inputs["spec"]["minAvailable"] == 1


def test_ray_asks_the_frontend_by_its_own_address(lab: Inputs) -> None:
    lab["clusters"]["central1"]["addons"] = {"monitoring": {"frontend": {}}}
    (service,) = [
        resource for resource in of_type(deploy_platform(lab), ":Service") if resource.name.endswith("frontend-service")
    ]
    named, (port,) = service.inputs["metadata"], service.inputs["spec"]["ports"]
    assert frontend_url() == f"http://{named['name']}.{named['namespace']}.svc:{port['port']:.0f}"


def test_nothing_is_measured_unasked(lab: Inputs) -> None:
    types = {resource.type for resource in deploy_platform(lab).custom()}
    assert not any("monitoring" in name or "logging" in name for name in types)
