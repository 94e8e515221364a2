"""Step 1, step 2: what a change of the description touches, and what it replaces.

The official provider answers a changed topology by doing nothing and saying that it did, so the registration itself
must ask for the replacement.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from tests.support.components.deployment import Deployment, Inputs, Registration, deploy_platform

pytestmark = pytest.mark.components


def changed(before: Any, after: Any, path: str = "") -> set[str]:
    """Paths of the properties that differ."""
    if isinstance(before, dict) and isinstance(after, dict):
        return {
            inner
            for key in before.keys() | after.keys()
            for inner in changed(before.get(key), after.get(key), f"{path}.{key}" if path else key)
        }
    return set() if before == after else {path}


def replaced(before: Registration, after: Registration) -> bool:
    """Whether the registration asks for a replacement, given what differs."""
    return any(
        path == wanted or path.startswith(f"{wanted}.")
        for path in changed(before.inputs, after.inputs)
        for wanted in after.request.replaceOnChanges
    )


class Steps:
    """A description deployed twice: as it is, and with one pool changed."""

    def __init__(self, description: Inputs, pool: str, change: Inputs) -> None:
        second = deepcopy(description)
        second["clusters"]["central1"]["pools"][pool] |= change
        self.before = deploy_platform(description)
        self.after = deploy_platform(second)

    def pools(self, deployment: Deployment) -> dict[str, Registration]:
        return {pool.urn.rpartition("central1-")[2]: pool for pool in deployment.all(":NodePool")}

    def summary(self) -> dict[str, str]:
        """What happens to each pool that is not left as it was."""
        before, after = self.pools(self.before), self.pools(self.after)
        steps = dict.fromkeys(before.keys() - after.keys(), "delete")
        steps |= dict.fromkeys(after.keys() - before.keys(), "create")
        for name in before.keys() & after.keys():
            if before[name].inputs != after[name].inputs:
                steps[name] = "replace" if replaced(before[name], after[name]) else "update"
        return steps


@pytest.mark.parametrize(
    ("pool", "change", "expected"),
    [
        ("trainer", {"topology": "4x8"}, {"trainer-0": "replace", "trainer-1": "replace"}),
        ("trainer", {"slices": 3}, {"trainer-2": "create"}),
        ("trainer", {"slices": 1}, {"trainer-1": "delete"}),
        ("trainer", {"nodeLabels": {"team": "a"}}, {"trainer-0": "update", "trainer-1": "update"}),
        ("trainer", {"labels": {"team": "a"}}, {"trainer-0": "update", "trainer-1": "update"}),
        ("notebooks", {"slices": 5}, {"notebooks": "update"}),
        ("notebooks", {"topology": "1x1"}, {"notebooks": "replace"}),
        ("ironwood", {"topology": "2x2x4"}, {"ironwood-0": "replace"}),
        ("burst", {"autoscaling": {"minSlices": 0, "maxSlices": 2}}, {"burst-0": "update"}),
        ("serving", {"autoscaling": {"maxSlices": 9}}, {"serving": "update"}),
    ],
)
def test_a_change_touches_its_own_pools_alone(lab: Inputs, pool: str, change: Inputs, expected: dict[str, str]) -> None:
    assert Steps(lab, pool, change).summary() == expected


@pytest.mark.parametrize(
    ("ranges", "replaces"),
    [
        ({"podsCidr": "10.128.0.0/14"}, True),
        ({"servicesCidr": "10.40.0.0/20"}, True),
        ({"nodesCidr": "10.0.0.0/19"}, False),  # the provider itself replaces where the new range does not hold the old
    ],
)
def test_a_secondary_range_is_replaced_with_its_subnetwork(ranges: Inputs, replaces: bool) -> None:
    def deploy(network: Inputs) -> Registration:
        pools = {"a": {"generation": "v6e", "topology": "4x4"}}
        main = {"location": "us-central1", "network": network, "pools": pools}
        description = {"name": "lab", "project": "tpuplane-lab", "clusters": {"main": main}}
        return deploy_platform(description).one(":Subnetwork")

    before, after = deploy({}), deploy(ranges)
    assert before.inputs != after.inputs
    assert replaced(before, after) is replaces


def test_a_region_has_a_subnetwork_for_proxies() -> None:
    def deploy(proxies: str) -> Registration:
        main = {"location": "us-central1-a", "network": {"proxiesCidr": proxies}}
        description = {"name": "lab", "project": "tpuplane-lab", "clusters": {"main": main}}
        return deploy_platform(description).one(":Subnetwork", "platform-lab-main-proxies")

    before, after = deploy("10.1.0.0/23"), deploy("10.1.0.0/22")
    assert before.inputs == {
        "name": "lab-main-proxies",
        "project": "tpuplane-lab",
        "region": "us-central1",
        "network": "platform-id",
        "ipCidrRange": "10.1.0.0/23",
        "purpose": "REGIONAL_MANAGED_PROXY",
        "role": "ACTIVE",
    }
    assert replaced(before, after)


def test_a_changed_slice_keeps_its_name_and_so_its_place_in_the_state(lab: Inputs) -> None:
    steps = Steps(lab, "trainer", {"topology": "4x8"})
    assert steps.before.registrations.keys() == steps.after.registrations.keys()


def test_paths_that_replace_are_inputs_of_the_provider(deployed: Deployment) -> None:
    """A path in the wrong spelling would match nothing, without an error."""
    asked = 0
    for made in deployed.all(":NodePool"):
        for path in made.request.replaceOnChanges:
            value: Any = made.inputs
            for part in path.split("."):
                assert part in value, f"{made.name}: {path}"
                value = value[part]
            asked += 1
    assert asked > 10


def test_the_same_description_gives_the_same_registrations(two_clusters: Inputs) -> None:
    first, second = (deploy_platform(two_clusters) for _ in range(2))
    assert {urn: registration.inputs for urn, registration in first.registrations.items()} == {
        urn: registration.inputs for urn, registration in second.registrations.items()
    }
