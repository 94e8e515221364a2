"""How long things take on the twin: GKE's times, divided by the twin's speed."""

import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, partial

from tpuplane.data_files import read_data

from tpuplane_twin.clock.clock import Clock

SPEED = "TPUPLANE_TWIN_SPEED"
_DEFAULT_SPEED = 60.0
_PART = r"\d+(?:\.\d+)?[smhd]"
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
LONGEST_SECONDS = 3650 * _UNITS["d"]
"""The longest duration: dates that are centuries ahead cannot be written."""
_times = cache(partial(read_data, "tpuplane_twin.clock", "times"))


class InvalidTime(ValueError):
    """A speed or duration that the user must correct. The message has the allowed form."""


@dataclass(frozen=True, slots=True)
class Times:
    """The times of failures at a speed: 60 makes a second of the twin of a minute of GKE.

    A clock that stands still is moved by seconds of GKE.
    """

    speed: float = _DEFAULT_SPEED
    clock: Clock = field(default_factory=Clock, compare=False)

    @classmethod
    def of(cls, environment: Mapping[str, str] = os.environ) -> "Times":
        """At the speed TPUPLANE_TWIN_SPEED, else 60. Raises `InvalidTime`."""
        text = environment.get(SPEED, "")
        try:
            speed = float(text) if text else _DEFAULT_SPEED
        except ValueError:
            speed = math.nan
        if not 0 < speed < math.inf:
            raise InvalidTime(f"{SPEED}: {text!r} is not a speed; give a number above 0: 60, or 1 for GKE's own times")
        return cls(speed)

    def real(self, seconds: float) -> float:
        """The seconds of the clock for seconds of GKE."""
        return seconds if self.clock.still else seconds / self.speed

    def seconds(self, name: str) -> float:
        """The seconds of the clock for a time of `times.yaml`."""
        return self.real(constant(name))


def constant(name: str) -> float:
    """Seconds of GKE: a time of `times.yaml`."""
    return float(_times()[name]["seconds"])


def duration(text: str) -> float:
    """Seconds of a duration such as 90s, 15m, 2h30m or 1d, up to ten years. Raises `InvalidTime`."""
    if not re.fullmatch(rf"({_PART})+", text):
        raise InvalidTime(f"{text!r} is not a duration; give numbers with s, m, h or d, such as 15m or 2h30m")
    seconds = round(sum(float(part[:-1]) * _UNITS[part[-1]] for part in re.findall(_PART, text)), 6)
    if seconds > LONGEST_SECONDS:
        raise InvalidTime(f"{text!r} is too long; allowed: up to {LONGEST_SECONDS // _UNITS['d']}d")
    return seconds
