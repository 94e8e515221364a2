"""A short way to write an API's fields, and the OpenAPI schema with CEL rules that it means.

A file is a mapping of names to values. A name may end in `!` (required), then in `[RANGE]` (a list of that many) or
`{RANGE}` (a mapping of free keys); its value is one item's. A RANGE is `1..5`, `1..`, `..5` or nothing. Values:

- `TYPE [RANGE] [one of A | B] [/PATTERN/] [= DEFAULT]`, where TYPE is bool, int, int32, int64, text or time and the
  range is of the number or of the text's length;
- a mapping of further names: an object;
- `$name`: what a top-level `$name` of any of the files says.

Keys of an object with a dollar sign: `$fields` (how many it must have), `$default`, `$rules` (`rule` in CEL, `says` is
the message of the rejection), `$whole` (rules of the list or mapping of free keys whose item it is), `$type` (the type
of a value that is no object).
"""

import re
from collections.abc import Mapping
from typing import Any

import yaml

Schema = dict[str, Any]

_NAME = re.compile(r"(?P<name>.+?)(?P<required>!?)(?:\[(?P<list>[^]]*)]|\{(?P<map>[^}]*)\})?")
_VALUE = re.compile(
    r"(?P<type>bool|int|int32|int64|text|time)"
    r"(?: (?P<range>-?\d*\.\.\d*))?(?: one of (?P<choices>[^=]+?))?(?: /(?P<pattern>.*)/)?(?: = (?P<default>\S+))?"
)
_TYPES: dict[str, Schema] = {
    "bool": {"type": "boolean"},
    "int": {"type": "integer"},
    "int32": {"type": "integer", "format": "int32"},
    "int64": {"type": "integer", "format": "int64"},
    "text": {"type": "string"},
    "time": {"type": "string", "format": "date-time"},
}


class NotationError(ValueError):
    """A value that is not of this notation."""


class Notation:
    """The fields of one API, from its files."""

    def __init__(self, *files: Mapping[str, Any]) -> None:
        """Keep what the files say; names that start with `$` are for all of them."""
        self._shared = {name: value for file in files for name, value in file.items() if name.startswith("$")}
        self._own = {name: value for file in files for name, value in file.items() if not name.startswith("$")}

    def schema(self) -> Schema:
        """The schema of an object with the files' own names. Raises `NotationError`."""
        return self._object(self._own)

    def _object(self, fields: Mapping[str, Any]) -> Schema:
        properties: Schema = {}
        required = []
        for key, value in fields.items():
            if key.startswith("$"):
                continue
            found = _NAME.fullmatch(key)
            if found is None:
                raise NotationError(f"{key!r} is not a name")
            name = found["name"]
            item = self._item(value)
            whole = item.pop("$whole", [])
            properties[name] = _many(item, found)
            if whole:
                properties[name]["x-kubernetes-validations"] = whole
            if found["required"]:
                required.append(name)
        least = _limits(fields.get("$fields", ""), "minProperties", "maxProperties")
        return {"type": "object", "properties": properties, **({"required": required} if required else {}), **least}

    def _item(self, value: Any) -> Schema:
        if not isinstance(value, Mapping):
            return self._leaf(str(value))
        schema = self._leaf(value["$type"]) if "$type" in value else self._object(value)
        if "$default" in value:
            schema["default"] = value["$default"]
        if "$rules" in value:
            schema["x-kubernetes-validations"] = rules(value["$rules"])
        if "$whole" in value:
            schema["$whole"] = rules(value["$whole"])
        return schema

    def _leaf(self, text: str) -> Schema:
        if text in self._shared:
            return self._item(self._shared[text])
        found = _VALUE.fullmatch(text)
        if found is None:
            raise NotationError(f"{text!r} is not a value")
        schema = dict(_TYPES[found["type"]])
        ends = ("minLength", "maxLength") if found["type"] == "text" else ("minimum", "maximum")
        schema |= _limits(found["range"] or "", *ends)
        number = found["type"].startswith("int")
        if found["choices"]:
            choices = [choice.strip() for choice in found["choices"].split("|")]
            schema["enum"] = [int(choice) for choice in choices] if number else choices
        if found["pattern"]:
            schema["pattern"] = found["pattern"]
        if found["default"]:
            schema["default"] = found["default"] if found["type"] == "text" else yaml.safe_load(found["default"])
        return schema


def rules(items: list[dict[str, str]]) -> list[Schema]:
    """Kubernetes' form of rules: `rule` is CEL, `says` the message when it does not hold."""
    return [{"rule": item["rule"], "message": item["says"]} for item in items]


def _many(item: Schema, name: re.Match[str]) -> Schema:
    if name["list"] is not None:
        return {"type": "array", "items": item, **_limits(name["list"], "minItems", "maxItems")}
    if name["map"] is not None:
        return {
            "type": "object",
            "additionalProperties": item,
            **_limits(name["map"], "minProperties", "maxProperties"),
        }
    return item


def _limits(text: str, least: str, most: str) -> Schema:
    low, _, high = text.partition("..")
    return {key: int(value) for key, value in ((least, low), (most, high)) if value}
