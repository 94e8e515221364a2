"""A Pulumi program and its stack, driven as a user drives them: by commands."""

from __future__ import annotations

import json
import subprocess
import textwrap
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml


def run(
    command: tuple[str | Path, ...], folder: Path, variables: Mapping[str, str], *, check: bool = True
) -> subprocess.CompletedProcess[str]:
    """Run a command without an input; unless `check` is false, it must succeed."""
    result = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if check and result.returncode:
        raise AssertionError(f"{command} ended with {result.returncode}\n{result.stdout}\n{result.stderr}")
    return result


@dataclass
class Program:
    """A project's folder, the environment of its commands, and the stack that they name ("": the selected one)."""

    folder: Path
    variables: dict[str, str] = field(default_factory=dict)
    stack: str = ""

    def run(self, *command: str | Path, check: bool = True, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a command in the project's folder, with `variables` added to its environment."""
        return run(command, self.folder, {**self.variables, **variables}, check=check)

    def pulumi(self, *arguments: str, check: bool = True, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run Pulumi's CLI for the stack."""
        options = ["--non-interactive", "--color", "never", *(["--stack", self.stack] if self.stack else [])]
        return self.run("pulumi", *arguments, *options, check=check, **variables)

    def output(self, *arguments: str, fails: bool = False, **variables: str) -> str:
        """What Pulumi's CLI prints; it must fail or succeed as `fails` says."""
        result = self.pulumi(*arguments, check=False, **variables)
        assert (result.returncode != 0) == fails, result.stdout + result.stderr
        return result.stdout + result.stderr

    def up(self) -> dict[str, Any]:
        """Bring the stack up and return its outputs."""
        self.pulumi("up", "--yes", "--skip-preview")
        outputs: dict[str, Any] = json.loads(self.pulumi("stack", "output", "--json").stdout)
        return outputs

    def destroy(self) -> None:
        self.pulumi("destroy", "--yes", "--skip-preview")

    def steps(self) -> Counter[str]:
        """What a preview would do, by kind of step, `same` left out."""
        preview = json.loads(self.pulumi("preview", "--json").stdout)
        return Counter(step["op"] for step in preview["steps"] if step["op"] != "same")

    def resources(self) -> list[dict[str, Any]]:
        """The resources in the stack's state."""
        state = json.loads(self.pulumi("stack", "export").stdout)
        found: list[dict[str, Any]] = state["deployment"].get("resources", [])
        return found

    def write(self, text: str) -> None:
        """Write the program."""
        (self.folder / "infra").mkdir(parents=True, exist_ok=True)
        (self.folder / "infra" / "__main__.py").write_text(textwrap.dedent(text))

    def describe(self, **options: str) -> None:
        """Write the project's file, with these options of the Python runtime."""
        (self.folder / "stacks").mkdir(parents=True, exist_ok=True)
        project = {
            "name": "demo",
            "main": "infra",
            "stackConfigDir": "stacks",
            "runtime": {"name": "python", "options": options},
        }
        (self.folder / "Pulumi.yaml").write_text(yaml.safe_dump(project))
