"""An existing cluster: pools and objects are added to it, and it is no resource of the stack."""

from __future__ import annotations

import json
from typing import Any, cast

import pulumi
import pytest
from tpuplane import ClusterRef, ExistingCluster, SpecError, TpuNodePool, TpuNodePoolArgs
from tpuplane.gke.kubernetes_access import dns_authority

from tests.support.components.deployment import Deployment, Inputs, deploy, deploy_platform

pytestmark = pytest.mark.components

ACCOUNT = "nodes@acme-ml.iam.gserviceaccount.com"
REF: ClusterRef = {"project": "acme-ml", "name": "shared", "location": "us-central1", "service_account": ACCOUNT}


def described(**cluster: Any) -> Inputs:
    shared = {"location": "us-central1", "existing": {"name": "shared"}, **cluster}
    return {"name": "acme", "project": "acme-ml", "clusters": {"central": shared}}


@pytest.fixture(scope="module")
def added() -> Deployment:
    pools = {"trainer": {"generation": "v6e", "topology": "4x4", "slices": 2}}
    return deploy_platform(described(namespaces=["research"], pools=pools))


def test_only_pools_identity_and_objects_are_made(added: Deployment) -> None:
    kinds = {resource.type.rpartition(":")[2] for resource in added.custom()}
    assert kinds == {"Account", "IAMMember", "NodePool", "Namespace"}
    assert {pool.inputs["name"] for pool in added.all(":NodePool")} == {"trainer-0", "trainer-1"}
    assert {pool.inputs["cluster"] for pool in added.all(":NodePool")} == {"shared"}


def test_added_nodes_run_as_an_account_of_their_own(added: Deployment) -> None:
    for pool in added.all(":NodePool"):
        assert pool.inputs["nodeConfig"]["serviceAccount"] == "acme-central@acme-ml.iam.gserviceaccount.com"


def test_objects_are_deleted_before_their_cluster_which_stays(added: Deployment) -> None:
    """With `deletedWith` the engine would forget them, and they would stay in a cluster that is not deleted."""
    namespace = added.one(":Namespace")
    assert namespace.request.deletedWith == ""
    assert namespace.request.provider


def test_a_brought_account_is_used_and_not_made() -> None:
    pools = {"eval": {"generation": "v6e", "topology": "2x2"}}
    deployed = deploy_platform(described(nodeServiceAccount=ACCOUNT, pools=pools))
    assert not deployed.all(":Account")
    assert not deployed.all(":IAMMember")
    assert deployed.one(":NodePool").inputs["nodeConfig"]["serviceAccount"] == ACCOUNT


def test_the_dns_endpoint_has_a_certificate_that_every_system_trusts() -> None:
    by_name = deploy_platform(described(existing={"name": "shared", "dnsEndpoint": True}))
    by_address = deploy_platform(described())
    for deployed, cluster in (
        (by_name, {"server": "https://gke-shared.example.gke.goog"}),
        (by_address, {"server": "https://shared.example", "certificate-authority-data": "Q0E="}),
    ):
        config = json.loads(deployed.one("pulumi:providers:kubernetes").inputs["kubeconfig"])
        assert config["clusters"][0]["cluster"] == cluster


@pytest.mark.parametrize("endpoint", ["127.0.0.1:20001", "203.0.113.7"])
async def test_a_dns_endpoint_that_is_an_address_has_the_clusters_own_certificate(endpoint: str) -> None:
    assert await dns_authority(endpoint, "Q0E=").future() == "Q0E="


def test_a_pool_needs_no_platform() -> None:
    def program() -> None:
        cluster = ExistingCluster(
            "shared", {"project": "acme-ml", "name": "shared", "location": "us-central1", "service_account": ACCOUNT}
        )
        TpuNodePool(
            "trainer",
            {
                "cluster": cluster.ref,
                "generation": "v6e",
                "topology": "4x4",
                "slices": 2,
                "labels": {"team": "research"},
            },
        )

    deployed = deploy(program)
    pools = deployed.inputs(":NodePool")
    assert set(pools) == {"trainer-0", "trainer-1"}
    made = pools["trainer-1"]
    assert made["name"] == "trainer-1"
    assert made["cluster"] == "shared"
    assert made["nodeConfig"]["serviceAccount"] == ACCOUNT
    assert made["nodeConfig"]["resourceLabels"] == {"team": "research", "tpuplane-pool": "trainer"}


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"location": "us-centrl1"}, "location: 'us-centrl1' is not a Google Cloud region or zone"),
        ({"version": "abc"}, "version: 'abc' is not allowed; allowed: a GKE version"),
        ({"foo": 1}, "foo: unknown field; allowed: project, name, location"),
        ({"service_account": None}, "service_account: required by ExistingClusterArgs"),
        ({"service_account": "nope"}, "service_account: 'nope' is not allowed"),
        ({"project": "Bad!"}, "project: 'Bad!' is not allowed"),
    ],
)
def test_a_wrong_existing_cluster_is_rejected_by_its_own_arguments(change: Any, line: str) -> None:
    with pytest.raises(SpecError) as rejected:
        deploy(lambda: ExistingCluster("shared", cast(Any, REF | change)))
    assert str(rejected.value).startswith(f"ExistingCluster shared: {line}")


def test_a_cluster_that_cannot_be_read_is_named_with_its_component_and_a_remedy() -> None:
    with pytest.raises(pulumi.RunError) as rejected:
        deploy(lambda: ExistingCluster("shared", {**REF, "name": pulumi.Output.from_input("missing")}))
    message = str(rejected.value)
    assert message.startswith(
        "ExistingCluster shared: cluster 'missing' in location us-central1, project acme-ml cannot be read: projects/"
    )
    assert "`gcloud container clusters list --project acme-ml`" in message


def test_identities_of_an_added_pool_may_be_outputs() -> None:
    def program() -> None:
        ref: ClusterRef = {
            "project": pulumi.Output.from_input("acme-ml"),
            "name": pulumi.Output.from_input("shared"),
            "location": "us-central1",
            "service_account": pulumi.Output.from_input(ACCOUNT),
        }
        TpuNodePool("trainer", {"cluster": ref, "generation": "tpu7x", "topology": "2x2x2", "zone": "us-central1-c"})

    deployed = deploy(program)
    assert deployed.one(":ResourcePolicy").inputs["name"] == "shared-trainer-2x2x2"
    assert deployed.one(":NodePool").inputs["placementPolicy"]["policyName"] == "shared-trainer-2x2x2"


@pytest.mark.parametrize(
    ("args", "line"),
    [
        ({"generation": "v6e", "topology": "4x5"}, "topology: '4x5' is not a v6e topology"),
        ({"cluster": None}, "cluster: required"),
        ({"generation": "v6e", "topologie": "4x4"}, "; nearest: topology"),
        ({}, "generation: required"),
        (
            {"cluster": {**REF, "location": "mars"}, "generation": "v6e", "topology": "4x4"},
            "cluster.location: 'mars' is not a Google Cloud region",
        ),
        (
            {"cluster": {**REF, "version": "1.30"}, "generation": "v6e", "topology": "4x4"},
            "generation: 'v6e' needs GKE 1.31",
        ),
    ],
)
def test_a_wrong_pool_is_rejected_in_the_words_of_its_own_arguments(args: Any, line: str) -> None:
    with pytest.raises(SpecError) as rejected:
        deploy(lambda: TpuNodePool("trainer", cast(TpuNodePoolArgs, {"cluster": REF, **args})))
    assert line in str(rejected.value)
