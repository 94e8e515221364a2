"""A renamed cluster: its ranges are in use until the update ends."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tpuplane.diff import diff
from tpuplane.diff.addresses import UnreadableState, conflicts, in_state
from tpuplane.spec import parse_platform

pytestmark = pytest.mark.unit


def platform(clusters: dict[str, Any], name: str = "lab") -> dict[str, Any]:
    return {"name": name, "project": "tpuplane-lab", "clusters": clusters}


EAST: dict[str, Any] = {"location": "us-east5", "deletionProtection": False}
OTHER: dict[str, Any] = {"nodesCidr": "10.1.0.0/20", "podsCidr": "10.128.0.0/14", "servicesCidr": "10.33.0.0/20"}
STATE = [
    {
        "type": "gcp:compute/subnetwork:Subnetwork",
        "outputs": {
            "name": "lab-east",
            "network": "https://www.googleapis.com/compute/v1/projects/tpuplane-lab/global/networks/lab",
            "ipCidrRange": "10.0.0.0/20",
            "secondaryIpRanges": [{"rangeName": "pods", "ipCidrRange": "10.64.0.0/14"}],
        },
    }
]


def rejected(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    found = diff(parse_platform(before), parse_platform(after)).rejected
    return [str(rejection) for rejection in found if rejection.why.startswith("Google rejects this")]


def test_a_renamed_cluster_cannot_have_the_ranges_of_the_old_one() -> None:
    (line,) = rejected(platform({"east": EAST}), platform({"west": EAST}))
    assert "10.0.0.0/20 (nodesCidr), 10.64.0.0/14 (podsCidr), 10.32.0.0/20 (servicesCidr) overlaps ranges of" in line
    assert "lab-east, which exist until the update ends" in line


def test_the_remedy_works_as_it_is_typed() -> None:
    (line,) = rejected(platform({"east": EAST}), platform({"west": EAST}))
    typed = dict(re.findall(r"clusters\.west\.network\.(\w+): ([0-9./]+)", line))
    assert len(typed) == 3
    assert rejected(platform({"east": EAST}), platform({"west": {**EAST, "network": typed}})) == []
    assert rejected(platform({}) | {"clusters": {"old": {**EAST, "network": OTHER}}}, platform({"west": EAST})) == []


@pytest.mark.parametrize(
    ("before", "after", "number"),
    [
        ({"east": EAST}, {"east": EAST}, 0),
        ({"east": EAST}, {"east": {**EAST, "network": {"nodesCidr": "10.0.0.0/19"}}}, 0),
        ({"east": EAST, "two": {**EAST, "network": OTHER}}, {"two": EAST}, 1),
        ({"east": EAST, "two": {**EAST, "network": OTHER}}, {"east": {**EAST, "network": OTHER}, "two": EAST}, 2),
    ],
)
def test_a_range_is_free_for_its_own_cluster_only(before: dict[str, Any], after: dict[str, Any], number: int) -> None:
    assert len(rejected(platform(before), platform(after))) == number


def test_another_network_has_its_own_ranges() -> None:
    assert rejected(platform({"east": EAST}), platform({"west": EAST}, name="other")) == []


@pytest.mark.parametrize(("key", "name", "number"), [("east", "lab", 0), ("west", "lab", 1), ("west", "other", 0)])
def test_ranges_in_the_state_count(key: str, name: str, number: int) -> None:
    spec = parse_platform(platform({key: EAST}, name))
    assert len(list(conflicts(in_state(STATE, spec), spec))) == number


@pytest.mark.parametrize(
    ("kind", "outputs"),
    [
        ("compute/subnetwork:Subnetwork", None),
        ("compute/subnetwork:Subnetwork", {"name": "lab-east"}),
        ("compute/subnetwork:Subnetwork", {"network": "n/lab", "name": "lab-east", "ipCidrRange": "10.0.0.0/40"}),
        ("compute/subnetwork:Subnetwork", {"network": "n/lab", "name": "lab-east", "ipCidrRange": {"ciphertext": ""}}),
        (
            "compute/subnetwork:Subnetwork",
            {"network": "n/lab", "name": "a", "ipCidrRange": "", "secondaryIpRanges": [{}]},
        ),
        ("container/cluster:Cluster", {"network": "n/lab"}),
        ("container/cluster:Cluster", {"network": "n/lab", "name": "a", "privateClusterConfig": "secret"}),
    ],
)
def test_addresses_that_the_state_lacks_are_not_taken_for_free(kind: str, outputs: Any) -> None:
    found = {"type": f"gcp:{kind}", "urn": f"urn:pulumi:dev::p::gcp:{kind}::lab-east", "outputs": outputs}
    with pytest.raises(UnreadableState, match=r"^the state lacks addresses of lab-east \("):
        in_state([found], parse_platform(platform({"east": EAST})))
