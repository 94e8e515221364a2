"""`python -m tpuplane.plugin` prints the plugin's schema: the golden copy is `components/schema.json`."""

from __future__ import annotations

from tpuplane.plugin import PlatformProvider

print(PlatformProvider().schema_text, end="")
