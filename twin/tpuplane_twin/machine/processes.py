"""The twin's child processes: started, watched, restarted, and ended with the supervisor."""

import asyncio
import contextlib
import logging
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tpuplane_twin.machine.parent import die_with_parent

logger = logging.getLogger(__name__)

_MEMORY_STEP = 5 << 30  # bytes
_MUCH_MEMORY = 3  # steps; machines with 16 GB have a little less than 16 GiB
_POLL = 0.1  # seconds between two calls of `ready`
_GRACE = 5.0  # seconds between SIGTERM and SIGKILL
_FIRST_DELAY, _LONGEST_DELAY = 0.2, 15.0
_LONG_ENOUGH = 30.0  # seconds a process must live for its next restart to be quick again


def memory_steps() -> int:
    """How often this machine's memory contains 5 GiB."""
    return psutil.virtual_memory().total // _MEMORY_STEP


def has_much_memory() -> bool:
    """Whether Go's collector can work less often on this machine."""
    return memory_steps() >= _MUCH_MEMORY


class ProcessFailed(RuntimeError):
    """A process did not become ready. The message names it, the cause and its log."""


@dataclass(frozen=True, slots=True)
class ProcessSpec:
    """How one process is run.

    `ready` is called until it is True, for `ready_timeout` seconds. `env` is the whole environment, without the
    user's variables.
    """

    name: str
    argv: tuple[str, ...]
    log: Path
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: Path | None = None
    ready: Callable[[], Awaitable[bool]] | None = None
    ready_timeout: float = 120.0


@dataclass(slots=True)
class ProcessStatus:
    """The status of a process."""

    name: str
    pid: int | None
    restarts: int
    log: Path


class _Child:
    def __init__(self, spec: ProcessSpec) -> None:
        self.spec = spec
        self.process: asyncio.subprocess.Process | None = None
        self.stopping = False
        self.restarts = 0
        self.started = 0.0
        self.watcher: asyncio.Task[None] | None = None


class ProcessManager:
    """Runs processes by name. A process that dies is restarted after a delay, which doubles up to 15 s."""

    def __init__(self) -> None:
        self._children: dict[str, _Child] = {}

    async def start(self, spec: ProcessSpec) -> None:
        """Start `spec` and wait until it is ready; does nothing if a process of that name and command runs.

        Raises `ProcessFailed` when it exits or is not ready in time (the process is stopped then), and `OSError` when
        the system cannot start it.
        """
        child = self._children.get(spec.name)
        if child is not None:
            if child.spec.argv == spec.argv and child.spec.env == spec.env:
                return
            await self.stop(spec.name)
        child = _Child(spec)
        self._children[spec.name] = child
        try:
            await self._spawn(child)
            first_pid = child.process.pid if child.process else None
            child.watcher = asyncio.create_task(self._watch(child), name=f"watch {spec.name}")
            await self._until_ready(child, first_pid)
        except BaseException:
            await self.stop(spec.name)
            raise

    async def stop(self, name: str) -> None:
        """Stop `name` for good: SIGTERM, then SIGKILL."""
        child = self._children.pop(name, None)
        if child is None:
            return
        child.stopping = True
        process = child.process
        if process is not None and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
            try:
                await asyncio.wait_for(process.wait(), _GRACE)
            except TimeoutError:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        if child.watcher is not None:
            child.watcher.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await child.watcher

    async def stop_all(self, *, prefix: str = "") -> None:
        """Stop every process whose name starts with `prefix`, the last started first."""
        for name in [name for name in reversed(list(self._children)) if name.startswith(prefix)]:
            await self.stop(name)

    def status(self, *, prefix: str = "") -> list[ProcessStatus]:
        """All processes whose name starts with `prefix`, in the order of their start."""
        return [
            ProcessStatus(
                child.spec.name,
                child.process.pid if child.process and child.process.returncode is None else None,
                child.restarts,
                child.spec.log,
            )
            for child in self._children.values()
            if child.spec.name.startswith(prefix)
        ]

    async def _spawn(self, child: _Child) -> None:
        spec = child.spec
        spec.log.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(spec.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            child.process = await asyncio.create_subprocess_exec(
                *spec.argv,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=descriptor,
                stderr=descriptor,
                env=dict(spec.env),
                cwd=spec.cwd,
                # A new group, so that Ctrl-C in the terminal does not end it.
                start_new_session=True,
                preexec_fn=die_with_parent if sys.platform == "linux" else None,
            )
        finally:
            os.close(descriptor)
        child.started = time.time()
        logger.info("%s runs as process %d", spec.name, child.process.pid)

    async def _watch(self, child: _Child) -> None:
        delay = _FIRST_DELAY
        while not child.stopping and child.process is not None:
            code = await child.process.wait()
            if child.stopping:
                return
            if time.time() - child.started > _LONG_ENOUGH:
                delay = _FIRST_DELAY
            logger.warning("%s ended (%s); starting it again in %.1f s", child.spec.name, _reason(code), delay)
            delay = await self._respawn(child, delay)

    async def _respawn(self, child: _Child, delay: float) -> float:
        """Start it after `delay` seconds, with retries; the result is the next delay."""
        while True:
            await asyncio.sleep(delay)
            delay = min(delay * 2, _LONGEST_DELAY)
            child.restarts += 1
            try:
                await self._spawn(child)
            except OSError as error:
                logger.error("%s cannot be started: %s; trying again in %.1f s", child.spec.name, error, delay)
            else:
                return delay

    async def _until_ready(self, child: _Child, first_pid: int | None) -> None:
        spec = child.spec
        if spec.ready is None:
            return
        deadline = time.monotonic() + spec.ready_timeout
        while not await spec.ready():
            process = child.process
            if process is None or process.pid != first_pid or process.returncode is not None:
                code = process.returncode if process is not None else None
                raise ProcessFailed(f"{spec.name} ended while starting ({_reason(code)}). {_tail(spec.log)}")
            if time.monotonic() > deadline:
                raise ProcessFailed(f"{spec.name} is not ready after {spec.ready_timeout:.0f} s. {_tail(spec.log)}")
            await asyncio.sleep(_POLL)


def _reason(code: int | None) -> str:
    if code is None:
        return "it was restarted"
    if code < 0:
        with contextlib.suppress(ValueError):
            return f"signal {signal.Signals(-code).name}"
    return f"exit code {code}"


def _tail(log: Path, lines: int = 5) -> str:
    with contextlib.suppress(OSError):
        text = log.read_bytes()[-4096:].decode(errors="replace").strip().splitlines()[-lines:]
        if text:
            return f"Its log {log} ends with:\n" + "\n".join(text)
    return f"Its log is {log}"
