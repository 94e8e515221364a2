"""The built CLI, the language host and the SDK together, on a file backend: what a user does and sees."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from tpuplane_twin import tools

from tests.support.pulumi_program import Program

pytestmark = pytest.mark.twin

PROGRAM = """
    import pulumi

    class Thing(pulumi.ComponentResource):
        def __init__(self, name, size, opts=None):
            super().__init__("demo:index:Thing", name, {"size": size}, opts)
            self.size = pulumi.Output.from_input(size)
            self.register_outputs({"size": self.size})

    config = pulumi.Config()
    thing = Thing("one", config.require_int("size"))
    print("a line of the program's own")
    pulumi.export("size", thing.size.apply(lambda size: size * 2))
    pulumi.export("token", config.require_secret("token"))
    pulumi.export("where", [pulumi.get_organization(), pulumi.get_project(), pulumi.get_stack()])
    pulumi.export("root", pulumi.runtime.get_root_directory())
"""


def texts_below(*folders: Path) -> str:
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return "\n".join(path.read_bytes().decode(errors="replace") for path in files)


def test_a_stacks_life(stack: Program) -> None:
    stack.write(PROGRAM)
    stack.output("config", "set", "size", "21")
    stack.output("config", "set", "--secret", "token", "hush-hush")

    preview = stack.output("preview")
    assert "2 to create" in preview
    created = stack.output("up", "--yes", "--skip-preview")
    assert "2 created" in created
    assert "a line of the program's own" in created
    assert "hush-hush" not in preview + created
    outputs = json.loads(stack.output("stack", "output", "--json", "--show-secrets"))
    assert outputs == {
        "size": 42,
        "token": "hush-hush",
        "where": ["organization", "demo", "dev"],
        "root": str(stack.folder),
    }

    assert "2 unchanged" in stack.output("preview", "--expect-no-changes")
    assert "1 updated" in stack.output("up", "--yes", "--skip-preview", "--config", "size=4")
    assert "2 deleted" in stack.output("destroy", "--yes", "--skip-preview")

    twin = Path(stack.variables["PULUMI_HOME"]).parent
    assert "hush-hush" not in texts_below(stack.folder, twin)


def test_no_command_prints_about_plugins(stack: Program, built_tools: tools.Tools) -> None:
    stack.write("import pulumi; pulumi.export('a', 1)")
    said = stack.output("up", "--yes") + stack.output("destroy", "--yes")
    assert "warning" not in said.lower()
    assert "$PATH" not in said
    about = json.loads(stack.output("about", "--json"))
    version = built_tools.binary("pulumi").parents[1].name.split("-")[1]
    assert about["cliAbout"]["version"] == version.removeprefix("v")
    assert about["runtime"]["language"] == "python"
    assert "tpuplane-twin" in {found["name"] for found in about["dependencies"]}


@pytest.mark.parametrize(
    ("program", "shown", "hidden"),
    [
        (
            "import pulumi; raise pulumi.RunError(\"pools.trainer.topology: '4x5' is not a v6e topology\")",
            ["error: pools.trainer.topology: '4x5' is not a v6e topology"],
            ["Traceback", "exit code"],
        ),
        (
            "def inner():\n    raise ValueError('boom')\ninner()",
            ["Program failed with an unhandled exception", 'infra/__main__.py", line 2, in inner', "ValueError: boom"],
            ["engine/program.py", "runpy", "exit code"],
        ),
        (
            "import pulumi\npulumi.Output.from_input(1).apply(lambda one: one / 0)",
            ['infra/__main__.py", line 2, in <lambda>', "ZeroDivisionError"],
            ["engine/program.py", "exit code"],
        ),
        (
            "import grpc\ngrpc.insecure_channel('127.0.0.1:1').unary_unary('/own/Call')(b'')",
            ["Program failed with an unhandled exception", "StatusCode.UNAVAILABLE"],
            ["engine/program.py", "exit code"],
        ),
        ("def broken(:", ['infra/__main__.py", line 1', "SyntaxError"], ["engine/program.py"]),
        ("import sys; sys.exit('own words')", ["own words", "program exited with non-zero exit code: 1"], []),
        ("import os; os.kill(os.getpid(), 9)", ["program was ended by signal SIGKILL"], ["Traceback"]),
        ("import pulumi; pulumi.Config().require('zone')", ["demo:zone", "pulumi config set"], ["Traceback"]),
    ],
    ids=["run-error", "exception", "in-apply", "own-grpc", "syntax", "exit", "killed", "missing-config"],
)
def test_a_failing_program(stack: Program, program: str, shown: list[str], hidden: list[str]) -> None:
    stack.write(program)
    said = stack.output("preview", fails=True)
    assert [text for text in shown if text not in said] == [], said
    assert [text for text in hidden if text in said] == [], said


def test_a_folder_without_a_program(stack: Program) -> None:
    (stack.folder / "infra" / "__main__.py").unlink()
    assert "infra has no program: it needs a __main__.py" in stack.output("preview", fails=True)


def test_an_environment_that_is_not_there(stack: Program) -> None:
    stack.describe(toolchain="uv", virtualenv="nowhere")
    said = stack.output("preview", fails=True)
    assert "runtime.options.virtualenv: 'nowhere' is not a Python environment" in said


def test_the_type_checker_comes_first(stack: Program) -> None:
    stack.write("one: int = 'two'\nprint('it ran')\n")
    stack.describe(toolchain="uv", virtualenv=sys.prefix, typechecker="mypy")
    said = stack.output("preview", fails=True)
    assert "Incompatible types in assignment" in said
    assert "mypy exited with non-zero exit code: 1" in said
    assert "it ran" not in said


def test_ctrl_c_ends_a_run_and_leaves_no_process(stack: Program) -> None:
    stack.write("import signal, time\nprint('it runs', flush=True)\nwhile True:\n    time.sleep(60)\n")
    process = subprocess.Popen(
        ["pulumi", "up", "--yes", "--skip-preview", "--non-interactive", "--color", "never"],
        cwd=stack.folder,
        env=stack.variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    while "it runs" not in (line := process.stdout.readline()):
        assert line, "the program was never started"
    children = psutil.Process(process.pid).children(recursive=True)
    assert any("program.py" in command for command in _commands(children))

    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "update canceled" in said
    assert "Traceback" not in said
    assert "KeyboardInterrupt" not in said
    assert psutil.wait_procs(children, timeout=60)[1] == []

    # The stack is not left locked.
    stack.write("")
    stack.output("up", "--yes", "--skip-preview")


def _commands(processes: list[psutil.Process]) -> Iterator[str]:
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):  # one that ended meanwhile
            yield " ".join(process.cmdline())


def test_pulumi_install_makes_the_environment(stack: Program) -> None:
    stack.describe(toolchain="uv")
    (stack.folder / "pyproject.toml").write_text(
        "[project]\nname = 'demo'\nversion = '1'\nrequires-python = '>=3.11'\n"
    )
    assert "run `pulumi install`" in stack.output("preview", fails=True)
    stack.output("install")
    assert (stack.folder / ".venv" / "pyvenv.cfg").is_file()
    assert "Add `pulumi` to the program's dependencies" in stack.output("preview", fails=True)
