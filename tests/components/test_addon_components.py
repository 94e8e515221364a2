"""Operators as they are registered: order, ownership, gate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.components.deployment import Deployment, Registration, deploy_platform

pytestmark = pytest.mark.components

CHART = "helm.sh/v4:Chart"
HOOKS = "platform-central1-addons-{}-gate"


@pytest.fixture(scope="module")
def deployed() -> Iterator[Deployment]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("TPUPLANE_CHART_MIRROR", raising=False)
        yield deploy_platform(
            {
                "name": "lab",
                "project": "tpuplane-lab",
                "clusters": {
                    "central1": {
                        "location": "us-central1",
                        "addons": {"kueue": {}, "jobset": {}, "ray": {"mode": "operator"}, "certManager": {}},
                        "namespaces": ["lab"],
                        "pools": {"trainer": {"generation": "v6e", "topology": "4x4"}},
                    }
                },
                "teams": {"research": {"clusters": {"central1": {"pools": {"trainer": {"slices": 1}}}}}},
            }
        )


def operator(deployed: Deployment, key: str, part: str = "") -> Registration:
    kinds = {"": CHART, "-namespace": ":Namespace", "-ready": ":ConfigMap"}
    return deployed.one(kinds[part], f"platform-central1-addons-{key}{part}")


def awaited(deployed: Deployment, resource: Registration) -> set[str]:
    return {deployed.registrations[urn].name for urn in resource.request.dependencies}


def test_charts_come_from_their_publishers_in_the_tested_release(deployed: Deployment) -> None:
    def source(key: str) -> tuple[Any, ...]:
        inputs = operator(deployed, key).inputs
        return inputs["chart"], inputs["version"], inputs.get("repositoryOpts"), inputs["name"], inputs["namespace"]

    assert source("kueue") == ("oci://registry.k8s.io/kueue/charts/kueue", "0.18.3", None, "kueue", "kueue-system")
    assert source("jobset") == ("oci://registry.k8s.io/jobset/charts/jobset", "0.12.0", None, "jobset", "jobset-system")
    repository = {"repo": "https://ray-project.github.io/kuberay-helm/"}
    assert source("ray") == ("kuberay-operator", "1.6.2", repository, "kuberay-operator", "ray-system")


def test_the_tpu_webhook_makes_its_own_namespace_after_its_certificates_and_kuberay(deployed: Deployment) -> None:
    prefix = "platform-central1-addons"
    chart = operator(deployed, "rayTpuWebhook")
    assert {f"{prefix}-certManager-ready", f"{prefix}-ray-ready"} <= awaited(deployed, chart)
    assert chart.inputs["values"]["tpuWebhook"]["namespace"]["name"] == chart.inputs["namespace"]
    namespaces = {namespace.inputs["metadata"]["name"] for namespace in deployed.all(":Namespace")}
    assert {"cert-manager", "ray-system", "kueue-system"} <= namespaces
    assert "kuberay-tpu-webhook" not in namespaces


def test_kueue_waits_for_the_gates_of_what_it_manages(deployed: Deployment) -> None:
    first = awaited(deployed, operator(deployed, "kueue", "-namespace"))
    assert {"platform-central1-addons-jobset-ready", "platform-central1-addons-ray-ready"} < first
    assert awaited(deployed, operator(deployed, "kueue")) == {"platform-central1-addons-kueue-namespace"}
    ready = operator(deployed, "kueue", "-ready")
    assert "platform-central1-addons-kueue" in awaited(deployed, ready)


def test_operators_start_on_nodes(deployed: Deployment) -> None:
    assert "platform-central1-system" in awaited(deployed, operator(deployed, "jobset", "-namespace"))


def test_the_gate_is_passed_by_whatever_makes_or_changes_the_marker(deployed: Deployment) -> None:
    for key in ("kueue", "jobset", "ray"):
        ready = operator(deployed, key, "-ready")
        hooks = ready.request.hooks
        assert list(hooks.before_create) == list(hooks.before_update) == [HOOKS.format(key)]
        # Nothing stands in the way of a deletion, which would need the program.
        assert not hooks.before_delete
        assert not hooks.after_delete
        assert "data" not in ready.inputs, "other data would replace it, and with it what depends on it"


def test_queues_come_after_every_gate_and_go_before_it(deployed: Deployment) -> None:
    """Complaints 5 and 18: one `up`, and a `destroy` that does not hang."""
    gates = {f"platform-central1-addons-{key}-ready" for key in ("kueue", "jobset", "ray")}
    objects = [
        registration
        for registration in deployed.registrations.values()
        if registration.type.startswith("kubernetes:kueue.x-k8s.io/")
    ]
    assert {object_.type.rpartition(":")[2] for object_ in objects} >= {
        "Topology",
        "ResourceFlavor",
        "ClusterQueue",
        "LocalQueue",
    }

    def before(resource: Registration) -> set[str]:
        direct = [deployed.registrations[urn] for urn in resource.request.dependencies]
        return {each.name for each in direct}.union(*(before(each) for each in direct))

    for object_ in objects:
        assert gates <= before(object_), object_.name


def test_namespaces_go_before_the_operators_that_take_finalizers_from_the_work_in_them(deployed: Deployment) -> None:
    namespace = deployed.one(":Namespace", "platform-central1-lab")
    assert {operator(deployed, key, "-ready").urn for key in ("ray", "jobset", "kueue")} <= set(
        namespace.request.dependencies
    )


def test_they_go_with_their_cluster(deployed: Deployment) -> None:
    cluster = deployed.one("container/cluster:Cluster").urn
    for key in ("kueue", "jobset", "ray"):
        for part in ("", "-namespace", "-ready"):
            assert operator(deployed, key, part).request.deletedWith == cluster


def test_only_crds_are_taken_over(deployed: Deployment) -> None:
    """Complaint 21: CRDs outlive their operator; all other existing objects belong to the user."""
    adopting = deployed.one("providers:kubernetes", "platform-central1-addons")
    assert adopting.inputs["upsertExistingObjects"] == "true"
    usual = deployed.one("providers:kubernetes", "platform-central1")
    assert "upsertExistingObjects" not in usual.inputs
    assert adopting.inputs["clusterIdentifier"] == usual.inputs["clusterIdentifier"]
    for key in ("kueue", "jobset", "ray"):
        chart = operator(deployed, key).request
        assert chart.provider.startswith(usual.urn) or usual.urn in str(chart.providers)


def test_a_platform_without_add_ons_has_nothing_of_them() -> None:
    plain = deploy_platform(
        {"name": "lab", "project": "tpuplane-lab", "clusters": {"main": {"location": "us-central1"}}}
    )
    assert [registration for registration in plain.registrations.values() if "addons" in registration.name] == []
