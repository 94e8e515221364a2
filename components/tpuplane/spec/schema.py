"""The JSON schema of stack files, generated from the spec, so that editors complete and check them."""

import json
from typing import Any

from pydantic import BaseModel
from pydantic.alias_generators import to_snake
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core.core_schema import ModelSchema

from tpuplane.spec.addons.catalogue import AddonDefinition
from tpuplane.spec.core.changes import described
from tpuplane.spec.core.documentation import documented
from tpuplane.spec.core.locations import known_zones, locations
from tpuplane.spec.platform import PROJECT_KEY, PlatformSpec
from tpuplane.spec.stackfile import CONFIG_KEY
from tpuplane.tpu import Generation, catalogue


def stack_schema() -> dict[str, Any]:
    """Schema of a whole stack file: Pulumi's own keys, and the platform under its config key."""
    platform = PlatformSpec.model_json_schema(schema_generator=_WithChanges)
    definitions = platform.pop("$defs")
    _know_the_catalogue(definitions)
    _reject_other_names([platform, *definitions.values()])
    for name, model in (*definitions.items(), ("PlatformSpec", platform)):
        _accept_snake_case(name, model)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "tpuplane stack file",
        "type": "object",
        "properties": {
            "config": {
                "type": "object",
                "properties": {
                    PROJECT_KEY: platform["properties"]["project"]
                    | {"description": "Google Cloud project id: the platform's, and the provider's default."},
                    CONFIG_KEY: {"$ref": "#/$defs/PlatformSpec"},
                },
                "required": [CONFIG_KEY],
            }
        },
        "required": ["config"],
        "$defs": {**definitions, "PlatformSpec": platform},
    }


class _WithChanges(GenerateJsonSchema):
    """Descriptions that also say what a change does."""

    def model_schema(self, schema: ModelSchema) -> JsonSchemaValue:
        found = super().model_schema(schema)
        model: type[BaseModel] = schema["cls"]
        for name, field in documented(model).items():
            found["properties"][field.alias or name]["description"] = described(field)
        return found


def definition_schema() -> dict[str, Any]:
    """Schema of the definition of an operator."""
    found = AddonDefinition.model_json_schema(schema_generator=_WithChanges)
    for name, model in found["$defs"].items():
        _accept_snake_case(name, model)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **found, "title": "tpuplane add-on definition"}


def schema_text() -> str:
    """The schema as it is checked in."""
    return json.dumps(stack_schema(), indent=2) + "\n"


def _know_the_catalogue(definitions: dict[str, Any]) -> None:
    generations = catalogue().generations
    regions = locations().regions
    zones = sorted(zone for region in regions for zone in known_zones(region))
    pool = definitions["PoolSpec"]
    pool["properties"]["generation"]["enum"] = [generation.name for generation in generations]
    pool["allOf"] = [_shapes(generation) for generation in generations]
    # Examples, not enums: a zone that no public table lists is for `tpuplane check` to judge.
    definitions["ClusterSpec"]["properties"]["location"]["examples"] = [*regions, *zones]


def _reject_other_names(models: list[dict[str, Any]]) -> None:
    """Pydantic writes a pattern for the names of a mapping, but JSON schema then still allows other names."""
    for model in models:
        for field in model["properties"].values():
            for schema in (field, *field.get("anyOf", ())):
                if "patternProperties" in schema:
                    schema["additionalProperties"] = False


def _accept_snake_case(name: str, model: dict[str, Any]) -> None:
    """Fields may have their Python names. As patterns they are valid, and editors do not offer them."""
    if others := {field: to_snake(field) for field in model["properties"] if to_snake(field) != field}:
        fields = f"#/$defs/{name}/properties"
        model["patternProperties"] = {f"^{other}$": {"$ref": f"{fields}/{field}"} for field, other in others.items()}
    if required := [field for field in model.get("required", ()) if field in others]:
        model["required"] = [field for field in model["required"] if field not in others]
        either = [{"anyOf": [{"required": [field]}, {"required": [others[field]]}]} for field in required]
        model["allOf"] = [*model.get("allOf", ()), *either]


def _shapes(generation: Generation) -> dict[str, Any]:
    """What a generation allows for topology and machine type. Generations with a rule allow more than their list."""
    topology = {"examples": list(generation.topologies)} if generation.rule else {"enum": list(generation.topologies)}
    machines = {"enum": [machine.name for machine in generation.machines]}
    return {
        "if": {"properties": {"generation": {"const": generation.name}}},
        "then": {"properties": {"topology": topology, "machineType": machines}},
    }
