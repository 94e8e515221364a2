"""Creates a small platform by one `pulumi up`, checks it, and deletes it completely."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import yaml
from tpuplane.workloads import MultisliceSpec, multislice_manifest

_REPOSITORY = Path(__file__).parents[1]
_BIN = _REPOSITORY / ".venv" / "bin"
STACK_FILE = Path(__file__).parent / "data" / "Pulumi.soak.yaml"
STACK = "soak"
JOB = "job"
TEAM = "research"
JOB_SPEC = {"namespace": TEAM, "generation": "v6e", "topology": "2x4", "image": "python", "command": ["python"]}

STEPS = ("up", "preview", "job", "down")

_COMMAND_MINUTES = 30  # a command that takes longer hangs
_JOB_SECONDS = 180.0
_END_SECONDS = 10.0  # the kernel needs time to remove a process that has ended


class Failed(Exception):
    """A step failed. The message has its output."""


@dataclass
class Rehearsal:
    """One run of all steps. `folder` is empty at the start, and removed after success."""

    folder: Path
    began: Callable[[str], None] = lambda step: None
    """Called at the start of each step."""
    programs: Path = _BIN
    """The folder of the project's commands."""
    seconds: dict[str, float] = field(default_factory=dict)
    """The times of completed steps."""
    failure: str = ""
    """The failure; empty after success."""

    def run(self) -> None:
        """Run all steps. The twin is always deleted at the end."""
        self._prepare()
        try:
            for name, step in self.steps().items():
                with self._timed(name):
                    step()
        except Failed as error:
            self.failure = str(error)
            self._keep_logs()
        finally:
            self._end()
            if not self.failure:
                shutil.rmtree(self.folder)

    def steps(self) -> dict[str, Callable[[], object]]:
        """The steps after the preparation. At the end the twin is deleted, which is the step `down`."""
        return {"up": self._up, "preview": self._preview, "job": self._job}

    def _end(self) -> None:
        try:
            with self._timed("down"):
                processes = self._processes()
                self._twin("down")
                self._nothing_left(processes)
        except Failed as error:
            self.failure = self.failure or str(error)

    @contextmanager
    def _timed(self, step: str) -> Iterator[None]:
        self.began(step)
        start = time.monotonic()
        try:
            yield
        except Failed as error:
            raise Failed(f"{step}: {error}") from None
        self.seconds[step] = time.monotonic() - start

    def _prepare(self) -> None:
        self._project.mkdir(parents=True)
        shutil.copy(_REPOSITORY / "Pulumi.yaml", self._project)
        shutil.copytree(_REPOSITORY / "infra", self._project / "infra")
        (self._project / "stacks").mkdir()
        (self._project / "stacks" / STACK_FILE.name).write_text(self.stack(), encoding="utf-8")
        self._variables = {
            **os.environ,
            "PATH": f"{self.programs}{os.pathsep}{os.environ.get('PATH', '')}",
            "TPUPLANE_TWIN_HOME": str(self._twins),
            "TPUPLANE_TWIN": STACK,
            "UV_PROJECT_ENVIRONMENT": sys.prefix,
            "PYTHONDONTWRITEBYTECODE": "",  # as by `make`: a user's second command compiles nothing
        }

    def stack(self) -> str:
        """The text of the stack file."""
        return STACK_FILE.read_text(encoding="utf-8")

    @property
    def _project(self) -> Path:
        return self.folder / "project"

    @property
    def _twins(self) -> Path:
        return self.folder / "twins"

    def _up(self) -> None:
        """One `pulumi up`, and KubeRay's sample."""
        if self._bring_up()["sample"] is None:
            raise Failed("KubeRay's sample found no slice")

    def _bring_up(self, *options: str) -> dict[str, Any]:
        """One `pulumi up` on a new twin, whose variables later commands have."""
        result: dict[str, Any] = json.loads(self._twin("rehearse", STACK, "--json", *options))
        self._variables |= json.loads(self._twin("env", "--json"))
        return result

    def _preview(self) -> None:
        """The preview has no changes."""
        preview = json.loads(self._command("pulumi", "preview", "--stack", STACK, "--non-interactive", "--json"))
        steps = (step for step in preview["steps"] if step["op"] != "same")
        if changes := ", ".join(f"{step['op']} {step['urn'].rpartition('::')[2]}" for step in steps):
            raise Failed(f"the next preview has changes: {changes}")

    def _job(self) -> None:
        """Kueue admits a team's job, and all of its pods run on one slice."""
        spec = MultisliceSpec.model_validate(JOB_SPEC)
        file = self.folder / "job.yaml"
        file.write_text(yaml.safe_dump(multislice_manifest(JOB, spec)), encoding="utf-8")
        self._command("kubectl", "apply", "-f", str(file))
        deadline = time.monotonic() + _JOB_SECONDS
        while True:
            (cluster,) = json.loads(self._command("tpuplane", "status", "--json"))["clusters"]
            found = [job for queue in cluster["queues"] or () for job in queue["workloads"] if job["job"] == JOB]
            if found and found[0]["state"] == "admitted" and len(found[0]["nodePools"]) == 1:
                return
            if time.monotonic() > deadline:
                raise Failed(f"the job does not run after {_JOB_SECONDS:.0f} s: {json.dumps(found)}")

    def _processes(self) -> list[psutil.Process]:
        """The twin's processes: its supervisor and all descendants."""
        try:
            supervisor = psutil.Process(json.loads((self._twins / STACK / "twin.json").read_text())["pid"])
            return [supervisor, *supervisor.children(recursive=True)]
        except (OSError, psutil.NoSuchProcess):
            return []  # it did not start

    def _nothing_left(self, processes: list[psutil.Process]) -> None:
        files = [str(path.relative_to(self._twins)) for path in self._twins.rglob("*")] if self._twins.exists() else []
        _, alive = psutil.wait_procs(processes, timeout=_END_SECONDS)
        if files or alive:
            raise Failed(f"left behind: {', '.join([*files, *map(str, alive)])}")

    def _keep_logs(self) -> None:
        """Copy the twin's logs to the folder, because `down` deletes the twin."""
        logs = self._twins / STACK / "logs"
        clusters = self._twins / STACK / "clusters"
        for source in (*logs.glob("*.log"), *clusters.glob("*/*.log"), *clusters.glob("*/logs/*.log")):
            target = self.folder / "logs" / source.relative_to(self._twins / STACK)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)

    def _twin(self, *arguments: str) -> str:
        return self._command("tpuplane-twin", *arguments)

    def _command(self, *command: str) -> str:
        """The output of a command. After the time limit, the command and its descendants are killed."""
        if (program := shutil.which(command[0], path=self._variables["PATH"])) is None:
            raise Failed(f"{command[0]} not found")
        with subprocess.Popen(
            [program, *command[1:]],
            cwd=self._project,
            env=self._variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                out, err = process.communicate(timeout=_COMMAND_MINUTES * 60)
            except BaseException as error:
                os.killpg(process.pid, signal.SIGKILL)
                if isinstance(error, subprocess.TimeoutExpired):
                    raise Failed(f"{' '.join(command)} hung for {_COMMAND_MINUTES} minutes") from None
                raise
        if process.returncode:
            tail = "\n".join((err or out).strip().splitlines()[-25:])
            raise Failed(f"{' '.join(command)} ended with {process.returncode}: {tail}")
        return out


def as_json(number: int, rehearsal: Rehearsal) -> dict[str, Any]:
    """One run as plain values."""
    return {
        "number": number,
        "ok": not rehearsal.failure,
        "seconds": {step: round(taken, 1) for step, taken in rehearsal.seconds.items()},
        "failure": rehearsal.failure,
        "folder": str(rehearsal.folder) if rehearsal.failure else None,
    }
