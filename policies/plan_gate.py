"""The gate for plans, as a command: see `tpuplane_policies.plangate`."""

from __future__ import annotations

import sys

from tpuplane_policies.plangate import main

if __name__ == "__main__":
    sys.exit(main())
