"""Which texts `data/texts.yaml` allows."""

import re

from tpuplane.spec.core.errors import shown
from tpuplane.spec.core.rules import spec_data
from tpuplane.tpu.nearest import lookalike


def excluded(name: str, value: str) -> str | None:
    """The message if a pattern under `except` of this name in `data/texts.yaml` has the text; otherwise None."""
    messages = spec_data("texts")[name].get("except", {}).items()
    return next((message for pattern, message in messages if re.fullmatch(pattern, value)), None)


def text_problem(name: str, value: str) -> str | None:
    """The message if `data/texts.yaml` does not allow the text under this name; None if it is allowed."""
    known = spec_data("texts")[name]
    if message := excluded(name, value):
        return f"{shown(value)} {message}"
    if not re.fullmatch(known["pattern"], value):
        return f"{shown(value)}{lookalike(value)} is not {known.get('what', 'allowed')}; allowed: {known['allowed']}"
    return None
