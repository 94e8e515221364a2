"""A Pulumi project whose engine runs the twin's own Kubernetes provider against the tests' API server."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from kubernetes_control_plane import ControlPlane
from tpuplane_twin.engine.plugins import install_plugin

PROJECT = """
name: objects
runtime: {name: python, options: {virtualenv: VIRTUALENV}}
"""


class Stack:
    def __init__(self, folder: Path, control_plane: ControlPlane, program: str) -> None:
        home, backend = folder / "home", folder / "backend"
        backend.mkdir()
        host = [sys.executable, "-m", "tpuplane_twin.engine.language_host"]
        install_plugin(home, "language", "python", version("pulumi"), host)
        provider = [sys.executable, "-m", "tpuplane_twin.providers.kubernetes"]
        install_plugin(home, "resource", "kubernetes", version("pulumi-kubernetes"), provider)
        (folder / "Pulumi.yaml").write_text(PROJECT.replace("VIRTUALENV", sys.prefix))
        (folder / "__main__.py").write_text(program)
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

    def pulumi(self, *arguments: str, step: str = "1", **variables: str) -> str:
        """Run `pulumi` and return what it prints; it must succeed."""
        succeeded, output = self.try_pulumi(*arguments, step=step, **variables)
        assert succeeded, output
        return output

    def try_pulumi(self, *arguments: str, step: str = "1", **variables: str) -> tuple[bool, str]:
        """Run `pulumi`: whether it succeeded, and what it said."""
        result = subprocess.run(
            [pulumi_command(), *arguments, "--non-interactive"],
            cwd=self.folder,
            env={**self.environment, "STEP": step, **variables},
            stdin=subprocess.DEVNULL,
            check=False,
            capture_output=True,
            text=True,
        )
        return not result.returncode, result.stdout + result.stderr


def pulumi_command() -> str:
    found = shutil.which("pulumi")
    if found:
        return found
    from tpuplane_twin import tools

    with tools.show() as progress:
        return str(tools.ensure(["pulumi"], progress).binary("pulumi"))
