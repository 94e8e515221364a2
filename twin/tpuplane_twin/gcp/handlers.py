"""What answers a request: a call, its handler, and collections of stored objects that most APIs have."""

import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from multidict import MultiDict, MultiMapping

from tpuplane_twin.gcp.errors import already_exists, invalid, not_found
from tpuplane_twin.gcp.schema import Json, snake
from tpuplane_twin.gcp.store import Store

RESOURCE_ID = re.compile(r"[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?")
"""The ids that most of the newer APIs accept."""

_TYPES = "type.googleapis.com"

IAM_POLICY = "iamPolicy"
"""The kind under which IAM policies are stored, by the resource's name."""


@dataclass(frozen=True, slots=True)
class Call:
    """A request: path parameters, query, checked body and path. A method without a request body has an empty one."""

    params: dict[str, str]
    query: MultiMapping[str] = field(default_factory=MultiDict)
    body: Json = field(default_factory=dict)
    path: str = ""
    """Without the API's base and version: "projects/p/zones/z/machineTypes"."""


# Handlers run one at a time, each in one transaction of the store. A handler that asks a cluster is asynchronous: it
# runs outside of any transaction, and only reads.
Handler = Callable[[Call], Any]


def methods(prefix: str, target: object, names: str) -> dict[str, Handler]:
    """Handlers by method id: each of `names`, separated by spaces, is the method of `target` in snake case."""
    return {f"{prefix}.{name}": getattr(target, snake(name)) for name in names.split()}


class Collection:
    """Stored objects of one kind below a parent resource: get, list and delete."""

    kind: ClassVar[str]
    """The kind in the store."""

    segment: ClassVar[str]
    """The plural in paths, and the field of a list."""

    label: ClassVar[str] = ""
    """The name of the kind in error messages."""

    prefix: ClassVar[str]
    """What the ids of its methods begin with."""

    verbs: ClassVar[str]
    """The names of its methods, separated by spaces."""

    policies: ClassVar[bool] = False
    """Whether its objects have IAM policies."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def handlers(self) -> dict[str, Handler]:
        """Handlers by method id."""
        return methods(self.prefix, self, self.verbs)

    def get(self, call: Call) -> Json:
        """The object that the path names."""
        return self.view(self.find(call))

    def list(self, call: Call) -> Json:
        """The objects of the parent. The location "-" is all locations, if the parent accepts it."""
        parent = self.parent(call).removesuffix(f"/locations/-/{self.segment}")
        return {self.segment: [self.view(found) for found in self._store.values(self.kind, parent)]}

    def delete(self, call: Call) -> Json:
        """Delete the object that the path names, with its IAM policy."""
        name = self.existing(call)
        for kind in (self.kind, IAM_POLICY):
            self._store.delete(kind, name)
        return {}

    def view(self, stored: Json) -> Json:
        """The object as an answer shows it."""
        return stored

    def parent(self, call: Call) -> str:
        """Resource name of the collection, in a location if the path has one."""
        located = f"/locations/{call.params['locationsId']}" if "locationsId" in call.params else ""
        return f"projects/{call.params['projectsId']}{located}/{self.segment}"

    def name(self, call: Call) -> str:
        """Resource name of the object that the path names."""
        return f"{self.parent(call)}/{call.params[f'{self.segment}Id']}"

    def existing(self, call: Call) -> str:
        """Resource name of the object that the path names; 404 if it does not exist."""
        name = self.name(call)
        if self._store.get(self.kind, name) is None:
            raise not_found(f"{self.label} {name} not found.".lstrip())
        return name

    def find(self, call: Call) -> Json:
        """The stored object that the path names; 404 if it does not exist."""
        return self._store.get(self.kind, self.existing(call)) or {}

    def new_name(self, call: Call, field: str, wanted: str, pattern: re.Pattern[str] = RESOURCE_ID) -> str:
        """Resource name of a new object, whose id `wanted` is the parameter `field` of the request."""
        if not pattern.fullmatch(wanted):
            raise invalid(f'Invalid {field} "{wanted}": it must match {pattern.pattern}.')
        name = f"{self.parent(call)}/{wanted}"
        self.check_new(name)
        return name

    def check_new(self, name: str) -> None:
        """Reject a name that an object has already."""
        if self._store.get(self.kind, name) is not None:
            raise already_exists(f"{self.label} {name} already exists.".lstrip())

    def put(self, name: str, value: Json) -> Json:
        """Write the object, and answer it."""
        self._store.put(self.kind, name, value)
        return value


class LongRunning(Collection):
    """A collection whose changes answer with operations. The first answer is not done; the next one is."""

    operations: ClassVar[str]
    """What the ids of the methods of its operations begin with."""

    types: ClassVar[str]
    """The package of the API's messages."""

    def handlers(self) -> dict[str, Handler]:
        """Handlers by method id, with that of its operations."""
        return {**super().handlers(), f"{self.operations}.get": self._operation}

    def delete(self, call: Call) -> Json:
        """Delete the object that the path names, with its IAM policy."""
        super().delete(call)
        return self.begun(call)

    def begun(self, call: Call, kind: str = "", made: Json | None = None) -> Json:
        """Store the finished operation of a change, and return it without its result: `made`, or nothing."""
        place = super().parent(call).removesuffix(self.segment) if "locationsId" in call.params else ""
        name = f"{place}operations/{uuid.uuid4()}"
        result = f"{self.types}.{kind}" if kind else "google.protobuf.Empty"
        begun: Json = {"name": name, "metadata": {"@type": f"{_TYPES}/{self.types}.OperationMetadata"}}
        done = {"done": True, "response": {"@type": f"{_TYPES}/{result}", **(made or {})}}
        self._store.put(self._operations, name, {**begun, **done})
        self._store.trim(self._operations)
        return begun

    @property
    def _operations(self) -> str:
        """The kind of the operations of the API in the store."""
        return f"{self.kind.partition('.')[0]}.operations"

    def _operation(self, call: Call) -> Json:
        found = self._store.get(self._operations, call.path)
        if found is None:
            raise not_found(f"Operation {call.path} not found.")
        return found
