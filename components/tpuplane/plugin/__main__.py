"""`python -m tpuplane.plugin` writes the plugin's schema: the golden copy is `components/schema.json`."""

from __future__ import annotations

import json

from tpuplane.plugin import PlatformProvider

print(json.dumps(json.loads(PlatformProvider().schema or "{}"), indent=2, sort_keys=True))
