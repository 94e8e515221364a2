"""Kubernetes' quantities: as whole thousandths ("1500m" of CPU is 1500, "4" chips are 4000), and in canonical form."""

import math
import re
from decimal import Decimal

# The official Python client has a parser, but its import takes 45 MB and a quarter of a second.
_SUFFIXES = {
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    "k": Decimal(10) ** 3,
    **{letter: Decimal(10) ** (3 * power) for power, letter in enumerate("MGTPE", start=2)},
    **{f"{letter}i": Decimal(1024) ** power for power, letter in enumerate("KMGTPE", start=1)},
}


def thousandths(quantity: str | int) -> int:
    """The quantity in thousandths, rounded up as by the API server."""
    text = str(quantity)
    number = text.rstrip("KMGTPEiknum")
    factor = _SUFFIXES[text[len(number) :]] if len(number) < len(text) else 1
    return math.ceil(Decimal(number) * factor * 1000)


def canonical(quantity: str | int) -> str:
    """The canonical form of a quantity: "45Ti" for "46080Gi", "12k" for "12000".

    API servers return core kinds in this form, and webhooks such as Kueue's and KubeRay's rewrite custom resources in
    it. Another form would be a difference in each preview. Source:
    https://pkg.go.dev/k8s.io/apimachinery/pkg/api/resource#Quantity
    """
    amount = thousandths(quantity)
    if amount % 1000:
        return f"{amount}m"
    amount, power = amount // 1000, 0
    step, units = (1024, "KMGTPE") if str(quantity).endswith("i") else (1000, "kMGTPE")
    while amount and amount % step == 0 and power < len(units):
        amount, power = amount // step, power + 1
    return f"{amount}{units[power - 1]}{'i' * (step == 1024)}" if power else str(amount)


def counted(number: float, noun: str) -> str:
    """`1 pool`, `2 pools`, `1,024 pools`, `1.5 cores`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def singular(text: str) -> str:
    """The text of a template with its nouns after a 1 in the singular: `1 chip` for `1 chips`."""
    return re.sub(r"(?<![^\s(])(1 (?:more free |node )?(?:chip|slice|host|node|GPU|core|pod|pool|job))s\b", r"\1", text)


def are(number: int, noun: str) -> str:
    """`1 pod is`, `2 pods are`."""
    return f"{counted(number, noun)} {'is' if number == 1 else 'are'}"


def whole_or_part(amount: int) -> int | float:
    """Thousandths as a number: 4 chips, 1.5 cores."""
    return amount // 1000 if amount % 1000 == 0 else amount / 1000
