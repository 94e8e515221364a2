"""Managed Service for Prometheus: its kinds, as Google publishes them. Nothing is collected, no operator runs."""

from __future__ import annotations

from pathlib import Path

from tpuplane_twin.cluster.api import Object
from tpuplane_twin.cluster.manifests import definitions

MODULE = "managed-prometheus"


async def objects(folder: Path) -> list[Object]:
    """The definitions of PodMonitoring and its kin, from the module's folder."""
    return await definitions(folder / "manifests" / "setup.yaml")
