"""Repositories for images, as the program registers them under Pulumi's mocks."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.components.deployment import deploy_platform

pytestmark = pytest.mark.components

REPOSITORY = "gcp:artifactregistry/repository:Repository"
MEMBER = "gcp:artifactregistry/repositoryIamMember:RepositoryIamMember"
HUB = {"location": "us", "remote": "docker.io", "deletionProtection": False}
TRAINING = {"location": "us-central1", "writers": ["group:builders@example.com"], "immutableTags": True}


def registered(**images: Any) -> Any:
    cluster = {"location": "us-central1"}
    described = {"name": "lab", "project": "tpuplane-lab", "images": images, "clusters": {"main": cluster}}
    return deploy_platform(described).registrations.values()


def test_a_repository_is_protected_and_replaced_after_its_deletion() -> None:
    found = {
        each.inputs["repositoryId"]: each for each in registered(training=TRAINING, hub=HUB) if each.type == REPOSITORY
    }
    training, hub = found["training"], found["hub"]
    assert training.request.protect
    assert not hub.request.protect
    assert training.request.deleteBeforeReplace
    assert training.inputs["mode"] == "STANDARD_REPOSITORY"
    assert training.inputs["dockerConfig"] == {"immutableTags": True}
    assert training.inputs["labels"]["tpuplane-platform"] == "lab"
    assert hub.inputs["mode"] == "REMOTE_REPOSITORY"
    assert hub.inputs["remoteRepositoryConfig"] == {"dockerRepository": {"publicRepository": "DOCKER_HUB"}}


def test_nodes_pull_and_writers_push() -> None:
    members = {each.name: each.inputs for each in registered(training=TRAINING) if each.type == MEMBER}
    assert {name.partition(".")[2]: inputs["role"] for name, inputs in members.items()} == {
        "main": "roles/artifactregistry.reader",
        "group:builders@example.com": "roles/artifactregistry.writer",
    }
    assert {inputs["repository"] for inputs in members.values()} == {"training"}
    assert {inputs["location"] for inputs in members.values()} == {"us-central1"}
