"""What a plan needs in Google Cloud: APIs, permissions and free names, by the types of resources that it creates.

`data/needs.yaml` has the types, and which part of a plan creates each.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from typing import Any

from tpuplane.data_files import read_data
from tpuplane.plan import PlatformPlan
from tpuplane.spec.core.errors import Path

_DOMAIN = "googleapis.com"


@cache
def _types() -> dict[str, Any]:
    types: dict[str, Any] = read_data("tpuplane.preflight", "needs")["types"]
    return types


@dataclass(frozen=True, slots=True)
class Name:
    """The name of an object that the plan creates."""

    path: Path
    id: str  # as in Pulumi's state: "projects/P/global/networks/N"
    method: str  # reads the object

    @property
    def arguments(self) -> dict[str, str]:
        """The arguments of the method: Compute Engine has one for each part of the name."""
        if not self.method.startswith("compute"):
            return {"name": self.id}
        parts = self.id.removesuffix("/").replace("/global/", "/").split("/")
        return {kind.removesuffix("s"): name for kind, name in zip(parts[::2], parts[1::2], strict=True)}

    def __str__(self) -> str:
        kind, name = self.id.split("/")[-2:]
        return f"{kind.removesuffix('s')} {name}"


@dataclass(frozen=True, slots=True)
class Needs:
    """What a plan needs, without any question to Google."""

    types: dict[str, tuple[str, ...]]
    """Types of resources, each with the names of the clusters, or of the platform, that they are for."""
    names: tuple[Name, ...]

    @property
    def apis(self) -> tuple[str, ...]:
        """Services that must be enabled, such as compute.googleapis.com."""
        return tuple(sorted({f"{api}.{_DOMAIN}" for it in self.types for api in _types()[it]["apis"]}))

    @property
    def role(self) -> dict[str, Any]:
        """A custom role with exactly the permissions, as `gcloud iam roles create --file` reads it."""
        return {
            "title": "tpuplane deployer",
            "description": "The permissions that a tpuplane stack needs: tpuplane check FILE --role",
            "stage": "GA",
            "includedPermissions": sorted({one for it in self.types for one in permissions(it)}),
        }


def permissions(kind: str) -> tuple[str, ...]:
    """The permissions that a type of resource needs."""
    rows = ((*of.split("."), verbs) for of, verbs in _types()[kind]["permissions"].items())
    return tuple(f"{api}.{it}.{verb}" for api, kinds, verbs in rows for it in kinds.split() for verb in verbs.split())


def needs(plan: PlatformPlan) -> Needs:
    """What a plan needs. Pure."""
    types: dict[str, tuple[str, ...]] = {}
    names: dict[str, Name] = {}
    for kind, entry in _types().items():
        for part, path in _parts(plan, entry):
            types[kind] = (*types.get(kind, ()), part.name)
            if "name" in entry:
                own = entry["name"].format(plan=plan, part=part)
                names.setdefault(own, Name(path, own, entry["read"]))
    return Needs(types, tuple(names.values()))


def _parts(plan: PlatformPlan, entry: dict[str, Any]) -> Iterator[tuple[Any, Path]]:
    """The platform, or the clusters, that have something of the fields that a type is for. Without fields: all."""
    parts: list[tuple[Any, Path]] = [(it, ("clusters", it.key)) for it in plan.clusters]
    if entry.get("of") == "platform":
        parts = [(plan, ("name",))]
    for part, path in parts:
        if not entry.get("for") or any(attrgetter(field)(part) for field in entry["for"]):
            yield part, path
