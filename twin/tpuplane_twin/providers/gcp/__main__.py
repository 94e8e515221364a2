"""`pulumi-resource-gcp <engine address>`: prints the port it serves on."""

from __future__ import annotations

from tpuplane_twin.providers.lean import import_protocol_alone


def main() -> None:
    """Serve until the engine is gone."""
    import_protocol_alone()
    from tpuplane_twin.providers.gcp.provider import GcpProvider  # noqa: PLC0415 - after the lean import
    from tpuplane_twin.providers.server import run  # noqa: PLC0415 - after the lean import

    run(GcpProvider())


if __name__ == "__main__":
    main()
