"""Repositories for images: who pulls, what is deleted by age, and through which repository add-ons come."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tpuplane.cli.app import app
from tpuplane.plan import PlatformPlan, plan
from tpuplane.spec import parse_platform
from typer.testing import CliRunner

from tests.support import REPOSITORY

pytestmark = pytest.mark.unit

ACCOUNT = "nodes@tpuplane-lab.iam.gserviceaccount.com"


def planned(images: Any, **clusters: Any) -> PlatformPlan:
    cluster = {"location": "us-central1", "addons": {"kueue": {}, "jobset": {}}, **clusters.pop("main", {})}
    described = {"name": "lab", "project": "tpuplane-lab", "labels": {"team": "ml"}, "images": images}
    return plan(parse_platform({**described, "clusters": {"main": cluster, **clusters}}))


def image(platform: PlatformPlan, key: str, cluster: int = 0) -> str:
    (addon,) = (each for each in platform.clusters[cluster].addons if each.key == key)
    values = addon.values["controllerManager"]["manager"] if key == "kueue" else addon.values
    return str(values["image"]["repository"])


def test_every_account_of_nodes_pulls_once() -> None:
    images = {"training": {"location": "us", "writers": ["group:a@example.com"]}}
    own = {"location": "us-central1", "nodeServiceAccount": ACCOUNT}
    other = {**own, "network": {"nodesCidr": "10.8.0.0/20", "podsCidr": "10.72.0.0/14", "servicesCidr": "10.48.0.0/20"}}
    third = {"location": "us-central1", "network": {"nodesCidr": "10.9.0.0/20", "podsCidr": "10.80.0.0/14"}}
    third["network"]["servicesCidr"] = "10.50.0.0/20"  # type: ignore[index]
    (repository,) = planned(images, main=own, other=other, third=third).images
    assert repository.readers == ("main", "third")
    assert repository.writers == ("group:a@example.com",)
    assert repository.labels["team"] == "ml"
    assert repository.address == "us-docker.pkg.dev/tpuplane-lab/training"


def test_an_adopted_cluster_with_the_default_account_has_no_reader() -> None:
    adopted = {"adopted": {"name": "old"}, "location": "us-central1"}
    (repository,) = planned({"training": {"location": "us"}}, main=adopted).images
    assert repository.readers == ()


def test_a_cluster_called_like_the_default_account_pulls() -> None:
    other = {"location": "us-central1", "network": {"existing": {"network": "v", "subnetwork": "s"}}}
    (repository,) = planned({"training": {"location": "us"}}, default=other).images
    assert repository.readers == ("main", "default")


def test_policies_are_those_that_the_description_sets() -> None:
    images = {
        "all": {"location": "us"},
        "old": {"location": "us", "deleteAfterDays": 30},
        "new": {"location": "us", "deleteAfterDays": 30, "keepVersions": 5, "cleanupDryRun": True},
    }
    nothing, old, new = planned(images).images
    assert nothing.cleanup == ()
    assert [policy["id"] for policy in old.cleanup] == ["delete-old"]
    assert old.cleanup[0]["condition"] == {"tagState": "ANY", "olderThan": "2592000s"}
    assert [policy["action"] for policy in new.cleanup] == ["DELETE", "KEEP"]
    assert new.cleanup[1]["mostRecentVersions"] == {"keepCount": 5}
    assert new.cleanup_dry_run


def test_add_ons_come_through_the_nearest_repository_of_their_source() -> None:
    wide = {"location": "us", "remote": "registry.k8s.io", "forAddons": True}
    images = {"near": {**wide, "location": "us-central1"}, "wide": wide, "hub": {**wide, "remote": "docker.io"}}
    east = {"location": "us-east5", "addons": {"kueue": {}}}
    east["network"] = {"nodesCidr": "10.8.0.0/20", "podsCidr": "10.72.0.0/14", "servicesCidr": "10.48.0.0/20"}
    platform = planned(images, east=east)
    assert image(platform, "kueue") == "us-central1-docker.pkg.dev/tpuplane-lab/near/kueue/kueue"
    assert image(platform, "jobset") == "us-central1-docker.pkg.dev/tpuplane-lab/near/jobset/jobset"
    assert image(platform, "kueue", 1) == "us-docker.pkg.dev/tpuplane-lab/wide/kueue/kueue"
    assert image(planned({"near": {**wide, "forAddons": False}}), "kueue") == "registry.k8s.io/kueue/kueue"


def test_the_printed_plan_has_the_repositories() -> None:
    file = REPOSITORY / "examples" / "images" / "stacks" / "Pulumi.lab.yaml"
    shown = CliRunner().invoke(app, ["plan", str(file)], env={"COLUMNS": "160"})
    assert "us-docker.pkg.dev/acme-lab/hub" in shown.output
    values = json.loads(CliRunner().invoke(app, ["plan", str(file), "--json"]).output)
    assert [(own["name"], own["source"]) for own in values["images"]] == [
        ("training", None),
        ("kubernetes", "registry.k8s.io"),
        ("hub", "docker.io"),
    ]


def test_an_image_without_a_registry_is_of_docker_hub() -> None:
    main = {"addons": {"kueue": {}, "jobset": {}, "kueueSliceController": {}}, "sliceController": True}
    main |= {"releaseChannel": "RAPID", "version": "1.36", "systemPool": {"machineType": "e2-standard-16"}}
    platform = planned({"hub": {"location": "us", "remote": "docker.io", "forAddons": True}}, main=main)
    (addon,) = (each for each in platform.clusters[0].addons if each.key == "kueueSliceController")
    assert addon.values["image"] == "us-docker.pkg.dev/tpuplane-lab/hub/tpuongke/kueue-slice-controller:latest"
