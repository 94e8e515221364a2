"""The documentation's blocks: what a reader types is marked as such, and is run by a test."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support import REPOSITORY, pages
from tests.support.pages import PAGES, blocks, script, with_outputs

pytestmark = pytest.mark.unit

# Each needs what no test of a checkout has; every other shell block is run by tests/e2e/local_stack/test_pages.py.
UNTESTED = [
    ("README.md", "needs a Google Cloud project"),
    ("docs/addons.md", "needs jobs in queues"),
    ("docs/ci.md", "creates the 594 hosts of prod, which takes minutes"),
    ("docs/conformance.md", "creates resources in a Google Cloud project, for money"),
    ("docs/conformance.md", "needs a result of Google Cloud"),
    ("docs/destroy.md", "needs gcloud"),
    *[("docs/dynamic-slices.md", "needs dynamic slices; examples/dynamic-slices has them")] * 3,
    ("docs/errors.md", "needs a Google Cloud project, or a twin with an interrupted update"),
    *[("docs/first-day.md", "needs a Google Cloud project")] * 11,
    ("docs/import.md", "needs a cluster of gcloud; tests/standins/gcp/test_gcp_import.py runs it"),
    ("docs/queues.md", "needs MultiKueue; tests/e2e/test_multi_kueue_on_the_twin.py runs it"),
    *[("docs/reliability.md", "runs the tests themselves")] * 2,
    ("docs/scale.md", "takes half an hour"),
    *[("docs/scale.md", "takes three quarters of an hour")] * 3,
    ("docs/security.md", "asks osv.dev"),
    ("docs/storage.md", "needs gcloud"),
    ("docs/sub-slices.md", "needs a pool with subSlices"),
    ("docs/testing.md", "runs the tests themselves"),
    ("docs/testing.md", "takes hours"),
    ("docs/twin-cluster.md", "installs 1.2 GB, and needs 4 GiB of memory"),
    ("docs/twin-cluster.md", "needs dynamic slices; examples/dynamic-slices has them"),
    ("examples/ray-serve-autoscaling/README.md", "needs Ray in the pods"),
    ("examples/ray-serve/README.md", "needs Ray in the pods"),
]
LANGUAGES = {"console", "json", "python", "sh", "text", "yaml"}


@pytest.mark.parametrize("page", PAGES)
def test_what_is_to_be_typed_is_marked_as_such(page: str) -> None:
    """What is fenced otherwise would be run by nobody."""
    for block in blocks(page):
        assert block.language in LANGUAGES, block.text
        assert block.commands or block.language not in ("console", "sh"), block.text
        assert block.language in ("console", "sh") or "\n$ " not in f"\n{block.text}", block.text


@pytest.mark.parametrize(
    "page", ["- step\n\n  ```sh\n  ls\n  ```\n", "~~~sh\nls\n~~~\n", "````sh\nls\n````\n", "```sh\nls\n"]
)
def test_a_block_that_would_be_overlooked_is_an_error(page: str, tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(page)
    with pytest.raises(ValueError, match="start of a line"):
        list(blocks(str(tmp_path / "page.md")))


def test_the_mistake_that_several_pages_show_is_the_same() -> None:
    lines = [line for page in PAGES for block in blocks(page) for line in block.text.splitlines()]
    assert len({line for line in lines if line.startswith("stacks/Pulumi.local.yaml:40: ")}) == 1


def said(*outputs: str) -> str:
    """What `bash -v` prints for the commands of a page, one for each output."""
    return "".join(f"{{ command\n}} 2>&1 || :\n{output}: end of the output\n" for output in outputs)


@pytest.mark.parametrize(
    ("written", "printed", "new"),
    [
        ("a  1\nDuration: 34s\n", "a 1   \nDuration: 1m10s\n", None),
        ("a 1\n", "a 2\n", "a 2\n"),
        ("a 1\n", "", ""),
        ("…\nb 1\n", "a\nb 1\n", None),
        ("…\nb 1\n", "a\nb 2\n", "…\nb 2\n"),
        ("…\n", "a\nb 2\n", "…\n"),
    ],
)
def test_an_output_is_written_anew_if_it_says_something_else(
    written: str, printed: str, new: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "REPOSITORY", tmp_path)
    page = "```console\n$ one\n{}$ two\n2\n```\n"
    (tmp_path / "page.md").write_text(page.format(written))
    assert with_outputs("page.md", said(printed, "2\n")) == page.format(written if new is None else new)


def test_blocks_that_are_not_run_are_few() -> None:
    assert sorted((page, block.untested) for page in PAGES for block in blocks(page) if block.untested) == UNTESTED


def test_every_example_is_run() -> None:
    assert [page for page in PAGES if page.startswith(("README", "examples/")) and not script(page)] == []


def test_the_design_names_every_folder() -> None:
    page = (REPOSITORY / "docs" / "design.md").read_text(encoding="utf-8")
    for package in ("components/tpuplane", "twin/tpuplane_twin", "standins/tpuplane_standins"):
        folders = {init.parent.name for init in (REPOSITORY / package).glob("*/__init__.py")}
        rows = " ".join(line for line in page.splitlines() if line.startswith(f"| `{package}/"))
        assert folders - {name.rpartition("/")[2] for name in re.findall(r"`([\w/]+)`", rows)} == set()
