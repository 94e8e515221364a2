"""Ray's dashboard: where its head finds Grafana and Prometheus, what is collected of it, and libtpu's logs."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError
from tpuplane.spec.core.rules import spec_data
from tpuplane.spec.observability import frontend_url
from tpuplane.workloads import RayClusterSpec, ray_cluster_manifest

pytestmark = pytest.mark.unit


def body(*, autoscaling: bool = False, **head: Any) -> dict[str, Any]:
    """`spec` of a Ray cluster on one v6e 4x4 slice."""
    workers = {"tpu": {"generation": "v6e", "topology": "4x4", "image": "rayproject/ray:2.52.0"}}
    described = {"namespace": "research", "workers": workers, "head": head, "autoscaling": autoscaling}
    manifest = ray_cluster_manifest("train", RayClusterSpec.model_validate(described))
    return dict(manifest["spec"])


def head_container(**described: Any) -> dict[str, Any]:
    (container,) = body(**described)["headGroupSpec"]["template"]["spec"]["containers"]
    return dict(container)


def environment(**dashboard: Any) -> dict[str, Any]:
    """The head's environment: values as they are, and where the others come from."""
    given = head_container(dashboard=dashboard)["env"]
    return {entry["name"]: entry.get("value", entry.get("valueFrom")) for entry in given}


def test_a_head_without_charts_gets_no_address() -> None:
    assert "env" not in head_container()


def test_grafana_is_enough_where_the_platform_answers_queries() -> None:
    found = environment(grafanaHost="http://grafana.tools.svc:3000")
    assert found["RAY_GRAFANA_HOST"] == found["RAY_GRAFANA_IFRAME_HOST"] == "http://grafana.tools.svc:3000"
    assert found["RAY_PROMETHEUS_HOST"] == frontend_url() == "http://frontend.tpuplane-monitoring.svc:9090"
    assert (found["RAY_PROMETHEUS_NAME"], found["RAY_GRAFANA_ORG_ID"]) == ("Prometheus", "1")
    assert "RAY_PROMETHEUS_HEADERS" not in found
    # A RayJob's cluster gets its name from KubeRay: only the pod's label tells it.
    assert found["RAY_GRAFANA_CLUSTER_FILTER"] == {"fieldRef": {"fieldPath": "metadata.labels['ray.io/cluster']"}}


def test_another_prometheus_is_asked_with_headers_that_no_state_holds() -> None:
    found = environment(
        grafanaHost="https://grafana.example.com/ray",
        grafanaIframeHost="https://charts.example.com",
        grafanaOrgId=7,
        prometheusHost="https://metrics.example.com",
        prometheusName="Thanos",
        prometheusHeaders={"secret": "thanos"},
    )
    assert found["RAY_GRAFANA_IFRAME_HOST"] == "https://charts.example.com"
    assert (found["RAY_GRAFANA_ORG_ID"], found["RAY_PROMETHEUS_NAME"]) == ("7", "Thanos")
    assert found["RAY_PROMETHEUS_HOST"] == "https://metrics.example.com"
    assert found["RAY_PROMETHEUS_HEADERS"] == {"secretKeyRef": {"name": "thanos", "key": "headers"}}


@pytest.mark.parametrize("address", ["grafana:3000", "http://", "http://grafana/", "http://grafana?org=1", "ftp://a"])
def test_an_address_that_ray_cannot_extend_is_rejected(address: str) -> None:
    with pytest.raises(ValidationError, match="is not an address; allowed: http://HOST"):
        body(dashboard={"grafanaHost": address})


@pytest.mark.parametrize("autoscaling", [False, True])
def test_a_heads_metrics_have_ports_of_the_names_that_are_collected(autoscaling: bool) -> None:
    ports = {entry["name"]: entry["containerPort"] for entry in head_container(autoscaling=autoscaling)["ports"]}
    collected = {endpoint["port"] for endpoint in spec_data("observability")["scrapes"]["ray"]["endpoints"]}
    assert collected - ports.keys() == (set() if autoscaling else {"as-metrics"})
    assert len(set(ports.values())) == len(ports)


def test_libtpus_logs_have_a_folder_before_ray_starts() -> None:
    (group,) = body()["workerGroupSpecs"]
    pod = group["template"]["spec"]
    (volume,), (mount,) = pod["volumes"], pod["containers"][0]["volumeMounts"]
    assert mount == {"name": volume["name"], "mountPath": "/tmp/tpu_logs"}
    assert volume["emptyDir"] == {}
