"""Buckets in pods: a folder that all of them share, where cluster and pod ask for it as on GKE."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from tpuplane_twin.cluster import gcs_fuse
from tpuplane_twin.cluster.api import Api, Object

from tests.support.cluster.cluster_objects import CLUSTER, Cluster
from tests.support.eventually import eventually

pytestmark = [pytest.mark.twin, pytest.mark.asyncio(loop_scope="session")]

WITHOUT = {key: value for key, value in CLUSTER.items() if key != "addonsConfig"}
WITH = {**WITHOUT, "addonsConfig": {"gcsFuseCsiDriverConfig": {"enabled": True}}}
SIDECAR = {"gke-gcsfuse/volumes": "true"}


@pytest_asyncio.fixture(loop_scope="session")
async def client(bare: Cluster) -> AsyncIterator[Api]:
    async with bare.api() as api:
        yield api
        await bare.plane.apply_cluster(WITHOUT)
        assert await api.get("CSIDriver", gcs_fuse.DRIVER) is None


async def test_pods_share_a_bucket_and_it_stays(bare: Cluster, client: Api) -> None:
    await bare.plane.apply_cluster(WITH)
    assert await client.get("CSIDriver", gcs_fuse.DRIVER) is not None
    for name, script in (("writes", "echo 20 > /data/step"), ("reads", "test $(cat /data/step) = 20")):
        await client.create(pod(name, script, annotations=SIDECAR))

        async def ended(name: str = name) -> Any:
            phase = (await client.get("Pod", name, "default") or {"status": {}})["status"].get("phase")
            return phase if phase in ("Succeeded", "Failed") else None

        assert await eventually(ended) == "Succeeded"
        await client.delete("Pod", name, "default")
    assert (bare.folder.parents[1] / "buckets" / "team-data" / "step").read_text() == "20\n"


async def test_a_claim_is_bound_and_its_pod_shares_the_bucket(bare: Cluster, client: Api) -> None:
    await bare.plane.apply_cluster(WITH)
    common = {"accessModes": ["ReadWriteMany"], "storageClassName": "gcsfusecsi-checkpointing"}
    volume = {
        **common,
        "capacity": {"storage": "1Ti"},
        "claimRef": {"namespace": "default", "name": "steps"},
        "csi": {"driver": gcs_fuse.DRIVER, "volumeHandle": "team-steps"},
        "mountOptions": ["implicit-dirs"],
        "persistentVolumeReclaimPolicy": "Retain",
    }
    claim = {**common, "resources": {"requests": {"storage": "1Ti"}}, "volumeName": "default.steps"}
    for kind, metadata, spec in (
        ("PersistentVolume", {"name": "default.steps"}, volume),
        ("PersistentVolumeClaim", {"name": "steps", "namespace": "default"}, claim),
    ):
        await client.create({"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": spec})

    async def bound() -> bool:
        found = await client.get("PersistentVolumeClaim", "steps", "default") or {"status": {}}
        return bool(found["status"].get("phase") == "Bound")

    await eventually(bound)
    item = pod("claims", "echo 30 > /data/step", annotations=SIDECAR)
    item["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "steps"}}]
    await client.create(item)

    async def ended() -> Any:
        phase = (await client.get("Pod", "claims", "default") or {"status": {}})["status"].get("phase")
        return phase if phase in ("Succeeded", "Failed") else None

    assert await eventually(ended) == "Succeeded"
    assert (bare.folder.parents[1] / "buckets" / "team-steps" / "step").read_text() == "30\n"
    await client.delete("Pod", "claims", "default")
    await client.delete("PersistentVolumeClaim", "steps", "default")
    await client.delete("PersistentVolume", "default.steps")


@pytest.mark.parametrize(
    ("description", "changes", "said"),
    [
        (WITHOUT, {"annotations": SIDECAR}, "not found in the list of registered CSI drivers"),
        (WITH, {"annotations": {}}, 'it needs the annotation gke-gcsfuse/volumes: "true"'),
        (WITH, {"annotations": SIDECAR, "bucket": "../team"}, "'../team' is not a bucket's name"),
    ],
)
async def test_a_bucket_that_gke_would_not_mount_keeps_its_pod_waiting(
    bare: Cluster, client: Api, description: Object, changes: dict[str, Any], said: str
) -> None:
    await bare.plane.apply_cluster(description)
    await client.create(pod("waits", "true", **changes))

    async def waiting() -> str:
        statuses = (await client.get("Pod", "waits", "default") or {})["status"].get("containerStatuses") or [{}]
        return str(statuses[0].get("state", {}).get("waiting", {}).get("message", ""))

    async def told() -> bool:
        return said in await waiting()

    await eventually(told)
    await client.delete("Pod", "waits", "default")


def pod(name: str, script: str, *, annotations: dict[str, str], bucket: str = "team-data") -> Object:
    """A pod that mounts a bucket at /data and runs `script` once; the image is one that the twin knows."""
    container = {
        "name": "main",
        "image": "registry.k8s.io/jobset/jobset:v0.12.0",
        "command": ["/bin/sh", "-c", script],
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
    }
    volume = {"name": "data", "csi": {"driver": gcs_fuse.DRIVER, "volumeAttributes": {"bucketName": bucket}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "annotations": annotations},
        "spec": {"restartPolicy": "Never", "containers": [container], "volumes": [volume]},
    }
