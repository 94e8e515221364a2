"""Every class that the package renders, which the twin's definition takes, and GKE's own if the tests have it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tpuplane.spec.classes.of_cluster import has_flex_start
from tpuplane.spec.core.locations import region_of
from tpuplane.spec.core.rules import spec_data
from tpuplane.tpu import catalogue
from tpuplane.tpu.topology import chip_count
from tpuplane_twin.cluster.api import Api

from tests.support.cluster.compute_classes import compute_class, verdict
from tests.support.components.deployment import Inputs, deploy_platform, shipped
from tests.support.spec.class_rules import NAMES, ROWS, described

pytestmark = [pytest.mark.twin, pytest.mark.asyncio(loop_scope="session")]

ROOT = Path(__file__).parents[3]
CLASS = "cloud.google.com/v1:ComputeClass"
STACKS: dict[str, Any] = {file.name: shipped(file) for file in sorted((ROOT / "stacks").glob("Pulumi.*.yaml"))}


def rendered(description: Any) -> dict[str, Inputs]:
    """The specs of a platform's classes, as its components register them."""
    return {resource.name: whole(resource.inputs["spec"]) for resource in deploy_platform(description).all(CLASS)}


def whole(value: Any) -> Any:
    """Whole numbers as such: on its way to a provider every number is a float, and JSON of Go drops the point."""
    if isinstance(value, dict):
        return {key: whole(item) for key, item in value.items()}
    if isinstance(value, list):
        return [whole(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def every_preset() -> dict[str, Any]:
    """Each preset for each generation where it is offered, in a zone that sells it flex-start where one does."""
    cases = {}
    for generation in catalogue().generations:
        zones = sorted(catalogue().zones(generation.name), key=lambda zone: not has_flex_start(generation, (zone,)))
        topology = generation.topologies[-1]
        for preset in spec_data("class_presets") if zones else ():
            cases[f"{preset}-{generation.name}"] = {
                "name": "lab",
                "project": "tpuplane-lab",
                "reservations": {
                    "own": {"generation": generation.name, "zone": zones[0], "chips": chip_count(topology)}
                },
                "classes": {
                    "main": {
                        "preset": preset,
                        "tpu": {"type": generation.name, "topology": topology},
                        "reservation": {"name": "own", "block": "b1", "subBlock": "s1"},
                    }
                },
                "clusters": {"main": {"location": region_of(zones[0])}},
            }
    return cases


PRESETS = every_preset()


async def taken(api: Api, spec: Inputs, by: list[str]) -> None:
    for api_version in by:
        assert await verdict(api, compute_class({"spec": spec}, api_version)) == ""


@pytest.mark.parametrize("stack", STACKS)
async def test_those_of_the_stacks(api: Api, definitions: list[str], stack: str) -> None:
    description = STACKS[stack]
    specs = rendered(description)
    assert bool(specs) == bool(description.get("classes"))
    for spec in specs.values():
        await taken(api, spec, definitions)


@pytest.mark.parametrize("name", PRESETS)
async def test_every_preset_of_every_generation(api: Api, definitions: list[str], name: str) -> None:
    (spec,) = rendered(PRESETS[name]).values()
    await taken(api, spec, definitions)


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
async def test_the_right_side_of_every_rule(api: Api, definitions: list[str], row: dict[str, Any]) -> None:
    for spec in rendered(described(row["right"])).values():
        await taken(api, spec, definitions)
