"""The parent of a cluster's pod processes, with the pod network. Linux only.

`python -m tpuplane_twin.pods.sandbox.daemon SOCKET SERVICES`: serves one client at a time, by datagrams of JSON on
the Unix socket SOCKET (below the working directory). When the client disconnects, all pods' processes end.

    {"id": 1, "op": "run", "order": {…}}                     → {"id": 1, "pid": …}
    {"id": 2, "op": "signal", "pid": …, "signal": 15}        → {"id": 2}
    {"id": 3, "op": "socket", "kind": "tcp"}                 → {"id": 3}, with the socket's file descriptor
    {"id": 4, "op": "own", "address": "10.0.0.2"}            → {"id": 4}; its packets go to the daemon's namespace
    a process that ended                                     → {"exited": pid, "code": …}

An order: name (of the interface), address, hostname, argv, env, cwd, root (an empty folder), log, files (path: text)
and mounts (source, target, readOnly). One that has `join`, the id of a process that runs, needs only argv, env, cwd,
root and log, and runs in the sandbox of that one. A code above 128 is a signal, as a kubelet shows it.
"""

import contextlib
import json
import os
import selectors
import signal
import socket
import sys
from pathlib import Path
from typing import Any

from tpuplane_twin.machine.parent import die_with_parent
from tpuplane_twin.pods.sandbox import container, network, system

LARGEST = 1 << 20
"""Bytes of the largest message."""


class Daemon:
    """Serves one client."""

    def __init__(self, client: socket.socket, woken: socket.socket) -> None:
        self._client = client
        self._woken = woken
        self._children: set[int] = set()

    def serve(self) -> None:
        """Serve until the client disconnects."""
        with selectors.DefaultSelector() as selector:
            for source in (self._client, self._woken):
                selector.register(source, selectors.EVENT_READ)
            while True:
                for key, _ in selector.select():
                    if key.fileobj is self._woken:
                        self._woken.recv(4096)
                        self._reap()
                    elif message := self._client.recv(LARGEST):
                        self._answer(json.loads(message))
                    else:
                        return

    def _answer(self, request: dict[str, Any]) -> None:
        answer: dict[str, Any] = {"id": request["id"]}
        try:
            if request["op"] == "socket":
                with network.new_socket(request["kind"]) as made:
                    socket.send_fds(self._client, [json.dumps(answer).encode()], [made.fileno()])
                return
            if request["op"] == "own":
                network.own(request["address"])
            elif request["op"] == "run":
                answer["pid"] = self._run(request["order"])
            elif request["pid"] in self._children:
                os.kill(request["pid"], request["signal"])
        except Exception as error:  # reported to the client; other pods continue
            answer["error"] = str(error)
        self._client.send(json.dumps(answer).encode())

    def _run(self, order: dict[str, Any]) -> int:
        if "join" in order:
            if order["join"] not in self._children:
                raise ProcessLookupError("the process to join has ended")
            pid = os.fork()
            if pid == 0:
                container.join(order)
            self._children.add(pid)
            return pid
        mine, its = socket.socketpair()
        with mine, its:
            pid = os.fork()
            if pid == 0:
                mine.close()
                container.run(order, its)
            its.close()
            # Without a namespace the child ends with a message in its log, and sends nothing.
            if mine.recv(1):
                try:
                    network.plug_in(order["name"], order["address"], pid)
                    mine.send(b"!")
                except Exception:
                    # The client does not know this process, so its end is not reported.
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)
                    raise
                # Processes that join find its file system.
                with contextlib.suppress(ConnectionError):
                    mine.recv(1)
            self._children.add(pid)
        return pid

    def _reap(self) -> None:
        while self._children:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            self._children.discard(pid)
            code = os.waitstatus_to_exitcode(status)
            event = {"exited": pid, "code": code if code >= 0 else 128 - code}
            self._client.send(json.dumps(event).encode())


def main(path: str, services: str) -> None:
    """Create the network and serve."""
    system.become_root()
    die_with_parent()
    system.unshare(system.CLONE_NEWNET | system.CLONE_NEWNS)
    system.private_mounts()
    network.prepare(services)
    woken, wake = socket.socketpair()
    for end in (woken, wake):
        end.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
    with contextlib.suppress(FileNotFoundError):
        Path(path).unlink()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
        os.umask(0o077)
        server.bind(path)
        server.listen(1)
        client, _ = server.accept()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, LARGEST)
        with client:
            Daemon(client, woken).serve()


if __name__ == "__main__":
    try:
        main(sys.argv[1], sys.argv[2])
    except OSError as failure:
        sys.exit(f"error: {failure}")
