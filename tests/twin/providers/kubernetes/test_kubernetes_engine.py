"""A program of every kind of resource, run by the real engine: nothing changes unless the program does."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from kubernetes_control_plane import ControlPlane
from tpuplane_twin.engine.plugins import install_plugin

pytestmark = pytest.mark.e2e

PROJECT = """
name: objects
runtime: {name: python, options: {virtualenv: VIRTUALENV}}
"""

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


class Stack:
    def __init__(self, folder: Path, control_plane: ControlPlane) -> None:
        home, backend = folder / "home", folder / "backend"
        backend.mkdir()
        host = [sys.executable, "-m", "tpuplane_twin.engine.language_host"]
        install_plugin(home, "language", "python", version("pulumi"), host)
        provider = [sys.executable, "-m", "tpuplane_twin.providers.kubernetes"]
        install_plugin(home, "resource", "kubernetes", version("pulumi-kubernetes"), provider)
        (folder / "Pulumi.yaml").write_text(PROJECT.replace("VIRTUALENV", sys.prefix))
        (folder / "__main__.py").write_text(PROGRAM)
        self.folder = folder
        self.environment = {
            **{key: value for key, value in os.environ.items() if key != "KUBECONFIG"},
            "PULUMI_HOME": str(home),
            "PULUMI_BACKEND_URL": f"file://{backend}",
            "PULUMI_CONFIG_PASSPHRASE": "test",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "TEST_KUBECONFIG": control_plane.kubeconfig(),
        }

    def pulumi(self, *arguments: str, step: str = "1") -> str:
        result = subprocess.run(
            [pulumi_command(), *arguments, "--non-interactive"],
            cwd=self.folder,
            env={**self.environment, "STEP": step},
            stdin=subprocess.DEVNULL,
            check=False,
            capture_output=True,
            text=True,
        )
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout


def pulumi_command() -> str:
    found = shutil.which("pulumi")
    if found:
        return found
    from tpuplane_twin import tools

    with tools.show() as progress:
        return str(tools.ensure(["pulumi"], progress).binary("pulumi"))


def test_program_from_preview_to_destroy(control_plane: ControlPlane, tmp_path: Path) -> None:
    stack = Stack(tmp_path, control_plane)
    stack.pulumi("stack", "init", "test")
    assert "11 to create" in stack.pulumi("preview")
    up = ("up", "--yes", "--skip-preview")
    assert "11 created" in stack.pulumi(*up)
    assert "hunter2" not in stack.pulumi("stack", "export")
    stack.pulumi("preview", "--refresh", "--expect-no-changes")

    before = stack.pulumi("stack", "output", "config")
    changed = stack.pulumi(*up, "--refresh", step="2")
    assert "1 updated" in changed
    assert "1 replaced" in changed
    assert stack.pulumi("stack", "output", "config") != before
    stack.pulumi("preview", "--refresh", "--expect-no-changes", step="2")
    assert "11 deleted" in stack.pulumi("destroy", "--yes", "--skip-preview")
