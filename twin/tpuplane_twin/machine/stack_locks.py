"""The locks of Pulumi's stacks in a `file://` backend, and the engines that hold them."""

import contextlib
import json
import socket
from pathlib import Path

import psutil


def stack_locks(backend: Path, stack: str | None = None) -> list[Path]:
    """The lock files of `stack`, or of every stack, in the folder `backend`."""
    locks = (backend / ".pulumi" / "locks").glob("**/*.json")
    return sorted(file for file in locks if stack is None or file.parent.name == stack)


def live_holder(lock: Path) -> int | None:
    """The process id of the engine behind `lock` if it runs on this machine, else None."""
    with contextlib.suppress(OSError, ValueError, psutil.Error):
        holder = json.loads(lock.read_text())
        process = psutil.Process(int(holder.get("pid", 0)))
        # The process id may belong to another program by now.
        if holder.get("hostname") == socket.gethostname() and process.name().startswith("pulumi"):
            return process.pid
    return None
