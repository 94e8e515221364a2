"""GKE versions and their order."""

import re
from dataclasses import dataclass
from math import inf
from typing import Self

from tpuplane.tpu.errors import SliceError

_VERSION = re.compile(r"([0-9]{1,9})\.([0-9]{1,9})(?:\.([0-9]{1,9})(?:-gke\.([0-9]{1,12}))?)?")


@dataclass(frozen=True, order=True, slots=True)
class GkeVersion:
    """A GKE version of a cluster's configuration, in GKE's order.

    As in GKE, a missing part means the newest: `1.34` is the newest 1.34 and newer than any 1.34.x.
    """

    major: int
    minor: int
    patch: float = inf
    build: float = inf

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `1.34.0-gke.2201000`, `1.34.0` or `1.34`. Raises `SliceError` for another text, also for `latest`."""
        return cls(*_parts(text))

    @classmethod
    def minimum(cls, text: str) -> Self:
        """Read a lower bound. Missing parts are 0, so every 1.28 is at least the minimum `1.28`."""
        parts = _parts(text)
        return cls(*parts, *[0] * (4 - len(parts)))

    def __str__(self) -> str:
        text = f"{self.major}.{self.minor}"
        if self.patch != inf:
            text += f".{self.patch}"
        return text if self.build == inf else f"{text}-gke.{self.build}"


def _parts(text: str) -> list[int]:
    if (match := _VERSION.fullmatch(text)) is None:
        raise SliceError("version", text, "is not a GKE version; write it as 1.34.0-gke.2201000, 1.34.0 or 1.34")
    return [int(part) for part in match.groups() if part is not None]
