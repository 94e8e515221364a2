"""Multi-tier checkpointing of a cluster, as resources."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.components.deployment import Deployment, deploy_platform
from tests.support.diff.every_field import platform

pytestmark = pytest.mark.components

KIND = "kubernetes:checkpointing.gke.io/v1:CheckpointConfiguration"


@pytest.fixture(scope="module")
def company() -> Deployment:
    return deploy_platform(platform("company"))


def test_the_add_on_is_switched_on_and_never_off(company: Deployment) -> None:
    addons: dict[str, Any] = {
        found.inputs["name"]: found.inputs["addonsConfig"] for found in company.all("container/cluster:Cluster")
    }
    assert addons["company-other"]["highScaleCheckpointingConfig"] == {"enabled": True}
    assert [name for name, own in addons.items() if "highScaleCheckpointingConfig" in own] == ["company-other"]


def test_each_pool_has_its_object(company: Deployment) -> None:
    objects = company.all(KIND)
    specs = {found.inputs["metadata"]["name"]: found.inputs["spec"] for found in objects}
    assert specs.keys() == {"cubes", "small"}
    options = specs["cubes"].pop("gcsFuseMountOptions")
    assert specs["cubes"] == {
        "cloudStorageBucketName": "tpuplane-company-company-steps",
        "nodeSelector": {"tpuplane-pool": "cubes"},
        "tolerations": [{"operator": "Exists"}],
        "inMemoryVolumeSize": "64Gi",
    }
    assert {"implicit-dirs", "read_ahead_kb=1024"} <= set(options)
    assert specs["small"]["inMemoryVolumeSize"] == "32Gi"
    for found in objects:
        assert found.request.replaceOnChanges == ["spec"]
        assert found.request.deleteBeforeReplace
        assert any("platform-storage-steps" in urn for urn in found.request.dependencies)


def test_hosts_of_a_pool_have_the_label_of_its_object(company: Deployment) -> None:
    pools = {found.inputs["name"]: found.inputs["nodeConfig"]["labels"] for found in company.all(":NodePool")}
    assert pools["small"]["tpuplane-pool"] == "small"


def test_the_driver_of_gke_may_write_to_the_bucket(company: Deployment) -> None:
    grants = [
        found.inputs
        for found in company.all("storage/bucketIAMMember:BucketIAMMember")
        if found.inputs["bucket"] in ("tpuplane-company-company-steps", "tpuplane-company-company-epochs")
    ]
    assert grants == [
        {
            "bucket": "tpuplane-company-company-steps",
            "role": "roles/storage.objectUser",
            "member": "principal://iam.googleapis.com/projects/123456789012/locations/global/workloadIdentityPools/"
            "tpuplane-company.svc.id.goog/subject/ns/gke-managed-checkpointing/sa/gke-checkpointing-multitier-node",
        }
    ]
