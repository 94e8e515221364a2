"""What the nodes of a GPU pool look like. Pure."""

from __future__ import annotations

from typing import Any

import pytest
from tpuplane_twin.cluster.addresses import Addresses
from tpuplane_twin.cluster.api import Object
from tpuplane_twin.cluster.nodes import Pool

from tests.support.cluster.cluster_objects import CLUSTER, pool

pytestmark = pytest.mark.unit


def gpu_node(machine: str, accelerator: str, count: int, ssds: int = 0, **more: Any) -> Object:
    item = pool("gpus", machine, 1)
    item["config"]["accelerators"] = [{"acceleratorType": accelerator, "acceleratorCount": str(count), **more}]
    if ssds:
        item["config"]["ephemeralStorageLocalSsdConfig"] = {"localSsdCount": ssds}
    found = Pool(item, CLUSTER)
    assert not found.is_slice
    (place,) = found.places
    return found.node(place, "gke-a-0a1b2c3d-x1y2", Addresses("10.64.0.0/10", []).take(found.pods))


def test_gpu_nodes_say_what_gke_says_of_them() -> None:
    driver = {"gpuDriverInstallationConfig": {"gpuDriverVersion": "LATEST"}}
    node = gpu_node("a3-megagpu-8g", "nvidia-h100-mega-80gb", 8, ssds=16, **driver)
    labels = node["metadata"]["labels"]
    assert labels["cloud.google.com/gke-accelerator"] == "nvidia-h100-mega-80gb"
    assert labels["cloud.google.com/gke-accelerator-count"] == "8"
    assert labels["cloud.google.com/gke-gpu-driver-version"] == "latest"
    assert not [key for key in labels if "tpu" in key or "shared-clients" in key or "partition" in key]
    assert node["spec"]["taints"] == [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]
    assert node["status"]["capacity"]["nvidia.com/gpu"] == node["status"]["allocatable"]["nvidia.com/gpu"] == "8"
    assert node["status"]["capacity"]["cpu"] == "208"
    # Pods' files are on the local SSDs, not on the boot disk.
    assert node["status"]["capacity"]["ephemeral-storage"] == f"{16 * 375 * 1024**2}Ki"


@pytest.mark.parametrize(
    ("more", "offered", "labels"),
    [
        ({}, "1", {}),
        (
            {"gpuSharingConfig": {"gpuSharingStrategy": "TIME_SHARING", "maxSharedClientsPerGpu": "4"}},
            "4",
            {"gke-gpu-sharing-strategy": "time-sharing", "gke-max-shared-clients-per-gpu": "4"},
        ),
        ({"gpuPartitionSize": "2g.10gb"}, "3", {"gke-gpu-partition-size": "2g.10gb"}),
        (
            {
                "gpuPartitionSize": "1g.5gb",
                "gpuSharingConfig": {"gpuSharingStrategy": "MPS", "maxSharedClientsPerGpu": "2"},
            },
            "14",
            {"gke-gpu-sharing-strategy": "mps", "gke-gpu-partition-size": "1g.5gb"},
        ),
    ],
)
def test_sharing_and_partitions_multiply_what_a_node_offers(
    more: dict[str, Any], offered: str, labels: dict[str, str]
) -> None:
    node = gpu_node("a2-highgpu-1g", "nvidia-tesla-a100", 1, **more)
    assert node["status"]["allocatable"]["nvidia.com/gpu"] == offered
    wanted = {f"cloud.google.com/{key}": value for key, value in labels.items()}
    assert node["metadata"]["labels"].items() >= wanted.items()


def test_other_sharing_is_another_node() -> None:
    shapes = set()
    for clients in ("2", "3"):
        sharing = {"gpuSharingConfig": {"gpuSharingStrategy": "TIME_SHARING", "maxSharedClientsPerGpu": clients}}
        shapes.add(
            gpu_node("g2-standard-4", "nvidia-l4", 1, **sharing)["metadata"]["annotations"]["twin.tpuplane.dev/shape"]
        )
    assert len(shapes) == 2
