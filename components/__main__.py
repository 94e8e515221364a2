"""The component plugin. What it offers is in `schema.json`; `docs/reuse.md` says how programs use it."""

import sys

from pulumi.provider import main
from tpuplane.plugin import PlatformProvider

main(PlatformProvider(), sys.argv[1:])
