"""Each field of the spec with another value: a resource changes, unless the class in its type says that none does.

`tests/standins/gcp/test_gcp_changes.py` has every value of a field, and what the provider does with it.
"""

from __future__ import annotations

import functools
from typing import Any

import pytest
from tpuplane.diff import diff
from tpuplane.spec import parse_platform

from tests.support.components.deployment import Inputs, deploy_platform
from tests.support.diff.every_field import Changed, changes, field_at, platform

pytestmark = pytest.mark.components

# Pulumi protects an adopted pool already if it protects its cluster.
CHANGES = [change for change in changes() if (change.place[-1], change.value) != ("adopted", {})]
FIRST = {field_at(change.place): change for change in reversed(CHANGES)}


def resources(described: Inputs) -> dict[str, Any]:
    """What the engine keeps of each resource of a platform."""
    return {
        urn: (resource.inputs, resource.request.protect, sorted(resource.request.ignoreChanges))
        for urn, resource in deploy_platform(described).registrations.items()
    }


before = functools.cache(lambda name: resources(platform(name)))


@pytest.mark.parametrize("change", FIRST.values(), ids=FIRST.keys())
def test_a_field_reaches_a_resource_as_its_class_says(change: Changed) -> None:
    kind = diff(parse_platform(change.before), parse_platform(change.after)).changes[0].kind
    changed = resources(change.after) != before(change.platform)
    assert changed == (kind != "nothing"), (
        f"{change}: the class of the field is {kind}, but {'a' if changed else 'no'} resource changes. "
        "Give the value to the resource in components/tpuplane/gke or addons, or correct the class in the field's type"
    )
