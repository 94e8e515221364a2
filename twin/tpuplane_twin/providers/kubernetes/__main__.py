"""`python -m tpuplane_twin.providers.kubernetes ENGINE_ADDRESS`: what `pulumi-resource-kubernetes` runs.

Prints the port it serves on (127.0.0.1) and serves until the engine ends it.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import grpc
from pulumi.runtime._grpc_settings import _GRPC_CHANNEL_OPTIONS
from pulumi.runtime.proto import provider_pb2_grpc

from tpuplane_twin.providers.kubernetes.awaiting.wait import LISTEN_SECONDS
from tpuplane_twin.providers.kubernetes.log import EngineLog
from tpuplane_twin.providers.kubernetes.server import KubernetesProvider

VERSION = "4.34.2"
"""The official release whose behaviour and state format this provider has."""

ORPHAN_CHECK_SECONDS = 5

WORKERS = 256
"""Operations at the same time: most of them only wait for an object. The engine itself asks for fewer."""


def main(arguments: list[str] | None = None) -> None:
    """Serve one engine, or (without an address) whichever attaches."""
    parser = argparse.ArgumentParser(prog="pulumi-resource-kubernetes", description=__doc__)
    parser.add_argument("engine", nargs="?", help="address of the engine")
    known, _ = parser.parse_known_args(arguments)
    log = EngineLog(known.engine) if known.engine else None

    server = grpc.server(ThreadPoolExecutor(WORKERS), options=_GRPC_CHANNEL_OPTIONS)
    provider = KubernetesProvider(VERSION, log)
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(provider, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()

    ended, parent = threading.Event(), os.getppid()
    # The engine interrupts the whole process group, then asks providers to cancel: that request must still be served.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    while not ended.wait(ORPHAN_CHECK_SECONDS) and os.getppid() == parent:
        pass  # an engine that was killed ends nobody
    provider.cancel()
    server.stop(grace=LISTEN_SECONDS).wait()


if __name__ == "__main__":
    main()
