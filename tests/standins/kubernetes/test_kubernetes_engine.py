"""A program of every kind of resource, run by the real engine: nothing changes unless the program does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.providers.kubernetes_control_plane import ControlPlane
from tests.support.providers.kubernetes_stack import kubernetes_program

pytestmark = pytest.mark.e2e

PROGRAM = """
import os
import pulumi
import pulumi_kubernetes as k8s
from pulumi_kubernetes.yaml import ConfigGroup

step = os.environ["STEP"]
provider = k8s.Provider("cluster", kubeconfig=os.environ["TEST_KUBECONFIG"], cluster_identifier="one")
on = pulumi.ResourceOptions(provider=provider)

team = k8s.core.v1.Namespace("team", metadata={"name": "team"}, opts=on)
inside = {"namespace": team.metadata.name}
config = k8s.core.v1.ConfigMap("config", metadata=inside, data={"step": step}, opts=on)
secret = k8s.core.v1.Secret("secret", metadata=inside, string_data={"password": "hunter2"}, opts=on)
schema = {"type": "object", "x_kubernetes_preserve_unknown_fields": True}
kind = k8s.apiextensions.v1.CustomResourceDefinition(
    "flavors",
    metadata={"name": "flavors.example.com"},
    spec={
        "group": "example.com",
        "scope": "Cluster",
        "names": {"plural": "flavors", "kind": "Flavor"},
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"open_apiv3_schema": schema}}],
    },
    opts=on,
)
k8s.apiextensions.CustomResource(
    "flavor",
    api_version="example.com/v1",
    kind="Flavor",
    metadata={"name": "v6e"},
    spec={"chips": 4, "step": step},
    opts=pulumi.ResourceOptions(provider=provider, depends_on=[kind]),
)
container = {"name": "main", "image": "example.com/main", "resources": {"limits": {"cpu": "1000m"}}}
k8s.apps.v1.Deployment(
    "idle",
    metadata=inside,
    spec={
        "replicas": 0,
        "selector": {"match_labels": {"app": "idle"}},
        "template": {
            "metadata": {"labels": {"app": "idle"}},
            "spec": {"host_network": False, "containers": [container]},
        },
    },
    opts=on,
)
text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: from-yaml, namespace: team}, data: {a: b}}"
ConfigGroup("yaml", yaml=[text], opts=pulumi.ResourceOptions(providers=[provider], depends_on=[team]))
k8s.core.v1.NamespacePatch("patch", metadata={"name": "default", "labels": {"patched": "yes"}}, opts=on)
pulumi.export("config", config.metadata.name)
pulumi.export("secret", secret.data)
"""


def test_program_from_preview_to_destroy(control_plane: ControlPlane, tmp_path: Path) -> None:
    stack = kubernetes_program(tmp_path, control_plane, PROGRAM)
    assert "11 to create" in stack.output("preview")
    up = ("up", "--yes", "--skip-preview")
    assert "11 created" in stack.output(*up)
    assert "hunter2" not in stack.output("stack", "export")
    stack.output("preview", "--refresh", "--expect-no-changes")

    before = stack.output("stack", "output", "config")
    changed = stack.output(*up, "--refresh", STEP="2")
    assert "1 updated" in changed
    assert "1 replaced" in changed
    assert stack.output("stack", "output", "config") != before
    stack.output("preview", "--refresh", "--expect-no-changes", STEP="2")
    assert "11 deleted" in stack.output("destroy", "--yes", "--skip-preview")
