"""Atomic writes: readers, crashes and full disks never see a part of a file. Locks, which end with their process."""

import errno
import fcntl
import os
import secrets
import shutil
from pathlib import Path
from typing import TextIO


class DiskFull(RuntimeError):
    """The disk of the state folder is full; existing files are unchanged."""


def write_atomic(path: Path, content: str | bytes, *, mode: int = 0o600) -> None:
    """Replace `path` by `content` in one step, with `mode` from the first byte on.

    Raises `DiskFull`; the former content stays.
    """
    data = content.encode() if isinstance(content, str) else content
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(
                f"no space left on the disk of {path.parent}; nothing was lost. Free some space there "
                "(`tpuplane-twin down --name NAME` deletes a twin you no longer need) and run the command again"
            ) from error
        raise


def write_if_changed(path: Path, content: str, *, mode: int = 0o600) -> None:
    """`write_atomic`, unless `path` has that content already."""
    if path.is_symlink() or not path.exists() or path.read_text() != content:
        write_atomic(path, content, mode=mode)


def link_atomic(path: Path, target: Path) -> None:
    """Make `path` a symbolic link to `target`, in one step."""
    if path.is_symlink() and path.readlink() == target:
        return
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.unlink(missing_ok=True)
    temporary.symlink_to(target)
    temporary.replace(path)


def try_lock(file: int | TextIO) -> bool:
    """Lock an open file; False while another process has the lock. The kernel releases that of a dead process."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def require_space(folder: Path, mib: int, what: str) -> None:
    """Raise `DiskFull` if the disk of `folder` (which may not exist yet) has less than `mib` MiB free for `what`."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(existing).free // 2**20
    if free < mib:
        raise DiskFull(
            f"no space left: {what} takes about {mib} MiB, and the disk of {folder} has {free} MiB free. Nothing was "
            "lost. Free some space, or set TPUPLANE_TWIN_HOME to a folder on another disk; then run the command again"
        )
