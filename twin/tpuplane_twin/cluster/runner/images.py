"""Which images the twin has the program of."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import yaml

from tpuplane_twin.cluster.api import Object
from tpuplane_twin.cluster.layout import ToolBox
from tpuplane_twin.tools.catalogue import catalogue

_REFERENCE = re.compile(r"(?P<repository>[^@]+?)(:(?P<tag>[^:@/]+))?(@(?P<digest>.+))?")


@dataclass(frozen=True, slots=True)
class Image:
    """An image that is known: the program that runs for it, and of which version it is."""

    repository: str
    tool: str
    entrypoint: str

    @property
    def version(self) -> str:
        """The version that the twin has."""
        return next(source.version for source in catalogue().sources if self.tool in source.binaries)

    def refusal(self, reference: str) -> str | None:
        """Why the image `reference` cannot run as the twin's own program; None if it can."""
        found = _REFERENCE.fullmatch(reference)
        tag = found["tag"] if found else None
        if tag == self.version:
            return None
        has = f"the twin has {self.tool} {self.version}"
        if tag is None:
            return f"{reference} names no version; {has}: use the tag {self.version}"
        return f"{reference} is another version: {has}, and runs no other; use the tag {self.version}"

    def mounts(self, tools: ToolBox) -> list[Object]:
        """What the container has beside its pod's volumes: the program."""
        return [{"source": str(tools.binary(self.tool)), "target": self.entrypoint, "readOnly": True}]


def image_of(pod: Object) -> Image | None:
    """The known image of a pod: that of its first container."""
    reference = str(pod["spec"]["containers"][0].get("image", ""))
    found = _REFERENCE.fullmatch(reference)
    repository = found["repository"] if found else ""
    return next((image for image in known() if re.search(f"(^|/){image.repository}$", repository)), None)


def selector() -> dict[str, Any]:
    """The requirement of a kwok stage that a pod's image is known."""
    ends = "|".join(image.repository for image in known())
    pattern = f"(^|/)({ends})(:[^:@/]+)?(@.+)?$"
    return {"key": f'.spec.containers[0].image | test("{pattern}")', "operator": "In", "values": ["true"]}


@cache
def known() -> tuple[Image, ...]:
    """The images of `images.yaml`."""
    text = resources.files("tpuplane_twin.cluster").joinpath("data/images.yaml").read_text()
    return tuple(Image(**entry) for entry in yaml.safe_load(text))
