"""The JSON schema of stack files: what it says, and that the stack files refer to it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tpuplane.models import models
from tpuplane.spec.schema import stack_schema

pytestmark = pytest.mark.unit

ROOT = Path(__file__).parents[3]
CHECKED_IN = ROOT / "components/tpuplane/spec/platform.schema.json"


@pytest.mark.parametrize("file", sorted((ROOT / "stacks").glob("Pulumi.*.yaml")), ids=lambda file: file.name)
def test_stack_files_point_editors_at_it(file: Path) -> None:
    first = file.read_text().splitlines()[0]
    prefix, _, reference = first.partition("$schema=")
    assert prefix == "# yaml-language-server: "
    assert (file.parent / reference).resolve() == CHECKED_IN


def own_fields() -> set[str]:
    """The fields that are ours to name; kubelet and Linux settings have GKE's names, and GKE's pages."""
    models = {name: model for name, model in stack_schema()["$defs"].items() if not name.startswith("NodeSystemSpec")}
    return {field for model in models.values() for field in model["properties"]}


def test_every_field_is_described_and_nothing_else_is_allowed() -> None:
    for name, model in stack_schema()["$defs"].items():
        assert model["additionalProperties"] is False, name
        for field, schema in model["properties"].items():
            assert schema.get("description"), f"{name}.{field}"


def test_descriptions_name_fields_that_there_are() -> None:
    definitions = stack_schema()["$defs"].values()
    fields = {field for model in definitions for field in model["properties"]}
    for schema in (property_ for model in definitions for property_ in model["properties"].values()):
        for named in re.findall(r"`([a-z][A-Za-z]*(?:\.[a-z][A-Za-z]*)*)`", schema["description"]):
            camel = {part for part in named.split(".") if part != part.lower()}  # others may be values or plain words
            assert camel <= fields, schema["description"]


def test_names_of_mappings_are_as_the_spec_wants_them() -> None:
    definitions = stack_schema()["$defs"]
    for model, field in (("PlatformSpec", "clusters"), ("ClusterSpec", "pools"), ("PoolSpec", "nodeLabels")):
        names = definitions[model]["properties"][field]
        (pattern,) = names["patternProperties"]
        assert re.search(pattern, "trainer")
        assert not re.search(pattern, "-trainer")
        assert names["additionalProperties"] is False, "JSON schema lets every other name pass unless told"


def test_ranges_are_known_by_their_looks() -> None:
    pattern = stack_schema()["$defs"]["ClusterNetworkSpec"]["properties"]["nodesCidr"]["pattern"]
    assert re.search(pattern, "10.0.0.0/20")
    assert not re.search(pattern, "10.0.0.0")


def test_fields_are_spelled_as_in_files() -> None:
    assert not [field for field in own_fields() if "_" in field]


def test_both_spellings_of_a_field_are_valid() -> None:
    definitions = stack_schema()["$defs"]
    described = {model.__name__: model for model in models() if model.__name__ in definitions}
    assert len(described) > 50
    for name, model in described.items():
        schema = definitions[name]
        python = {pattern.strip("^$"): field["$ref"] for pattern, field in schema.get("patternProperties", {}).items()}
        fields = model.model_fields.items()
        wanted = {
            key: f"#/$defs/{name}/properties/{field.alias}" for key, field in fields if field.alias not in (key, None)
        }
        assert python == wanted, name
        either = [
            tuple(alternative["required"][0] for alternative in rule["anyOf"])
            for rule in schema.get("allOf", ())
            if "anyOf" in rule
        ]
        required = {(field.alias or key, key) for key, field in fields if field.is_required()}
        assert {(alternative, alternative) for alternative in schema.get("required", ())} | set(either) == required, (
            name
        )


def test_editors_know_the_topologies_of_each_generation() -> None:
    rules: dict[str, Any] = {
        rule["if"]["properties"]["generation"]["const"]: rule["then"]["properties"]
        for rule in stack_schema()["$defs"]["PoolSpec"]["allOf"]
        if "if" in rule
    }
    assert "4x5" not in rules["v6e"]["topology"]["enum"]
    assert "4x4" in rules["v6e"]["topology"]["enum"]
    # The rule for three dimensions admits more than the documented list: complete it, but do not reject the rest.
    assert "enum" not in rules["v5p"]["topology"]
    assert "8x8x8" in rules["v5p"]["topology"]["examples"]
    assert json.dumps(rules)


def test_the_pages_about_stack_files_name_every_field() -> None:
    names = ("stacks.md", "gpu.md", "queues.md", "compute-classes.md", "monitoring.md", "images.md")
    named = re.findall(r"[`.](\w+)`", "".join((ROOT / "docs" / name).read_text() for name in names))
    assert own_fields() <= set(named)
