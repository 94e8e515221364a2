"""Messages to the user, through the engine."""

import contextlib
import threading
from typing import Literal

import grpc
from pulumi.runtime.proto import engine_pb2, engine_pb2_grpc

Severity = Literal["info", "warning", "error"]
_SEVERITIES = {"info": engine_pb2.INFO, "warning": engine_pb2.WARNING, "error": engine_pb2.ERROR}


class EngineLog:
    """The engine's log. A message that the engine cannot take is dropped: logging never fails an operation."""

    def __init__(self, address: str) -> None:
        self._engine = engine_pb2_grpc.EngineStub(grpc.insecure_channel(address))

    def send(self, urn: str, severity: Severity, message: str, *, ephemeral: bool = False) -> None:
        """Show a message with a resource; an ephemeral one is its status line until the next."""
        request = engine_pb2.LogRequest(severity=_SEVERITIES[severity], message=message, urn=urn, ephemeral=ephemeral)
        with contextlib.suppress(grpc.RpcError):
            self._engine.Log(request, timeout=5)


class ResourceLog:
    """The log of one resource's operation; sends no message twice."""

    def __init__(self, log: EngineLog, urn: str) -> None:
        self._log = log
        self._urn = urn
        self._said: set[str] = set()
        self._status = ""
        self._lock = threading.Lock()

    def status(self, message: str) -> None:
        """Replace the resource's status line."""
        with self._lock:
            if message == self._status:
                return
            self._status = message
        self._log.send(self._urn, "info", message, ephemeral=True)

    def say(self, severity: Severity, message: str) -> None:
        """Add a message that stays."""
        with self._lock:
            if message in self._said:
                return
            self._said.add(message)
        self._log.send(self._urn, severity, message)
