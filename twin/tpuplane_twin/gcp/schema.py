"""Google's discovery schemas: they check requests, with Google's error messages, and format answers."""

import base64
import binascii
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tpuplane_twin.gcp.errors import invalid

Json = dict[str, Any]

_REFERENCE = re.compile(r'"\$ref": "(\w+)"')
_DURATION = re.compile(r"-?\d+(\.\d{1,9})?s")
_INT_BOUNDS = {
    "int32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint64": (0, 2**64 - 1),
}
# Artifact Registry accepts their enum values in any case: gcloud sends the "Delete" and "untagged" of a policy's file.
# https://docs.cloud.google.com/artifact-registry/docs/repositories/cleanup-policy
_CASELESS = ("CleanupPolicy.", "CleanupPolicyCondition.")


def snake(name: str) -> str:
    """lowerCamelCase as the proto field name that Google's messages use: nodePool → node_pool."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda found: "_" + found.group(1).lower(), name)


def camel(name: str) -> str:
    """A proto field name as JSON has it: node_pool → nodePool."""
    return re.sub(r"_([a-z0-9])", lambda found: found.group(1).upper(), name)


def seconds(duration: str) -> float:
    """Seconds of a duration as the API writes it: "3600s", "3600.5s"."""
    return float(duration.removesuffix("s"))


def _output_only(schema: Json) -> bool:
    described = str(schema.get("description", "")).lower()
    return bool(schema.get("readOnly")) or described.startswith(("[output only]", "output only"))


class Schemas:
    """The message types of one API version.

    `package` is the proto package that Google's messages name types by ("google.container.v1beta1").
    """

    def __init__(self, package: str, schemas: dict[str, Json]) -> None:
        self._package = package
        self._schemas = schemas

    def parse(self, ref: str, value: Any, *, keep_null: bool = False) -> Json:
        """A request body as the API stores it: without null and output-only fields, numbers in Google's format.

        `keep_null` keeps null, which clears a field in Compute Engine's PATCH.

        Raises ApiError INVALID_ARGUMENT naming every unknown field and every wrong value.
        """
        parser = _Parser(self._schemas, self._package, keep_null)
        parsed = parser.value({"$ref": ref}, value, "", ref)
        if problems := parser.problems:
            violations = [{"field": field, "description": text} for field, text in problems]
            details = {"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": violations}
            raise invalid("\n".join(text for _, text in problems), details=(details,))
        return dict(parsed)

    def output(self, ref: str, value: Any) -> Any:
        """An answer in this version's format: without fields that the version lacks, int64 as strings."""
        return self._output({"$ref": ref}, value)

    def listed(self, ref: str) -> tuple[str, str, str] | None:
        """The field of a list's answer with its elements, the field in each scope of an aggregated list (else ""), and
        the type of the elements. None if the answer has no pages."""
        fields: dict[str, Json] = self._schemas[ref].get("properties", {})
        if "nextPageToken" not in fields:
            return None
        scoped = fields.get("items", {}).get("additionalProperties", {}).get("$ref")
        if scoped is not None:
            fields = self._schemas[scoped]["properties"]
        field, kind = next(
            (name, spec["items"]["$ref"]) for name, spec in fields.items() if "$ref" in spec.get("items", {})
        )
        return ("items", field, kind) if scoped is not None else (field, "", kind)

    def has(self, ref: str, path: Sequence[str]) -> bool:
        """Whether a message type has the field at a path; the names are those of JSON or of proto, `*` is any name."""
        schemas = [{"$ref": ref}]
        for name in path:
            schemas = [inner for schema in schemas for inner in self._inside(schema, name)]
        return bool(schemas)

    def _inside(self, schema: Json, name: str) -> list[Json]:
        while "$ref" in schema or "items" in schema:
            schema = self._schemas[schema["$ref"]] if "$ref" in schema else schema["items"]
        fields = schema.get("properties")
        if fields is None:
            return [schema["additionalProperties"]] if "additionalProperties" in schema else []
        return [fields[key] for key in (fields if name == "*" else {name, camel(name)} & fields.keys())]

    def keep(self, names: Iterable[str]) -> None:
        """Drop all types except `names` and what they use (Compute Engine has thousands that the twin never reads)."""
        kept: dict[str, Json] = {}
        pending = list(names)
        while pending:
            name = pending.pop()
            if name not in kept:
                kept[name] = self._schemas[name]
                pending += _REFERENCE.findall(json.dumps(kept[name]))
        self._schemas = kept

    def _output(self, schema: Json, value: Any) -> Any:
        schema = self._schemas[schema["$ref"]] if "$ref" in schema else schema
        if isinstance(value, dict):
            fields = schema.get("properties")
            if fields is not None:
                # Compute Engine's answers name the type of every message.
                kind = fields.get("kind", {}).get("default")
                named = value if kind is None else {"kind": kind, **value}
                return {
                    key: self._output(fields[key], item)
                    for key, item in named.items()
                    if key in fields and item is not None
                }
            items = schema.get("additionalProperties", {"type": "any"})
            return {key: self._output(items, item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._output(schema.get("items", {"type": "any"}), item) for item in value]
        if schema.get("format") in ("int64", "uint64"):
            return str(value)
        return value


@dataclass(slots=True)
class _Parser:
    """One pass over one request body, which collects every problem as (field, message)."""

    _schemas: dict[str, Json]
    _package: str
    _keep_null: bool
    problems: list[tuple[str, str]] = field(default_factory=list)

    def value(self, schema: Json, value: Any, path: str, owner: str) -> Any:
        ref = schema.get("$ref")
        if ref is not None:
            schema = self._schemas[ref]
        kind = schema.get("type")
        if kind == "object":
            return self._object(schema, value, path, ref or owner)
        if kind == "array":
            if not isinstance(value, list):
                self.problems.append((path, f"Invalid value at '{path}', {value!r} is not a list."))
                return []
            return [self.value(schema["items"], item, f"{path}[{at}]", owner) for at, item in enumerate(value)]
        if kind == "any":
            return value
        parsed, type_name = self._scalar(schema, value, owner)
        if type_name is not None:
            shown = f'"{value}"' if isinstance(value, str) else str(value)
            self.problems.append((path, f"Invalid value at '{path}' ({type_name}), {shown}"))
        return parsed

    def _object(self, schema: Json, value: Any, path: str, owner: str) -> Json:
        if not isinstance(value, dict):
            where = f" at '{path}'" if path else ""
            self.problems.append((path, f"Invalid value{where}: expected a JSON object, got {value!r}."))
            return {}
        fields = schema.get("properties")
        if fields is None:
            items = schema.get("additionalProperties", {"type": "any"})
            return {
                key: None if item is None else self.value(items, item, f"{path}[{key}]", owner)
                for key, item in value.items()
                if item is not None or self._keep_null
            }
        parsed: Json = {}
        for key, item in value.items():
            if key not in fields:
                where = f" at '{path}'" if path else ""
                text = f'Invalid JSON payload received. Unknown name "{key}"{where}: Cannot find field.'
                self.problems.append((path, text))
            elif _output_only(fields[key]):
                continue
            elif item is not None:
                inner = f"{path}.{snake(key)}" if path else snake(key)
                type_owner = f"{owner}.{key[0].upper()}{key[1:]}"
                parsed[key] = self.value(fields[key], item, inner, type_owner)
            elif self._keep_null:
                parsed[key] = None
        return parsed

    def _scalar(self, schema: Json, value: Any, owner: str) -> tuple[Any, str | None]:
        """The value in Google's format, and the name of the expected type if it has another."""
        kind, form = schema.get("type"), schema.get("format", "")
        if form in _INT_BOUNDS:
            number = _whole_number(value)
            low, high = _INT_BOUNDS[form]
            if number is None or not low <= number <= high:
                return value, f"TYPE_{form.upper()}"
            return (number if kind == "integer" else str(number)), None
        if kind == "boolean":
            return value, None if isinstance(value, bool) else "TYPE_BOOL"
        if kind == "number":
            fine = isinstance(value, int | float) and not isinstance(value, bool)
            return value, None if fine else "TYPE_DOUBLE"
        if form == "byte":
            text = _base64(value)
            return (value, "TYPE_BYTES") if text is None else (text, None)
        if owner.startswith(_CASELESS) and str(value).upper() in schema.get("enum", ()):
            value = str(value).upper()
        return value, self._text_problem(schema, value, owner)

    def _text_problem(self, schema: Json, value: Any, owner: str) -> str | None:
        form = schema.get("format", "")
        if not isinstance(value, str):
            return "TYPE_STRING"
        if value not in schema.get("enum", (value,)):
            return f"type.googleapis.com/{self._package}.{owner}"
        if form == "google-duration" and not _DURATION.fullmatch(value):
            return "type.googleapis.com/google.protobuf.Duration"
        return None


def _whole_number(value: Any) -> int | None:
    """An integer as proto3 JSON allows it: 3, 3.0 or "3"."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    whole |= isinstance(value, float) and value.is_integer()
    whole |= isinstance(value, str) and bool(re.fullmatch(r"-?\d+", value))
    return int(value) if whole else None


def _base64(value: Any) -> str | None:
    """Bytes in Google's format. Requests may use the URL-safe alphabet and omit the padding.

    https://protobuf.dev/programming-guides/json
    """
    if not isinstance(value, str):
        return None
    plain = value.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64encode(base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)).decode()
    except binascii.Error:
        return None
