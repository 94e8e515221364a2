"""Tests import from `tests/support` alone, so that a test can be changed or deleted without a look at the others."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import TESTS

pytestmark = pytest.mark.unit

SUPPORT = "tests.support"
MODULES = {path.stem for path in TESTS.rglob("*.py")} - {"__init__", "__main__"}


def modules_of(source: str) -> Iterator[str]:
    """The modules that a Python file imports."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            yield f"{'.' * node.level}{node.module or ''}"
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def taken_from_tests(source: str) -> list[str]:
    """The imports of other files of `tests`; pytest finds a file in a folder of tests by its bare name too."""
    return [
        module
        for module in modules_of(source)
        if (module.startswith((".", "tests")) and not module.startswith(SUPPORT)) or module in MODULES
    ]


@pytest.mark.parametrize("path", sorted(TESTS.rglob("*.py")), ids=lambda path: str(path.relative_to(TESTS)))
def test_a_test_imports_from_support_alone(path: Path) -> None:
    assert taken_from_tests(path.read_text(encoding="utf-8")) == []


def test_an_import_of_another_test_is_found() -> None:
    assert taken_from_tests("from tests.unit.cli.test_site import search_of") == ["tests.unit.cli.test_site"]
    assert taken_from_tests("from tests import pages") == ["tests"]
    assert taken_from_tests("from .cases import CASES") == [".cases"]
    assert taken_from_tests("import deployment") == ["deployment"]
    assert taken_from_tests("from tests.support.pages import blocks\nimport json") == []
