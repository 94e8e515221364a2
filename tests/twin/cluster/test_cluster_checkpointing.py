"""Multi-tier checkpointing: a cluster with the add-on has its kind, and takes the objects of a platform."""

from __future__ import annotations

import asyncio

import pytest

from tests.support.cluster.cluster_objects import CLUSTER, Cluster, rejection
from tests.support.components.deployment import deploy_platform
from tests.support.diff.every_field import platform

pytestmark = [pytest.mark.twin, pytest.mark.asyncio(loop_scope="session")]

OBJECTS = "/apis/checkpointing.gke.io/v1/checkpointconfigurations"
WITHOUT = {key: value for key, value in CLUSTER.items() if key != "addonsConfig"}
WITH = {**WITHOUT, "addonsConfig": {"highScaleCheckpointingConfig": {"enabled": True}}}
STRICT = {"fieldValidation": "Strict"}


async def test_the_objects_of_a_platform_are_accepted(bare: Cluster) -> None:
    # Pulumi runs on an event loop of its own.
    deployed = await asyncio.to_thread(deploy_platform, platform("company"))
    objects = [found.inputs for found in deployed.all(":CheckpointConfiguration")]
    await bare.plane.apply_cluster(WITH)
    async with bare.api() as api:
        for item in objects:
            created = await api.request("POST", OBJECTS, body=item, params=STRICT)
            assert created["spec"] == item["spec"]
            wrong = {**item, "spec": {**item["spec"], "mountOptions": []}}
            assert "mountOptions" in await rejection(api.request("POST", OBJECTS, body=wrong, params=STRICT))
        await bare.plane.apply_cluster(WITHOUT)
        kept = (await api.request("GET", OBJECTS))["items"]
        assert {item["metadata"]["name"] for item in kept} == {"cubes", "small"}
        for item in kept:
            await api.request("DELETE", f"{OBJECTS}/{item['metadata']['name']}")
