from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest
from tpuplane_twin import tools
from tpuplane_twin.machine.paths import TwinPaths
from tpuplane_twin.shell import executables
from tpuplane_twin.shell.engine import environment
from tpuplane_twin.shell.environment import google_environment

PACK = Path(__file__).parents[2] / "policies"
sys.path.insert(0, str(PACK))  # as Python does for the engine, which runs the folder


@pytest.fixture(scope="session")
def variables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An engine with both providers. Previews ask Google nothing, so no API is there to answer."""
    folder = tmp_path_factory.mktemp("engine")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PULUMI_", "UV_", "VIRTUAL_ENV"))}
    kept["PATH"] = os.pathsep.join(
        word for word in os.environ["PATH"].split(os.pathsep) if not shutil.which("pulumi", path=word)
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TPUPLANE_TWIN_HOME", str(folder))
        patch.setenv("PATH", kept["PATH"])
        paths = TwinPaths.of("policy-raw").make()
        executables.install(paths, tools.ensure(["pulumi", "kubectl", "kueue", "jobset", "pulumi-resource-kubernetes"]))
        return (
            kept
            | environment(paths)
            | google_environment("http://127.0.0.1:9", "none")
            | {
                "UV_PROJECT_ENVIRONMENT": sys.prefix,
                "KUBECONFIG": str(folder / "none"),
                "TPUPLANE_CHART_MIRROR": str(paths.charts),
            }
        )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that start an engine are marked, wherever they are: they take most of the time of the others together."""
    for item in items:
        if isinstance(item, pytest.Function) and "variables" in item.fixturenames:
            item.add_marker(pytest.mark.engine)
