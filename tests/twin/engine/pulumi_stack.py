"""What the tests do with a Pulumi project."""

from __future__ import annotations

import subprocess
import textwrap
from dataclasses import dataclass
from pathlib import Path

import yaml


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
