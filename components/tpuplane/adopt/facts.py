"""The answers of Google's API about the clusters of a project, and the fields of a stack file that they have."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from tpuplane.data_files import read_data
from tpuplane.spec.core.texts import text_problem

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Facts:
    """The clusters of one project."""

    project: str
    clusters: tuple[Json, ...]
    """Clusters with their node pools, as `projects.locations.clusters.list` (v1beta1) returns them. A node pool
    also has `nodeCount`, its current number of nodes over all zones, and the topology and the mode of its resource
    policy."""
    missing_zones: tuple[str, ...] = ()
    """Locations that did not answer. Their clusters are unknown."""


@dataclass(frozen=True, slots=True)
class NotAdopted:
    """Something that stays outside of the stack, unchanged."""

    what: str
    why: str

    def __str__(self) -> str:
        return f"{self.what}: {self.why}"


def dig(found: Any, path: str | tuple[str | int, ...], default: Any = None) -> Any:
    """The value at a path, which is dotted or in parts; `default` if a part is missing."""
    for part in path.split(".") if isinstance(path, str) else path:
        try:
            found = found[part]
        except (LookupError, TypeError):
            return default
    return found


_ADDRESSES = (
    "endpoint",
    "controlPlaneEndpointsConfig.dnsEndpointConfig.endpoint",
    "privateClusterConfig.privateEndpoint",
    "privateClusterConfig.publicEndpoint",
)


def is_at(cluster: Json, server: str) -> bool:
    """Whether `server` in a kubeconfig is an address of the cluster."""
    return server.removeprefix("https://") in {dig(cluster, path) for path in _ADDRESSES} - {None}


Described = dict[str, Any]
_data = cache(partial(read_data, "tpuplane.adopt", "fields"))


def fields(section: str, found: Json) -> Described:
    """The fields of a section, nested as in a stack file. Labels that Google and tpuplane reserve are omitted."""
    described: Described = {}
    for field, (path, *omitted) in _data()[section].items():
        value = dig(found, path, *omitted)
        if value in (None, "") or str(value).endswith("_UNSPECIFIED"):
            continue
        if field in ("labels", "nodeLabels"):
            kind = field.removesuffix("s")
            value = {
                key: text
                for key, text in value.items()
                if not text_problem(f"{kind}Key", key) and not text_problem(f"{kind}Value", text)
            }
        *above, last = field.split(".")
        holder = described
        for part in above:
            holder = holder.setdefault(part, {})
        holder[last] = value
    return described


def undeclared(kind: str, found: Json, inherited: Json | None = None) -> Iterator[str]:
    """The settings of a cluster or node pool that differ from GKE's own, and that a stack file does not have.

    New node pools get those in `inherited` from their cluster.
    """
    for path, own in _data()["undeclared"][kind].items():
        value, setting = dig(found, path), path.removeprefix("config.")
        usual = value in (None, "", *own) if own else not value
        if not usual and not str(value).endswith("_UNSPECIFIED") and value != dig(inherited, setting):
            yield setting


def outside(kind: str, found: Json) -> str | None:
    """Why a cluster or node pool cannot be adopted; None if it can."""
    status = found.get("status", "RUNNING")
    if status != "RUNNING":
        return f"its status is {status}; adopt it when it is RUNNING"
    rows = (row for row in _data()["outside"][kind] if bool(dig(found, row["path"])) != row.get("missing", False))
    return next((str(row["why"]) for row in rows), None)
