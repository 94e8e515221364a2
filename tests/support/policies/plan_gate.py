"""The gate for plans as a command, without the second that a process takes to load it."""

from __future__ import annotations

import subprocess
from contextlib import chdir
from pathlib import Path

from tpuplane_policies.plangate import app
from typer.testing import CliRunner


def gate(text: str, *arguments: str, folder: Path = Path("/")) -> subprocess.CompletedProcess[str]:
    """The gate on a plan, in a folder without a project of its own."""
    with chdir(folder):
        done = CliRunner().invoke(app, arguments, input=text, catch_exceptions=False)
    return subprocess.CompletedProcess(["tpuplane-plan-gate", *arguments], done.exit_code, done.stdout, done.stderr)
