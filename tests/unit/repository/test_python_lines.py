"""The number of lines of hand-written Python outside of tests: growth is a decision."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from scripts import generate, python_lines
from tests.support import REPOSITORY

pytestmark = pytest.mark.unit


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository of 5 lines, of which git knows 3."""
    files = {
        "components/one.py": "a\nb\n",
        "examples/two.py": "c\n",
        "components/new.py": "d\ne",
        "components/args.py": "# Generated from the spec\nf\n",
        "tests/unit/test_one.py": "g\n",
        ".venv/three.py": "h\n",
        ".gitignore": ".venv/\n",
        "README.md": "i\n",
        "scripts/python_lines.txt": "5\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    for command in (("init", "--quiet"), ("add", "components/one.py", "examples/two.py")):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    return tmp_path


def record(repository: Path, number: int) -> None:
    (repository / python_lines.RECORDED).write_text(f"{number}\n")


def test_this_repository_has_no_more_than_recorded() -> None:
    command = [sys.executable, "-m", "scripts.python_lines"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_tests_generated_and_ignored_files_do_not_count(repository: Path) -> None:
    assert python_lines.count(repository) == 5


def test_more_lines_than_recorded_are_an_error(repository: Path) -> None:
    assert python_lines.excess(repository) == ""
    record(repository, 4)
    assert python_lines.excess(repository) == (
        "hand-written Python outside of tests has 5 lines, 1 more than recorded in scripts/python_lines.txt. "
        "Remove lines, or write 5 into scripts/python_lines.txt and give the reason in the commit message"
    )


@pytest.mark.parametrize(("before", "after"), [(9, 5), (5, 5), (4, 4)])
def test_generate_records_fewer_lines_and_never_more(repository: Path, before: int, after: int) -> None:
    record(repository, before)
    python_lines.lower(repository)
    assert python_lines.recorded(repository) == after


def test_a_file_says_in_its_first_line_that_it_is_generated_if_it_is() -> None:
    """The files of templates are those of a user's repository, and count."""
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    files = [name for name in listed.stdout.splitlines() if (REPOSITORY / name).exists()]
    marked = {name for name in files if (REPOSITORY / name).read_text().startswith(python_lines.GENERATED)}
    written = {name for name in generate.GENERATED if name.endswith(".py") and not name.startswith("templates/")}
    assert marked == written
