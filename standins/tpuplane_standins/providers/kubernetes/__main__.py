"""`python -m tpuplane_standins.providers.kubernetes [ENGINE_ADDRESS]`: what `pulumi-resource-kubernetes` runs."""

import importlib
import threading

from tpuplane_standins.providers import import_protocol_alone

import_protocol_alone()

from tpuplane_standins.providers.kubernetes.provider import KubernetesProvider  # noqa: E402 - after the quick start
from tpuplane_standins.providers.server import run  # noqa: E402

if __name__ == "__main__":
    # The client takes as long to import as all the rest; the engine's first questions do not need it.
    threading.Thread(target=importlib.import_module, args=("kubernetes.client",), daemon=True).start()
    run(KubernetesProvider())
