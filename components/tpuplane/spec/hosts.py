"""What stands on and around the hosts of a pool beside the slice: cached images, further networks."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from tpuplane.spec.errors import shown
from tpuplane.spec.fields import Spec, refuse

DiskMode = Literal["CONTAINER_IMAGE_CACHE", "DATA"]

_IMAGE = r"projects/[a-z][a-z0-9:.-]{4,}/global/images/[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?"
_NETWORK = r"(?:projects/[a-z][a-z0-9:.-]{4,}/(?:global/networks|regions/[a-z0-9-]+/subnetworks)/)?"
_NETWORK += r"[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?"


def _image(value: str) -> str:
    if not re.fullmatch(_IMAGE, value):
        raise refuse(f"{shown(value)} is not a disk image; allowed: projects/PROJECT/global/images/NAME")
    return value


def _network(value: str) -> str:
    if not re.fullmatch(_NETWORK, value):
        raise refuse(
            f"{shown(value)} is not a network; allowed: a name, projects/PROJECT/global/networks/NAME or "
            "projects/PROJECT/regions/REGION/subnetworks/NAME"
        )
    return value


class SecondaryBootDiskSpec(Spec):
    """A disk with data or container images that each host has from its first second. A change replaces the pool."""

    disk_image: Annotated[str, Field(json_schema_extra={"pattern": f"^{_IMAGE}$"}), AfterValidator(_image)]
    """Image that the disk is made from: projects/PROJECT/global/images/NAME."""

    mode: DiskMode = "CONTAINER_IMAGE_CACHE"
    """CONTAINER_IMAGE_CACHE: container images, used without a pull; needs `imageStreaming`. DATA: files for the pods.
    Default CONTAINER_IMAGE_CACHE."""


class ExtraNetworkSpec(Spec):
    """A further network interface of each host, in a VPC that exists already. A change replaces the pool."""

    network: Annotated[str, AfterValidator(_network)]
    """VPC of the interface: its name, or its path where another project owns it. Not the platform's own."""

    subnetwork: Annotated[str, AfterValidator(_network)]
    """Subnetwork of that VPC in the pool's region: its name or path."""
