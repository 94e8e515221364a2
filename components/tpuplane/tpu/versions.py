"""GKE versions, and which is newer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import inf

from tpuplane.tpu.errors import SliceError

_VERSION = re.compile(r"([0-9]{1,9})\.([0-9]{1,9})(?:\.([0-9]{1,9})(?:-gke\.([0-9]{1,12}))?)?")


@dataclass(frozen=True, order=True, slots=True)
class GkeVersion:
    """A GKE version as a cluster asks for it, ordered as GKE orders them.

    A part that is left out means the newest, as it does to GKE: `1.34` is the newest 1.34, newer than any 1.34.x.
    """

    major: int
    minor: int
    patch: float = inf
    build: float = inf

    @classmethod
    def parse(cls, text: str) -> GkeVersion:
        """Read `1.34.0-gke.2201000`, `1.34.0` or `1.34`.

        Raises:
            SliceError: field "version", for anything else; also for `latest` and `-`, which name no version.
        """
        match = _VERSION.fullmatch(text)
        if match is None:
            raise SliceError("version", text, "is not a GKE version; write it as 1.34.0-gke.2201000, 1.34.0 or 1.34")
        return cls(*(int(part) for part in match.groups() if part is not None))

    def meets(self, minimum: str) -> bool:
        """Whether this version is `minimum` or newer; parts left out of a minimum are 0: `1.28` is all of 1.28."""
        least = GkeVersion.parse(minimum)
        patch, build = (0 if part == inf else part for part in (least.patch, least.build))
        return self >= GkeVersion(least.major, least.minor, patch, build)

    def __str__(self) -> str:
        text = f"{self.major}.{self.minor}"
        if self.patch != inf:
            text += f".{self.patch}"
        return text if self.build == inf else f"{text}-gke.{self.build}"
