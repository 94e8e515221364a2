"""The operators and queues in adopted clusters."""

from __future__ import annotations

from typing import Any

import pytest
from tpuplane.adopt.inside import Inside, cluster_at, left_inside, teams

from tests.support.existing import Json, adopted, cluster

pytestmark = pytest.mark.unit


def deployment(name: str, **metadata: Any) -> Json:
    containers = [{"image": f"registry.example/{name}:v0.17.1@sha256:00"}]
    return {"metadata": {"name": name, **metadata}, "spec": {"template": {"spec": {"containers": containers}}}}


def test_operators_and_queues_stay_as_they_are() -> None:
    inside: Inside = {
        "operators": [
            deployment("kueue-controller-manager", namespace="kueue-system"),
            deployment("kuberay-operator", namespace="gke-managed-ray-operator"),
        ],
        "queues": [{"metadata": {"name": "cluster-queue"}}],
    }
    assert [left.what for left in left_inside("xpk-test", inside)] == [
        "cluster xpk-test, Kueue v0.17.1 in kueue-system",
        "cluster xpk-test, KubeRay v0.17.1 in gke-managed-ray-operator",
        "cluster xpk-test, cluster queues cluster-queue",
    ]


def queues_of_xpk(quota: str, namespace: str) -> Inside:
    """The objects of src/xpk/templates/kueue_config.yaml.j2."""
    labels = {"cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice", "cloud.google.com/gke-tpu-topology": "4x4"}
    flavor = {"name": "2xv6e-16", "resources": [{"name": "google.com/tpu", "nominalQuota": quota}]}
    return {
        "queues": [{"metadata": {"name": "cluster-queue"}, "spec": {"resourceGroups": [{"flavors": [flavor]}]}}],
        "local_queues": [
            {
                "metadata": {"namespace": namespace, "name": "multislice-queue"},
                "spec": {"clusterQueue": "cluster-queue"},
            }
        ],
        "flavors": [{"metadata": {"name": "2xv6e-16"}, "spec": {"nodeLabels": labels}}],
    }


def test_queues_are_described_as_teams() -> None:
    found = teams(adopted(cluster("xpk-test")), "xpk-test", queues_of_xpk("32", "ml"))
    quota = {"xpk-test": {"pools": {"xpk-test-np": {"chips": 32}}}}
    assert found == {"cluster-queue": {"namespaces": ["ml"], "queue": "multislice-queue", "clusters": quota}}


def test_a_flavor_without_labels_of_gke_selects_no_pool() -> None:
    inside = queues_of_xpk("32", "ml")
    inside["flavors"][0]["spec"]["nodeLabels"] = {"team": "ml"}
    found = teams(adopted(cluster("xpk-test")), "xpk-test", inside)
    assert found["cluster-queue"]["clusters"] == {"xpk-test": {}}


def test_a_cluster_is_found_by_the_address_of_its_control_plane() -> None:
    found = {**cluster("xpk-test"), "endpoint": "203.0.113.9"}
    assert cluster_at(adopted(found), [found], "https://203.0.113.9") == "xpk-test"
    assert cluster_at(adopted(found), [found], "https://203.0.113.99") is None
