"""The needs of a plan in Google Cloud: APIs, permissions and free names, by the types of resources that it creates.

`data/needs.yaml` lists the types, each with the part of a plan that creates it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from operator import attrgetter
from typing import Any

from tpuplane.data_files import read_data
from tpuplane.plan import PlatformPlan
from tpuplane.spec.core.errors import Path

_DOMAIN = "googleapis.com"
_data: Callable[[], dict[str, Any]] = cache(partial(read_data, "tpuplane.preflight", "needs"))


@dataclass(frozen=True, slots=True)
class Name:
    """The name of an object that the plan creates."""

    path: Path
    id: str  # as in Pulumi's state: "projects/P/global/networks/N"
    method: str  # reads the object

    @property
    def api(self) -> str:
        """The API of the object, such as compute."""
        return self.method.partition(".")[0]

    @property
    def arguments(self) -> dict[str, str]:
        """The arguments of the method: Compute Engine has one for each part of the name."""
        if self.api != "compute":
            return {"name": self.id}
        return {kind.removesuffix("s").replace("ie", "y"): name for kind, name in _pairs(self.id)}

    def __str__(self) -> str:
        kind, name = self.id.split("/")[-2:]
        return f"{'resource policy' if kind == 'resourcePolicies' else kind.removesuffix('s')} {name}"


def delete_command(identity: str, api: str = "") -> str:
    """gcloud's command that deletes an object of an API. `identity` is its ID in Pulumi's state."""
    *around, (kind, name) = _pairs(identity)
    options = [f"--{outer.removesuffix('s')}={value}" for outer, value in reversed(around)]
    groups = _data()["gcloud"]
    group = groups.get(f"{api}.{kind}") or groups[kind]
    return " ".join(["gcloud", group, "delete", name, *options, "--quiet"])


def _pairs(identity: str) -> list[tuple[str, str]]:
    """The parts of a name: kind and name of each level."""
    parts = identity.replace("/global/", "/").split("/")
    return list(zip(parts[::2], parts[1::2], strict=True))


@dataclass(frozen=True, slots=True)
class Needs:
    """The needs of a plan, without a request to Google."""

    types: dict[str, tuple[str, ...]]
    """Types of resources, each with the names of the clusters that need it, or of the platform."""
    names: tuple[Name, ...]

    @property
    def apis(self) -> tuple[str, ...]:
        """Services that must be enabled, such as compute.googleapis.com."""
        return tuple(sorted({f"{api}.{_DOMAIN}" for kind in self.types for api in _data()["types"][kind]["apis"]}))

    @property
    def role(self) -> dict[str, Any]:
        """A custom role with exactly the permissions, as `gcloud iam roles create --file` reads it."""
        return {
            "title": "tpuplane deployer",
            "description": "The permissions that a tpuplane stack needs: tpuplane check FILE --role",
            "stage": "GA",
            "includedPermissions": sorted({name for kind in self.types for name in permissions(kind)}),
        }


def permissions(kind: str) -> tuple[str, ...]:
    """The permissions that a type of resource needs."""
    rows = ((*group.split("."), verbs) for group, verbs in _data()["types"][kind]["permissions"].items())
    return tuple(
        f"{api}.{kind}.{verb}" for api, kinds, verbs in rows for kind in kinds.split() for verb in verbs.split()
    )


def needs(plan: PlatformPlan) -> Needs:
    """The needs of a plan. A pure function."""
    types: dict[str, tuple[str, ...]] = {}
    names: dict[str, Name] = {}
    for kind, entry in _data()["types"].items():
        for part, path in _parts(plan, entry):
            types[kind] = (*types.get(kind, ()), part.name)
            for each in attrgetter(entry["each"])(part) if "each" in entry else [None]:
                if "name" in entry:
                    own = entry["name"].format(plan=plan, part=part, each=each)
                    names.setdefault(own, Name(path, own, entry["read"]))
    return Needs(types, tuple(names.values()))


def _parts(plan: PlatformPlan, entry: dict[str, Any]) -> Iterator[tuple[Any, Path]]:
    """The parts of the plan that need a type: the platform or its clusters, if one of the type's fields is set."""
    parts: list[tuple[Any, Path]] = [(cluster, ("clusters", cluster.key)) for cluster in plan.clusters]
    if entry.get("of") == "platform":
        parts = [(plan, ("name",))]
    for part, path in parts:
        if not entry.get("for") or any(attrgetter(field)(part) for field in entry["for"]):
            yield part, path
