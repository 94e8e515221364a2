from __future__ import annotations

import sys
from pathlib import Path

PACK = Path(__file__).parents[2] / "policies"
sys.path.insert(0, str(PACK))  # as Python does for the engine, which runs the folder
for helpers in ("twin/engine", "components"):  # what drives a stack, and what deploys under mocks
    sys.path.insert(0, str(Path(__file__).parents[1] / helpers))
