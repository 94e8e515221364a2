"""Compute Engine's get, list and aggregatedList, the same for every collection."""

from collections.abc import Callable, Iterable, Mapping

from tpuplane_twin.gcp.compute.resources import BASE, check_place, missing
from tpuplane_twin.gcp.discovery import Method
from tpuplane_twin.gcp.handlers import Call, Handler
from tpuplane_twin.gcp.schema import Json

Source = Callable[[str, str], Iterable[Json]]
"""The resources of a project, each with its `selfLink`. The second argument is the requested scope
("zones/us-central1-a", "global", "" for all); a source may ignore it.
"""

_VERBS = ("get", "list", "aggregatedList")

# Google or other services create these, so an empty list would be wrong.
_NOT_EMPTY = frozenset({"images", "instanceGroupManagerResizeRequests", "licenses", "routes"})


def reads(collection: str, source: Source, verbs: Iterable[str] = _VERBS) -> dict[str, Handler]:
    """Handlers of a collection's reads by method id."""
    handlers: dict[str, Handler] = {
        "get": lambda call: _get(source, call.path),
        "wait": lambda call: _get(source, call.path.removesuffix("/wait")),
        "list": lambda call: _list(source, call),
        "aggregatedList": lambda call: _aggregated(source, call),
    }
    return {f"compute.{collection}.{verb}": handlers[verb] for verb in verbs}


def nothing(method: Method, documented: Mapping[str, Method], served: Mapping[str, Handler], key: str) -> Json | None:
    """The empty answer to a read of a collection in which the twin cannot create anything.

    None for any other method. Raises ApiError for a read of one resource.
    """
    collection, _, verb = method.id.rpartition(".")
    insert = f"{collection}.insert"
    made = insert in served or collection.rpartition(".")[2] in _NOT_EMPTY
    if verb not in _VERBS or insert not in documented or made or method.response is None:
        return None
    _parts(key if verb == "get" else f"{key}/-")
    if verb == "get":
        raise missing(key)
    kind = f"compute#{method.response[0].lower()}{method.response[1:]}"
    return {"kind": kind, "selfLink": BASE + key, "items": {} if verb == "aggregatedList" else []}


def _get(source: Source, key: str) -> Json:
    project, scope = _parts(key)
    for item in source(project, scope):
        if item["selfLink"] == BASE + key:
            return item
    raise missing(key)


def _list(source: Source, call: Call) -> Json:
    project, scope = _parts(f"{call.path}/-")
    below = f"{BASE}{call.path}/"
    found = [item for item in source(project, scope) if item["selfLink"].startswith(below)]
    return {"selfLink": BASE + call.path, "items": found}


def _aggregated(source: Source, call: Call) -> Json:
    return {"selfLink": BASE + call.path, "items": list(source(call.params["project"], ""))}


def _parts(key: str) -> tuple[str, str]:
    """Project and scope of a resource name; rejects a zone or region that does not exist."""
    _, project, *places, _, _ = key.split("/")
    scope = "/".join(places[:2])
    check_place(project, scope)
    return project, scope
