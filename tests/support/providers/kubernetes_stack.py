"""A Pulumi project whose engine runs the twin's own Kubernetes provider against the tests' API server."""

from __future__ import annotations

import os
import shutil
import sys
from importlib.metadata import version
from pathlib import Path

from tpuplane_twin import tools
from tpuplane_twin.shell.plugins import install_plugin, stand_in

from tests.support.providers.kubernetes_control_plane import ControlPlane
from tests.support.pulumi_program import Program


def kubernetes_program(folder: Path, control_plane: ControlPlane, text: str) -> Program:
    """A project with the stack test. The program reads STEP and TEST_KUBECONFIG from its environment."""
    home, backend = folder / "home", folder / "backend"
    backend.mkdir(parents=True)
    install_plugin(home, "language", "python", version("pulumi"), stand_in("language", "python"))
    provider = stand_in("resource", "kubernetes")
    helm = tools.ensure(["helm"]).binary("helm").parent
    install_plugin(home, "resource", "kubernetes", version("pulumi-kubernetes"), provider, path=helm)
    program = Program(
        folder,
        {
            **{key: value for key, value in os.environ.items() if key != "KUBECONFIG"},
            "PATH": os.pathsep.join([_pulumi_folder(), os.environ["PATH"]]),
            "PULUMI_HOME": str(home),
            "PULUMI_BACKEND_URL": f"file://{backend}",
            "PULUMI_CONFIG_PASSPHRASE": "test",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "TEST_KUBECONFIG": control_plane.kubeconfig(),
            "STEP": "1",
        },
    )
    program.describe(virtualenv=sys.prefix)
    program.write(text)
    program.output("stack", "init", "test")
    return program


def _pulumi_folder() -> str:
    if found := shutil.which("pulumi"):
        return str(Path(found).parent)
    with tools.show() as progress:
        return str(tools.ensure(["pulumi"], progress).binary("pulumi").parent)
