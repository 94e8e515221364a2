"""Which images the twin has the program of."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tpuplane.data_files import read_data

from tpuplane_twin.cluster.api import Object
from tpuplane_twin.tools import Tools, ray
from tpuplane_twin.tools.catalogue import catalogue

_RAY = "ray"
_RAY_HOME = "/home/ray"
_PATH = "/usr/local/bin:/usr/bin:/bin"
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
        if self.tool == _RAY:
            return ray.version()
        return next(source.version for source in catalogue().sources if self.tool in source.binaries)

    def rejection(self, reference: str) -> str | None:
        """Why the image `reference` cannot run as the twin's own program; None if it can."""
        tag = _tag(reference)
        if self.tool == _RAY or tag == self.version:
            return None
        has = f"the twin has {self.tool} {self.version}"
        if tag is None:
            return f"{reference} names no version; {has}: use the tag {self.version}"
        return f"{reference} is another version: {has}, and runs no other; use the tag {self.version}"

    def remark(self, reference: str) -> str | None:
        """What differs from the image `reference`, which can run; None if nothing does."""
        if self.rejection(reference) or re.fullmatch(f"{re.escape(self.version)}(-.*)?", _tag(reference) or ""):
            return None
        return f"{reference} is another version: the twin runs {self.tool} {self.version} for it"

    def mounts(self, tools: Tools) -> list[Object]:
        """What the container mounts in addition to its pod's volumes: the program."""
        if self.tool == _RAY:
            folders = {_environment(tools), (_environment(tools) / "bin" / "python").resolve().parents[1]}
            # A Python below /usr is mounted with the rest of /usr.
            there = [str(folder) for folder in folders if not folder.is_relative_to("/usr")]
            return [{"source": folder, "target": folder, "readOnly": True} for folder in there]
        return [{"source": str(tools.binary(self.tool)), "target": self.entrypoint, "readOnly": True}]

    def environment(self, tools: Tools) -> dict[str, str]:
        """The variables that the image itself sets."""
        if self.tool != _RAY:
            return {"PATH": _PATH, "HOME": "/"}
        # Ray's workers run at the lowest priority but four. In a container's share of a machine they stand back for
        # its raylet only; here they would for everything else that runs. Without the last it would tell Ray's authors
        # of every start, if it could.
        return {
            "PATH": f"{_environment(tools) / 'bin'}:{_PATH}",
            "HOME": _RAY_HOME,
            "USER": "ray",
            "LANG": "C.UTF-8",
            "RAY_worker_niceness": "0",
            "RAY_USAGE_STATS_ENABLED": "0",
        }

    @property
    def starts_hard(self) -> bool:
        """Whether a start keeps a processor busy: Ray gives up after 30 s, so not all may start at once."""
        return self.tool == _RAY

    @property
    def cwd(self) -> str:
        """The working directory of a container that sets none."""
        return _RAY_HOME if self.tool == _RAY else "/"


def image_of(pod: Object, *, ray: bool = False) -> Image | None:
    """The known image of a pod: that of its first container."""
    return image_named(str(pod["spec"]["containers"][0].get("image", "")), ray=ray)


def image_named(reference: str, *, ray: bool = False) -> Image | None:
    """The image that `reference` means, if it is known: the one of its version, or the first of its repository."""
    found = _REFERENCE.fullmatch(reference)
    repository, tag = (found["repository"], found["tag"]) if found else ("", None)
    images = [image for image in known(ray=ray) if re.search(f"(^|/){image.repository}$", repository)]
    return next((image for image in images if image.version == tag), images[0] if images else None)


def selector(*, ray: bool = False) -> dict[str, Any]:
    """The requirement of a kwok stage that a pod's image is known."""
    ends = "|".join(image.repository for image in known(ray=ray))
    pattern = f"(^|/)({ends})(:[^:@/]+)?(@.+)?$"
    return {"key": f'.spec.containers[0].image | test("{pattern}")', "operator": "In", "values": ["true"]}


@cache
def known(*, ray: bool = False) -> tuple[Image, ...]:
    """The images of `images.yaml`; Ray's only with `ray`."""
    entries = read_data("tpuplane_twin.cluster", "images")
    return tuple(image for entry in entries if (image := Image(**entry)).tool != _RAY or ray)


def _tag(reference: str) -> str | None:
    found = _REFERENCE.fullmatch(reference)
    return found["tag"] if found else None


def _environment(tools: Tools) -> Path:
    if tools.ray is None:
        raise ValueError("this twin has no Ray")
    return tools.ray
