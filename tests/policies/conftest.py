from __future__ import annotations

import sys
from pathlib import Path

PACK = Path(__file__).parents[2] / "policies"
sys.path.insert(0, str(PACK))  # as Python does for the engine, which runs the folder
sys.path.insert(0, str(Path(__file__).parents[1] / "twin" / "engine"))  # what drives a stack is written there
