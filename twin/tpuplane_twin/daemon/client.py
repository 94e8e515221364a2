"""Talking to a twin from another process: is it there, what does it say of itself, start it, stop it."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import psutil

from tpuplane_twin.engine.setup import live_holder, stack_locks
from tpuplane_twin.machine.files import write_atomic
from tpuplane_twin.machine.paths import TwinPaths, name_option

_CONTROL_SECONDS = 30.0  # how long the supervisor may take to answer: it shares two cores with what it starts
_LAUNCH_SECONDS = 60.0
_STOP_SECONDS = 60.0
_KILL_SECONDS = 10.0  # until the kernel has let go of what was killed, and of its memory


class TwinError(RuntimeError):
    """Something that the user can act on: the message has cause and remedy."""


@dataclass(frozen=True, slots=True)
class Record:
    """What a running supervisor wrote about itself."""

    pid: int
    created: float
    api: str

    def alive(self) -> bool:
        """Whether that very process still runs (a process id alone may have been given to another one)."""
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(self.pid)
            return abs(process.create_time() - self.created) < 1 and _runs(process)
        return False


class TwinClient:
    """A twin as seen from the command line."""

    def __init__(self, paths: TwinPaths) -> None:
        self.paths = paths

    def record(self) -> Record | None:
        """The running supervisor, or None."""
        try:
            data = json.loads(self.paths.record.read_text())
            record = Record(int(data["pid"]), float(data["created"]), str(data["api"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return record if record.alive() else None

    def token(self) -> str:
        """The twin's bearer token; made at the first call."""
        if not self.paths.token_file.exists():
            write_atomic(self.paths.token_file, secrets.token_urlsafe(32))
        return self.paths.token_file.read_text().strip()

    def not_up(self) -> TwinError:
        """The error of a command that needs the twin to be up."""
        name = self.paths.name
        return TwinError(f"the twin {name!r} is not up; start it with `tpuplane-twin up{name_option(name)}`")

    def status(self) -> dict[str, Any]:
        """The supervisor's own account. Raises `TwinError` when the twin is not up or does not answer."""
        return self.request("GET", "/twin/status")

    def delete(self, path: str) -> None:
        """Delete a resource of Google's API, `path` with its version; nothing happens if it is not there."""
        with contextlib.suppress(urllib.error.HTTPError):
            self._send("DELETE", path)

    def start(self) -> None:
        """Start the supervisor unless it runs, and wait until it answers; one that has given up is started anew.

        Raises `TwinError`.
        """
        if self.record() is not None:
            if self.status()["state"] != "failed":
                return
            self.stop()
        self.paths.make()
        self.token()
        log = self.paths.logs / "supervisor.log"
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        offset = log.stat().st_size
        try:
            process = subprocess.Popen(
                [sys.executable, "-m", "tpuplane_twin.daemon.supervisor", self.paths.name],
                stdin=subprocess.DEVNULL,
                stdout=descriptor,
                stderr=descriptor,
                start_new_session=True,
                cwd=self.paths.root,
            )
        finally:
            os.close(descriptor)
        deadline = time.monotonic() + _LAUNCH_SECONDS
        while self.record() is None:
            if process.poll() is not None:
                if self._after_lost_race():
                    return
                raise TwinError(self._last_words(offset))
            if time.monotonic() > deadline:
                process.kill()
                raise TwinError(
                    f"the twin's supervisor does not answer after {_LAUNCH_SECONDS:.0f} s; its log is {log}"
                )
            time.sleep(0.05)

    def wait_ready(self, report: Callable[[dict[str, Any]], None], *, timeout: float = 300.0) -> dict[str, Any]:
        """Wait until everything the twin had is back; `report` gets each status. Raises `TwinError`."""
        deadline = time.monotonic() + timeout
        while True:
            status = self.status()
            report(status)
            if status["state"] == "ready":
                return status
            if status["state"] == "failed":
                raise TwinError(f"{status['waiting']}\nRemedy: `tpuplane-twin logs`, then `tpuplane-twin up` again")
            if time.monotonic() > deadline:
                raise TwinError(f"the twin is not ready after {timeout:.0f} s; it waits for: {status['waiting']}")
            time.sleep(0.2)

    def stop(self) -> bool:
        """End the supervisor and with it every process of the twin; the state stays. True if it ran."""
        return self._end(_STOP_SECONDS)

    def _end(self, seconds: float) -> bool:
        """End all processes; the supervisor has so many seconds to do it in order, for the sake of their data."""
        record = self.record()
        if record is None:
            return False
        with contextlib.suppress(psutil.NoSuchProcess):
            supervisor = psutil.Process(record.pid)
            others = supervisor.children(recursive=True)
            if seconds:
                supervisor.terminate()
                _wait([supervisor], seconds)
            for process in (supervisor, *others):  # that one first: it starts again what ends
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
            _wait([supervisor, *others], _KILL_SECONDS)
        self.paths.record.unlink(missing_ok=True)
        return True

    def remove(self) -> bool:
        """Stop the twin and delete its folder. True if there was one. Safe to repeat when interrupted.

        Raises `TwinError` while a pulumi is at work on one of its stacks: it would write the folder anew, and
        `TwinNameError` for a folder that is no twin's.
        """
        self.paths.check()
        for lock in stack_locks(self.paths.backend):
            if holder := live_holder(lock):
                raise TwinError(
                    f"pulumi (process {holder}) is at work on the stack {lock.parent.name!r} of this twin; wait for it "
                    f"to end, or end it (kill -INT {holder}), and run the command again"
                )
        self._end(0)  # nothing of the data is needed any longer
        existed = self.paths.root.exists()
        if existed:
            # The marker goes last: what an interruption leaves is still known as a twin's.
            for entry in self.paths.root.iterdir():
                if entry.is_dir() and not entry.is_symlink():
                    shutil.rmtree(entry)
                elif entry != self.paths.marker:
                    entry.unlink()
            shutil.rmtree(self.paths.root)
            # The last twin takes the folder of all twins with it.
            with contextlib.suppress(OSError):
                self.paths.root.parent.rmdir()
        return existed

    def request(
        self, method: str, path: str, body: dict[str, Any] | None = None, *, timeout: float = _CONTROL_SECONDS
    ) -> dict[str, Any]:
        """A request to the supervisor, which may take `timeout` seconds for its answer.

        Raises `TwinError` with the supervisor's own words where it refuses.
        """
        try:
            return self._send(method, path, body, timeout)
        except urllib.error.HTTPError as error:
            raise TwinError(_refusal(error)) from error
        except TimeoutError as error:
            raise TwinError(
                f"the twin {self.paths.name!r} has not answered for {timeout:g} s; it may still be at work on what was "
                "asked of it: see `tpuplane-twin status` and `tpuplane-twin logs supervisor`"
            ) from error
        except (OSError, ValueError) as error:
            raise TwinError(
                f"the twin {self.paths.name!r} does not answer ({error}); "
                "see `tpuplane-twin logs supervisor`, then `tpuplane-twin up`"
            ) from error

    def _send(
        self, method: str, path: str, body: dict[str, Any] | None = None, timeout: float = _CONTROL_SECONDS
    ) -> dict[str, Any]:
        record = self.record()
        if record is None:
            raise self.not_up()
        headers = {"Authorization": f"Bearer {self.token()}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(record.api + path, data=data, method=method, headers=headers)
        # Loopback only: a proxy configured for the internet must not see this.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=timeout) as answer:
            found: dict[str, Any] = json.loads(answer.read())
        return found

    def _after_lost_race(self) -> bool:
        # Two `up` at once: one supervisor holds the lock, the other one ends; the first one's record appears.
        deadline = time.monotonic() + 2
        while time.monotonic() < deadline:
            if self.record() is not None:
                return True
            time.sleep(0.05)
        return False

    def _last_words(self, offset: int) -> str:
        log = self.paths.logs / "supervisor.log"
        with contextlib.suppress(OSError), log.open("rb") as stream:
            stream.seek(offset)
            lines = [line for line in stream.read().decode(errors="replace").splitlines() if line.strip()]
            for line in reversed(lines):
                if line.startswith("error: "):
                    return line.removeprefix("error: ")
            if lines:
                return f"the twin's supervisor ended: {lines[-1]}\nIts log is {log}"
        return f"the twin's supervisor ended; its log is {log}"


def _wait(processes: Iterable[psutil.Process], seconds: float) -> None:
    """Return when none of them runs, or after so many seconds."""
    deadline = time.monotonic() + seconds
    while any(map(_runs, processes)) and time.monotonic() < deadline:
        time.sleep(0.05)


def _runs(process: psutil.Process) -> bool:
    """Whether the process has not ended: its parent may not have taken note of its end yet."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def _refusal(error: urllib.error.HTTPError) -> str:
    text = error.read().decode(errors="replace")
    try:
        return str(json.loads(text)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return f"the twin answers {error.code}: {text.strip()}"
