"""The page of what stays as it is names every command of the twin."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer
from tpuplane_twin.cli import app

pytestmark = pytest.mark.unit

PAGE = Path(__file__).parents[3] / "docs" / "seams.md"


def test_the_commands_are_those_of_the_page() -> None:
    line = re.search(r"- `tpuplane_twin\.cli`: `([^`]+)`", PAGE.read_text(encoding="utf-8"))
    assert line is not None
    assert line[1].split(" | ") == list(typer.main.get_group(app).commands)
