"""The package as a Pulumi component plugin: its components for programs in YAML and in other languages.

Nothing of the package imports this; it is what `PulumiPlugin.yaml` starts.
"""

from __future__ import annotations

from tpuplane.plugin.provider import PlatformProvider, components

__all__ = ["PlatformProvider", "components"]
