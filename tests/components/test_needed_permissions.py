"""The types of resources that `tpuplane check --online` knows of a plan are those that the program registers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tpuplane.data_files import read_data
from tpuplane.plan import plan
from tpuplane.preflight import needs
from tpuplane.spec import parse_platform

from tests.support.components.deployment import Deployment, deploy_platform, shipped

pytestmark = pytest.mark.components

REPOSITORY = Path(__file__).parents[2]
EXISTING = {
    "name": "guest",
    "project": "tpuplane-lab",
    "clusters": {
        "theirs": {
            "location": "us-central1",
            "existing": {"name": "theirs"},
            "pools": {"trainer": {"generation": "v6e", "topology": "4x4", "zone": "us-central1-b"}},
        }
    },
}
OTHERS = {"check", "kubernetes", "metricsFrontend", "gcp:container/getCluster:getCluster"}


def existing() -> dict[str, Any]:
    return EXISTING


@pytest.mark.parametrize(
    "described",
    [
        pytest.param(lambda: shipped(REPOSITORY / "stacks/Pulumi.prod.yaml"), id="prod"),
        pytest.param(existing, id="existing"),
    ],
)
def test_the_types_of_a_plan_are_those_that_the_program_registers(described: Callable[[], Any]) -> None:
    description = described()
    deployed: Deployment = deploy_platform(description)
    registered = {registration.type for registration in deployed.registrations.values() if registration.custom}
    google = {text for text in registered if text.startswith("gcp:")}
    spec = parse_platform(description)
    known = set(needs(plan(spec)).types)
    assert known - OTHERS == google
    assert ("kubernetes" in known) == any(text.startswith("kubernetes:") for text in registered)


def test_the_data_has_no_type_that_no_component_creates() -> None:
    files = "".join(file.read_text() for file in (REPOSITORY / "components/tpuplane").rglob("*.py"))
    classes = {
        kind.rpartition(":")[2] for kind in read_data("tpuplane.preflight", "needs")["types"] if kind.startswith("gcp:")
    }
    assert {name for name in classes if f".{name}(" not in files} == {"getCluster"}
