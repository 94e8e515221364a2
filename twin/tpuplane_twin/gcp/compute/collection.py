"""Collections of Compute Engine: reads of any source, and changes to stored resources, with hooks per resource."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Literal

from tpuplane_twin.gcp.compute import resources
from tpuplane_twin.gcp.data_files import data
from tpuplane_twin.gcp.discovery import Method
from tpuplane_twin.gcp.errors import ApiError, invalid
from tpuplane_twin.gcp.handlers import IAM_POLICY, Call, Handler, methods
from tpuplane_twin.gcp.merge import etag_of, overlay
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store

Source = Callable[[str, str, str], Iterable[Json]]
"""The resources of a project, each with its `selfLink`. The second argument is the requested scope
("zones/us-central1-a", "global", "" for all), the third the requested name, "" for all. A source may ignore both.
"""

VERBS = ("get", "list", "aggregatedList")

# Google or other services create these, so an empty list would be wrong.
_NOT_EMPTY = frozenset({"images", "instanceGroupManagerResizeRequests", "licenses"})


class Collection:
    """One kind of resource. Subclasses check requests and fill in defaults."""

    collection: str
    """Plural, as in the path: "networks"."""
    singular: str
    """As in the path parameter: "network"."""
    scope: Literal["global", "region", "zone"] = "region"
    verbs = "insert patch delete"
    """The methods in addition to the reads."""
    fingerprinted = False
    """Whether a change must carry the fingerprint of what it changes."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.kind = f"compute.{self.collection}"

    def handlers(self) -> dict[str, Handler]:
        """Handlers by method id."""
        verbs = ("get", "list") if self.scope == "global" else VERBS
        return {**methods(self.kind, self, self.verbs), **reads(self.collection, self.items, verbs)}

    def items(self, project: str, scope: str, name: str) -> Iterator[Json]:
        """The resources of a project, of one scope of it, or of one name."""
        for key, stored in self.store.items(self.kind, f"projects/{project}/{scope}".rstrip("/"), name):
            yield self.view(key, stored)

    def complete(self, key: str, asked: Json) -> Json:
        """The resource after a creation or a change, with Compute Engine's defaults: checked, with full links."""
        return asked

    def check_change(self, before: Json, after: Json) -> None:
        """Reject a change that Compute Engine does not make in place."""

    def view(self, key: str, stored: Json) -> Json:
        """The resource as GET answers it."""
        return stored

    def users(self, key: str, stored: Json) -> list[str]:
        """Names of the resources that refer to it: while there are any, it cannot be deleted."""
        return []

    def insert(self, call: Call) -> Json:
        """Create a resource."""
        name = resources.check_name(call.body.get("name"))
        key = f"{self._parent(call)}/{name}"
        if self.store.get(self.kind, key) is not None:
            raise ApiError("ALREADY_EXISTS", f"The resource '{key}' already exists")
        return resources.done(self.store, "insert", key, self.make(key, call.body)["id"])

    def make(self, key: str, asked: Json) -> Json:
        """Create the resource `asked`, without an operation."""
        made = {**self._complete(key, asked), **resources.stamp(key)}
        self.put(key, made)
        return made

    def patch(self, call: Call) -> Json:
        """Change fields: objects merge, null clears, everything else replaces."""
        key, before, asked = self._change(call)
        return self._changed("patch", key, before, overlay(before, asked))

    def update(self, call: Call) -> Json:
        """Replace the resource: fields that the request leaves out get their defaults."""
        key, before, asked = self._change(call)
        return self._changed("update", key, before, {**asked, "name": before["name"]})

    def delete(self, call: Call) -> Json:
        """Delete a resource that nothing refers to, with its IAM policy."""
        key = self.key(call)
        stored = self.find(key)
        for user in self.users(key, stored):
            what = f"The {self.singular} resource '{key}' is already being used by '{user}'"
            raise invalid(what, reason="resourceInUseByAnotherResource")
        for kind in (self.kind, IAM_POLICY):
            self.store.delete(kind, key)
        return resources.done(self.store, "delete", key, stored["id"])

    def key(self, call: Call) -> str:
        """Resource name from the request's path."""
        return f"{self._parent(call)}/{call.params[self.singular]}"

    def find(self, key: str) -> Json:
        """The stored resource, or Compute's 404."""
        stored = self.store.get(self.kind, key)
        if stored is None:
            raise resources.missing(key)
        return stored

    def reference(self, kind: str, field: str, link: object, key: str) -> str:
        """The full link of a resource to which the resource `key` refers, and which must exist."""
        if not link:
            raise resources.required(field)
        found = resources.key_of(str(link), key.split("/")[1])
        if self.store.get(f"compute.{kind}", found) is None:
            raise resources.missing(found)
        return resources.BASE + found

    def put(self, key: str, resource: Json) -> None:
        """Write the resource, with a new fingerprint if its kind has one."""
        if self.fingerprinted:
            rest = {field: value for field, value in resource.items() if field != "fingerprint"}
            resource = {**rest, "fingerprint": etag_of(rest)}
        self.store.put(self.kind, key, resource)

    def _change(self, call: Call) -> tuple[str, Json, Json]:
        """Resource name, the stored resource, and the fields that a request changes."""
        key = self.key(call)
        before, asked = self.find(key), dict(call.body)
        fingerprint = asked.pop("fingerprint", None)
        if self.fingerprinted and not fingerprint:
            raise resources.required("fingerprint")
        if self.fingerprinted and fingerprint != before["fingerprint"]:
            raise ApiError("FAILED_PRECONDITION", "Invalid fingerprint.", reason="conditionNotMet", http_code=412)
        if asked.get("name", before["name"]) != before["name"]:
            raise resources.bad_value("name", asked["name"], "The name cannot be changed.")
        return key, before, asked

    def _changed(self, action: str, key: str, before: Json, after: Json) -> Json:
        self.check_change(before, after)
        stamped = {field: before[field] for field in resources.STAMPED if field in before}
        self.put(key, {**self._complete(key, after), **stamped})
        return resources.done(self.store, action, key, before["id"])

    def _complete(self, key: str, asked: Json) -> Json:
        return self.complete(key, {**data("defaults")["compute"].get(self.collection, {}), **asked})

    def _parent(self, call: Call) -> str:
        project = call.params["project"]
        scope = "global" if self.scope == "global" else f"{self.scope}s/{call.params[self.scope]}"
        resources.check_place(project, scope)
        return f"projects/{project}/{scope}/{self.collection}"


def reads(collection: str, source: Source, verbs: Iterable[str] = VERBS) -> dict[str, Handler]:
    """Handlers of a collection's reads by method id."""
    handlers: dict[str, Handler] = {
        "get": lambda call: _get(source, call.path),
        "wait": lambda call: _get(source, call.path.removesuffix("/wait")),
        "list": lambda call: _list(source, call),
        "aggregatedList": lambda call: {
            "selfLink": resources.BASE + call.path,
            "items": list(source(call.params["project"], "", "")),
        },
    }
    return {f"compute.{collection}.{verb}": handlers[verb] for verb in verbs}


def nothing(method: Method, documented: Mapping[str, Method], served: Mapping[str, Handler], key: str) -> Json | None:
    """The empty answer to a read of a collection in which the twin cannot create anything.

    None for any other method. Raises ApiError for a read of one resource.
    """
    collection, _, verb = method.id.rpartition(".")
    insert = f"{collection}.insert"
    made = insert in served or collection.rpartition(".")[2] in _NOT_EMPTY
    if verb not in VERBS or insert not in documented or made or method.response is None:
        return None
    _parts(key if verb == "get" else f"{key}/-")
    if verb == "get":
        raise resources.missing(key)
    kind = f"compute#{method.response[0].lower()}{method.response[1:]}"
    return {"kind": kind, "selfLink": resources.BASE + key, "items": {} if verb == "aggregatedList" else []}


def _get(source: Source, key: str) -> Json:
    project, scope = _parts(key)
    for item in source(project, scope, key.rpartition("/")[2]):
        if item["selfLink"] == resources.BASE + key:
            return item
    raise resources.missing(key)


def _list(source: Source, call: Call) -> Json:
    project, scope = _parts(f"{call.path}/-")
    below = f"{resources.BASE}{call.path}/"
    found = [item for item in source(project, scope, "") if item["selfLink"].startswith(below)]
    return {"selfLink": resources.BASE + call.path, "items": found}


def _parts(key: str) -> tuple[str, str]:
    """Project and scope of a resource name; rejects a zone or region that does not exist."""
    _, project, *places, _, _ = key.split("/")
    scope = "/".join(places[:2])
    resources.check_place(project, scope)
    return project, scope
