"""The rules of each resource type, as data: names, types, defaults, what replaces, where the value lives in the API.

They are those of terraform-provider-google-beta, with the property names of pulumi_gcp 9 and 10 and the API fields of
Google's discovery documents. One JSON file per type in `tables/`. `"fields": "@name"` takes the fields of
`tables/name.json`; `"extends"` adds them. A field's attributes:

- `type`: string, int, float, bool, map<string>, list<T>, set<T>, object, list<object>, set<object>
- `required`; `output` (never an input); `computed` (the API decides when the user does not)
- `forceNew`: a change replaces the resource. On an object: only adding or removing the whole object does
- `default`, `secret`; `enum`, `min`, `max`, `maxLength`, `pattern`, `format`, `minItems`, `maxItems`
- `conflictsWith`: Pulumi property paths. `exactlyOneOf`, `atLeastOneOf` of an object or a table: names of its fields
- `api`: dotted path of the API field inside the parent's object; the property's name if absent; null if it has none
- `single`: a list here, one object in the API; `listed`: an object here, a list in the API
- `forceSend`: sent even when zero, false or empty, which are otherwise left out of a request
- `suppress`: which differences are none (see `suppress.py`); `tf`: the name in messages where it is no plain snake case
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One property of a resource or of a nested object. See the module's text for each attribute."""

    name: str
    type: str
    api: str | None
    tf: str
    fields: Mapping[str, Field] = field(default_factory=dict)
    required: bool = False
    output: bool = False
    computed: bool = False
    force_new: bool = False
    force_send: bool = False
    single: bool = False
    listed: bool = False
    secret: bool = False
    deprecated: bool = False
    default: Any = None
    enum: tuple[str, ...] = ()
    min: float | None = None
    max: float | None = None
    max_length: int | None = None
    pattern: str | None = None
    format: str | None = None
    min_items: int = 0
    max_items: int | None = None
    conflicts_with: tuple[str, ...] = ()
    exactly_one_of: tuple[str, ...] = ()
    at_least_one_of: tuple[str, ...] = ()
    suppress: str | None = None

    @property
    def is_collection(self) -> bool:
        """Whether the value is a list."""
        return self.type.startswith(("list<", "set<"))

    @property
    def is_set(self) -> bool:
        """Whether the order of the items means nothing."""
        return self.type.startswith("set<")

    @property
    def element(self) -> str:
        """The type of an item of a list, or the type itself."""
        return self.type[self.type.index("<") + 1 : -1] if "<" in self.type else self.type

    @property
    def zero(self) -> Any:
        """What the state holds when the API leaves out a plain value; None for objects."""
        if self.is_collection:
            return []
        return {"string": "", "int": 0, "float": 0, "bool": False, "map<string>": {}}.get(self.type)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One request of an update, sent when a property at or below one of `watch` changed.

    A request is sent to the resource, or to its method `verb` by POST.

    - Compute: the API form of these properties. With `fingerprint` the resource is read first.
    - Container: `field` with the value of the first one, or of `value`. With `required` nothing is sent when the value
      was removed; otherwise `absent` is sent. `by` is how the request names a pool, `target` "cluster" that it changes
      the pool through its cluster.
    - APIs with an update mask: `field` is the entry of the mask.
    """

    watch: tuple[str, ...]
    verb: str = ""
    fingerprint: bool = False
    field: str = ""
    required: bool = False
    absent: Any = None
    value: str = ""
    by: str = ""
    target: str = ""

    def body(self, value: Any) -> dict[str, Any] | None:
        """The request's body for the first watched property's API form, None when there is nothing to send."""
        if value in (None, "", [], {}, False):
            if self.required:
                return None
            value = self.absent
        return {} if value is None else self.carry(value)

    def carry(self, value: Any) -> dict[str, Any]:
        """The request's body with a value that is sent as it is."""
        for part in reversed(self.field.split(".")):
            value = {part: value}
        return dict(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """All rules of one resource type. Timeouts are in minutes; `schema_version` is kept in the state's `__meta`."""

    token: str
    service: str
    """The API, as in the provider's configuration `<service>CustomEndpoint`."""
    version: str = ""
    """What follows the endpoint before every path."""
    collection: str = ""
    """Path template of the collection: `projects/{project}/regions/{region}/routers`."""
    kind: str
    """The type's name in messages."""
    links: Mapping[str, str] = field(default_factory=dict)
    """Properties that name another resource → the path template that a bare name means."""
    schema_version: int
    timeouts: Mapping[str, int]
    fields: Mapping[str, Field]
    autoname: Mapping[str, Any] = field(default_factory=dict)
    """The `property` that is named automatically, the `max` length of its value, and whether it is `lower` case."""
    delete_before_replace: bool = False
    import_formats: tuple[str, ...] = ()
    """Regular expressions with named groups; the first that matches an import id gives the first properties."""
    steps: tuple[Step, ...] = ()
    """The requests of an update, in the order of the official plugin; the Container API takes one field at a time."""

    @property
    def name_property(self) -> str | None:
        """The property that is named automatically."""
        return self.autoname.get("property")


@cache
def snake(name: str) -> str:
    """The snake case of a property's name, or of a property path's: Terraform's name for it."""
    return re.sub(r"[A-Z]", lambda match: f"_{match[0].lower()}", name)


@cache
def load(name: str) -> Table:
    """The table of one resource type: "cluster", "node_pool", …"""
    data = _read(name)
    fields = _fields(data)
    if extended := data.get("extends"):
        fields = {**_fields(_read(extended)), **fields}
    steps = tuple(Step(**{**step, "watch": tuple(step["watch"])}) for step in data.get("steps", ()))
    return Table(fields=fields, steps=steps, **_attributes(data, {"extends", "steps"}))


@cache
def _read(name: str) -> Any:
    return json.loads(resources.files(__package__).joinpath("tables", f"{name}.json").read_text("utf-8"))


def _fields(owner: Mapping[str, Any], path: str = "") -> dict[str, Field]:
    """The fields of a table, or of an object at `path`."""
    data = owner.get("fields", {})
    if isinstance(data, str):
        return _shared(data.removeprefix("@"))
    return {name: _field(path + name, entry, owner) for name, entry in data.items()}


@cache
def _shared(name: str) -> dict[str, Field]:
    return _fields(_read(name))


def _field(path: str, entry: Mapping[str, Any], owner: Mapping[str, Any]) -> Field:
    name = path.rpartition(".")[2]

    def group(kind: str) -> tuple[str, ...]:
        siblings = owner.get(kind, ())
        return tuple(path.removesuffix(name) + sibling for sibling in siblings) if name in siblings else ()

    return Field(
        name=name,
        api=entry.get("api", name),
        tf=entry.get("tf") or snake(name),
        fields=_fields(entry, f"{path}."),
        exactly_one_of=group("exactlyOneOf"),
        at_least_one_of=group("atLeastOneOf"),
        **_attributes(entry, {"api", "tf"}),
    )


def _attributes(entry: Mapping[str, Any], without: Set[str]) -> dict[str, Any]:
    """The attributes of a table or a field that mean the same in Python."""
    without = without | {"fields", "exactlyOneOf", "atLeastOneOf"}
    return {
        snake(key): tuple(value) if isinstance(value, list) else value
        for key, value in entry.items()
        if key not in without
    }
