"""Programs of other people on a twin, driven by commands."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support import BIN, REPOSITORY
from tests.support.e2e.platform_under_test import CENTRAL1, PlatformUnderTest, environment
from tests.support.pulumi_program import Program


class Twin:
    """A twin without a stack, for programs that use the components."""

    def __init__(self, folder: Path, name: str = "reuse") -> None:
        self.shell = Program(folder, environment(folder, name))

    def up(self) -> None:
        self.shell.run(BIN / "tpuplane-twin", "up")
        self.shell.variables |= json.loads(self.shell.run(BIN / "tpuplane-twin", "env", "--json").stdout)

    def down(self) -> None:
        self.shell.run(BIN / "tpuplane-twin", "down")

    def program(self, folder: Path) -> Program:
        """The program in `folder`, with a new stack called dev."""
        return new_stack(folder, self.shell.variables)


def new_stack(folder: Path, variables: dict[str, str]) -> Program:
    program = Program(folder, variables, "dev")
    program.pulumi("stack", "init")
    return program


@contextmanager
def example(platform: PlatformUnderTest, folder: Path, name: str, **settings: str) -> Iterator[Program]:
    """The example's program on the platform's twin, with these additional settings. It is destroyed afterwards."""
    # The sample that `rehearse` left running has a slice.
    platform.kubectl(CENTRAL1, "delete", "raycluster", "--all", "-n", "default", "--wait")
    platform.kubectl(CENTRAL1, "wait", "pod", "--for=delete", "-n", "default", "-l", "ray.io/cluster", "--timeout=300s")
    # A copy: what is configured stands in its stack file.
    shutil.copytree(REPOSITORY / "examples" / name, folder / name)
    about = folder / name / "pyproject.toml"
    about.write_text(about.read_text().replace("../../components", str(REPOSITORY / "components")))
    program = new_stack(folder / name, platform.variables)
    for key, value in settings.items():
        program.pulumi("config", "set", key, value)
    try:
        program.up()
        yield program
    finally:
        program.destroy()
        program.pulumi("stack", "rm", "--yes")  # the next test of the same example has a stack of this name
