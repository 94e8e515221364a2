"""Tests that a page names: they exist, and no mark skips them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.support import REPOSITORY

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


def assert_exists(named: str) -> None:
    """A test `tests/FILE::NAME` exists; of a file without a name, some test."""
    file, _, name = named.partition("::")
    module = ast.parse((REPOSITORY / file).read_text(encoding="utf-8"))
    assert [node for node, _ in functions(module) if name in ("", node.name) and node.name.startswith("test_")], named


def assert_runs(named: str) -> None:
    """A test `tests/FILE::NAME` exists, asserts something, and is not skipped."""
    file, _, name = named.partition("::")
    module = ast.parse((REPOSITORY / file).read_text(encoding="utf-8"))
    (found,) = ((node, marks) for node, marks in functions(module) if node.name == name)
    whole_module = [
        node for node in module.body if isinstance(node, ast.Assign) and "pytestmark" in ast.dump(node.targets[0])
    ]
    assert not may_be_skipped(found[0], *found[1], *whole_module), f"{named} may be skipped"
    assert any(isinstance(node, ast.Assert) or "raises" in ast.dump(node) for node in ast.walk(found[0])), named
