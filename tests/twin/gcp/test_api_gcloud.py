"""gcloud against the API. Where it is not installed, the tests of the same requests (`test_api_reads`) still run."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from tpuplane_twin.environment import gcloud_environment
from tpuplane_twin.paths import TwinPaths
from twin_api import CLUSTERS, PROJECT, TOKEN, Api, slice_pool

pytestmark = [
    pytest.mark.twin,
    pytest.mark.skipif(shutil.which("gcloud") is None, reason="gcloud is not installed"),
]

ZONE = "us-central1-b"


class Gcloud:
    """gcloud in the environment that a shell of the twin has."""

    def __init__(self, api: Api, folder: Path) -> None:
        paths = TwinPaths("local", folder)
        paths.token_file.write_text(TOKEN)
        self._environment = {**os.environ, **gcloud_environment(api.url, paths), "CLOUDSDK_CORE_DISABLE_PROMPTS": "1"}

    async def __call__(self, *arguments: str) -> Any:
        """What a command answers, as JSON; it must succeed, without a warning."""
        process = await asyncio.create_subprocess_exec(
            "gcloud",
            *arguments,
            f"--project={PROJECT}",
            "--format=json",
            env=self._environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        output, errors = await process.communicate()
        assert process.returncode == 0, errors.decode()
        assert "WARNING" not in errors.decode()
        return json.loads(output)


@pytest.fixture
async def gcloud(cluster: Api, tmp_path: Path) -> Gcloud:
    """gcloud on a cluster with a slice."""
    await cluster.done("POST", f"{CLUSTERS}/c1/nodePools", {"nodePool": slice_pool(initialNodeCount=4)})
    return Gcloud(cluster, tmp_path)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("networks list", {"default", "net"}),
        ("networks subnets list --filter=name~s.*", {"sub"}),
        ("networks subnets list --filter=name~none", set()),
        ("firewall-rules list --filter=name~ssh", {"default-allow-ssh"}),
        ("addresses list", set()),
        ("instance-groups managed list --filter=zone:us-east5-a", set()),
        ("accelerator-types list --filter=name=ct4p", {"ct4p"}),
        (f"machine-types list --zones={ZONE} --filter=name~ct6e.*8t", {"ct6e-standard-8t"}),
        ("regions list --filter=name=us-central1", {"us-central1"}),
        (f"zones list --filter=name={ZONE}", {ZONE}),
    ],
)
async def test_lists_of_compute_engine(gcloud: Gcloud, command: str, expected: set[str]) -> None:
    assert {item["name"] for item in await gcloud("compute", *command.split(" "))} == expected


async def test_a_pools_groups_and_templates(gcloud: Gcloud) -> None:
    (group,) = await gcloud("compute", "instance-groups", "managed", "list")
    assert (group["targetSize"], group["autoscaled"]) == (4, "no")
    (template,) = await gcloud("compute", "instance-templates", "list")
    assert group["instanceTemplate"].endswith(template["name"])
    described = await gcloud("compute", "instance-groups", "managed", "describe", group["name"], f"--zone={ZONE}")
    assert described["instanceGroup"] == group["instanceGroup"]


async def test_several_at_once_are_a_batch(gcloud: Gcloud) -> None:
    found = await gcloud("compute", "zones", "describe", ZONE)
    assert found["name"] == ZONE
    two = await gcloud("compute", "machine-types", "list", f"--zones={ZONE},us-east5-a", "--filter=name=e2-standard-2")
    assert {item["zone"] for item in two} == {ZONE, "us-east5-a"}


async def test_clusters_and_pools(gcloud: Gcloud) -> None:
    assert [it["name"] for it in await gcloud("container", "clusters", "list")] == ["c1"]
    (pool,) = await gcloud("container", "node-pools", "list", "--cluster=c1", "--location=us-central1")
    assert pool["config"]["machineType"] == "ct6e-standard-4t"
    assert (await gcloud("projects", "describe", PROJECT))["projectId"] == PROJECT
