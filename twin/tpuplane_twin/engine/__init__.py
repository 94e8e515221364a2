"""The engine: a real `pulumi` for a twin, with a Python language host where none is installed."""

from __future__ import annotations

from tpuplane_twin.engine.plugins import find_installed, install_plugin, remove_plugin
from tpuplane_twin.engine.setup import environment, install_engine, pulumi_home

__all__ = [
    "environment",
    "find_installed",
    "install_engine",
    "install_plugin",
    "pulumi_home",
    "remove_plugin",
]
