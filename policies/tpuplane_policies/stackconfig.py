"""What the pack's own files say for a stack: `policies/config/STACK.json`, in the form of `--policy-pack-config`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from pulumi_policy import EnforcementLevel

FOLDER = Path(__file__).parents[1] / "config"


def initial_config(stack: str | None = None, folder: Path = FOLDER) -> dict[str, Any] | None:
    """The levels, options and exemptions of a stack; none, which is the strictest, where it has no file.

    Args:
        stack: name of the stack; by default the one that the engine is working on.
        folder: where the files are.

    Raises:
        ValueError: naming the file and what is wrong in it.

    """
    name = stack or os.environ.get("PULUMI_STACK", "")
    path = folder / f"{name.rpartition('/')[2]}.json"
    if not name or not path.is_file():
        return None
    try:
        written = json.loads(path.read_text(encoding="utf-8"))
        return {rule: _entry(value) for rule, value in written.items()}
    except (ValueError, AttributeError) as error:
        raise ValueError(f"{path}: {error}") from None


def _entry(value: Any) -> Any:
    if isinstance(value, str):
        return EnforcementLevel(value)
    if "enforcementLevel" in value:
        return {**value, "enforcementLevel": EnforcementLevel(value["enforcementLevel"])}
    return value
