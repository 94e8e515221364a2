"""The documentation as a site: its links are right, and it loads nothing from elsewhere."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.pages import REPOSITORY

pytestmark = pytest.mark.unit

_LOADED = re.compile(r"<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=\"(?:https?:)?//[^>]*>")


def gather(pages: Path) -> None:
    """Copy the pages of the site, which `.pages` has as links."""
    shutil.copytree(REPOSITORY / ".pages", pages, ignore=shutil.ignore_patterns(".*"))


def build(folder: Path) -> str:
    """The warnings of mkdocs, with its exit code. The pages are in `folder/pages`."""
    config = folder / "mkdocs.yml"
    config.write_text(f"INHERIT: {REPOSITORY / 'mkdocs.yml'}\ndocs_dir: pages\nsite_dir: html\n")
    command = [REPOSITORY / ".venv/bin/mkdocs", "build", "--strict", "--config-file", config]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, env=quiet, capture_output=True, text=True, check=False)
    warnings = [line for line in done.stderr.splitlines() if not line.startswith("INFO")]
    return "\n".join((*warnings, f"exit code {done.returncode}"))


def test_the_site_has_no_broken_link_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    gather(tmp_path / "pages")
    assert build(tmp_path) == "exit code 0"
    html = tmp_path / "html"
    assert [found[0] for page in html.rglob("*.html") for found in _LOADED.finditer(page.read_text())] == []
    found = json.loads((html / "search" / "search_index.json").read_text())["docs"]
    assert [
        it["location"] for it in found if "is not a v6e topology" in it["text"] and it["location"][:11] == "docs/errors"
    ]


def test_broken_links_fail_the_build(tmp_path: Path) -> None:
    links = ("nowhere.md", "cli.md#nowhere", "#nowhere", "../examples/nowhere.md", "pictures/nowhere.svg")
    gather(tmp_path / "pages")
    page = tmp_path / "pages" / "docs" / "concepts.md"
    page.write_text("\n\n".join((page.read_text(), *(f"![broken]({link})" for link in links))))
    warnings = build(tmp_path)
    assert "exit code 1" in warnings
    assert [link for link in links if f"'{link}'" not in warnings] == []


def test_a_page_without_a_place_in_the_navigation_fails_the_build(tmp_path: Path) -> None:
    gather(tmp_path / "pages")
    (tmp_path / "pages" / "new.md").write_text("# New\n")
    assert "new.md" in build(tmp_path)
