"""The page of users' complaints names tests that are there, and that run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.unit

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "user-issues.md"
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in PAGE.read_text(encoding="utf-8").splitlines()
    if re.match(r"\| \d+ \|", line)
]
NAMED = [name for row in ROWS for name in re.findall(r"`(tests/[^`]+)`", row[3])]
_SKIPPING = {"skip", "skipif", "xfail", "importorskip"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(within: ast.Module | ast.ClassDef) -> Iterator[tuple[Function, list[ast.expr]]]:
    """Every test function, with the decorators of its classes and its own."""
    for node in within.body:
        if isinstance(node, Function):
            yield node, node.decorator_list
        elif isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            yield from ((found, node.decorator_list + marks) for found, marks in functions(node))


def may_be_skipped(*nodes: ast.AST) -> bool:
    """Whether something of it, however it is spelled, is pytest's `skip`, `skipif`, `xfail` or `importorskip`."""
    inside = (node_ for node in nodes for node_ in ast.walk(node))
    return any(isinstance(node, ast.Attribute | ast.Name) and _SKIPPING & {*_names(node)} for node in inside)


def _names(node: ast.Attribute | ast.Name) -> Iterator[str]:
    yield node.attr if isinstance(node, ast.Attribute) else node.id


def test_every_complaint_has_its_row() -> None:
    assert [int(row[0]) for row in ROWS] == list(range(1, 28))
    for number, complaint, hurts, tests in ROWS:
        assert re.search(r"\[[^]]+\]\(https://github\.com/[^)]+\)", complaint), number
        assert hurts, number
        assert tests.startswith("`tests/") or re.match(r"none: .{40,}", tests), (
            f"{number}: a test, or why there is none"
        )


def test_few_complaints_go_without_a_test() -> None:
    assert [row[0] for row in ROWS if row[3].startswith("none")] in ([], ["12"])


@pytest.mark.parametrize("named", NAMED)
def test_a_named_test_is_there_and_runs(named: str) -> None:
    file, _, name = named.partition("::")
    module = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    (found,) = ((node, marks) for node, marks in functions(module) if node.name == name)
    whole_module = [
        node for node in module.body if isinstance(node, ast.Assign) and "pytestmark" in ast.dump(node.targets[0])
    ]
    assert not may_be_skipped(found[0], *found[1], *whole_module), f"{named} may be skipped"
    assert any(isinstance(node, ast.Assert) or "raises" in ast.dump(node) for node in ast.walk(found[0])), named
