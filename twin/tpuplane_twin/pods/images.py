"""The images whose programs the twin has."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any

from tpuplane.data_files import read_data

from tpuplane_twin.cluster.api import Object
from tpuplane_twin.tools import Tools
from tpuplane_twin.tools.addons import own_addons
from tpuplane_twin.tools.catalogue import catalogue

_EXTRAS = "tpuplane_twin.images"
_PATH = "/usr/local/bin:/usr/bin:/bin"
_REFERENCE = re.compile(r"(?P<repository>[^@]+?)(:(?P<tag>[^:@/]+))?(@(?P<digest>.+))?")


@dataclass(frozen=True, slots=True)
class Image:
    """A known image: a program that the twin builds. Extras have other kinds of images."""

    repository: str
    tool: str
    entrypoint: str
    cwd: str = "/"
    """The working directory of a container that sets none."""
    starts_hard: bool = False
    """Whether a start keeps a processor busy, so that only a few may start at once."""
    tag: str = ""
    """The tag with the version that the twin has. Default: that of the tool."""

    @property
    def version(self) -> str:
        """The version that the twin has."""
        return self.tag or next(source.version for source in catalogue().sources if self.tool in source.binaries)

    def rejection(self, reference: str) -> str | None:
        """Why the image `reference` cannot run as the twin's own program; None if it can."""
        tag = _tag(reference)
        if tag == self.version:
            return None
        has = f"the twin has {self.tool} {self.version}"
        if tag is None:
            return f"{reference} names no version; {has}: use the tag {self.version}"
        return f"{reference} is another version: {has}; use the tag {self.version}"

    def remark(self, reference: str) -> str | None:
        """What differs from the image `reference`, which can run; None if nothing does."""
        if self.rejection(reference) or re.fullmatch(f"{re.escape(self.version)}(-.*)?", _tag(reference) or ""):
            return None
        return f"{reference} is another version: the twin runs {self.tool} {self.version} for it"

    def mounts(self, tools: Tools) -> list[Object]:
        """What the container mounts in addition to its pod's volumes: the program."""
        return [{"source": str(tools.binary(self.tool)), "target": self.entrypoint, "readOnly": True}]

    def environment(self, labels: Mapping[str, str], chips: int) -> dict[str, str]:
        """The variables of the image and of its host, a node with `labels`, for a container with `chips`.

        The container's own variables override them.
        """
        del labels, chips
        return {"PATH": _PATH, "HOME": "/"}

    def overrides(self, environment: Mapping[str, str], chips: int) -> dict[str, str]:
        """The variables that override those of the container's `environment`."""
        del environment, chips
        return {}


class Images:
    """The known images of a twin: those of `data/images.yaml`, and `more`."""

    def __init__(self, more: Iterable[Image] = ()) -> None:
        own = (Image(**entry) for entry in read_data(__package__, "images"))
        self.known = (*own, *more)

    def of(self, pod: Object) -> Image | None:
        """The known image of a pod: that of its first container."""
        return self.named(str(pod["spec"]["containers"][0].get("image", "")))

    def named(self, reference: str) -> Image | None:
        """The image that `reference` means, if it is known: the one of its version, or the first of its repository."""
        found = _REFERENCE.fullmatch(reference)
        repository, tag = (found["repository"], found["tag"]) if found else ("", None)
        images = [image for image in self.known if re.search(f"(^|/){image.repository}$", repository)]
        return next((image for image in images if image.version == tag), images[0] if images else None)

    @property
    def selector(self) -> Object:
        """The requirement of a kwok stage that a pod's image is known."""
        ends = "|".join(image.repository for image in self.known)
        pattern = f"(^|/)({ends})(:[^:@/]+)?(@.+)?$"
        return {"key": f'.spec.containers[0].image | test("{pattern}")', "operator": "In", "values": ["true"]}


def extras() -> dict[str, Any]:
    """The extras by name: modules with `images()`, those that this twin runs, and `build()`, which installs them."""
    return {found.name: found.load() for found in entry_points(group=_EXTRAS)}


def images_of_extras() -> list[Image]:
    """The images of extras that are switched on. Raises `ToolError`."""
    return [image for extra in extras().values() for image in extra.images()]


def images_of_addons() -> list[Image]:
    """The images of users' own operators that were built."""
    return [
        Image(addon.image.repository.replace(".", "[.]"), addon.tool, addon.module.entrypoint, tag=addon.image.tag)
        for addon in own_addons()
    ]


def _tag(reference: str) -> str | None:
    found = _REFERENCE.fullmatch(reference)
    return found["tag"] if found else None
