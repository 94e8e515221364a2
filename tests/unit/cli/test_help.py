"""The three command lines: version, help with an example of each command, completion."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from tpuplane.cli import app
from tpuplane_policies.plangate import app as plan_gate
from tpuplane_twin.cli import app as twin
from typer.main import get_command
from typer.testing import CliRunner

pytestmark = pytest.mark.unit

TOOLS = {"tpuplane": app, "tpuplane-twin": twin, "tpuplane-plan-gate": plan_gate}


@pytest.mark.parametrize("name", TOOLS)
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_names_version_and_completion(name: str, option: str) -> None:
    result = CliRunner().invoke(TOOLS[name], [option], terminal_width=200)
    assert result.exit_code == 0
    for offered in ("--version", "--install-completion", "--show-completion"):
        assert offered in result.stdout


@pytest.mark.parametrize("name", TOOLS)
def test_all_have_one_version(name: str) -> None:
    said = CliRunner().invoke(TOOLS[name], ["--version"]).stdout.split()
    assert said == [name, CliRunner().invoke(app, ["--version"]).stdout.split()[1]]


@pytest.mark.parametrize("name", TOOLS)
def test_a_full_disk_is_one_line(name: str) -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [Path(sys.executable).with_name(name), "--help"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (ended.returncode, ended.stderr) == (1, "error: the output cannot be written: No space left on device\n")


@pytest.mark.parametrize("name", TOOLS)
def test_a_closed_output_is_one_line(name: str) -> None:
    shell = ["sh", "-c", '"$0" --help >&-', Path(sys.executable).with_name(name)]
    ended = subprocess.run(shell, stderr=subprocess.PIPE, text=True, check=False)
    said = "error: the output cannot be written: standard output is closed\n"
    assert (ended.returncode, ended.stderr) == (1, said)


def described(name: str, tool: typer.Typer) -> list[tuple[str, ...]]:
    command = get_command(tool)
    return [(name, subcommand) for subcommand in command.commands] if hasattr(command, "commands") else [(name,)]


@pytest.mark.parametrize(
    "words", [words_ for name, tool in TOOLS.items() for words_ in described(name, tool)], ids=" ".join
)
def test_the_example_of_a_command_is_valid(words: tuple[str, ...]) -> None:
    command = get_command(TOOLS[words[0]])
    for word in words[1:]:
        command = command.commands[word]
    example = (command.epilog or "").removeprefix("Example: ").rpartition(" | ")[2].partition(" > ")[0]
    assert tuple(shlex.split(example)[: len(words)]) == words
    command.make_context(words[-1], shlex.split(example)[len(words) :])
    said = CliRunner().invoke(TOOLS[words[0]], [*words[1:], "--help"], terminal_width=200).stdout
    assert " ".join((command.epilog or "").split()) in re.sub(r"\s+", " ", said)
