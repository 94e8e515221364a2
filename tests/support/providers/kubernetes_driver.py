"""The engine's side of the provider protocol: starts the plugin as the engine does and sends it requests."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import engine_pb2_grpc, provider_pb2, provider_pb2_grpc, status_pb2
from tpuplane_standins.providers.values import decode_struct, encode_struct

Diff = provider_pb2.PropertyDiff


class Rejected(Exception):
    """The provider answered with an error; `failure` is set if the resource exists all the same."""

    def __init__(self, error: grpc.RpcError) -> None:
        super().__init__(error.details())
        self.failure: provider_pb2.ErrorResourceInitFailed | None = None
        for key, value in error.trailing_metadata() or ():
            if key == "grpc-status-details-bin":
                status = status_pb2.Status.FromString(value)
                self.failure = provider_pb2.ErrorResourceInitFailed()
                assert status.details[0].Unpack(self.failure)

    @property
    def state(self) -> dict[str, Any]:
        assert self.failure is not None
        return decode_struct(self.failure.properties)


class Recorder(engine_pb2_grpc.EngineServicer):
    """The engine's log."""

    def __init__(self) -> None:
        self.messages: list[Any] = []
        self.arrived = threading.Condition()

    def Log(self, request: Any, context: Any) -> empty_pb2.Empty:
        with self.arrived:
            self.messages.append(request)
            self.arrived.notify_all()
        return empty_pb2.Empty()

    def wait_for(self, text: str, *, about: str = "", seconds: float = 30) -> None:
        """Return once a message with this text was logged (about the resource of that name)."""

        def seen() -> bool:
            return any(text in message.message and message.urn.endswith(about) for message in self.messages)

        with self.arrived:
            assert self.arrived.wait_for(seen, seconds), f"never logged {text!r}: {self.messages}"


def urn(token: str, name: str = "thing") -> str:
    return f"urn:pulumi:test::project::tpuplane:index:Platform${token}::{name}"


@dataclass
class Resource:
    """One resource as the engine remembers it."""

    urn: str
    inputs: dict[str, Any]
    state: dict[str, Any] = field(default_factory=dict)
    id: str = ""


@dataclass
class Driver:
    stub: provider_pb2_grpc.ResourceProviderStub
    log: Recorder

    def call(self, method: str, request: Any) -> Any:
        try:
            return getattr(self.stub, method)(request, timeout=120)
        except grpc.RpcError as error:
            raise Rejected(error) from error

    def configure(self, **config: str) -> None:
        variables = {f"kubernetes:config:{key}": value for key, value in config.items()}
        request = provider_pb2.ConfigureRequest(variables=variables, acceptSecrets=True)
        self.call("Configure", request)

    def check(
        self,
        token: str,
        inputs: Mapping[str, Any],
        *,
        name: str = "thing",
        olds: Mapping[str, Any] | None = None,
        **extra: Any,
    ) -> Resource:
        request = provider_pb2.CheckRequest(
            urn=urn(token, name), news=encode_struct(inputs), olds=encode_struct(olds or {}), **extra
        )
        response = self.call("Check", request)
        assert not response.failures
        return Resource(request.urn, decode_struct(response.inputs))

    def create(self, resource: Resource, *, preview: bool = False, timeout: float = 0) -> Resource:
        request = provider_pb2.CreateRequest(
            urn=resource.urn, properties=encode_struct(resource.inputs), preview=preview, timeout=timeout
        )
        response = self.call("Create", request)
        return Resource(resource.urn, resource.inputs, decode_struct(response.properties), response.id)

    def make(self, token: str, inputs: Mapping[str, Any], *, name: str = "thing", timeout: float = 0) -> Resource:
        return self.create(self.check(token, inputs, name=name), timeout=timeout)

    def recheck(self, resource: Resource, inputs: Mapping[str, Any]) -> dict[str, Any]:
        _, _, token = resource.urn.split("::")[2].rpartition("$")
        name = resource.urn.rpartition("::")[2]
        return self.check(token, inputs, name=name, olds=resource.inputs).inputs

    def diff(self, resource: Resource, news: Mapping[str, Any], ignore: tuple[str, ...] = ()) -> Any:
        request = provider_pb2.DiffRequest(
            id=resource.id,
            urn=resource.urn,
            olds=encode_struct(resource.state),
            old_inputs=encode_struct(resource.inputs),
            news=encode_struct(news),
            ignoreChanges=ignore,
        )
        return self.call("Diff", request)

    def update(
        self,
        resource: Resource,
        news: dict[str, Any],
        *,
        preview: bool = False,
        ignore: tuple[str, ...] = (),
        timeout: float = 0,
    ) -> Resource:
        request = provider_pb2.UpdateRequest(
            id=resource.id,
            urn=resource.urn,
            olds=encode_struct(resource.state),
            old_inputs=encode_struct(resource.inputs),
            news=encode_struct(news),
            preview=preview,
            ignoreChanges=ignore,
            timeout=timeout,
        )
        response = self.call("Update", request)
        return Resource(resource.urn, news, decode_struct(response.properties), resource.id)

    def read(self, resource: Resource) -> Resource:
        request = provider_pb2.ReadRequest(
            id=resource.id,
            urn=resource.urn,
            properties=encode_struct(resource.state),
            inputs=encode_struct(resource.inputs),
        )
        response = self.call("Read", request)
        return Resource(resource.urn, decode_struct(response.inputs), decode_struct(response.properties), response.id)

    def delete(self, resource: Resource, *, timeout: float = 0) -> None:
        request = provider_pb2.DeleteRequest(
            id=resource.id, urn=resource.urn, properties=encode_struct(resource.state), timeout=timeout
        )
        self.call("Delete", request)


@contextmanager
def started() -> Iterator[Driver]:
    recorder = Recorder()
    engine = grpc.server(ThreadPoolExecutor(4))
    engine_pb2_grpc.add_EngineServicer_to_server(recorder, engine)
    address = f"127.0.0.1:{engine.add_insecure_port('127.0.0.1:0')}"
    engine.start()
    process = subprocess.Popen(
        [sys.executable, "-m", "tpuplane_standins.providers.kubernetes", address, "--logtostderr"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        port = process.stdout.readline().strip()
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield Driver(provider_pb2_grpc.ResourceProviderStub(channel), recorder)
    finally:
        process.send_signal(signal.SIGINT)  # as the engine does
        try:
            process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        process.stdout.close()
        engine.stop(None).wait()
