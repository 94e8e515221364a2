"""Programs of other people on a twin, driven by commands."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.e2e.platform_under_test import BIN, CENTRAL1, REPOSITORY, PlatformUnderTest


@dataclass
class Twin:
    """A twin of the tests' own, and the environment of whoever works on it."""

    folder: Path
    name: str = "reuse"
    variables: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.variables = {
            **os.environ,
            "TPUPLANE_TWIN_HOME": str(self.folder / "twins"),
            "TPUPLANE_TWIN": self.name,
            "UV_PROJECT_ENVIRONMENT": str(REPOSITORY / ".venv"),
        }

    def up(self) -> None:
        run([BIN / "tpuplane-twin", "up"], self.folder, self.variables)
        said = run([BIN / "tpuplane-twin", "env", "--json"], self.folder, self.variables)
        self.variables |= json.loads(said.stdout)

    def down(self) -> None:
        run([BIN / "tpuplane-twin", "down"], self.folder, self.variables)

    def program(self, folder: Path) -> Program:
        """The program in `folder`, with a new stack called dev."""
        program = Program(self, folder)
        program.pulumi("stack", "init", "dev")
        return program


@dataclass(frozen=True)
class Program:
    """A Pulumi program and its stack dev."""

    twin: Twin
    folder: Path

    def pulumi(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        return run(["pulumi", *arguments, "--non-interactive"], self.folder, self.twin.variables, check=check)

    def up(self) -> dict[str, Any]:
        """Bring it up and return its outputs."""
        self.pulumi("up", "--stack", "dev", "--yes", "--skip-preview")
        outputs: dict[str, Any] = json.loads(self.pulumi("stack", "output", "--stack", "dev", "--json").stdout)
        return outputs

    def destroy(self) -> None:
        self.pulumi("destroy", "--stack", "dev", "--yes", "--skip-preview")

    def steps(self) -> Counter[str]:
        """What a preview would do, by kind of step, `same` left out."""
        preview = json.loads(self.pulumi("preview", "--stack", "dev", "--json").stdout)
        return Counter(step["op"] for step in preview["steps"] if step["op"] != "same")

    def resources(self) -> list[dict[str, Any]]:
        """What the stack's state holds."""
        state = json.loads(self.pulumi("stack", "export", "--stack", "dev").stdout)
        found: list[dict[str, Any]] = state["deployment"].get("resources", [])
        return found


@contextmanager
def example(platform: PlatformUnderTest, folder: Path, name: str, **settings: str) -> Iterator[Program]:
    """The example's program on the platform's twin, with these settings beside its own; destroyed afterwards."""
    # The sample that `rehearse` left running has a slice.
    platform.kubectl(CENTRAL1, "delete", "raycluster", "--all", "-n", "default", "--wait")
    platform.kubectl(CENTRAL1, "wait", "pod", "--for=delete", "-n", "default", "-l", "ray.io/cluster", "--timeout=300s")
    twin = Twin(folder, platform.name, {})
    twin.variables = {**platform.variables}
    # A copy: what is configured stands in its stack file.
    shutil.copytree(REPOSITORY / "examples" / name, folder / name)
    about = folder / name / "pyproject.toml"
    about.write_text(about.read_text().replace("../../components", str(REPOSITORY / "components")))
    program = twin.program(folder / name)
    for key, value in settings.items():
        program.pulumi("config", "set", key, value, "--stack", "dev")
    try:
        program.up()
        yield program
    finally:
        program.destroy()
        program.pulumi("stack", "rm", "dev", "--yes")  # the next test of the same example has a stack of this name


def run(
    command: Sequence[str | Path], folder: Path, variables: dict[str, str], *, check: bool = True
) -> subprocess.CompletedProcess[str]:
    result = subprocess.run(
        [str(part) for part in command], cwd=folder, env=variables, capture_output=True, text=True, check=False
    )
    if check and result.returncode:
        raise AssertionError(f"{command} ended with {result.returncode}\n{result.stdout}\n{result.stderr}")
    return result
