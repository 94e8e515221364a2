"""System calls that Python's library lacks: namespaces and mounts."""

import ctypes
import os
from pathlib import Path

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

_MS_RDONLY, _MS_REMOUNT, _MS_BIND, _MS_REC, _MS_PRIVATE = 1, 32, 4096, 16384, 1 << 18
# Flags of the source that a read-only remount must keep: nosuid, nodev, noexec, noatime, nodiratime.
_KEPT = 2 | 4 | 8 | 1024 | 2048

_libc = ctypes.CDLL(None, use_errno=True)


def unshare(flags: int) -> None:
    """Leave the namespaces `flags` for new ones. Raises `OSError` where the kernel does not allow it."""
    _check(_libc.unshare(flags), "unshare")


def join(pid: int) -> None:
    """Enter the namespaces of process `pid`. Raises `OSError`."""
    kinds = ("net", "uts", "ipc", "pid_for_children", "mnt")
    # All are opened first, because /proc differs in the other mount namespace.
    for descriptor in [os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY) for kind in kinds]:
        _check(_libc.setns(descriptor, 0), "setns")
        os.close(descriptor)


def become_root() -> None:
    """Become root of a new user namespace, unless this process is root."""
    user, group = os.getuid(), os.getgid()
    if user == 0:
        return
    unshare(CLONE_NEWUSER)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"0 {user} 1")
    Path("/proc/self/gid_map").write_text(f"0 {group} 1")


def private_mounts() -> None:
    """Hide the mounts of this namespace from others."""
    _mount("none", "/", None, _MS_REC | _MS_PRIVATE)


def mount(kind: str, target: str | Path) -> None:
    """Mount a kernel file system (tmpfs, proc)."""
    _mount(kind, target, kind, 0)


def bind(source: str | Path, target: str | Path) -> None:
    """Bind-mount `source`, a file or folder, at the existing `target`."""
    _mount(source, target, None, _MS_BIND | _MS_REC)


def protect(target: str | Path) -> None:
    """Make what is mounted at `target` read-only there."""
    kept = os.statvfs(target).f_flag & _KEPT
    _mount("none", target, None, _MS_BIND | _MS_REMOUNT | _MS_RDONLY | kept)


def _mount(source: str | Path, target: str | Path, kind: str | None, flags: int) -> None:
    arguments = [str(source).encode(), str(target).encode(), kind.encode() if kind else None]
    _check(_libc.mount(*arguments, ctypes.c_ulong(flags), None), f"mount {source} at {target}")


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
