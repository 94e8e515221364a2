"""Durations as the user writes them: the form and the limits of Go, in which Kueue reads them."""

import re
from decimal import Decimal
from typing import Annotated

from pydantic import AfterValidator

from tpuplane.spec.core.errors import shown
from tpuplane.spec.core.fields import reject

_DURATION = re.compile(r"([0-9]+(\.[0-9]+)?(ms|s|m|h))+")
_DURATION_PART = re.compile(r"([0-9.]+)(ms|s|m|h)")
_NANOSECONDS = {"ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_LONGEST = 2**63 - 1  # nanoseconds, as Go counts


def _duration(value: str) -> str:
    if not _DURATION.fullmatch(value):
        raise reject(f"{shown(value)} is not a duration; allowed: numbers with units, such as 90s, 10m or 1h30m")
    if _nanoseconds(value) > _LONGEST:
        raise reject(
            f"{shown(value)} is longer than Kueue can count; allowed: at most {_LONGEST // _NANOSECONDS['h']}h"
        )
    return value


def _some_time(value: str) -> str:
    if _nanoseconds(value) < 1:
        raise reject(
            f"{shown(value)} is not more than 0, as Kueue requires; allowed: numbers with units, such as 90s or 1h30m"
        )
    return value


def _nanoseconds(duration: str) -> Decimal:
    return sum((Decimal(count) * _NANOSECONDS[unit] for count, unit in _DURATION_PART.findall(duration)), Decimal(0))


Duration = Annotated[str, AfterValidator(_duration)]
PositiveDuration = Annotated[Duration, AfterValidator(_some_time)]
