"""Check: reject what the official plugin rejects at preview, with its messages, and fill in names and defaults.

Nothing more is rejected: an unknown machine type, a tpuTopology that does not exist or min > max go to the API, as
they do in production.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pulumi.runtime.proto import provider_pb2 as pb

from tpuplane_standins.providers.contract import Properties, Urn
from tpuplane_standins.providers.gcp import formats
from tpuplane_standins.providers.gcp.bodies import as_text, dig
from tpuplane_standins.providers.gcp.inputs import automatic_name, fill_defaults, objects
from tpuplane_standins.providers.gcp.tables import Field, Table
from tpuplane_standins.providers.values import UNKNOWN, decode_struct, reveal


def check(table: Table, request: pb.CheckRequest) -> tuple[Properties, list[str]]:
    """Inputs as the state will hold them, and one failure per mistake, each naming `<resource>.<path>`."""
    olds, news = reveal(decode_struct(request.olds)), reveal(decode_struct(request.news))
    checker = _Checker(Urn.parse(request.urn).name, table.fields)
    inputs, named = checker.object(table.fields, news, "", ""), []
    checker.combinations(table.fields, inputs, inputs)
    if table.name_property and table.name_property not in inputs:
        inputs = {table.name_property: automatic_name(table, request, olds), **inputs}
        checker.string(table.fields[table.name_property], inputs[table.name_property], table.name_property)
        named = [table.name_property]
    checker.required(table.fields, inputs, "")
    fill_defaults(table.fields, inputs, olds, inputs, named)
    return inputs, checker.failures


class _Checker:
    """Walks the inputs together with the table and collects failures."""

    def __init__(self, resource: str, fields: Mapping[str, Field]) -> None:
        self.failures: list[str] = []
        self._resource, self._fields = resource, fields

    def fail(self, reason: str, path: str) -> None:
        self.failures.append(f"{reason}. Examine values at '{self._resource}.{path}'.")

    def object(self, fields: Mapping[str, Field], value: Mapping[str, Any], path: str, tf: str) -> Properties:
        """One object with its values in their own types; unknown keys and outputs given as inputs are failures."""
        result: Properties = {}
        for key, item in value.items():
            where = f"{path}.{key}" if path else key
            rule = fields.get(key)
            if key.startswith("__"):
                continue
            if rule is None:
                self.fail("Invalid or unknown key", where)
            elif rule.output:
                detail = f'Computed attributes cannot be set, but a value was set for "{tf}{rule.tf}"'
                self.fail(f"Computed attributes cannot be set. {detail}", where)
            else:
                result[key] = self.value(rule, item, where, f"{tf}{rule.tf}")
        return result

    def value(self, rule: Field, value: Any, path: str, tf: str) -> Any:
        """One value, converted as the official plugin converts (a number given as a string is fine)."""
        if value is UNKNOWN:
            return value
        if rule.is_collection:
            return self._collection(rule, value, path, tf)
        if rule.type == "map<string>":
            return self._map(value, path)
        if rule.type == "object":
            return self._nested(rule, value, path, f"{tf}.0.")
        return self._scalar(rule, value, path, tf)

    def _nested(self, rule: Field, value: Any, path: str, tf: str) -> Any:
        if not isinstance(value, Mapping):
            self.fail(f"expected object type, got {_kind(value)} type", path)
            return value
        inner = self.object(rule.fields, value, path, tf)
        self.required(rule.fields, inner, path)
        return inner

    def _collection(self, rule: Field, value: Any, path: str, tf: str) -> Any:
        if not isinstance(value, list):
            self.fail(f"expected array type, got {_kind(value)} type", path)
            return value
        if rule.max_items is not None and len(value) > rule.max_items:
            self.fail(
                f"Too many list items. Attribute {tf} supports {rule.max_items} item maximum, but config has "
                f"{len(value)} declared",
                path,
            )
        if len(value) < rule.min_items:
            self.fail(
                f"Not enough list items. Attribute {tf} requires {rule.min_items} item minimum, but config has only "
                f"{len(value)} declared",
                path,
            )
        items: list[Any] = []
        for index, item in enumerate(value):
            where = f"{path}[{index}]"
            if item is UNKNOWN:
                items.append(item)
            elif rule.element != "object":
                items.append(self._scalar(rule, item, where, f"{tf}.{index}"))
            else:
                items.append(self._nested(rule, item, where, f"{tf}.{index}."))
        return items

    def _map(self, value: Any, path: str) -> Any:
        if not isinstance(value, Mapping):
            self.fail(f"expected object type, got {_kind(value)} type", path)
            return value
        result = {}
        for key, item in value.items():
            if isinstance(item, Mapping | list):
                self.fail(f"expected string type, got {_kind(item)} type", f"{path}.{key}")
            result[key] = item if item is UNKNOWN else as_text(item)
        return result

    def _scalar(self, rule: Field, value: Any, path: str, tf: str) -> Any:
        try:
            converted = _convert(rule.element, value)
        except ValueError:
            self.fail(f"expected {_WIRE_TYPES[rule.element]} type, got {_kind(value)} type", path)
            return value
        if isinstance(converted, str):
            self.string(rule, converted, path, tf)
        elif not isinstance(converted, bool):
            self._number(rule, converted, path, tf)
        return converted

    def string(self, rule: Field, value: str, path: str, tf: str | None = None) -> None:
        """Allowed values, patterns and formats of a string."""
        tf = tf or rule.tf
        if rule.enum and value not in rule.enum:
            allowed = " ".join(f'"{item}"' for item in rule.enum)
            self.fail(f"expected {tf} to be one of [{allowed}], got {value}", path)
        if rule.pattern and not re.search(rule.pattern, value):
            self.fail(f'"{tf}" ("{value}") doesn\'t match regexp "{rule.pattern}"', path)
        if rule.max_length is not None and len(value) > rule.max_length:
            self.fail(f"expected length of {tf} to be in the range (0 - {rule.max_length}), got {value}", path)
        if rule.format:
            for reason in formats.problems(rule.format, tf, value):
                self.fail(reason, path)

    def _number(self, rule: Field, value: float, path: str, tf: str) -> None:
        low, high = rule.min, rule.max
        if low is not None and high is not None:
            if not low <= value <= high:
                self.fail(f"expected {tf} to be in the range ({low} - {high}), got {value}", path)
        elif low is not None and value < low:
            self.fail(f"expected {tf} to be at least ({low}), got {value}", path)
        if rule.format:
            for reason in formats.problems(rule.format, tf, str(value)):
                self.fail(reason, path)

    def required(self, fields: Mapping[str, Field], inputs: Mapping[str, Any], path: str) -> None:
        """Missing required properties."""
        for prop, rule in fields.items():
            if rule.required and inputs.get(prop) is None:
                where = f"{path}.{prop}" if path else prop
                self.failures.append(f"Missing required property '{where}'")

    def combinations(
        self, fields: Mapping[str, Field], inputs: Mapping[str, Any], root: Mapping[str, Any], path: str = ""
    ) -> None:
        """Properties that exclude or need each other."""
        for prop, rule in fields.items():
            where = f"{path}.{prop}" if path else prop
            value = inputs.get(prop)
            if value is not None and value is not UNKNOWN:
                for other in rule.conflicts_with:
                    if dig(root, other) not in (None, False, UNKNOWN):
                        detail = f'"{rule.tf}": conflicts with {_named(self._fields, other)}'
                        self.fail(f"Conflicting configuration arguments. {detail}", where)
                for item in objects(value) if rule.fields else ():
                    self.combinations(rule.fields, item, root, where)
            for reason in _one_of(rule, root, self._fields):
                self.fail(reason, where)


_WIRE_TYPES: Final = {"string": "string", "int": "number", "float": "number", "bool": "boolean"}
_KINDS: Final = {str: "string", int: "number", float: "number", bool: "boolean", list: "array"}


def _one_of(rule: Field, root: Mapping[str, Any], fields: Mapping[str, Field]) -> Iterator[str]:
    """The two group rules; a group inside a missing object does not apply, and what is not known may be absent."""
    for group, exactly in ((rule.exactly_one_of, True), (rule.at_least_one_of, False)):
        parents = {path.rpartition(".")[0] for path in group}
        if not group or any(parent and dig(root, parent) is None for parent in parents):
            continue
        names = ",".join(_named(fields, path) for path in group)
        values = [dig(root, path) for path in group]
        given = [path for path, value in zip(group, values, strict=True) if value is not None and value is not UNKNOWN]
        if not given and not any(value is UNKNOWN for value in values):
            what = "Invalid combination of arguments" if exactly else "Missing required argument"
            yield f'{what}. "{rule.tf}": one of `{names}` must be specified'
        elif exactly and len(given) > 1:
            found = ",".join(_named(fields, path) for path in given)
            yield (
                f'Invalid combination of arguments. "{rule.tf}": only one of `{names}` can be specified, but `{found}` '
                "were specified."
            )


def _named(fields: Mapping[str, Field], path: str) -> str:
    """Terraform's name of the property at a path."""
    name, _, rest = path.partition(".")
    return fields[name].tf + (f".0.{_named(fields[name].fields, rest)}" if rest else "")


def _kind(value: Any) -> str:
    return _KINDS.get(type(value), "object")


def _convert(kind: str, value: Any) -> Any:
    """Raises ValueError where the value has no reading in that type."""
    if isinstance(value, Mapping | list):
        raise ValueError(kind)
    if kind == "string":
        return as_text(value)
    if kind == "bool" and as_text(value) in ("true", "false"):
        return as_text(value) == "true"
    if kind == "bool" or isinstance(value, bool):
        raise ValueError(kind)
    if kind == "float":
        return float(value)
    if isinstance(value, float) and not value.is_integer():
        raise ValueError(kind)
    return int(value)
