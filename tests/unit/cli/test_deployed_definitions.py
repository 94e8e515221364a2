"""Operators that tpuplane does not ship, in the last update of a stack: their definitions come from the state."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tpuplane.cli import app
from typer.testing import CliRunner

from tests.support.last_update import DEFINITION, STACK, Metadata, update, updated_example
from tests.support.status.api_server import kubeconfig

pytestmark = pytest.mark.unit

CUSTOM = "clusters.main.addons.custom"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return updated_example(tmp_path, monkeypatch)


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments))


def deployed() -> Any:
    return run("diff", "--deployed", "lab", STACK)


def name_in_stack(old: str, new: str) -> None:
    content = Path(STACK).read_text()
    assert old in content
    Path(STACK).write_text(content.replace(old, new))


def test_the_definition_of_the_last_update_is_compared(folder: Path) -> None:
    assert "No changes." in deployed().stdout
    DEFINITION.write_text(DEFINITION.read_text().replace("version: 2.2.1", "version: 2.2.2"))
    assert f"{CUSTOM}.trainer.definition.chart.version: 2.2.1 → 2.2.2" in deployed().stdout


def test_an_operator_without_its_file_is_removed(folder: Path) -> None:
    name_in_stack("          custom:\n            trainer: {definition: addons/trainer.yaml}\n", "")
    DEFINITION.unlink()
    found = deployed()
    assert (found.exit_code, f"{CUSTOM}.trainer" in found.stdout, "deletes-work" in found.stdout) == (0, True, True)


def test_the_state_is_read_once_for_all_definitions(folder: Path) -> None:
    other = yaml.safe_load(DEFINITION.read_text()) | {"namespace": "other", "frameworks": []}
    other["chart"]["name"] = "other"
    Path("addons/other.yaml").write_text(yaml.safe_dump(other))
    name_in_stack("custom:\n", "custom:\n            other: {definition: addons/other.yaml}\n")
    update(folder)
    assert "No changes." in deployed().stdout
    assert (folder / "calls").read_text().split() == ["history", "export"]


def test_an_update_before_many_refreshes_is_found(folder: Path) -> None:
    (folder / "history-1").write_text(json.dumps([{"kind": "refresh", "result": "succeeded"}] * 50))
    assert "No changes." in deployed().stdout
    assert (folder / "calls").read_text().split() == ["history", "history", "export"]


@pytest.mark.parametrize(
    "change",
    [
        lambda metadata: metadata.pop("annotations"),
        lambda metadata: metadata["annotations"].clear(),
        lambda metadata: metadata["annotations"].update({"tpuplane.dev/definition": "{"}),
        lambda metadata: metadata["annotations"].update({"tpuplane.dev/definition": {"ciphertext": "v1:abc"}}),
    ],
)
def test_a_state_without_the_definition_cannot_be_compared(change: Callable[[Metadata], object], folder: Path) -> None:
    update(folder, change)
    found = deployed()
    assert (found.exit_code, found.stderr) == (
        3,
        f"--deployed: the state of stack lab does not have the definition addons/trainer.yaml of {CUSTOM}.trainer; "
        "run `pulumi preview`, or compare two stack files\n",
    )
    (folder / "export").write_text('{"deployment": null}')
    assert deployed().stderr == found.stderr


def test_a_definition_that_another_version_accepted_cannot_be_compared(folder: Path) -> None:
    def older(metadata: Metadata) -> None:
        values = json.loads(metadata["annotations"]["tpuplane.dev/definition"])
        metadata["annotations"]["tpuplane.dev/definition"] = json.dumps({**values, "retired": 1})

    update(folder, older)
    found = deployed()
    message = "--deployed: this version of tpuplane rejects the last update of stack lab: "
    assert (found.exit_code, found.stderr.startswith(f"{message}{CUSTOM}.trainer.definition.retired: ")) == (3, True)


@pytest.mark.parametrize("name", ["addons/trainer.yaml", "trainer"])
def test_each_command_names_a_definition_that_does_not_exist(name: str, folder: Path) -> None:
    DEFINITION.unlink()
    name_in_stack("addons/trainer.yaml", name)
    config = kubeconfig(folder, 9)  # no cluster answers at this port
    for command in (
        ("check", STACK),
        ("check", STACK, "--deployed", "lab"),
        ("plan", STACK),
        ("diff", STACK, "--deployed", "lab"),
        ("explain", f"{CUSTOM}.trainer.definition.title", "--stack", STACK),
        ("status", "--stack", STACK, "--kubeconfig", str(config)),
        ("why", "job", "--stack", STACK, "--kubeconfig", str(config)),
        ("ui", "--stack", STACK, "--kubeconfig", str(config)),
    ):
        found = run(*command)
        assert found.exit_code == 1, command
        assert found.stderr.startswith(f"{STACK}:15: {CUSTOM}.trainer.definition: '{name}' "), found.output
