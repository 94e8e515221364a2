"""Disks of pods, as storage classes in the clusters with the driver."""

from __future__ import annotations

import pytest

from tests.support.components.deployment import deploy_platform
from tests.support.diff.every_field import platform

pytestmark = pytest.mark.components


def test_a_cluster_with_the_driver_has_the_storage_classes() -> None:
    company = platform("company")
    company["clusters"]["other"]["storage"] = {
        **company["clusters"]["other"].get("storage", {}),
        "persistentDisk": False,
    }
    made = deploy_platform(company).all("kubernetes:storage.k8s.io/v1:StorageClass")
    names = {found.name for found in made}
    clusters = [key for key in company["clusters"] if key != "other"]
    assert names == {f"platform-{key}-disks.{disk}" for key in clusters for disk in ("cache", "large")}
    cache = next(found.inputs for found in made if found.name == f"platform-{clusters[0]}-disks.cache")
    assert cache["metadata"]["name"] == "cache"
    assert cache["provisioner"] == "pd.csi.storage.gke.io"
    assert cache["volumeBindingMode"] == "WaitForFirstConsumer"
    assert cache["parameters"] == {
        "type": "hyperdisk-balanced",
        "provisioned-iops-on-create": "3000",
        "provisioned-throughput-on-create": "140Mi",
    }
