"""What lives inside a cluster: reached without a stored credential, and gone when its cluster is gone."""

from __future__ import annotations

import json

import pytest

from tests.support.components.deployment import Deployment, Inputs, deploy_platform

pytestmark = pytest.mark.components


@pytest.mark.parametrize("key", ["central1", "central2"])
def test_the_provider_is_bound_to_its_cluster(deployed: Deployment, key: str) -> None:
    """Without clusterIdentifier, a label of the cluster would replace the provider and everything in the cluster."""
    provider = deployed.one("providers:kubernetes", f"platform-{key}")
    cluster = deployed.one("container/cluster:Cluster", f"platform-{key}")
    place = f"projects/tpuplane-lab/locations/{cluster.inputs['location']}/clusters/lab-{key}"
    assert provider.inputs["clusterIdentifier"] == place
    assert list(provider.request.propertyDependencies["kubeconfig"].urns) == [cluster.urn]


def test_the_identifier_is_known_while_the_cluster_is_being_replaced(deployed: Deployment) -> None:
    """An unknown one makes the engine close the provider before it has deleted the old cluster's objects."""
    for provider in deployed.all("providers:kubernetes"):
        assert list(provider.request.propertyDependencies["clusterIdentifier"].urns) == []


def test_a_changed_label_of_the_cluster_changes_nothing_inside_it(two_clusters: Inputs) -> None:
    before = deploy_platform(two_clusters)
    two_clusters["labels"] = {"environment": "other"}
    after = deploy_platform(two_clusters)
    for kind in ("providers:kubernetes", ":Namespace"):
        assert len(before.all(kind)) == 2
        assert before.inputs(kind) == after.inputs(kind)
    assert before.inputs("cluster:Cluster") != after.inputs("cluster:Cluster")


def test_the_kubeconfig_verifies_the_server_and_asks_a_plugin_for_the_token(deployed: Deployment) -> None:
    config = json.loads(deployed.one("providers:kubernetes", "platform-central2").inputs["kubeconfig"])
    assert config["current-context"] == "gke_tpuplane-lab_us-central2-b_lab-central2"
    (cluster,), (user,) = config["clusters"], config["users"]
    assert cluster["cluster"] == {"server": "https://lab-central2.example", "certificate-authority-data": "Q0E="}
    assert user["user"].keys() == {"exec"}
    assert user["user"]["exec"]["command"] == "gke-gcloud-auth-plugin"
    assert user["user"]["exec"]["interactiveMode"] == "Never"
    assert "env" not in user["user"]["exec"]


def test_in_cluster_objects_go_and_come_with_their_cluster(deployed: Deployment) -> None:
    objects = [resource for resource in deployed.custom() if resource.type.startswith("kubernetes:")]
    assert len(objects) == 2
    for object_ in objects:
        key = object_.name.split("-")[1]
        cluster = deployed.one("container/cluster:Cluster", f"platform-{key}").urn
        provider = deployed.one("providers:kubernetes", f"platform-{key}")
        assert object_.request.deletedWith == cluster
        assert object_.request.deleteBeforeReplace, "after a kill, older engines delete the new one"
        assert set(object_.request.replace_with) == {
            cluster,
            deployed.one("serviceaccount/account:Account", f"platform-{key}-nodes").urn,
            deployed.one(":Subnetwork", f"platform-lab-{key}").urn,
            deployed.one("compute/network:Network").urn,
        }
        assert object_.request.provider.startswith(f"{provider.urn}::")


def test_namespaces_enforce_the_baseline_and_tell_what_is_not_restricted(deployed: Deployment) -> None:
    metadata = deployed.one(":Namespace", "platform-central1-research").inputs["metadata"]
    assert metadata["name"] == "research"
    levels = {key.rpartition("/")[2]: value for key, value in metadata["labels"].items() if "pod-security" in key}
    assert levels == {"enforce": "baseline", "warn": "restricted", "audit": "restricted"}


def test_a_preview_works_before_any_cluster_exists(two_clusters: Inputs) -> None:
    previewed = deploy_platform(two_clusters, preview=True)
    assert previewed.registrations.keys() == deploy_platform(two_clusters).registrations.keys()
