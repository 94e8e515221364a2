"""GPU pools through the stand-in: what is changed in place, and what takes the pool along."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.providers.gcp_driver import NODE_POOL, Deployed, Driver, pool_inputs

pytestmark = pytest.mark.twin

Json = dict[str, Any]
GPUS: Json = {"type": "nvidia-tesla-a100", "count": 1, "gpuDriverInstallationConfig": {"gpuDriverVersion": "DEFAULT"}}
CONFIG: Json = {"machineType": "a2-highgpu-1g", "diskType": "pd-balanced", "diskSizeGb": 100}


def config(gpus: Json | None = None, **more: Any) -> Json:
    return {"nodeConfig": {**CONFIG, "guestAccelerators": [{**GPUS, **(gpus or {})}], **more}}


@pytest.fixture
def pool(driver: Driver, cluster: Deployed) -> Deployed:
    inputs = pool_inputs(**config())
    del inputs["placementPolicy"]
    return driver.create(NODE_POOL, "gpus", **inputs)


SHARED = {"gpuSharingConfig": {"gpuSharingStrategy": "MPS", "maxSharedClientsPerGpu": 2}}
LATEST = {"gpuDriverInstallationConfig": {"gpuDriverVersion": "LATEST"}}


@pytest.mark.parametrize(
    ("changed", "replaces"),
    [
        (config({"gpuPartitionSize": "1g.5gb"}), True),
        (config(SHARED), True),
        (config(LATEST), True),
        (config(ephemeralStorageLocalSsdConfig={"localSsdCount": 1}), True),
        (config(spot=True), True),
        ({"placementPolicy": {"type": "COMPACT"}}, True),
        (config(diskSizeGb=200), False),
        (config(labels={"team": "vision"}), False),
        ({"nodeLocations": ["us-central1-a"]}, False),
        ({"autoscaling": {"minNodeCount": 1, "maxNodeCount": 4, "locationPolicy": "ANY"}}, False),
    ],
    ids=["partition", "sharing", "driver", "disks", "spot", "placement", "size", "labels", "zones", "scaling"],
)
def test_what_replaces_a_gpu_pool(driver: Driver, pool: Deployed, changed: Json, *, replaces: bool) -> None:
    changes = driver.changes(pool, **changed)
    assert changes
    assert any(change.replaces for change in changes.values()) is replaces


def test_a_gpu_pool_does_not_change_by_itself(driver: Driver, pool: Deployed) -> None:
    assert not driver.changes(pool)
    refreshed = driver.refresh(pool)
    assert refreshed is not None
    assert not driver.changes(refreshed)
    imported = driver.read(NODE_POOL, pool.id)
    assert not driver.changes(imported)
    (gpus,) = imported.state["nodeConfig"]["guestAccelerators"]
    assert {key: gpus[key] for key in GPUS} == GPUS
