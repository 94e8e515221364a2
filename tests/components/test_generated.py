"""What is generated is up to date, and what the generator makes of the spec can be offered to other languages."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pulumi.provider.experimental.analyzer import Analyzer, PropertyType
from tpuplane import Platform, PlatformSpec, args
from tpuplane.models import args_name, models
from tpuplane.plugin import PlatformProvider

from scripts import generate
from scripts.field_tables import with_tables
from scripts.generate import stale

pytestmark = pytest.mark.components


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(PlatformProvider().schema or "")
    return found


def test_generated_files_are_up_to_date() -> None:
    assert stale() == [], "run make generate"


def test_stale_arguments_are_named_before_anything_reads_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generate, "typed_args", lambda: "with a new field")
    assert stale()[-1] == "components/tpuplane/args.py"


def test_every_model_has_its_fields_in_a_typed_dict() -> None:
    names = {args_name(model) for model in models()}
    assert len(names) == len(models())
    assert {"PlatformArgs", "PlatformClusterArgs", "PoolArgs", "PoolAutoscalingArgs", "WorkerGroupArgs"} < names
    for model in models():
        typed = getattr(args, args_name(model))
        assert typed.__annotations__.keys() == model.model_fields.keys()
        assert typed.__required_keys__ == {name for name, field in model.model_fields.items() if field.is_required()}


def test_the_platform_can_be_offered_to_other_languages() -> None:
    platform = Analyzer("tpuplane").analyze([Platform])["component_definitions"]["Platform"]
    required = {"name", "clusters"}
    assert platform.inputs.keys() == set(PlatformSpec.model_fields)
    assert {name for name, property_ in platform.inputs.items() if not property_.optional} == required
    assert platform.outputs.keys() == {"clusters", "nodePools", "gpuNodePools", "kubeconfigs"}
    assert platform.inputs["clusters"].type is PropertyType.OBJECT
    assert all(property_.plain for property_ in platform.inputs.values()), (
        "what shapes the plan is known before the engine starts"
    )


def test_every_description_is_on_one_line(schema: dict[str, Any]) -> None:
    assert "\\n" not in json.dumps(schema)


def test_a_component_has_the_descriptions_of_the_model_that_it_extends(schema: dict[str, Any]) -> None:
    fields = schema["resources"]["tpuplane:index:TpuNodePool"]["inputProperties"]
    assert fields["topology"]["description"].startswith("Chips of one slice in each dimension")
    assert fields["cluster"]["description"].startswith("The cluster of the pools")


def test_allowed_values_are_enums_that_take_other_text_too(schema: dict[str, Any]) -> None:
    capacity = schema["types"]["tpuplane:index:PoolArgs"]["properties"]["capacity"]
    assert (capacity["type"], capacity["plain"]) == ("string", True)
    assert capacity["oneOf"] == [{"type": "string"}, {"$ref": "#/types/tpuplane:index:PoolCapacity"}]
    enum = [allowed["value"] for allowed in schema["types"]["tpuplane:index:PoolCapacity"]["enum"]]
    assert enum == ["on-demand", "spot", "reservation", "flex-start"]
    days = schema["types"]["tpuplane:index:MaintenanceWindowArgs"]["properties"]["days"]
    assert days["items"]["oneOf"][1] == {"$ref": "#/types/tpuplane:index:MaintenanceWindowDays"}


def test_a_table_takes_default_and_change_out_of_the_description() -> None:
    page = "## Window\n\n<!-- generated: MaintenanceWindowSpec -->\nold\n<!-- end -->\n"
    upper = "## Maintenance\n\n<!-- generated: MaintenanceSpec -->\n<!-- end -->\n"
    written = with_tables({"window.md": page, "upper.md": upper})
    assert written["window.md"].splitlines()[3:7] == [
        "| field | default | meaning | a change |",
        "|---|---|---|---|",
        "| `days` | every day | Days of the window, from MO to SU. "
        "One of `MO`, `TU`, `WE`, `TH`, `FR`, `SA`, `SU`. | in place |",
        '| `start` | required | Start time of the window, in UTC and in quotes: "02:00". | in place |',
    ]
    assert (
        "| `window` | required | The weekly hours in which GKE may upgrade. See [Window](window.md#window). |"
        in written["upper.md"]
    )
    assert "| `exclusions.scope` | NO_MINOR_OR_NODE_UPGRADES, so that " in written["upper.md"]
    assert "old" not in written["window.md"]
