"""The plan is the whole truth: which parts of a description it holds as they are, and nothing more of it."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest
from tpuplane.plan import PlatformPlan, plan
from tpuplane.spec import load_stack
from tpuplane.spec.addons.catalogue import Chart
from tpuplane.spec.cluster.cluster import ControlPlaneSpec, ExistingClusterSpec, ExistingNetworkSpec
from tpuplane.spec.cluster.maintenance import MaintenanceExclusionSpec
from tpuplane.spec.cluster.options import HardeningSpec, MonitoringSpec, StorageSpec
from tpuplane.spec.core.fields import Spec
from tpuplane.spec.pools.gpu import GpuSharingSpec
from tpuplane.spec.pools.hosts import FlexStartSpec, NodeSettingsSpec
from tpuplane.spec.queues.queues import PreemptionSpec, PrioritySpec

pytestmark = pytest.mark.unit

HELD = {
    Chart,
    ControlPlaneSpec,
    ExistingClusterSpec,
    ExistingNetworkSpec,
    FlexStartSpec,
    GpuSharingSpec,
    HardeningSpec,
    MaintenanceExclusionSpec,
    MonitoringSpec,
    NodeSettingsSpec,
    PreemptionSpec,
    PrioritySpec,
    StorageSpec,
}
STACKS = Path(__file__).parents[3] / "stacks"


def within(kind: Any) -> Iterator[type]:
    """The dataclasses and parts of descriptions that a type of the plan names, with those of their fields."""
    if isinstance(kind, type) and is_dataclass(kind):
        yield kind
        for hint in typing.get_type_hints(kind).values():
            yield from within(hint)
    elif isinstance(kind, type) and issubclass(kind, Spec):
        yield kind
    for part in typing.get_args(kind):
        yield from within(part)


def held(value: Any) -> Iterator[Spec]:
    """The parts of descriptions in a planned value."""
    match value:
        case Spec():
            yield value
        case dict():
            for item in value.values():
                yield from held(item)
        case tuple():
            for item in value:
                yield from held(item)
        case _ if is_dataclass(value):
            for field in fields(value):
                yield from held(getattr(value, field.name))


def test_the_plan_names_the_parts_that_it_holds() -> None:
    kinds = set(within(PlatformPlan))
    assert len(kinds) > 30
    assert {kind for kind in kinds if issubclass(kind, Spec)} == HELD


@pytest.mark.parametrize("stack", sorted(STACKS.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_part_has_only_the_fields_to_which_the_plan_adds_nothing(stack: Path) -> None:
    """A SecuritySpec, say, is a HardeningSpec too, but has encryption, which the plan has as keys."""
    found = {type(part) for part in held(plan(load_stack(stack)))}
    assert {HardeningSpec, NodeSettingsSpec} <= found <= HELD
