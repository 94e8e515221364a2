"""One sandboxed process: its namespaces, its root folder, its end."""

import errno
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Any, NoReturn

from tpuplane_twin.machine.parent import die_with_parent
from tpuplane_twin.pods.sandbox import network, system

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ssl", "/etc/ld.so.cache", "/etc/alternatives")
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_NAMESPACES = system.CLONE_NEWNS | system.CLONE_NEWNET | system.CLONE_NEWUTS | system.CLONE_NEWIPC | system.CLONE_NEWPID
_CANNOT_RUN = 128  # a kubelet's exit code for a container that could not be started


def run(order: dict[str, Any], channel: socket.socket) -> NoReturn:
    """In a child of the daemon: become the sandbox of `order`, run its process, end with its exit code.

    A byte on `channel` reports the network namespace to the daemon, and its connection to the sandbox. The channel
    closes when other processes can join.
    """
    code = _CANNOT_RUN
    try:
        die_with_parent()
        os.setsid()
        _redirect(order["log"])
        system.unshare(_NAMESPACES)
        channel.send(b"?")
        if not channel.recv(1):
            raise OSError("the network could not be set up")
        network.configure(order["address"])
        socket.sethostname(order["hostname"])
        # The first process of a PID namespace: all others end with it.
        child = os.fork()
        if child == 0:
            _become(order)
        channel.close()  # the child keeps it until `exec`
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda number, _: os.kill(child, number))
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
    except BaseException as error:  # this process must never go on as a second daemon
        print(f"the sandbox could not be made: {error}", file=sys.stderr, flush=True)
    os._exit(code if code >= 0 else 128 - code)


def join(order: dict[str, Any]) -> NoReturn:
    """In a child of the daemon: run the process of `order` in an existing sandbox, end with its exit code."""
    code = _CANNOT_RUN
    try:
        die_with_parent()
        os.setsid()
        _redirect(order["log"])
        system.join(order["join"])
        child = os.fork()
        if child == 0:
            die_with_parent()
            _execute(order)
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
    except BaseException:  # as above; the sandbox may have ended meanwhile
        code = _CANNOT_RUN
    os._exit(code if code >= 0 else 128 - code)


def _redirect(log: str) -> None:
    """Redirect output to the file `log`, and input to nothing."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for descriptor in (1, 2):
        os.dup2(output, descriptor)


def _execute(order: dict[str, Any]) -> NoReturn:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
    os.chroot(order["root"])
    os.chdir("/")
    # After `chroot`: before, the path could be outside.
    Path(order["cwd"]).mkdir(parents=True, exist_ok=True)
    os.chdir(order["cwd"])
    os.closerange(3, 4096)
    os.execvpe(order["argv"][0], order["argv"], order["env"])  # noqa: S606  (there is no shell)


def _become(order: dict[str, Any]) -> NoReturn:
    try:
        die_with_parent()
        signal.set_wakeup_fd(-1)
        root = Path(order["root"])
        system.private_mounts()
        _build(root, order)
        _execute(order)
    except BaseException as error:  # as above
        print(f"{order['argv'][0]} cannot be started: {error}", file=sys.stderr, flush=True)
    os._exit(_CANNOT_RUN)


def _build(root: Path, order: dict[str, Any]) -> None:
    """The pod's file system: this machine's programs, read-only, and the pod's mounts."""
    system.mount("tmpfs", root)
    for folder in ("proc", "dev", "dev/shm", "etc", "run", "tmp", "var/tmp"):
        (root / folder).mkdir(parents=True)
    (root / "tmp").chmod(0o1777)
    for name in _SYSTEM:
        _show_system(Path(name), root)
    for name in _DEVICES:
        _show(f"/dev/{name}", f"/dev/{name}", root)
    (root / "dev/fd").symlink_to("/proc/self/fd")
    system.mount("tmpfs", root / "dev/shm")
    system.mount("proc", root / "proc")
    for name, content in order["files"].items():
        path = root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    # Outer mounts before inner ones, whose places are made in them while they can be written.
    entries = sorted(order["mounts"], key=lambda entry: str(entry["target"]))
    targets = [_show(entry["source"], str(entry["target"]), root) for entry in entries]
    for entry, target in zip(entries, targets, strict=True):
        if entry["readOnly"]:
            system.protect(target)


def _show_system(path: Path, root: Path) -> None:
    if path.is_symlink() and not str(path).startswith("/etc"):
        (root / str(path).lstrip("/")).symlink_to(path.readlink())
    elif path.exists():
        system.protect(_show(str(path), str(path), root))


def _inside(path: str, root: Path) -> Path:
    """The pod's path `path` below its root: ".." of / is /. Raises `OSError` where a symbolic link leads out."""
    found = root / os.path.normpath(f"/{path}").lstrip("/")
    if not found.resolve().is_relative_to(root.resolve()):
        raise PermissionError(errno.EPERM, "it leads out of the container's file system", path)
    return found


def _show(outside: str, inside: str, root: Path) -> Path:
    """Mount a file or folder of the machine at a path of the pod. Returns the path below the root."""
    source, target = Path(outside), _inside(inside, root)
    if source.is_dir():
        target.mkdir(parents=True, exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch(exist_ok=True)
    system.bind(source, target)
    return target
