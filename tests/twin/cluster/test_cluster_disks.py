"""Disks of claims: created in the zone of the pod, deleted with the claim, or rejected as by GKE's driver."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from tpuplane_twin.cluster.api import Api, Object

from tests.support.cluster.cluster_objects import CLUSTER, Cluster
from tests.support.eventually import eventually

pytestmark = [pytest.mark.twin, pytest.mark.asyncio(loop_scope="session")]

WITHOUT = {key: value for key, value in CLUSTER.items() if key != "addonsConfig"}
WITH = {**WITHOUT, "addonsConfig": {"gcePersistentDiskCsiDriverConfig": {"enabled": True}}}
IMAGE = "example.org/sleep"


@pytest_asyncio.fixture(loop_scope="session")
async def client(bare: Cluster) -> AsyncIterator[Api]:
    async with bare.api() as api:
        await bare.plane.apply_cluster(WITH)
        yield api
        await bare.plane.apply_cluster(WITHOUT)
        assert await api.get("CSIDriver", "pd.csi.storage.gke.io") is None


def claim(name: str, mode: str) -> Object:
    spec = {"accessModes": [mode], "resources": {"requests": {"storage": "10Gi"}}}
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}


def pod(name: str) -> Object:
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": name}}
    container = {"name": "main", "image": IMAGE, "volumeMounts": [{"name": "data", "mountPath": "/data"}]}
    metadata = {"name": name, "namespace": "default"}
    spec = {"containers": [container], "volumes": [volume]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


async def node_of(client: Api, name: str) -> Object:
    """The node of a pod, once it runs."""

    async def running() -> str | None:
        found = await client.get("Pod", name, "default") or {"status": {}, "spec": {}}
        return str(found["spec"]["nodeName"]) if found["status"].get("phase") == "Running" else None

    node = await client.get("Node", await eventually(running) or "")
    assert node is not None
    return node


async def delete(client: Api, name: str) -> None:
    """Delete a pod with its claim, and wait until no disk is left."""
    await client.delete("Pod", name, "default")
    await client.delete("PersistentVolumeClaim", name, "default")

    async def none_left() -> bool:
        return not await client.list("PersistentVolume")

    await eventually(none_left)


async def test_a_disk_lives_as_long_as_its_claim(client: Api) -> None:
    await client.create(claim("weights", "ReadWriteOnce"))
    await client.create(pod("weights"))
    node = await node_of(client, "weights")
    (volume,) = await client.list("PersistentVolume")
    zone = node["metadata"]["labels"]["topology.gke.io/zone"]
    assert f"/zones/{zone}/disks/pvc-" in volume["spec"]["csi"]["volumeHandle"]
    assert volume["status"]["phase"] == "Bound"
    await delete(client, "weights")


async def test_a_shared_disk_is_rejected_with_the_message_of_the_driver(client: Api) -> None:
    await client.create(claim("shared", "ReadWriteMany"))
    await client.create(pod("shared"))

    async def rejected() -> bool:
        events = await client.list("Event", "default", fieldSelector="involvedObject.name=shared")
        return any("specified multi writer with mount access type" in event["message"] for event in events)

    await eventually(rejected)
    await delete(client, "shared")


async def test_a_claim_that_waits_gets_its_disk_once_the_driver_is_on(bare: Cluster, client: Api) -> None:
    await bare.plane.apply_cluster(WITHOUT)
    await client.create(claim("later", "ReadWriteOnce"))
    await client.create(pod("later"))

    async def waits() -> bool:
        found = await client.get("PersistentVolumeClaim", "later", "default")
        return found is not None and "volume.kubernetes.io/selected-node" in found["metadata"].get("annotations", {})

    await eventually(waits)
    assert not await client.list("PersistentVolume")
    await bare.plane.apply_cluster(WITH)
    await node_of(client, "later")
    await delete(client, "later")
