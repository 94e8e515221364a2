"""gcloud against the API. Where it is not installed, the tests of the same requests (`test_api_reads`) still run."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from tpuplane_twin.machine.paths import TwinPaths
from tpuplane_twin.shell.environment import gcloud_environment

from tests.support.gcp.twin_api import CLUSTERS, PROJECT, TOKEN, Api, slice_pool

pytestmark = [pytest.mark.twin, pytest.mark.skipif(shutil.which("gcloud") is None, reason="gcloud is not installed")]

ZONE = "us-central1-b"


class Gcloud:
    """gcloud in the environment that a shell of the twin has."""

    def __init__(self, api: Api, folder: Path) -> None:
        paths = TwinPaths("local", folder)
        paths.token_file.write_text(TOKEN)
        own = {"CLOUDSDK_CORE_DISABLE_PROMPTS": "1", "KUBECONFIG": str(folder / "kubeconfig")}
        self._environment = {**os.environ, **gcloud_environment(api.url, paths), **own}

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
        ("instances list --filter=name~b-[01]", {"slice-b-0", "slice-b-1"}),
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


async def test_an_api_that_the_twin_does_not_serve_answers_at_once(gcloud: Gcloud) -> None:
    with pytest.raises(AssertionError, match=r"does not serve tpu\.googleapis\.com"):
        await gcloud("compute", "tpus", "tpu-vm", "list", f"--zone={ZONE}")


async def test_several_at_once_are_a_batch(gcloud: Gcloud) -> None:
    found = await gcloud("compute", "zones", "describe", ZONE)
    assert found["name"] == ZONE
    two = await gcloud("compute", "machine-types", "list", f"--zones={ZONE},us-east5-a", "--filter=name=e2-standard-2")
    assert {item["zone"] for item in two} == {ZONE, "us-east5-a"}


async def test_clusters_and_pools(gcloud: Gcloud) -> None:
    assert [cluster["name"] for cluster in await gcloud("container", "clusters", "list")] == ["c1"]
    (pool,) = await gcloud("container", "node-pools", "list", "--cluster=c1", "--location=us-central1")
    assert pool["config"]["machineType"] == "ct6e-standard-4t"
    assert (await gcloud("projects", "describe", PROJECT))["projectId"] == PROJECT


@pytest.mark.parametrize(
    ("flag", "field", "expected"),
    [
        ("--enable-image-streaming", "nodePoolDefaults.nodeConfigDefaults.gcfsConfig.enabled", True),
        ("--enable-identity-service", "identityServiceConfig.enabled", True),
        ("--update-labels=team=a", "resourceLabels.team", "a"),
        ("--enable-shielded-nodes", "shieldedNodes.enabled", True),
        ("--maintenance-window=03:00", "maintenancePolicy.window.dailyMaintenanceWindow.startTime", "03:00"),
        ("--autoscaling-profile=optimize-utilization", "autoscaling.autoscalingProfile", "OPTIMIZE_UTILIZATION"),
    ],
)
async def test_updates_of_a_cluster(gcloud: Gcloud, flag: str, field: str, expected: object) -> None:
    await gcloud("container", "clusters", "update", "c1", "--location=us-central1", flag)
    value = await gcloud("container", "clusters", "describe", "c1", "--location=us-central1")
    for name in field.split("."):
        value = value[name]
    assert value == expected


async def test_credentials_are_rotated(gcloud: Gcloud) -> None:
    seen = []
    for flag in ("--start-credential-rotation", "--complete-credential-rotation"):
        await gcloud("container", "clusters", "update", "c1", "--location=us-central1", flag)
        found = await gcloud("container", "clusters", "describe", "c1", "--location=us-central1")
        seen.append(base64.b64decode(found["masterAuth"]["clusterCaCertificate"]).decode())
    assert seen == ["certificate 1\ncertificate 0\n", "certificate 1\n"]


async def test_a_pool_is_resized_updated_and_rolled_back(gcloud: Gcloud) -> None:
    place = ("--cluster=c1", "--location=us-central1")
    pools = ("container", "node-pools")
    await gcloud(*pools, "create", "cpus", "--machine-type=e2-standard-4", "--num-nodes=1", *place)
    await gcloud("container", "clusters", "resize", "c1", "--node-pool=cpus", "--num-nodes=2", "--location=us-central1")
    await gcloud(*pools, "update", "cpus", "--node-labels=team=a", *place)
    await gcloud(*pools, "rollback", "cpus", *place)
    found = await gcloud(*pools, "describe", "cpus", *place)
    assert (found["initialNodeCount"], found["config"]["labels"]["team"]) == (2, "a")
    slices = ("--machine-type=ct6e-standard-4t", "--tpu-topology=4x4", "--node-locations=us-central1-b")
    await gcloud(*pools, "create", "other", *slices, *place)
    assert (await gcloud(*pools, "describe", "other", *place))["placementPolicy"]["tpuTopology"] == "4x4"
    await gcloud(*pools, "delete", "other", *place)
    for what in (
        ("clusters", "get-upgrade-info", "c1", "--location=us-central1"),
        ("node-pools", "get-upgrade-info", "cpus", *place),
    ):
        assert "autoUpgradeStatus" in await gcloud("container", *what)


async def test_repositories_of_every_location(gcloud: Gcloud) -> None:
    artifacts = ("artifacts", "repositories")
    await gcloud(*artifacts, "create", "images", "--repository-format=docker", "--location=us-central1")
    (listed,) = await gcloud(*artifacts, "list")
    assert (listed["name"].rpartition("/")[2], listed["mode"]) == ("images", "STANDARD_REPOSITORY")
    assert "us-central1" in {place["name"] for place in await gcloud("artifacts", "locations", "list")}


async def test_a_policy_of_a_project(gcloud: Gcloud) -> None:
    role = "roles/viewer"
    await gcloud("projects", "add-iam-policy-binding", PROJECT, "--member=user:a@b.example", f"--role={role}")
    policy = await gcloud("projects", "get-iam-policy", PROJECT)
    assert {"members": ["user:a@b.example"], "role": role} in policy["bindings"]


async def test_buckets(gcloud: Gcloud) -> None:
    flags = ("--location=us-central1", "--uniform-bucket-level-access", "--public-access-prevention")
    await gcloud("storage", "buckets", "create", "gs://acme-state", *flags)
    await gcloud("storage", "buckets", "update", "gs://acme-state", "--versioning")
    (bucket,) = await gcloud("storage", "buckets", "list")
    assert (bucket["name"], bucket["versioning_enabled"]) == ("acme-state", True)
    binding = ("--member=user:a@b.example", "--role=roles/storage.objectUser")
    await gcloud("storage", "buckets", "add-iam-policy-binding", "gs://acme-state", *binding)
    await gcloud("storage", "buckets", "delete", "gs://acme-state")
    assert await gcloud("storage", "buckets", "list") == []
