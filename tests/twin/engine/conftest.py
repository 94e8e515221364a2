from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest
from tpuplane_twin import tools
from tpuplane_twin.machine.paths import TwinPaths
from tpuplane_twin.shell.engine import environment, install_engine

from tests.support.pulumi_program import Program


@pytest.fixture(scope="session")
def built_tools() -> tools.Tools:
    """The Pulumi of the tool cache, built if it is not there: also where an official one is installed."""
    path = os.pathsep.join(
        folder for folder in os.environ["PATH"].split(os.pathsep) if not shutil.which("pulumi", path=folder)
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", path)
        return tools.ensure(["pulumi"])


@pytest.fixture
def stack(built_tools: tools.Tools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    """An empty stack called dev. Its folders have a space in their names, as a user's may."""
    monkeypatch.setenv("TPUPLANE_TWIN_HOME", str(tmp_path / "my twins"))
    paths = TwinPaths.of("engine-test").make()
    install_engine(paths, built_tools)
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("PULUMI_", "UV_", "VIRTUAL_ENV"))
    }
    folder = tmp_path / "my project"
    created = Program(folder, inherited | environment(paths))
    created.describe(toolchain="uv", virtualenv=sys.prefix)
    created.write("")
    created.output("stack", "init", "dev")
    return created
