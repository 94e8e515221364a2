"""Calls of `tpuplane job` for the platform of its tests."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from tpuplane.cli import app
from typer.testing import CliRunner, Result

STACK = Path(__file__).parents[1] / "unit" / "jobs" / "platform.yaml"
GOOD = "--team research --slice v6e-4x4 --image i --cluster central1"
PRODUCT = "--team product --image i"
LETTERS = "lower-case letters, digits and hyphens, starting with a letter, not ending with a hyphen"


def run(arguments: str, command: str = "-- python train.py", stack: Path = STACK) -> Result:
    return CliRunner().invoke(app, ["job", "--stack", str(stack), *shlex.split(f"{arguments} {command}")])


def printed(arguments: str, command: str = "-- python train.py", stack: Path = STACK) -> dict[str, Any]:
    """The manifest; nothing else is on standard output."""
    result = run(arguments, command, stack)
    assert result.exit_code == 0, result.stderr
    return dict(yaml.safe_load(result.stdout))


def templates(value: Any) -> Iterator[dict[str, Any]]:
    """The pod templates in a manifest."""
    if isinstance(value, dict):
        if "containers" in value.get("spec", {}):
            yield value
        for part in value.values():
            yield from templates(part)
    elif isinstance(value, list):
        for part in value:
            yield from templates(part)


def changed(folder: Path, *texts: tuple[str, str]) -> Path:
    """The platform with other texts."""
    stack, text = folder / "Pulumi.x.yaml", STACK.read_text()
    for old, new in texts:
        assert old in text
        text = text.replace(old, new, 1)
    stack.write_text(text)
    return stack
