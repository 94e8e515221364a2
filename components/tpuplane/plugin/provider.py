"""Serves the components of the package to the engine."""

import json
import re
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import pulumi
from pulumi.provider import ConstructResult
from pulumi.provider.experimental.component import ComponentProvider
from pulumi.provider.server import ComponentInitError

import tpuplane
from tpuplane.plugin.schema import completed
from tpuplane.spec import SpecError
from tpuplane.spec.core.errors import Path, dotted, shown
from tpuplane.tpu.nearest import nearest_names

NAME = "tpuplane"


def components() -> list[type[pulumi.ComponentResource]]:
    """Every component that `tpuplane` exports."""
    exported = [getattr(tpuplane, name) for name in tpuplane.__all__]
    return [item for item in exported if isinstance(item, type) and issubclass(item, pulumi.ComponentResource)]


class PlatformProvider(ComponentProvider):
    """The SDK's host of components, with the completed schema and with the messages of the spec."""

    def __init__(self) -> None:
        served = components()
        super().__init__(served, NAME, version=version(NAME))
        types = {name: definition.python_type for name, definition in self._type_defs.items()}
        self.schema = json.dumps(completed(json.loads(self.schema or "{}"), served, types, NAME))
        mappings = [
            *(definition.inputs_mapping for definition in self._component_defs.values()),
            *(definition.properties_mapping for definition in self._type_defs.values()),
        ]
        self._written = {python: wire for mapping in mappings for wire, python in mapping.items()}

    @property
    def schema_text(self) -> str:
        """The schema in the form of `components/schema.json`."""
        return json.dumps(json.loads(self.schema or "{}"), indent=2, sort_keys=True) + "\n"

    def construct(
        self, name: str, resource_type: str, inputs: Any, options: pulumi.ResourceOptions | None = None
    ) -> ConstructResult:
        """Create a component. Mistakes are reported with the paths of inputs, without a traceback."""
        try:
            return super().construct(name, resource_type, inputs, options)
        except ComponentInitError as error:
            if not isinstance(error.inner, SpecError):
                raise
            raise pulumi.InputPropertiesError(
                f"{name} is rejected",
                [
                    {"property_path": self._as_written(each.path), "reason": self._advised(each.message)}
                    for each in error.inner.listed
                ],
            ) from None

    def map_input_properties(
        self, inputs: Any, properties: Any, mapping: dict[str, str], component_name: str, property_path: str
    ) -> Any:
        """Reject unknown fields, and an object that is an output or nothing, which the SDK would drop."""
        if not isinstance(inputs, Mapping):
            text = f"{shown(inputs)} is not an object; write its fields, or remove it"
            raise pulumi.InputPropertyError(property_path, text)
        for name, value in inputs.items():
            path = f"{property_path}.{name}" if property_path else name
            if name not in properties and value is not None:
                close = nearest_names(name, tuple(properties))
                hint = f"; nearest: {close[0]}" if close else ""
                raise pulumi.InputPropertyError(path, f"unknown field; allowed: {', '.join(properties)}{hint}")
            if name in properties and properties[name].ref and isinstance(value, pulumi.Output):
                text = "is an output, and its fields are unknown here; write the fields instead"
                raise pulumi.InputPropertyError(path, text)
        return super().map_input_properties(inputs, properties, mapping, component_name, property_path)

    def _as_written(self, path: Path) -> str:
        """The path with the program's names of fields, which the SDK has changed to Python names."""
        return dotted(tuple(self._written.get(part, part) if isinstance(part, str) else part for part in path))

    def _advised(self, message: str) -> str:
        """The message with the program's name of a field that it advises to write."""
        return re.sub(r"(?<=; write )\w+(?=: )", lambda name: self._written.get(name[0], name[0]), message)
