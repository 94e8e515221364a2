"""The stacks that a project's files have on a twin, with the real engine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.pulumi_program import Program

pytestmark = [pytest.mark.twin]


def stacks(program: Program) -> set[str]:
    return {load["name"] for load in json.loads(program.output("stack", "ls", "--json"))}


def add(program: Program, name: str, text: str = "config: {}\n") -> Path:
    file = program.folder / "stacks" / f"Pulumi.{name}.yaml"
    file.write_text(text)
    return file


def test_each_file_of_the_project_has_an_empty_stack_at_once(stack: Program) -> None:
    add(stack, "prod")
    assert stacks(stack) == {"dev", "prod"}
    stack.stack = "prod"
    assert "create" in stack.output("preview")
    stack.stack = ""
    add(stack, "staging")
    assert stack.run("pulumi", "-C", "infra", "stack", "select", "staging").returncode == 0


def test_the_twin_changes_no_file_and_forgets_no_state(stack: Program) -> None:
    dev = stack.folder / "stacks" / "Pulumi.dev.yaml"
    stack.write("import pulumi\npulumi.export('answer', 42)\n")
    assert stack.up() == {"answer": 42}
    files = {file: file.read_bytes() for file in (dev, add(stack, "prod"))}
    assert stacks(stack) == {"dev", "prod"}
    assert {file: file.read_bytes() for file in files} == files
    assert json.loads(stack.output("stack", "output", "--json")) == {"answer": 42}


def test_a_killed_engine_leaves_no_empty_file_beside_the_state(stack: Program, tmp_path: Path) -> None:
    """Pulumi replaces the state at once, but not its file of attributes. No command reads a state if that is empty."""
    stack.up()
    assert list(tmp_path.rglob("dev.json"))
    assert list(tmp_path.rglob("*.attrs")) == []


def test_stack_init_works_once_as_on_google_cloud(stack: Program) -> None:
    add(stack, "prod")
    assert stacks(stack) == {"dev", "prod"}
    stack.output("stack", "init", "prod")
    assert "already exists" in stack.output("stack", "init", "prod", fails=True)
    assert "already exists" in stack.output("stack", "init", "dev", fails=True)


def test_a_project_that_is_not_on_the_twin_gets_nothing(stack: Program, tmp_path: Path) -> None:
    backend = tmp_path / "elsewhere"
    backend.mkdir()
    add(stack, "prod")
    variables = {"PULUMI_BACKEND_URL": f"file://{backend}"}
    assert json.loads(stack.output("stack", "ls", "--json", **variables)) == []
    assert json.loads(stack.output("stack", "ls", "--all", "--json"))[0]["name"].endswith("dev")
