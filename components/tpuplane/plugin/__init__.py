"""The package as a Pulumi component plugin: its components for programs in YAML and in other languages.

`PulumiPlugin.yaml` starts it. The rest of the package does not import it.
"""

from tpuplane.plugin.provider import PlatformProvider

__all__ = ["PlatformProvider"]
