"""`python -m tpuplane_twin.providers.gcp [ENGINE_ADDRESS]`: what `pulumi-resource-gcp` runs."""

from tpuplane_twin.providers import import_protocol_alone

import_protocol_alone()

from tpuplane_twin.providers.gcp.provider import GcpProvider  # noqa: E402 - after the quick start
from tpuplane_twin.providers.server import run  # noqa: E402

if __name__ == "__main__":
    run(GcpProvider())
