"""`python -m tpuplane_twin.providers.kubernetes ENGINE_ADDRESS`: what `pulumi-resource-kubernetes` runs.

Prints the port it serves on (127.0.0.1) and serves until the engine ends it.
"""

from __future__ import annotations

import argparse
import importlib
import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata

import grpc
from pulumi.runtime._grpc_settings import _GRPC_CHANNEL_OPTIONS
from pulumi.runtime.proto import provider_pb2_grpc

from tpuplane_twin.providers.kubernetes.awaiting.wait import LISTEN_SECONDS
from tpuplane_twin.providers.kubernetes.log import EngineLog
from tpuplane_twin.providers.kubernetes.server import KubernetesProvider

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
    # The SDK's: the engine warns of a plugin older than the SDK that asks for it.
    provider = KubernetesProvider(metadata.version("pulumi-kubernetes"), log)
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(provider, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()

    ended, parent = threading.Event(), os.getppid()
    # The engine ends its plugins with an interrupt, and waits five seconds for each that ignores it. A user's Ctrl-C
    # does not come here (plugins have a process group of their own): the engine sends Cancel.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    # The client takes as long to import as all the rest; the engine's first questions do not need it.
    threading.Thread(target=importlib.import_module, args=("kubernetes.client",), daemon=True).start()
    while not ended.wait(ORPHAN_CHECK_SECONDS) and os.getppid() == parent:
        pass  # an engine that was killed ends nobody
    provider.cancel()
    server.stop(grace=LISTEN_SECONDS).wait()


if __name__ == "__main__":
    main()
