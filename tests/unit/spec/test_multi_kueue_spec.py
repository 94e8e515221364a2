"""Names in `queues.multiKueue`: each is a cluster of the file, once. The rules between them stand in `rules.yaml`."""

from __future__ import annotations

from typing import Any

import pytest
from tpuplane.plan import plan
from tpuplane.spec import SpecError, parse_platform

from tests.support.spec.rule_table import ROWS, described

pytestmark = pytest.mark.unit

(RIGHT,) = [row["right"] for row in ROWS if row["rule"] == "multi-kueue-needs-kueue"]


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        (
            {"manager": "hob"},
            "queues.multiKueue.manager: 'hob' is not one of the clusters that can be the manager; allowed: hub",
        ),
        (
            {"workers": ["main", "hib"]},
            "queues.multiKueue.workers[1]: 'hib' is not one of the clusters that can be a worker; none exists",
        ),
        ({"workers": ["main", "main"]}, "queues.multiKueue.workers[1]: 'main' is in the list twice; remove one"),
        (
            {"dispatcher": "Random"},
            "queues.multiKueue.dispatcher: 'Random' is not allowed; allowed: AllAtOnce, Incremental",
        ),
    ],
    ids=["manager", "worker", "twice", "dispatcher"],
)
def test_a_wrong_name_is_one_clear_line(changes: dict[str, Any], line: str) -> None:
    wrong = {"platform": {"queues": {"multiKueue": {"manager": "hub", "workers": ["main"], **changes}}}}
    with pytest.raises(SpecError) as rejected:
        parse_platform(described(RIGHT, wrong))
    assert [str(mistake) for mistake in rejected.value.mistakes] == [line]


def test_a_team_has_its_namespaces_in_its_workers_and_in_the_manager() -> None:
    alone = {"platform": {"teams": {"research": {"clusters": {"main": {}}}, "local": {"clusters": {"more": {}}}}}}
    more = {"location": "us-central1", "addons": {"kueue": {}}}
    network = {"nodesCidr": "10.0.32.0/20", "podsCidr": "10.72.0.0/14", "servicesCidr": "10.32.32.0/20"}
    spec = parse_platform(described(RIGHT, alone, {"beside": {"more": {**more, "network": network}}}))
    assert (spec.workers_of("research"), spec.clusters_of("research")) == (("main",), ("main", "hub"))
    assert (spec.workers_of("local"), spec.clusters_of("local")) == ((), ("more",))


@pytest.mark.parametrize("gate", ["MultiKueue", "TopologyAwareScheduling"])
def test_a_manager_keeps_the_gates_that_it_and_what_its_workers_give_teams_need(gate: str) -> None:
    teams = {"platform": {"teams": {"research": {"clusters": {"main": {"pools": {"trainer": {"slices": 1}}}}}}}}
    off = {"beside": {"hub": {"addons": {"kueue": {"featureGates": {gate: False}}}}}}
    parse_platform(described(RIGHT, teams))
    with pytest.raises(SpecError) as rejected:
        parse_platform(described(RIGHT, teams, off))
    (mistake,) = rejected.value.mistakes
    assert str(mistake).startswith(f"clusters.hub.addons.kueue.featureGates.{gate}: cannot be false: ")


def with_ranges(*cidrs: str) -> dict[str, Any]:
    """A worker whose control plane these ranges can reach."""
    networks = [{"cidr": cidr, "name": "office"} for cidr in cidrs]
    return described(RIGHT, {"cluster": {"controlPlane": {"authorizedNetworks": networks}}})


def test_a_worker_has_room_for_the_range_of_the_managers_pods() -> None:
    offices = [f"10.0.{index}.0/24" for index in range(100)]
    with pytest.raises(SpecError) as rejected:
        parse_platform(with_ranges(*offices))
    assert [str(mistake) for mistake in rejected.value.mistakes] == [
        "clusters.main.controlPlane.authorizedNetworks: are 100, and the range of the manager's pods is added; "
        "allowed: 99 in a worker of queues.multiKueue; join or remove ranges"
    ]
    for ranges in (offices[:99], [*offices[:99], "10.68.0.0/14"]):
        main, _ = plan(parse_platform(with_ranges(*ranges))).clusters
        found = [network.cidr for network in main.control_plane.authorized_networks]
        assert found == [*offices[:99], "10.68.0.0/14"], "the manager's pods are in the list once"
