"""Runs one command."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

from tpuplane_twin.daemon.client import TwinError


def run(command: list[str], folder: Path, environment: Mapping[str, str], given: str | None = None) -> str:
    """The output of a command in a folder, with the input `given`. Raises `TwinError` with its message."""
    result = subprocess.run(
        command, cwd=folder, env=dict(environment), input=given, capture_output=True, text=True, check=False
    )
    if result.returncode:
        raise TwinError(f"`{' '.join(command[:3])}` failed: {result.stderr.strip() or result.stdout.strip()}")
    return result.stdout
