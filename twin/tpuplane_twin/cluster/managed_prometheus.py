"""Managed Service for Prometheus: its kinds, as Google publishes them. Nothing is collected, no operator runs."""

from __future__ import annotations

import asyncio
from pathlib import Path

import yaml

from tpuplane_twin.cluster.api import Object

MODULE = "managed-prometheus"


async def objects(folder: Path) -> list[Object]:
    """The definitions of PodMonitoring and its kin, from the module's folder."""
    text = await asyncio.to_thread((folder / "manifests" / "setup.yaml").read_text)
    found = await asyncio.to_thread(lambda: list(yaml.load_all(text, yaml.CSafeLoader)))
    return [item for item in found if item and item["kind"] == "CustomResourceDefinition"]
