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
VPC = "https://www.googleapis.com/compute/v1/projects/tpuplane-lab/global/networks/lab"
PROXIES = {
    "type": "gcp:compute/subnetwork:Subnetwork",
    "outputs": {
        "name": "lab-east-proxies",
        "region": "us-east5",
        "network": VPC,
        "ipCidrRange": "10.2.0.0/23",
        "role": "ACTIVE",
    },
}
SERVICES = {
    "type": "gcp:compute/globalAddress:GlobalAddress",
    "outputs": {"name": "lab-services", "network": VPC, "address": "10.1.0.0", "prefixLength": 20},
}


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


def conflicting(state: list[dict[str, Any]], clusters: dict[str, Any]) -> list[str]:
    spec = parse_platform(platform(clusters))
    return [str(rejection) for rejection in conflicts(in_state(state, spec), spec)]


def test_a_subnetwork_for_proxies_in_the_state_has_the_range_of_its_cluster() -> None:
    state = [*STATE, PROXIES]
    assert conflicting(state, {"east": {**EAST, "network": {"proxiesCidr": "10.2.0.0/23"}}}) == []
    assert conflicting(state, {"east": {**EAST, "network": {"proxiesCidr": "10.2.0.0/22"}}}) == []
    (line,) = conflicting(state, {"east": {**EAST, "network": {"nodesCidr": "10.2.0.0/20"}}})
    assert "10.2.0.0/20 (nodesCidr) overlaps ranges of lab-east-proxies" in line


@pytest.mark.parametrize("proxies", ["10.2.0.0/23", "10.3.0.0/23"])
def test_the_subnetwork_for_proxies_moves_to_another_cluster_in_two_updates(proxies: str) -> None:
    old = {"east": {**EAST, "network": {"proxiesCidr": "10.2.0.0/23"}}, "two": {**EAST, "network": OTHER}}
    new = {"east": EAST, "two": {**EAST, "network": {**OTHER, "proxiesCidr": proxies}}}
    expected = (
        "Google rejects this: us-east5 has the proxy-only subnetwork lab-east-proxies until the update ends. Remove "
        "clusters.two.network.proxiesCidr, run `pulumi up`, add it again and repeat `pulumi up`."
    )
    assert rejected(platform(old), platform(new)) == [expected]
    assert conflicting([*STATE, PROXIES], new) == [expected]
    between = {"east": EAST, "two": {**EAST, "network": OTHER}}
    assert rejected(platform(old), platform(between)) == rejected(platform(between), platform(new)) == []
    new["two"]["location"] = "us-central1"
    assert len(rejected(platform(old), platform(new))) == (1 if proxies == "10.2.0.0/23" else 0)


def test_a_range_of_proxies_is_free_after_an_update_without_it() -> None:
    old = {"east": {**EAST, "network": {"proxiesCidr": "10.2.0.0/23"}}, "two": {**EAST, "network": OTHER}}
    central = {**EAST, "location": "us-central1", "network": {**OTHER, "proxiesCidr": "10.2.0.0/23"}}
    (line,) = rejected(platform(old), platform({"east": EAST, "two": central}))
    assert "overlaps ranges of lab-east-proxies" in line
    assert "; or remove clusters.two.network.proxiesCidr, run `pulumi up`" in line


def test_private_services_access_has_a_range_in_the_state() -> None:
    address = {**SERVICES, "outputs": {**SERVICES["outputs"], "purpose": "VPC_PEERING"}}
    clusters = {"east": EAST, "services": {**EAST, "network": OTHER}}
    (line,) = conflicting([*STATE, address], clusters)
    assert line == (
        "Google rejects this: 10.1.0.0/20 (nodesCidr) overlaps ranges of private services access, which exist until "
        "the update ends. Set clusters.services.network.nodesCidr: 10.0.16.0/20."
    )
    assert conflicting([*STATE, SERVICES], clusters) == []  # an address of another purpose
    assert conflicting([*STATE, address], {"east": EAST}) == []


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
        ("compute/subnetwork:Subnetwork", {"network": "n/lab", "name": "a", "ipCidrRange": "", "role": "ACTIVE"}),
        ("compute/globalAddress:GlobalAddress", None),
        ("compute/globalAddress:GlobalAddress", {"network": "n/lab", "name": "a", "purpose": "VPC_PEERING"}),
        ("container/cluster:Cluster", {"network": "n/lab"}),
        ("container/cluster:Cluster", {"network": "n/lab", "name": "a", "privateClusterConfig": "secret"}),
    ],
)
def test_addresses_that_the_state_lacks_are_not_taken_for_free(kind: str, outputs: Any) -> None:
    found = {"type": f"gcp:{kind}", "urn": f"urn:pulumi:dev::p::gcp:{kind}::lab-east", "outputs": outputs}
    with pytest.raises(UnreadableState, match=r"^the state lacks addresses of lab-east \("):
        in_state([found], parse_platform(platform({"east": EAST})))
