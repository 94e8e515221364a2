"""Compute classes as they are registered: the whole object, who gets it by default, and which pools are its."""

from __future__ import annotations

from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes
import pytest
from tpuplane import ClusterRef, ComputeClass, GpuNodePool, SpecError, TpuNodePool

from tests.support.components.deployment import Deployment, Inputs, deploy, deploy_platform
from tests.support.pages import blocks

pytestmark = pytest.mark.components

CLASS = "cloud.google.com/v1:ComputeClass"
ACCOUNT = "nodes@acme-ml.iam.gserviceaccount.com"
REF: ClusterRef = {"project": "acme-ml", "name": "theirs", "location": "us-east5", "service_account": ACCOUNT}
RESERVATIONS = {"nightly": {"generation": "v6e", "zone": "us-east5-b", "chips": 64}}
DISK_KEY = "projects/acme/locations/us-east5/keyRings/ring/cryptoKeys/disks"
PRESET: dict[str, Any] = {"tpu": {"type": "v6e", "topology": "4x4"}, "reservation": {"name": "nightly"}}


def described() -> Inputs:
    """Two clusters; a class for both that has a pool of one of them, and classes for one alone."""
    pool = {"generation": "v6e", "topology": "4x4", "zone": "us-east5-b", "slices": 2}
    ranges = {"nodesCidr": "10.0.16.0/20", "podsCidr": "10.68.0.0/14", "servicesCidr": "10.32.16.0/20"}
    return {
        "name": "lab",
        "project": "tpuplane-lab",
        "reservations": RESERVATIONS,
        "classes": {
            "steady": {
                "clusters": ["east"],
                "defaultNamespaces": ["research"],
                "priorities": [{"nodepools": ["trainer"]}, {"tpu": PRESET["tpu"], "spot": True}],
            },
            "cheap": {"preset": "cost-optimized", **PRESET, "clusters": ["east"]},
            "default": {
                "clusters": ["west"],
                "priorities": [{"machineFamily": "n2", "storage": {"localSsdCount": 1}}],
                "nodePoolAutoCreation": {"enabled": True},
            },
        },
        "clusters": {
            "east": {
                "location": "us-east5",
                "namespaces": ["research", "other"],
                "pools": {"trainer": pool, "burst": pool, "own": {**pool, "slices": 1, "computeClass": "cheap"}},
            },
            "west": {"location": "us-west1", "network": ranges},
        },
    }


@pytest.fixture(scope="module")
def platform() -> Deployment:
    return deploy_platform(described())


def spec_of(platform: Deployment, name: str) -> Inputs:
    spec: Inputs = platform.one(CLASS, name).inputs["spec"]
    return spec


def test_a_class_is_made_in_the_clusters_it_is_for(platform: Deployment) -> None:
    names = {resource.name: resource.inputs["metadata"]["name"] for resource in platform.all(CLASS)}
    assert names == {
        "platform-east-steady": "steady",
        "platform-east-cheap": "cheap",
        "platform-west-default": "default",
    }


def test_a_preset_is_a_whole_object(platform: Deployment) -> None:
    slices = {
        "tpu": {"type": "tpu-v6e-slice", "count": 4, "topology": "4x4"},
        "maxPodsPerNode": 32,
        "storage": {"bootDiskType": "hyperdisk-balanced"},
    }
    spec = spec_of(platform, "platform-east-cheap")
    assert spec.pop("description").startswith("Slices at the lowest price")
    assert spec == {
        "priorities": [
            {**slices, "spot": True},
            {
                **slices,
                "flexStart": {"enabled": True, "nodeRecycling": {"leadTimeSeconds": 3600}},
                "maxRunDurationSeconds": 604800,
                "capacityCheckWaitTimeSeconds": 900,
            },
            {**slices, "reservations": {"affinity": "Specific", "specific": [{"name": "nightly"}]}},
        ],
        "whenUnsatisfiable": "DoNotScaleUp",
        "activeMigration": {"optimizeRulePriority": True},
        "autoscalingPolicy": {"consolidationDelayMinutes": 5},
        "nodePoolAutoCreation": {
            "enabled": True,
            "shieldedInstanceConfig": {"enableSecureBoot": True, "enableIntegrityMonitoring": True},
        },
        "nodePoolConfig": {
            "serviceAccount": "lab-east@tpuplane-lab.iam.gserviceaccount.com",
            "workloadMetadata": "GKE_METADATA",
            "imageType": "cos_containerd",
            "ipType": "private",
        },
    }


def test_a_pool_means_all_its_node_pools(platform: Deployment) -> None:
    spec = spec_of(platform, "platform-east-steady")
    assert spec["priorities"][0] == {"nodepools": ["trainer-0", "trainer-1"]}
    assert "nodePoolConfig" not in spec, "it makes no pools, and asks nothing of those that are there"


def test_google_spells_some_names_in_capitals(platform: Deployment) -> None:
    assert spec_of(platform, "platform-west-default")["priorities"][0]["storage"] == {"localSSDCount": 1}


def test_pools_of_a_class_have_its_label_and_taint(platform: Deployment) -> None:
    key, owners = "cloud.google.com/compute-class", {"trainer-0": "steady", "trainer-1": "steady", "own-0": "cheap"}
    pools = {
        pool.inputs["name"]: pool.inputs["nodeConfig"] for pool in platform.all(":NodePool") if "burst" in pool.name
    }
    assert all(key not in config["labels"] and "taints" not in config for config in pools.values())
    for name, owner in owners.items():
        (config,) = (pool.inputs["nodeConfig"] for pool in platform.all(":NodePool") if pool.inputs["name"] == name)
        assert config["labels"][key] == owner
        assert config["taints"] == [{"key": key, "value": owner, "effect": "NO_SCHEDULE"}]


def test_a_namespace_has_its_class_by_default(platform: Deployment) -> None:
    label = "cloud.google.com/default-compute-class"
    labels = {
        namespace.name: namespace.inputs["metadata"]["labels"].get(label) for namespace in platform.all(":Namespace")
    }
    assert labels == {"platform-east-research": "steady", "platform-east-other": None}


def test_a_team_namespace_has_its_class_by_default() -> None:
    platform = described()
    platform["classes"]["cheap"]["defaultNamespaces"] = ["vision"]
    platform["clusters"]["east"]["addons"] = {"kueue": {}}
    platform["teams"] = {"vision": {"clusters": {"east": {"pools": {"own": {"slices": 1}}}}}}
    deployed = deploy_platform(platform)
    (namespace,) = (
        resource for resource in deployed.all(":Namespace") if resource.inputs["metadata"]["name"] == "vision"
    )
    assert namespace.inputs["metadata"]["labels"]["cloud.google.com/default-compute-class"] == "cheap"
    (flavor,) = (
        resource
        for resource in deployed.all(":ResourceFlavor")
        if resource.inputs["metadata"]["name"] == "v6e-4x4-class-cheap"
    )
    tolerated = {toleration["key"] for toleration in flavor.inputs["spec"]["tolerations"]}
    assert tolerated == {"google.com/tpu", "cloud.google.com/compute-class"}, "quota on a pool is of use on its nodes"


def test_the_class_called_default_is_that_of_its_cluster(platform: Deployment) -> None:
    blocks = {
        cluster.name: cluster.inputs["clusterAutoscaling"] for cluster in platform.all("container/cluster:Cluster")
    }
    assert {name: block["defaultComputeClassEnabled"] for name, block in blocks.items()} == {
        "platform-east": False,
        "platform-west": True,
    }


def test_classes_go_and_come_with_their_cluster(platform: Deployment) -> None:
    made = platform.one(CLASS, "platform-east-cheap")
    cluster = platform.one("container/cluster:Cluster", "platform-east").urn
    assert made.request.deletedWith == cluster
    assert cluster in made.request.replace_with
    assert made.request.provider.startswith(platform.one("providers:kubernetes", "platform-east").urn)


def test_nodes_that_gke_makes_have_the_disk_key_of_the_others() -> None:
    platform = described()
    platform["clusters"]["east"]["security"] = {"bootDiskEncryption": {"key": DISK_KEY}}
    platform["classes"]["cheap"]["preset"] = "reserved-first"
    spec = spec_of(deploy_platform(platform), "platform-east-cheap")
    assert {priority["storage"]["bootDiskKMSKey"] for priority in spec["priorities"]} == {DISK_KEY}


def test_autopilot_makes_nodes_with_the_account_and_the_disk_key_of_the_others() -> None:
    platform = described()
    platform["clusters"]["east"]["security"] = {"bootDiskEncryption": {"key": DISK_KEY}}
    platform["classes"] = {"pods": {"autopilot": {"enabled": True}, "priorities": [{"podFamily": "general-purpose"}]}}
    del platform["clusters"]["east"]["pools"]["own"]["computeClass"]
    spec = spec_of(deploy_platform(platform), "platform-east-pods")
    assert spec["nodePoolConfig"]["serviceAccount"] == "lab-east@tpuplane-lab.iam.gserviceaccount.com"
    assert spec["priorities"] == [{"podFamily": "general-purpose", "storage": {"bootDiskKMSKey": DISK_KEY}}]


def alone(**changes: Any) -> Deployment:
    """A class in an existing cluster, with the user's provider."""

    def program() -> None:
        provider = kubernetes.Provider("theirs", kubeconfig="{}")
        args: Any = {"cluster": REF, "preset": "reserved-first", "reservations": RESERVATIONS, **PRESET, **changes}
        ComputeClass("steady", args, pulumi.ResourceOptions(provider=provider))

    return deploy(program)


def test_a_class_is_alone() -> None:
    deployed = alone(class_name="trainers")
    made = deployed.one(CLASS, "steady")
    assert made.inputs["metadata"]["name"] == "trainers"
    assert made.inputs["spec"]["nodePoolConfig"]["serviceAccount"] == ACCOUNT
    assert made.request.provider.startswith(deployed.one("providers:kubernetes", "theirs").urn)
    (outputs,) = (output for urn, output in deployed.component_outputs.items() if urn.endswith("::steady"))
    assert outputs == {"className": "trainers"}


@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        (TpuNodePool, {"generation": "v6e", "topology": "4x4", "zone": "us-central1-b"}),
        (GpuNodePool, {"accelerator": "nvidia-l4", "zones": ["us-central1-a"]}),
    ],
)
def test_a_pool_of_a_program_has_the_label_and_the_taint_of_its_class(kind: Any, shape: dict[str, Any]) -> None:
    pool = {"cluster": {**REF, "location": "us-central1"}, **shape}
    config = deploy(lambda: kind("mine", {**pool, "compute_class": "flex"})).one(":NodePool").inputs["nodeConfig"]
    key = "cloud.google.com/compute-class"
    assert config["labels"][key] == "flex"
    assert config["taints"] == [{"key": key, "value": "flex", "effect": "NO_SCHEDULE"}]
    config = deploy(lambda: kind("mine", pool)).one(":NodePool").inputs["nodeConfig"]
    assert key not in config["labels"]
    assert "taints" not in config


def test_the_program_of_the_page_runs() -> None:
    program = "\n".join(block.text for block in blocks("docs/compute-classes.md") if block.language == "python")
    deployed = deploy(lambda: exec(program, {}))
    assert sorted(resource.name for resource in deployed.all(CLASS)) == ["cost-optimized", "flex"]


def test_node_pools_of_a_cluster_that_exists_are_named_as_gke_knows_them() -> None:
    without = {"preset": None, "tpu": None, "reservation": None}
    deployed = alone(**without, priorities=[{"nodepools": ["their-pool"]}, {"machine_family": "n2"}])
    assert deployed.one(CLASS).inputs["spec"]["priorities"][0] == {"nodepools": ["their-pool"]}


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"tpu": {"type": "v6e", "topology": "4x5"}}, "tpu.topology: '4x5' is not a v6e topology"),
        ({"reservations": {}}, "reservation.name: 'nightly' is not one of the platform's reservations"),
        ({"class_name": "gke-steady"}, "class_name: 'gke-steady' starts with gke or autopilot"),
        ({"clusters": ["theirs"]}, "clusters: belongs to a platform's classes; remove it"),
    ],
)
def test_a_mistake_is_rejected_in_the_words_of_the_arguments(changes: dict[str, Any], line: str) -> None:
    with pytest.raises(SpecError) as rejected:
        alone(**changes)
    assert line in str(rejected.value)


def test_gpus_and_slices_stand_side_by_side() -> None:
    """A workload moves from one to the other by asking for another class."""
    gpus = [
        {"nodepools": ["l4"]},
        {"gpu": {"type": "nvidia-b200", "count": 8}, "spot": True},
        {"gpu": {"type": "nvidia-tesla-t4", "count": 1}},
    ]
    creation = {"nodePoolAutoCreation": {"enabled": True}}
    pool = {"accelerator": "nvidia-l4", "zones": ["us-central1-a"]}
    deployed = deploy_platform(
        {
            "name": "lab",
            "project": "tpuplane-lab",
            "classes": {
                "gpus": {"priorities": gpus, **creation},
                "slices": {"priorities": [{"tpu": PRESET["tpu"]}], **creation},
            },
            "clusters": {"main": {"location": "us-central1", "gpuPools": {"l4": pool}}},
        }
    )
    assert {resource.name for resource in deployed.all(CLASS)} == {"platform-main-gpus", "platform-main-slices"}
    assert spec_of(deployed, "platform-main-gpus")["priorities"] == [
        {"nodepools": ["l4"]},
        {"gpu": {"type": "nvidia-b200", "count": 8}, "spot": True, "storage": {"bootDiskType": "hyperdisk-balanced"}},
        {"gpu": {"type": "nvidia-tesla-t4", "count": 1}},
    ]
    (config,) = (
        resource.inputs["nodeConfig"] for resource in deployed.all(":NodePool") if resource.inputs["name"] == "l4"
    )
    assert config["labels"]["cloud.google.com/compute-class"] == "gpus"
    assert config["taints"][0]["value"] == "gpus"
