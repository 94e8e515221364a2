from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from tpuplane_twin import tools
from tpuplane_twin.engine import environment, install_engine
from tpuplane_twin.paths import TwinPaths


@pytest.fixture(scope="session")
def built_tools() -> tools.Tools:
    """The Pulumi of the tool cache, built if it is not there: also where an official one is installed."""
    path = os.pathsep.join(
        folder for folder in os.environ["PATH"].split(os.pathsep) if not shutil.which("pulumi", path=folder)
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", path)
        return tools.ensure(["pulumi"])


@dataclass(frozen=True)
class Stack:
    """A project with one stack on a twin of its own; `pulumi` runs the real CLI in it."""

    folder: Path
    environment: dict[str, str]

    def program(self, text: str) -> None:
        (self.folder / "infra" / "__main__.py").write_text(textwrap.dedent(text))

    def options(self, **options: str) -> None:
        project = {
            "name": "demo",
            "main": "infra",
            "stackConfigDir": "stacks",
            "runtime": {"name": "python", "options": options},
        }
        (self.folder / "Pulumi.yaml").write_text(yaml.safe_dump(project))

    def pulumi(self, *arguments: str, fails: bool = False) -> str:
        result = subprocess.run(
            ["pulumi", *arguments, "--non-interactive", "--color", "never"],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert (result.returncode != 0) == fails, result.stdout
        return result.stdout


@pytest.fixture
def stack(built_tools: tools.Tools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stack:
    """An empty stack called dev. Its folders have a space in their names, as a user's may."""
    monkeypatch.setenv("TPUPLANE_TWIN_HOME", str(tmp_path / "my twins"))
    paths = TwinPaths.of("engine-test").make()
    install_engine(paths, built_tools)
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("PULUMI_", "UV_", "VIRTUAL_ENV"))
    }
    folder = tmp_path / "my project"
    (folder / "infra").mkdir(parents=True)
    (folder / "stacks").mkdir()
    created = Stack(folder, inherited | environment(paths))
    created.options(toolchain="uv", virtualenv=sys.prefix)
    created.program("")
    created.pulumi("stack", "init", "dev")
    return created
