"""Pulumi's real engine on the program of this repository, which runs in this process and so starts quickly."""

from __future__ import annotations

import asyncio
import json
import os
import runpy
import shutil
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import pytest
from pulumi.automation._server import LanguageServer
from pulumi.runtime._grpc_settings import _GRPC_CHANNEL_OPTIONS
from pulumi.runtime.proto import language_pb2_grpc
from tpuplane_twin.machine.paths import TwinPaths
from tpuplane_twin.machine.stack_locks import stack_locks
from tpuplane_twin.shell import engine, executables
from tpuplane_twin.shell.environment import google_environment, proxy_environment
from tpuplane_twin.tools import ensure_everything

from tests.support import REPOSITORY, TESTS
from tests.support.providers.google_api import TOKEN

STACK = "matrix"
STACK_FILE = TESTS / "standins" / "matrix" / f"Pulumi.{STACK}.yaml"
# One resource after the other, so that a fault meets the same request each time.
IN_ORDER = ("--parallel", "1")
_OPTIONS = ("--stack", STACK, "--non-interactive", "--color", "never")
_CHANGES = ("--yes", "--skip-preview")
_COMMAND_SECONDS = 180
_OWN_CONNECTIONS = ("grpc.use_local_subchannel_pool", 1)


@dataclass(frozen=True, slots=True)
class Ended:
    """A command that has ended."""

    code: int
    output: str


class Engine:
    """A project with an empty stack in `folder`, and the executables of a twin."""

    def __init__(self, folder: Path, url: str, patch: pytest.MonkeyPatch) -> None:
        """`url` is the address of Google's API."""
        for name, value in {**google_environment(url, TOKEN), **proxy_environment(os.environ)}.items():
            patch.setenv(name, value)
        self._paths = TwinPaths(STACK, folder / "twin").make()
        tools = ensure_everything()
        executables.install(self._paths, tools)
        self._pulumi = tools.binary("pulumi")
        self._project = folder / "project"
        (self._project / "stacks").mkdir(parents=True)
        shutil.copy(REPOSITORY / "Pulumi.yaml", self._project)
        shutil.copy(STACK_FILE, self._project / "stacks")
        (self._project / "infra").symlink_to(REPOSITORY / "infra")
        # A new engine may get the port of one that is gone. Channels share their connections by address, and a broken
        # connection pauses before it is tried again.
        patch.setattr("pulumi.runtime.settings._GRPC_CHANNEL_OPTIONS", [*_GRPC_CHANNEL_OPTIONS, _OWN_CONNECTIONS])
        self._server = grpc.server(ThreadPoolExecutor(4))
        program = REPOSITORY / "infra" / "__main__.py"
        host = LanguageServer(lambda: runpy.run_path(str(program), run_name="__main__") and None)
        language_pb2_grpc.add_LanguageRuntimeServicer_to_server(host, self._server)
        self._client = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        self._server.start()
        self._process: subprocess.Popen[str] | None = None
        # Providers leave temporary files behind.
        self._environment = {**os.environ, **engine.environment(self._paths), "TMPDIR": str(folder)}
        made = self.run("stack", "init")
        assert not made.code, made.output
        self._empty = folder / "empty"
        self.save(self._empty)

    @property
    def stack_file(self) -> Path:
        """The stack file of the project."""
        return self._project / "stacks" / STACK_FILE.name

    def close(self) -> None:
        """End the host of the program."""
        self._server.stop(None).wait()

    def save(self, folder: Path) -> None:
        """Copy the backend with the state to a new folder."""
        shutil.copytree(self._paths.backend, folder)

    def load(self, folder: Path | None) -> None:
        """Replace the backend by a copy, or by one with an empty stack."""
        shutil.rmtree(self._paths.backend)
        shutil.copytree(folder or self._empty, self._paths.backend)

    def up(self, *options: str, **variables: str) -> Ended:
        """`pulumi up`."""
        return self._with_program("up", *_CHANGES, *options, **variables)

    def preview(self) -> Ended:
        """A preview that compares with what exists, and fails if there is a change."""
        return self._with_program("preview", "--refresh", "--expect-no-changes")

    def steps(self) -> list[dict[str, Any]]:
        """The steps of a preview."""
        output = self._with_program("preview", "--json", "--show-sames").output
        found: list[dict[str, Any]] = json.loads(output[output.index("{") :])["steps"]
        return found

    def destroy(self, *options: str) -> Ended:
        """`pulumi destroy`."""
        return self.run("destroy", *_CHANGES, *options)

    def check(self) -> Ended:
        """`tpuplane check` with the questions to Google and Pulumi."""
        words = ["tpuplane", "check", str(self.stack_file), "--online", "--deployed", STACK]
        done = subprocess.run(
            words, cwd=self._project, env=self._environment, capture_output=True, text=True, check=False
        )
        return Ended(done.returncode, done.stdout + done.stderr)

    def _with_program(self, *arguments: str, **variables: str) -> Ended:
        return self.run(*arguments, f"--client={self._client}", "--exec-kind", "auto.inline", **variables)

    def run(self, *arguments: str, **variables: str) -> Ended:
        """Run a command of Pulumi's CLI to its end, whatever ends it."""
        self._process = subprocess.Popen(
            [self._pulumi, *arguments, *(() if "--stack" in arguments else _OPTIONS)],
            cwd=self._project,
            env={**self._environment, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        with self._process as process:
            try:
                output, _ = process.communicate(timeout=_COMMAND_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                output = f"{process.communicate()[0]}\nhangs for {_COMMAND_SECONDS} s"
        return Ended(process.returncode, output)

    async def end(self, *signals: str) -> None:
        """Send signals to the running command, one after the other, as a user does."""
        for number, name in enumerate(signals):
            if number:
                await asyncio.sleep(0.2)  # of two equal signals at one time, a process sees one
            if self._process is not None:
                self._process.send_signal(signal.Signals[name])

    @property
    def locked(self) -> bool:
        """Whether a lock of the stack is left."""
        return bool(stack_locks(self._paths.backend, STACK))

    def state(self) -> dict[str, Any]:
        """The resources and pending operations of the stack."""
        (file,) = self._paths.backend.rglob(f"{STACK}.json")
        latest = json.loads(file.read_text())["checkpoint"]["latest"]
        return dict(latest or {})
