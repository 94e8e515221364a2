"""A cluster's options as the resource gets them: secure where nothing is said, and said where they are off."""

from __future__ import annotations

import json
from typing import Any, cast

import pulumi
import pytest
from tpuplane import Cluster, ComputeClass, SpecError, TpuNodePool

from tests.support.components.deployment import Deployment, Inputs, deploy_platform
from tests.support.components.deployment import deploy as run

pytestmark = pytest.mark.components

KEY = "projects/acme-keys/locations/us-central1/keyRings/ring/cryptoKeys/key"
POOLS = {"trainer": {"generation": "v6e", "topology": "4x4"}}
ROLE = "roles/cloudkms.cryptoKeyEncrypterDecrypter"


def deploy(**cluster: Any) -> Deployment:
    central = {"location": "us-central1", "pools": POOLS, **cluster}
    return deploy_platform({"name": "acme", "project": "acme-ml", "clusters": {"central": central}})


def made(**cluster: Any) -> Inputs:
    return deploy(**cluster).one("container/cluster:Cluster").inputs


def test_what_no_one_asked_for_is_secure_and_said() -> None:
    cluster = made()
    assert cluster["anonymousAuthenticationConfig"] == {"mode": "LIMITED"}
    assert cluster["securityPostureConfig"] == {"mode": "BASIC", "vulnerabilityMode": "VULNERABILITY_DISABLED"}
    assert cluster["binaryAuthorization"] == {"evaluationMode": "DISABLED"}
    assert cluster["databaseEncryption"] == {"state": "DECRYPTED"}
    assert cluster["secretManagerConfig"] == {"enabled": False}
    assert cluster["costManagementConfig"] == {"enabled": True}
    assert cluster["controlPlaneEndpointsConfig"] == {
        "dnsEndpointConfig": {"allowExternalTraffic": False},
        "ipEndpointsConfig": {"enabled": True},
    }
    drivers = {name: value["enabled"] for name, value in cluster["addonsConfig"].items() if "Csi" in name}
    assert drivers == {
        "gcePersistentDiskCsiDriverConfig": True,
        "gcsFuseCsiDriverConfig": False,
        "gcpFilestoreCsiDriverConfig": False,
        "lustreCsiDriverConfig": False,
    }
    assert "authenticatorGroupsConfig" not in cluster


def test_keys_are_made_for_the_one_agent_that_needs_each() -> None:
    deployed = deploy(security={"secretsEncryption": {}, "bootDiskEncryption": {}})
    (ring,) = deployed.all(":KeyRing")
    assert "name" not in ring.inputs, "Google never releases a name: a fixed one could not be created again"
    keys = deployed.inputs(":CryptoKey")
    assert {key["name"] for key in keys.values()} == {"secrets", "boot-disks"}
    assert {key["rotationPeriod"] for key in keys.values()} == {"7776000s"}
    number = "serviceAccount:service-123456789012"
    members = {
        (member["cryptoKeyId"], member["role"], member["member"])
        for member in deployed.inputs(":CryptoKeyIAMMember").values()
    }
    prefix = "projects/acme-ml/locations/us-central1/keyRings/platform-central-keys/cryptoKeys"
    assert members == {
        (f"{prefix}/secrets", ROLE, f"{number}@container-engine-robot.iam.gserviceaccount.com"),
        (f"{prefix}/boot-disks", ROLE, f"{number}@compute-system.iam.gserviceaccount.com"),
    }
    cluster = deployed.one("container/cluster:Cluster")
    assert cluster.inputs["databaseEncryption"] == {"state": "ENCRYPTED", "keyName": f"{prefix}/secrets"}
    assert any("CryptoKeyIAMMember" in urn for urn in cluster.request.dependencies), "the key would be rejected"
    for pool in deployed.all(":NodePool"):
        assert pool.inputs["nodeConfig"]["bootDiskKmsKey"] == f"{prefix}/boot-disks"


@pytest.mark.parametrize("protected", [True, False])
def test_keys_are_protected_as_their_cluster_is(protected: bool) -> None:
    deployed = deploy(security={"secretsEncryption": {}}, deletionProtection=protected)
    (key,) = deployed.all(":CryptoKey")
    assert key.request.protect is protected


def test_a_brought_key_is_used_and_nothing_of_it_is_made() -> None:
    deployed = deploy(security={"secretsEncryption": {"key": KEY}, "bootDiskEncryption": {"key": KEY}})
    assert not [
        resource for resource in deployed.custom() if ":kms/" in resource.type or "ServiceIdentity" in resource.type
    ]
    assert deployed.one("container/cluster:Cluster").inputs["databaseEncryption"]["keyName"] == KEY
    assert {pool.inputs["nodeConfig"]["bootDiskKmsKey"] for pool in deployed.all(":NodePool")} == {KEY}


def test_the_dns_endpoint_alone_says_nothing_of_addresses() -> None:
    deployed = deploy(controlPlane={"dnsEndpoint": True, "ipEndpoint": False})
    cluster = deployed.one("container/cluster:Cluster").inputs
    assert cluster["controlPlaneEndpointsConfig"] == {
        "dnsEndpointConfig": {"allowExternalTraffic": True},
        "ipEndpointsConfig": {"enabled": False},
    }
    assert cluster["privateClusterConfig"] == {"enablePrivateNodes": True}
    assert "masterAuthorizedNetworksConfig" not in cluster
    config = json.loads(deployed.one("pulumi:providers:kubernetes").inputs["kubeconfig"])
    assert config["clusters"][0]["cluster"] == {"server": "https://gke-acme-central.example.gke.goog"}


def test_components_are_those_that_the_version_has() -> None:
    assert "JOBSET" in made()["monitoringConfig"]["enableComponents"]
    assert "JOBSET" not in made(version="1.31.5")["monitoringConfig"]["enableComponents"]


def test_options_are_passed_on() -> None:
    cluster = made(
        security={"securityGroup": "gke-security-groups@acme.example", "secretManager": True, "posture": "DISABLED"},
        storage={"gcsFuse": True, "lustre": True, "filestore": True, "persistentDisk": False},
        monitoring={"components": ["SYSTEM_COMPONENTS"], "managedPrometheus": False, "logs": ["SYSTEM_COMPONENTS"]},
        costAllocation=False,
    )
    assert cluster["authenticatorGroupsConfig"] == {"securityGroup": "gke-security-groups@acme.example"}
    assert cluster["secretManagerConfig"] == {"enabled": True}
    assert cluster["securityPostureConfig"]["mode"] == "DISABLED"
    assert cluster["addonsConfig"]["lustreCsiDriverConfig"] == {"enabled": True}
    assert cluster["addonsConfig"]["gcePersistentDiskCsiDriverConfig"] == {"enabled": False}
    assert cluster["monitoringConfig"] == {
        "enableComponents": ["SYSTEM_COMPONENTS"],
        "managedPrometheus": {"enabled": False},
    }
    assert cluster["loggingConfig"] == {"enableComponents": ["SYSTEM_COMPONENTS"]}
    assert cluster["costManagementConfig"] == {"enabled": False}
    assert "sliceControllerConfig" not in cluster["addonsConfig"]
    sliced = made(releaseChannel="RAPID", sliceController=True)
    assert sliced["addonsConfig"]["sliceControllerConfig"] == {"enabled": True}
    assert made(security={"clusterwideNetworkPolicy": True})["enableCiliumClusterwideNetworkPolicy"] is True


def test_a_network_that_is_there_is_used_and_never_made() -> None:
    host = "projects/acme-net"
    existing = {
        "network": f"{host}/global/networks/shared",
        "subnetwork": f"{host}/regions/us-central1/subnetworks/tpu",
        "podsRange": "tpu-pods",
    }
    deployed = deploy(network={"existing": existing})
    assert not [resource for resource in deployed.custom() if ":compute/" in resource.type]
    cluster = deployed.one("container/cluster:Cluster").inputs
    assert cluster["network"] == existing["network"]
    assert cluster["subnetwork"] == existing["subnetwork"]
    assert cluster["ipAllocationPolicy"] == {
        "clusterSecondaryRangeName": "tpu-pods",
        "servicesSecondaryRangeName": "services",
    }


def test_a_cluster_alone_takes_keys_that_are_outputs() -> None:
    def program() -> None:
        Cluster(
            "acme-alone",
            {
                "project": "acme-ml",
                "location": "us-central1",
                "network": "net",
                "subnetwork": "sub",
                "secrets_key": pulumi.Output.from_input(KEY),
                "boot_disk_key": pulumi.Output.from_input(KEY),
            },
        )

    deployed = run(program)
    cluster = deployed.one("container/cluster:Cluster").inputs
    assert cluster["databaseEncryption"] == {"state": "ENCRYPTED", "keyName": KEY}
    assert deployed.one(":NodePool").inputs["nodeConfig"]["bootDiskKmsKey"] == KEY


PLACE: dict[str, Any] = {"project": "acme-ml", "network": "vpc", "subnetwork": "sub", "location": "us-central1"}
SLICE = {"generation": "v6e", "topology": "4x4", "zone": "us-central1-b"}
EXTRA = {**SLICE, "extra_networks": [{"network": "dcn", "subnetwork": "dcn"}]}
CLASS: dict[str, Any] = {"node_pool_auto_creation": {"enabled": True}, "priorities": [{"machine_family": "n4"}]}
PARTS: dict[str, tuple[Any, str, dict[str, Any], dict[str, Any], str]] = {
    "its version": (TpuNodePool, "mine", SLICE, {"version": "1.30"}, "generation: 'v6e' needs GKE 1.31"),
    "networks": (
        TpuNodePool,
        "mine",
        EXTRA,
        {},
        "extraNetworks: the cluster is without multi-networking; set multi_networking: true in the cluster, or remove",
    ),
    "the default class": (
        ComputeClass,
        "default",
        CLASS,
        {},
        "class_name: 'default' has no effect, because the cluster has no default class; set default_compute_class: "
        "true in the cluster, or rename it",
    ),
}


def with_part(kind: Any, name: str, args: dict[str, Any], **cluster: Any) -> Deployment:
    """A cluster of a program, and a part that uses its reference."""

    def program() -> None:
        trainers = Cluster("trainers", cast(Any, PLACE | cluster))
        opts = trainers.in_cluster() if kind is ComputeClass else None
        kind(name, {"cluster": trainers.ref, **args}, opts)

    return run(program)


@pytest.mark.parametrize("which", PARTS)
def test_a_part_that_its_cluster_cannot_have_is_rejected(which: str) -> None:
    kind, name, args, cluster, line = PARTS[which]
    with pytest.raises(SpecError) as rejected:
        with_part(kind, name, args, **cluster)
    assert str(rejected.value).startswith(f"{kind.__name__} {name}: {line}")


def test_a_cluster_of_a_program_can_have_more_networks_and_a_default_class() -> None:
    extra = with_part(TpuNodePool, "mine", EXTRA, multi_networking=True)
    assert extra.one("container/cluster:Cluster").inputs["enableMultiNetworking"] is True
    by_class = with_part(ComputeClass, "default", CLASS, default_compute_class=True)
    assert by_class.one("container/cluster:Cluster").inputs["clusterAutoscaling"]["defaultComputeClassEnabled"] is True
