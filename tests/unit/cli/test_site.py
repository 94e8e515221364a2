"""The documentation as a site: its links are right, and it loads nothing from elsewhere."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from scripts import site
from tests.pages import REPOSITORY

pytestmark = pytest.mark.unit

_LOADED = re.compile(r"<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=\"(?:https?:)?//[^>]*>")


def build(folder: Path) -> str:
    """The warnings of mkdocs, with its exit code."""
    command = [REPOSITORY / ".venv/bin/mkdocs", "build", "--strict", "--site-dir", folder]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=REPOSITORY, env=quiet, capture_output=True, text=True, check=False)
    warnings = [line for line in done.stderr.splitlines() if not line.startswith("INFO")]
    return "\n".join((*warnings, f"exit code {done.returncode}"))


def test_the_site_has_no_broken_link_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    site.main()
    assert build(tmp_path) == "exit code 0"
    assert [found[0] for page in tmp_path.rglob("*.html") for found in _LOADED.finditer(page.read_text())] == []
    found = json.loads((tmp_path / "search" / "search_index.json").read_text())["docs"]
    assert [it["location"] for it in found if "is not a v6e topology" in it["text"] and it["location"][:6] == "errors"]


def test_broken_links_fail_the_build(tmp_path: Path) -> None:
    links = ("nowhere.md", "cli.md#nowhere", "#nowhere", "../examples/nowhere", "pictures/nowhere.svg")
    site.main()
    page = site.PAGES / "concepts.md"
    page.write_text("\n\n".join((page.read_text(), *(f"![broken]({link})" for link in links))))
    warnings = build(tmp_path)
    assert "exit code 1" in warnings
    assert [link for link in links if f"'{link}'" not in warnings] == []
