"""Child processes of the language host: their output and their end."""

import contextlib
import os
import selectors
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

_CHUNK = 64 * 1024
_GRACE = 5.0  # seconds between SIGTERM and SIGKILL

Output = tuple[Literal["stdout", "stderr"], bytes]


class Children:
    """The running processes, so that all can be ended when the engine cancels."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._closed = False

    def start(
        self, argv: Sequence[str | Path], folder: str, environment: Mapping[str, str], *, piped: bool = False
    ) -> subprocess.Popen[bytes]:
        """Start a process; its output is the host's own, or (`piped`) can be read.

        It stays in the host's process group, which the engine kills as a whole when the host does not answer.
        """
        stream = subprocess.PIPE if piped else None
        with self._lock:
            if self._closed:
                raise RuntimeError("the language host is shutting down")
            process = subprocess.Popen(
                argv, cwd=folder, env=dict(environment), stdin=subprocess.DEVNULL, stdout=stream, stderr=stream
            )
            self._running.add(process)
        return process

    def wait(self, process: subprocess.Popen[bytes]) -> int:
        """Wait for the exit code of `process`."""
        try:
            return process.wait()
        finally:
            with self._lock:
                self._running.discard(process)

    def end(self, process: subprocess.Popen[bytes]) -> None:
        """End `process`: SIGTERM, then SIGKILL. A process that has ended stays as it is."""
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(_GRACE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def close(self) -> None:
        """End all processes, and start no more."""
        with self._lock:
            self._closed = True
            running = list(self._running)
        for process in running:
            self.end(process)


def outputs(process: subprocess.Popen[bytes]) -> Iterator[Output]:
    """The output of a piped process in chunks, until it has closed both streams."""
    with selectors.DefaultSelector() as selector, contextlib.ExitStack() as streams:
        for name, stream in (("stdout", process.stdout), ("stderr", process.stderr)):
            if stream is not None:
                selector.register(streams.enter_context(stream), selectors.EVENT_READ, name)
        while selector.get_map():
            for key, _ in selector.select():
                if data := os.read(key.fd, _CHUNK):
                    yield key.data, data
                else:
                    selector.unregister(key.fileobj)
