"""Registries for images, by the stack file of the example, on a twin."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from tests.support import REPOSITORY
from tests.support.e2e.platform_under_test import PlatformUnderTest

pytestmark = [pytest.mark.e2e, pytest.mark.long]

CONTEXT = "gke_acme-lab_us-central1-b_lab-main"
NODES = "serviceAccount:lab-main@acme-lab.iam.gserviceaccount.com"
MIRROR = "us-central1-docker.pkg.dev/acme-lab/kubernetes"


@pytest.fixture
def platform(tmp_path: Path) -> Iterator[PlatformUnderTest]:
    found = PlatformUnderTest(tmp_path, "images")
    shutil.copy(REPOSITORY / "examples" / "images" / "stacks" / "Pulumi.lab.yaml", found.stack_file)
    with found.taken_down():
        found.rehearse("--no-sample")
        yield found


def google(platform: PlatformUnderTest, path: str) -> dict[str, Any]:
    base = platform.variables["GOOGLE_ARTIFACT_REGISTRY_CUSTOM_ENDPOINT"]
    headers = {"Authorization": f"Bearer {platform.variables['GOOGLE_OAUTH_ACCESS_TOKEN']}"}
    with urlopen(Request(f"{base}projects/acme-lab/locations/us-central1/{path}", headers=headers)) as answer:
        found: dict[str, Any] = json.load(answer)
    return found


def repositories(platform: PlatformUnderTest) -> dict[str, dict[str, Any]]:
    found = google(platform, "repositories").get("repositories", [])
    return {each["name"].rpartition("/")[2]: each for each in found}


def changed(platform: PlatformUnderTest) -> list[str]:
    """The classes of the changes since the last update."""
    file = str(platform.stack_file)
    said = json.loads(platform.run("tpuplane", "diff", "--deployed", "local", file, "--json").stdout)
    return [change["class"] for change in said["changes"]]


def test_operators_come_through_a_repository_of_the_platform(platform: PlatformUnderTest) -> None:
    for namespace in ("kueue-system", "jobset-system"):
        (manager,) = platform.items(CONTEXT, "deployments", "-n", namespace)
        (container,) = manager["spec"]["template"]["spec"]["containers"]
        assert container["image"].startswith(f"{MIRROR}/")
        assert manager["status"]["readyReplicas"] >= 1
    policy = {
        each["role"]: each["members"] for each in google(platform, "repositories/training:getIamPolicy")["bindings"]
    }
    assert policy == {
        "roles/artifactregistry.reader": [NODES],
        "roles/artifactregistry.writer": ["group:builders@acme.example"],
    }
    assert not platform.steps()
    assert not changed(platform)

    def edit(described: dict[str, Any]) -> None:
        described["images"]["training"].update(keepVersions=20, deletionProtection=True)
        described["images"]["kubernetes"]["remote"] = "quay.io"

    with platform.described(edit):
        assert sorted(changed(platform)) == ["deletes", "in-place", "in-place"]
        assert {"update", "replace"} <= platform.steps().keys()
        platform.up()
        found = repositories(platform)
        assert found["training"]["cleanupPolicies"]["keep-newest"]["mostRecentVersions"]["keepCount"] == 20
        assert found["kubernetes"]["remoteRepositoryConfig"]["commonRepository"]["uri"] == "https://quay.io"
        assert google(platform, "repositories/kubernetes:getIamPolicy")["bindings"][0]["members"] == [NODES]
        assert not platform.steps()

        # Pulumi keeps the protected repository, as the diff says.
        with platform.described(lambda described: described["images"].pop("training")):
            said = platform.run("tpuplane", "diff", "--deployed", "local", str(platform.stack_file), check=False).stdout
            assert "First set images.training.deletionProtection: false" in said
            assert "protected" in platform.output("up", "--yes", "--skip-preview", fails=True)
            assert "training" in repositories(platform)
    platform.up()
    platform.destroy()
    assert not repositories(platform)
