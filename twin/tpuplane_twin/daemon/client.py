"""A twin as other processes see it: its status, start, stop and removal."""

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
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import psutil

from tpuplane_twin.machine.files import try_lock, write_atomic
from tpuplane_twin.machine.paths import TwinPaths, name_option
from tpuplane_twin.machine.stack_locks import live_holder, stack_locks

_CONTROL_SECONDS = 30.0  # for an answer of the supervisor, which shares the machine with what it starts
_LAUNCH_SECONDS = 60.0
_RACE_SECONDS = 2.0
_STOP_SECONDS = 60.0
_KILL_SECONDS = 10.0  # until killed processes and their memory are freed


class TwinError(RuntimeError):
    """An error that the user can fix: the message has cause and remedy."""


@dataclass(frozen=True, slots=True)
class Record:
    """What a running supervisor wrote about itself."""

    pid: int
    created: float
    api: str

    def alive(self) -> bool:
        """Whether that process still runs (its id alone may belong to another one by now)."""
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
        """The twin's bearer token; the first call creates it."""
        if not self.paths.token_file.exists():
            write_atomic(self.paths.token_file, secrets.token_urlsafe(32))
        return self.paths.token_file.read_text().strip()

    @property
    def _option(self) -> str:
        """What a command needs to act on this twin."""
        return name_option(self.paths.name)

    def not_up(self) -> TwinError:
        """The error of a command that needs the twin to be up."""
        return TwinError(f"the twin {self.paths.name!r} is not up; start it with `tpuplane-twin up{self._option}`")

    def status(self) -> dict[str, Any]:
        """The supervisor's status. Raises `TwinError` if the twin is not up or does not answer."""
        return self.request("GET", "/twin/status")

    @contextlib.contextmanager
    def for_rehearsal(self) -> Iterator[bool]:
        """Hold the twin for a rehearsal, until it ends or is killed. False while another one holds the twin."""
        with (self.paths.root / "rehearsal.lock").open("w") as file:
            yield try_lock(file)

    def resume_clock(self) -> None:
        """Let the clock run again if a killed rehearsal has stopped it."""
        with self.for_rehearsal() as free:
            if free:
                self.request("DELETE", "/twin/clock")

    def delete(self, path: str) -> None:
        """Delete a resource of Google's API, if it exists; `path` has the version."""
        with contextlib.suppress(urllib.error.HTTPError):
            self._send("DELETE", path)

    def start(self) -> None:
        """Start the supervisor unless it runs, and wait until it answers. A failed one is restarted.

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
        if not _until(lambda: self.record() is not None or process.poll() is not None, _LAUNCH_SECONDS):
            process.kill()
            raise TwinError(f"the twin's supervisor does not answer after {_LAUNCH_SECONDS:.0f} s; its log is {log}")
        # With two `up` at once, the supervisor without the lock ends, and the record of the other appears.
        if not _until(lambda: self.record() is not None, _RACE_SECONDS):
            raise TwinError(self._last_words(offset))

    def wait_ready(self, report: Callable[[dict[str, Any]], None], *, timeout: float = 300.0) -> dict[str, Any]:
        """Wait until the twin is restored; `report` gets each status. Raises `TwinError`."""
        deadline = time.monotonic() + timeout
        while True:
            status = self.status()
            report(status)
            if status["state"] == "ready":
                return status
            if status["state"] == "failed":
                raise TwinError(
                    f"{status['waiting']}\n"
                    f"See `tpuplane-twin logs{self._option}`, then run `tpuplane-twin up{self._option}`"
                )
            if time.monotonic() > deadline:
                raise TwinError(
                    f"the twin is not ready after {timeout:.0f} s; it waits for: {status['waiting']}\n"
                    f"See `tpuplane-twin logs supervisor{self._option}`; `tpuplane-twin up{self._option}` waits again"
                )
            time.sleep(0.2)

    def stop(self, seconds: float = _STOP_SECONDS) -> bool:
        """End the supervisor and all processes of the twin; the state stays. True if it ran.

        The supervisor has this many seconds to end the others, so that they can write their data.
        """
        record = self.record()
        if record is None:
            return False
        with contextlib.suppress(psutil.NoSuchProcess):
            supervisor = psutil.Process(record.pid)
            others = supervisor.children(recursive=True)
            if seconds:
                supervisor.terminate()
                _until(lambda: not _runs(supervisor), seconds)
            for process in (supervisor, *others):  # the supervisor first: it restarts processes
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
            _until(lambda: not any(map(_runs, (supervisor, *others))), _KILL_SECONDS)
        self.paths.record.unlink(missing_ok=True)
        return True

    def remove(self) -> bool:
        """Stop the twin and delete its folder. True if it existed. Safe to repeat after an interruption.

        Raises `TwinError` while pulumi runs on one of its stacks, because it would write the folder again, and
        `TwinNameError` for a folder that is not a twin's.
        """
        self.paths.check()
        for lock in stack_locks(self.paths.backend):
            if holder := live_holder(lock):
                raise TwinError(
                    f"pulumi (process {holder}) runs on the stack {lock.parent.name!r} of this twin; wait until it "
                    f"ends, or end it (kill -INT {holder}), and run the command again"
                )
        self.stop(0)  # the data is not needed any more
        existed = self.paths.root.exists()
        if existed:
            # The marker is deleted last: after an interruption the folder is still a twin's.
            for entry in self.paths.root.iterdir():
                if entry.is_dir() and not entry.is_symlink():
                    shutil.rmtree(entry)
                elif entry != self.paths.marker:
                    entry.unlink()
            shutil.rmtree(self.paths.root)
            # With the last twin, the folder of all twins is deleted.
            with contextlib.suppress(OSError):
                self.paths.root.parent.rmdir()
        return existed

    def request(
        self, method: str, path: str, body: dict[str, Any] | None = None, *, timeout: float = _CONTROL_SECONDS
    ) -> dict[str, Any]:
        """A request to the supervisor; `timeout` is in seconds.

        Raises `TwinError` with the supervisor's message if it rejects the request.
        """
        try:
            return self._send(method, path, body, timeout)
        except urllib.error.HTTPError as error:
            raise TwinError(_rejection(error)) from error
        except TimeoutError as error:
            raise TwinError(
                f"the twin {self.paths.name!r} has not answered for {timeout:g} s; it may still work on the "
                f"request: see `tpuplane-twin status{self._option}` and `tpuplane-twin logs supervisor{self._option}`"
            ) from error
        except (OSError, ValueError) as error:
            raise TwinError(
                f"the twin {self.paths.name!r} does not answer ({error}); "
                f"see `tpuplane-twin logs supervisor{self._option}`, then run "
                f"`tpuplane-twin down --keep-state{self._option}` and `tpuplane-twin up{self._option}`"
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
        # Loopback only, never through a proxy.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=timeout) as answer:
            found: dict[str, Any] = json.loads(answer.read())
        return found

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


def _until(reached: Callable[[], bool], seconds: float) -> bool:
    """Wait until the state is reached, at most `seconds`. Whether it is."""
    deadline = time.monotonic() + seconds
    while not (done := reached()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return done


def _runs(process: psutil.Process) -> bool:
    """Whether the process runs; a zombie does not."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def _rejection(error: urllib.error.HTTPError) -> str:
    text = error.read().decode(errors="replace")
    try:
        return str(json.loads(text)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return f"the twin answered {error.code}: {text.strip()}"
