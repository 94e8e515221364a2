"""`python -m benchmarks raw`: this project's program, and one that has the same resources written out with the SDKs."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import psutil
import typer
import yaml

from benchmarks.recording import measured, report
from benchmarks.rehearsal import STACK, Rehearsal
from benchmarks.written_out import program

RECORDED = Path(__file__).parent / "data" / "raw.json"
"""The figures of docs/scale.md."""
STACKS = ("local", "prod", "teams")
_FOLDER = Path(__file__).parents[1] / "stacks"
_TEAMS = 345  # with a pool each: about 2,000 resources
_MIB = 1024 * 1024
_LOOK_SECONDS = 0.3
_UNCHANGED = ("preview", "--expect-no-changes")


def stack_file(name: str) -> str:
    """The text of a stack file: one of this repository's, or that of `teams`."""
    return _teams() if name == "teams" else (_FOLDER / f"Pulumi.{name}.yaml").read_text(encoding="utf-8")


def _teams() -> str:
    """One cluster with many teams, each with its own pool of one slice."""
    found = yaml.safe_load(stack_file("local"))
    names = [f"team-{number}" for number in range(_TEAMS)]
    pools = {name: {"generation": "v6e", "topology": "2x4"} for name in names}
    teams = {name: {"clusters": {"main": {"pools": {name: {"slices": 1}}}}} for name in names}
    network = {"nodesCidr": "10.0.0.0/20", "podsCidr": "10.64.0.0/14"}
    cluster = {"location": "us-central1-b", "deletionProtection": False, "network": network}
    cluster |= {"addons": {"kueue": {}, "jobset": {}}, "pools": pools}
    found["config"]["tpuplane:platform"] = {"name": STACK, "teams": teams, "clusters": {"main": cluster}}
    return yaml.safe_dump(found)


@dataclass
class Written(Rehearsal):
    """A program with a stack file, deployed to a new twin."""

    stack_file: str = ""
    code: str = ""
    """The program; by default that of this project."""
    memory: dict[str, int] = field(default_factory=dict)
    """The most memory of each step that is compared, in MiB."""
    state: dict[str, Any] = field(default_factory=dict)
    """The state after `up`, with its secrets."""

    def stack(self) -> str:
        return self.stack_file

    def _prepare(self) -> None:
        super()._prepare()
        if self.code:
            infra = self._project / "infra"
            (infra / "resources.py").write_text(self.code, encoding="utf-8")
            (infra / "__main__.py").write_text("import resources  # noqa: F401\n", encoding="utf-8")

    def steps(self) -> dict[str, Callable[[], object]]:
        """A new twin, what is compared, and the state."""
        commands = {"first preview": ("preview",), "up": ("up", "--yes", "--skip-preview"), "next preview": _UNCHANGED}
        compared = {step: partial(self._compared, step, *command) for step, command in commands.items()}
        return {"twin": self._start, **compared, "state": self._export}

    def _start(self) -> None:
        self._twin("up")
        self._variables |= json.loads(self._twin("env", "--json"))
        self._command("pulumi", "stack", "select", STACK, "--create")

    def _compared(self, step: str, *command: str) -> None:
        with _most_memory() as most:
            self._command("pulumi", *command, "--stack", STACK, "--non-interactive", "--suppress-outputs")
        self.memory[step] = round(most[0] / _MIB)

    def _export(self) -> None:
        self.state = json.loads(self._command("pulumi", "stack", "export", "--stack", STACK, "--show-secrets"))

    def figures(self) -> dict[str, Any]:
        """What is compared, as plain values."""
        seconds = {step: round(self.seconds[step], 1) for step in self.memory}
        return {"resources": len(self.state["deployment"]["resources"]), "seconds": seconds, "MiB": self.memory}


@contextmanager
def _most_memory() -> Iterator[list[int]]:
    """The most memory that descendants of this process have together, in bytes; shared pages count for each."""
    most, ended = [0], threading.Event()

    def look() -> None:
        while not ended.wait(_LOOK_SECONDS):
            most[0] = max(most[0], sum(map(_memory, psutil.Process().children(recursive=True))))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield most
    finally:
        ended.set()
        thread.join()


def _memory(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.NoSuchProcess:
        return 0


def main(
    stacks: Annotated[list[str] | None, typer.Argument(metavar="[STACK]...", help=", ".join(STACKS))] = None,
    record: Annotated[bool, typer.Option("--record", help="Write the figures of docs/scale.md.")] = False,
) -> None:
    """Deploy stacks by this project's program and by one without it, and print the seconds and memory as JSON.

    Exit code 0: all steps succeeded. 1: a step failed; its folder with the logs stays. 2: no such stack.
    """
    if unknown := [name for name in stacks or () if name not in STACKS]:
        typer.echo(f"no stack {', '.join(unknown)}; allowed: {', '.join(STACKS)}", err=True)
        raise typer.Exit(2)
    runs = []
    for name in stacks or STACKS:
        code = ""
        for title in ("tpuplane", "without it"):
            written = measured(Written, "raw", f"{name}, {title}: ", stack_file=stack_file(name), code=code)
            runs.append({"stack": name, "program": title, **written.figures()})
            code = program(written.state)
    report(runs, RECORDED if record else None)
