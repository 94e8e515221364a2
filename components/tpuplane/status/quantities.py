"""Kubernetes' quantities as whole thousandths ("1500m" of CPU is 1500, "4" chips are 4000)."""

from __future__ import annotations

import math
from decimal import Decimal

# The official Python client has a parser too, but importing it costs 45 MB and a quarter of a second.
_SUFFIXES = {
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    "k": Decimal(10) ** 3,
    **{letter: Decimal(10) ** (3 * power) for power, letter in enumerate("MGTPE", start=2)},
    **{f"{letter}i": Decimal(1024) ** power for power, letter in enumerate("KMGTPE", start=1)},
}


def thousandths(quantity: str | int) -> int:
    """The quantity as the API server writes it, rounded up, in thousandths."""
    text = str(quantity)
    number = text.rstrip("KMGTPEiknum")
    factor = _SUFFIXES[text[len(number) :]] if len(number) < len(text) else 1
    return math.ceil(Decimal(number) * factor * 1000)


def whole_or_part(amount: int) -> int | float:
    """So many thousandths as a number: 4 chips, 1.5 cores."""
    return amount // 1000 if amount % 1000 == 0 else amount / 1000
