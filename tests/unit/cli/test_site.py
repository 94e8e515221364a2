"""The documentation as a site: its links are right, and it loads nothing from elsewhere."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support import REPOSITORY
from tests.support.site_search import search_of

pytestmark = pytest.mark.unit

_LOADED = re.compile(r"<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=\"(?:https?:)?//[^>]*>")


def gather(pages: Path) -> None:
    """Copy the pages of the site, which `.pages` has as links."""
    shutil.copytree(REPOSITORY / ".pages", pages, ignore=shutil.ignore_patterns(".*"))


def build(folder: Path) -> str:
    """The warnings of mkdocs, with its exit code. The pages are in `folder/pages`."""
    config = folder / "mkdocs.yml"
    hook = REPOSITORY / "scripts/site_search.py"
    config.write_text(f"INHERIT: {REPOSITORY / 'mkdocs.yml'}\ndocs_dir: pages\nsite_dir: html\nhooks: [{hook}]\n")
    command = [REPOSITORY / ".venv/bin/mkdocs", "build", "--strict", "--config-file", config]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, env=quiet, capture_output=True, text=True, check=False)
    warnings = [line for line in done.stderr.splitlines() if not line.startswith("INFO")]
    return "\n".join((*warnings, f"exit code {done.returncode}"))


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    gather(folder / "pages")
    assert build(folder) == "exit code 0"
    return folder / "html"


def test_the_site_loads_nothing_from_elsewhere(html: Path) -> None:
    assert [found[0] for page in html.rglob("*.html") for found in _LOADED.finditer(page.read_text())] == []


def questions() -> list[tuple[str, str]]:
    """The questions of the README with the pages that it names first."""
    table = (REPOSITORY / "README.md").read_text().split("| question | page |")[1].split("\n\n")[0]
    rows = re.findall(r"^\| ([^|]+\?) \| [^|]*?\]\(([^)#]+)\.md", table, re.MULTILINE)
    assert len(rows) >= 8
    return [(question, f"{page}.html") for question, page in rows]


def messages() -> list[str]:
    """Every twentieth message of docs/errors.md."""
    found = re.findall(r"^\| `([^`]{25,})`", (REPOSITORY / "docs/errors.md").read_text(), re.MULTILINE)
    assert len(found) > 200
    return found[5::20]


def test_the_search_finds_the_page_of_a_question_and_of_a_message_first(html: Path) -> None:
    search = search_of(html)
    wanted = [*questions(), *((message, "docs/errors.html") for message in messages())]
    wanted += [("is not a v6e topology", "docs/errors.html"), ("GCE_STOCKOUT", "docs/errors.html")]
    found = {query: search(query)[:1] for query, _ in wanted}
    assert {
        query: pages for query, pages in found.items() if pages and pages[0].split("#")[0] != dict(wanted)[query]
    } == {}
    assert [query for query, pages in found.items() if not pages] == []


TOPICS = {
    "policies": "docs/policies.html",
    "queues": "docs/queues.html",
    "multislice": "examples/jobset-multislice/index.html",
    "exit codes": "docs/cli.html",
    "MultiKueue": "docs/queues.html",
    "lendingLimit borrowingLimit": "docs/queues.html",
    "compute class priorities": "docs/compute-classes.html",
    "maintenance window exclusions": "docs/stacks.html",
    "add an H100 pool": "docs/gpu.html",
    "run vLLM on v6e": "examples/ray-vllm/index.html",
    "import cluster made by gcloud": "docs/import.html",
    "python component from typescript": "docs/reuse.html",
    "GitHub Actions": "docs/ci.html",
    "my job waits forever": "docs/see.html",
}
"""Words of a reader who has no message. A word in the plural is stored by its stem."""


def test_the_search_finds_the_page_of_a_subject_first(html: Path) -> None:
    search = search_of(html)
    assert {subject: (search(subject) or [""])[0].split("#")[0] for subject in TOPICS} == TOPICS


def test_the_search_finds_the_section_of_a_message_with_the_names_of_another_platform(html: Path) -> None:
    search = search_of(html)
    assert search("clusters.a.pools.b.topology: '7x7' is not a v5p topology")[0] == (
        "docs/errors.html#pools-teams-and-clusters"
    )


def pages_of(*parts: str) -> list[str]:
    """The pages of parts of the navigation."""
    lines = (REPOSITORY / "mkdocs.yml").read_text().partition("\nnav:\n")[2]
    nav: dict[str, Any] = {key: value for part in yaml.safe_load(lines) for key, value in part.items()}
    named = [nav[part] if isinstance(nav[part], list) else [{part: nav[part]}] for part in parts]
    return [page for part in named for entry in part for page in entry.values() if isinstance(page, str)]


@pytest.mark.parametrize(
    ("heading", "pages"),
    [
        ("## Before you begin", [*pages_of("Tutorial", "From an empty folder", "Guides"), "docs/stacks.md"]),
        ("## What's next", [*pages_of("Tutorial", "From an empty folder", "Guides", "Concepts"), "docs/stacks.md"]),
    ],
)
def test_each_page_has_the_parts_of_its_type(heading: str, pages: list[str]) -> None:
    assert [page for page in pages if f"\n{heading}\n" not in (REPOSITORY / page).read_text()] == []


def test_broken_links_and_a_page_without_a_place_in_the_navigation_fail_the_build(tmp_path: Path) -> None:
    links = ("nowhere.md", "cli.md#nowhere", "#nowhere", "../examples/nowhere.md", "pictures/nowhere.svg")
    gather(tmp_path / "pages")
    page = tmp_path / "pages" / "docs" / "concepts.md"
    page.write_text("\n\n".join((page.read_text(), *(f"![broken]({link})" for link in links))))
    (tmp_path / "pages" / "new.md").write_text("# New\n")
    warnings = build(tmp_path)
    assert (warnings.count("WARNING"), "exit code 1" in warnings) == (len(links) + 1, True)
    assert [link for link in links if f"'{link}'" not in warnings] == []
    assert "new.md" in warnings
