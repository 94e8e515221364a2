"""GPU node pools: what is said of GPUs, drivers, disks and placement, and whose size it is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tpuplane.gke.arguments import ClusterRef
from tpuplane.gke.node_pool import PlannedGpuPool
from tpuplane.plan import NodePoolPlan, plan
from tpuplane.spec import parse_platform

from tests.support.components.deployment import Deployment, Inputs, deploy, deploy_platform

pytestmark = pytest.mark.components

POOLS: dict[str, Inputs] = {
    "serving": {
        "accelerator": "nvidia-l4",
        "zones": ["us-central1-a", "us-central1-b"],
        "capacity": "spot",
        "autoscaling": {"minNodes": 1, "maxNodes": 4},
        "sharing": {"strategy": "TIME_SHARING", "maxClients": 4},
    },
    "training": {"machineType": "a3-megagpu-8g", "zones": ["us-central1-a"], "nodes": 2, "compactPlacement": True},
    "divided": {
        "machineType": "a2-highgpu-1g",
        "zones": ["us-central1-a"],
        "partitionSize": "1g.5gb",
        "driver": "LATEST",
    },
    "idle": {"accelerator": "nvidia-l4", "zones": ["us-central1-a"], "nodes": 0},
}
LAB: Inputs = {
    "name": "lab",
    "project": "tpuplane-lab",
    "clusters": {"main": {"location": "us-central1", "gpuPools": POOLS}},
}


@pytest.fixture(scope="module")
def gpus() -> Deployment:
    return deploy_platform(LAB)


def pool(deployed: Deployment, name: str) -> Inputs:
    return deployed.one(":NodePool", f"platform-main-{name}").inputs


def planned(name: str) -> NodePoolPlan:
    (cluster,) = plan(parse_platform(LAB)).clusters
    return next(gpu_pool for gpu_pool in cluster.gpu_pools if gpu_pool.name == name)


def accelerator(inputs: Inputs) -> dict[str, Any]:
    (found,) = inputs["nodeConfig"]["guestAccelerators"]
    return found


def test_gpus_are_those_of_the_machine_with_the_driver_that_gke_installs(gpus: Deployment) -> None:
    assert pool(gpus, "training")["nodeConfig"]["machineType"] == "a3-megagpu-8g"
    assert accelerator(pool(gpus, "training")) == {
        "type": "nvidia-h100-mega-80gb",
        "count": 8,
        "gpuDriverInstallationConfig": {"gpuDriverVersion": "DEFAULT"},
    }
    assert accelerator(pool(gpus, "divided"))["gpuPartitionSize"] == "1g.5gb"
    assert accelerator(pool(gpus, "divided"))["gpuDriverInstallationConfig"] == {"gpuDriverVersion": "LATEST"}
    sharing = {"gpuSharingStrategy": "TIME_SHARING", "maxSharedClientsPerGpu": 4}
    assert accelerator(pool(gpus, "serving"))["gpuSharingConfig"] == sharing


def test_local_ssds_come_with_the_machine(gpus: Deployment) -> None:
    assert pool(gpus, "training")["nodeConfig"]["ephemeralStorageLocalSsdConfig"]["localSsdCount"] == 16
    assert "ephemeralStorageLocalSsdConfig" not in pool(gpus, "serving")["nodeConfig"]


def test_nodes_are_placed_together_only_where_it_was_asked(gpus: Deployment) -> None:
    assert pool(gpus, "training")["placementPolicy"] == {"type": "COMPACT"}
    assert "placementPolicy" not in pool(gpus, "serving")


def test_an_autoscaled_pool_belongs_to_the_autoscaler_and_a_fixed_one_to_the_program(gpus: Deployment) -> None:
    serving = gpus.one(":NodePool", "platform-main-serving")
    assert serving.inputs["autoscaling"] == {"minNodeCount": 1, "maxNodeCount": 4, "locationPolicy": "ANY"}
    assert serving.inputs["nodeLocations"] == ["us-central1-a", "us-central1-b"]
    assert "nodeCount" not in serving.inputs
    assert set(serving.request.ignoreChanges) == {"initialNodeCount", "nodeCount"}
    training = gpus.one(":NodePool", "platform-main-training")
    assert training.inputs["nodeCount"] == 2
    assert not training.request.ignoreChanges


def test_gke_s_own_taint_and_labels_are_left_to_gke(gpus: Deployment) -> None:
    for name in ("serving", "training", "divided"):
        config = pool(gpus, name)["nodeConfig"]
        assert "taints" not in config
        assert config["labels"].keys() == {"tpuplane-pool", "tpuplane-capacity"}


def test_gpu_nodes_are_as_hardened_as_others(gpus: Deployment) -> None:
    for name in ("serving", "training", "divided"):
        made = pool(gpus, name)
        assert made["networkConfig"]["enablePrivateNodes"] is True
        assert made["nodeConfig"]["workloadMetadataConfig"] == {"mode": "GKE_METADATA"}
        assert made["nodeConfig"]["shieldedInstanceConfig"]["enableSecureBoot"] is True


def test_upgrades_ask_for_no_spare_gpus(gpus: Deployment) -> None:
    for name in ("serving", "training"):
        wanted = {"strategy": "SURGE", "maxSurge": 0, "maxUnavailable": 1}
        assert pool(gpus, name)["upgradeSettings"] == wanted


def test_a_pool_of_no_nodes_is_there_and_empty(gpus: Deployment) -> None:
    assert pool(gpus, "idle")["nodeCount"] == 0


def test_the_platform_reports_gpus_over_all_zones(gpus: Deployment) -> None:
    reported = gpus.outputs(gpus.one(":Platform"))["gpuNodePools"]["main"]
    assert {name: (pool_["nodes"], pool_["gpus"]) for name, pool_ in reported.items()} == {
        "serving": (8, 8),
        "training": (2, 16),
        "divided": (1, 1),
        "idle": (0, 0),
    }


def test_a_pool_is_replaced_for_another_placement_and_deleted_first(gpus: Deployment) -> None:
    request = gpus.one(":NodePool", "platform-main-training").request
    assert set(request.replaceOnChanges) == {"placementPolicy"}
    assert request.deleteBeforeReplace


def test_a_plan_without_gpus_is_rejected() -> None:
    where: ClusterRef = {
        "project": "p",
        "name": "c",
        "location": "us-central1",
        "service_account": "a@p.iam.gserviceaccount.com",
        "version": "",
    }
    without = replace(planned("training"), gpu=None)
    with pytest.raises(ValueError, match="a GPU node pool has GPUs"):
        deploy(lambda: PlannedGpuPool("training", {"training": without}, where, None))
