"""Nodes that GKE did not create, with neither labels nor annotations: they do no harm to failures, pools and disks."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tpuplane.labels import GKE_POOL_LABEL
from tpuplane_twin.cluster import disks
from tpuplane_twin.cluster.nodes import ORDINAL
from tpuplane_twin.cluster.pools import NodePools
from tpuplane_twin.failures.targets import Targets
from tpuplane_twin.gcp.container.names import CLUSTER, POOL
from tpuplane_twin.gcp.errors import ApiError
from tpuplane_twin.gcp.store import Store

from tests.support.eventually import eventually
from tests.support.small_api import SmallApi, small_api

pytestmark = pytest.mark.unit

NODES = "/api/v1/nodes"
KEY = "projects/acme/locations/us-east5/clusters/lab"
FOREIGN: dict[str, Any] = {"metadata": {"name": "foreign"}, "spec": {}, "status": {}}
BORROWED = {**FOREIGN, "metadata": {"name": "borrowed", "labels": {GKE_POOL_LABEL: "train"}}}
OWN: dict[str, Any] = {
    "metadata": {
        "name": "gke-lab-train-1",
        "labels": {GKE_POOL_LABEL: "train", "topology.gke.io/zone": "us-east5-b"},
        "annotations": {ORDINAL: "us-east5-b/0"},
        "creationTimestamp": "2026-11-29T09:00:00Z",
    },
    "spec": {"providerID": "gce://acme/us-east5-b/gke-lab-train-1"},
    "status": {},
}
CLAIM = {
    "metadata": {
        "name": "data",
        "namespace": "team",
        "uid": "u",
        "annotations": {"volume.kubernetes.io/storage-provisioner": disks.DRIVER},
    },
    "spec": {
        "storageClassName": "standard",
        "accessModes": ["ReadWriteOnce"],
        "volumeMode": "Filesystem",
        "resources": {"requests": {"storage": "1Gi"}},
    },
}


@pytest.fixture
async def api() -> AsyncIterator[SmallApi]:
    async with small_api() as api:
        api.lists[NODES] = [FOREIGN, BORROWED, OWN]
        yield api


@pytest.mark.parametrize("name", ["train/0", "gke-lab-train-1"])
async def test_a_host_is_found(api: SmallApi, tmp_path: Path, name: str) -> None:
    targets = Targets(lab(tmp_path), lambda cluster: api.client)
    assert (await targets.hosts("host-error", name, "", one=True)).nodes == ["gke-lab-train-1"]
    with pytest.raises(ApiError, match="the node 'foreign' belongs to no node pool; name a host of a node pool"):
        await targets.hosts("host-error", "foreign", "", one=True)


def lab(folder: Path) -> Store:
    store = Store(folder / "store.db")
    store.put(CLUSTER, KEY, {"name": "lab"})
    store.put(POOL, f"{KEY}/nodePools/train", {"name": "train"})
    return store


async def test_a_pool_has_its_own_machines(api: SmallApi) -> None:
    assert [machine.name for machine in await NodePools(api.client).instances("")] == ["gke-lab-train-1"]


async def test_a_disk_waits_quietly_for_a_node_of_google_cloud(
    api: SmallApi, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(disks, "_AGAIN_SECONDS", 0.01)
    api.lists |= {NODES: [FOREIGN], "/api/v1/persistentvolumeclaims": [CLAIM], "/api/v1/persistentvolumes": []}
    api.answer = lambda method, path: (200, {"reclaimPolicy": "Delete"})
    running = asyncio.create_task(disks.Disks(api.client).run())
    try:
        await eventually(lambda: len(api.said("GET", "/storageclasses/standard")), until=lambda tried: tried > 2)
        assert not [record for record in caplog.records if record.levelno >= logging.WARNING]
        api.lists[NODES] = [FOREIGN, OWN]
        volumes = await eventually(lambda: api.said("POST", "/persistentvolumes"), until=bool)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    assert volumes[0]["spec"]["csi"]["volumeHandle"] == "projects/acme/zones/us-east5-b/disks/pvc-u"
