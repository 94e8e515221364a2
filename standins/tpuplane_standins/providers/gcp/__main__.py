"""`python -m tpuplane_standins.providers.gcp [ENGINE_ADDRESS]`: what `pulumi-resource-gcp` runs."""

from tpuplane_standins.providers import import_protocol_alone

import_protocol_alone()

from tpuplane_standins.providers.gcp.server import run  # noqa: E402 - after the quick start

if __name__ == "__main__":
    run()
