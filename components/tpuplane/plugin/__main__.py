"""`python -m tpuplane.plugin` prints the schema of the plugin, which is `components/schema.json`."""

from tpuplane.plugin import PlatformProvider

print(PlatformProvider().schema_text, end="")
