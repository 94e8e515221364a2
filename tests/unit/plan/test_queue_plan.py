"""Queues follow from the pools: flavors are the pools' own shapes, and quotas are whole slices of them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tpuplane.plan import plan
from tpuplane.plan.queue_model import QueuesPlan
from tpuplane.spec import parse_platform

from tests.support.queue_quotas import V6E, chips

pytestmark = pytest.mark.unit

POOLS: dict[str, Any] = {
    "trainer": {**V6E, "slices": 3},
    "cheap": {**V6E, "slices": 2, "capacity": "spot"},
    "more": {**V6E, "slices": 1},
    "small": {"generation": "v6e", "topology": "2x4", "machineType": "ct6e-standard-8t", "slices": 2},
}


def queues_of(
    teams: dict[str, Any], pools: dict[str, Any] | None = None, classes: dict[str, Any] | None = None, **queues: Any
) -> QueuesPlan:
    """The queues of one cluster whose teams have these quotas by pool."""
    spec = parse_platform(
        {
            "name": "lab",
            "project": "tpuplane-lab",
            "queues": queues,
            "classes": classes or {},
            "teams": {name: {"clusters": {"main": {"pools": quotas}}} for name, quotas in teams.items()},
            "clusters": {"main": {"location": "us-central1-b", "addons": {"kueue": {}}, "pools": pools or POOLS}},
        }
    )
    found = plan(spec).clusters[0].queues
    assert found is not None
    return found


def test_pools_of_one_shape_and_capacity_are_one_flavor() -> None:
    queues = queues_of({"a": {"trainer": {"slices": 2}, "more": {"chips": 16}, "small": {"slices": 1}}})
    assert [(flavor.name, flavor.pools, flavor.slices) for flavor in queues.flavors] == [
        ("cpu", ("system",), 0),
        ("v6e-2x4-8t", ("small",), 2),
        ("v6e-4x4", ("trainer", "more"), 4),
    ]
    assert chips(queues.cluster_queues[0].flavors) == {
        "cpu": (0, None, None),
        "v6e-2x4-8t": (8, None, None),
        "v6e-4x4": (48, None, None),
    }


def test_capacity_decides_which_flavor_is_tried_first() -> None:
    teams = {"a": {"trainer": {"slices": 1}, "cheap": {"slices": 1}}}
    assert [flavor.name for flavor in queues_of(teams).flavors] == ["cpu", "v6e-4x4", "v6e-4x4-spot"]
    cheap_first = queues_of(teams, capacityOrder=["spot", "on-demand"])
    assert [quota.flavor for quota in cheap_first.cluster_queues[0].flavors] == ["cpu", "v6e-4x4-spot", "v6e-4x4"]


def test_limits_are_in_the_unit_of_the_quota() -> None:
    queues = queues_of(
        {
            "a": {"trainer": {"slices": 2, "borrowingLimit": 1, "lendingLimit": 0}},
            "b": {"trainer": {"chips": 16, "borrowingLimit": 32}},
        }
    )
    assert chips(queues.cluster_queues[0].flavors)["v6e-4x4"] == (32, 16, 0)
    assert chips(queues.cluster_queues[1].flavors)["v6e-4x4"] == (16, 32, None)


@pytest.mark.parametrize(
    ("limits", "borrowing", "lending"),
    [
        (({}, {}), None, None),
        (({"lendingLimit": 0}, {}), None, 16),
        (({}, {"lendingLimit": 0}), None, 16),
        (({"lendingLimit": 1, "borrowingLimit": 1}, {"lendingLimit": 0, "borrowingLimit": 0}), 16, 16),
        (({"borrowingLimit": 0}, {}), None, None),
    ],
)
def test_limits_of_two_pools_of_a_flavor_add_up_and_what_one_keeps_stays_kept(
    limits: tuple[dict[str, int], dict[str, int]], borrowing: int | None, lending: int | None
) -> None:
    first, second = limits
    queues = queues_of({"a": {"trainer": {"slices": 1, **first}, "more": {"slices": 1, **second}}})
    assert chips(queues.cluster_queues[0].flavors)["v6e-4x4"] == (32, borrowing, lending)


def test_a_flavor_has_the_labels_of_its_pools_and_tolerates_their_taint() -> None:
    queues = queues_of({"a": {"cheap": {"slices": 1}}})
    (flavor,) = [flavor_ for flavor_ in queues.flavors if flavor_.name != "cpu"]
    assert flavor.node_labels == {
        "cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice",
        "cloud.google.com/gke-tpu-topology": "4x4",
        "cloud.google.com/gke-accelerator-count": "4",
        "node.kubernetes.io/instance-type": "ct6e-standard-4t",
        "cloud.google.com/gke-spot": "true",
        "tpuplane-capacity": "spot",
        "tpuplane-flavor": "v6e-4x4-spot",
    }
    assert flavor.tolerated_taints == ("google.com/tpu",)


def test_a_pod_that_names_the_system_pool_fits_no_flavor_but_its_own() -> None:
    """Kueue holds a selector against the labels of a flavor, once any flavor of the queue has the key."""
    flavors = queues_of({"a": {"trainer": {"slices": 1}, "cheap": {"slices": 1}}}).flavors
    assert [flavor.name for flavor in flavors if flavor.node_labels.get("tpuplane-pool") == "system"] == ["cpu"]


ELASTIC = {**POOLS, "trainer": {**V6E, "autoscaling": {"maxSlices": 3}}}


def test_one_teams_autoscaled_pool_changes_nothing_for_another() -> None:
    teams = {"a": {"trainer": {"slices": 1}}, "b": {"more": {"slices": 1}, "cheap": {"slices": 1}}}
    alone = queues_of({"b": teams["b"]})
    both = queues_of(teams, ELASTIC)
    assert [cluster_queue for cluster_queue in both.cluster_queues if cluster_queue.team == "b"] == list(
        alone.cluster_queues
    )
    assert [flavor for flavor in both.flavors if flavor.topology] == list(alone.flavors)
    assert {flavor.name: (flavor.topology, flavor.pools) for flavor in both.flavors} == {
        "cpu": ("slices", ("system",)),
        "cpu-elastic": (None, ("system",)),
        "v6e-4x4": ("slices", ("more",)),
        "v6e-4x4-elastic": (None, ("trainer",)),
        "v6e-4x4-spot": ("slices", ("cheap",)),
    }


def test_every_queue_has_flavors_of_one_sort() -> None:
    """Kueue gives a job that names no topology none of the flavors with one, unless all of its queue have one."""
    quotas = {"trainer": {"slices": 1}, "more": {"slices": 1}}
    queues = queues_of({"a": quotas, "b": {"trainer": {"slices": 1}}, "c": {}}, ELASTIC)
    placed = {flavor.name: flavor.topology is not None for flavor in queues.flavors}
    assert {
        cluster_queue.name: {placed[quota.flavor] for quota in cluster_queue.flavors}
        for cluster_queue in queues.cluster_queues
    } == {"a": {True}, "a-elastic": {False}, "b": {True}, "b-elastic": {False}, "c": {True}}
    assert {team.name: team.local_queues for team in queues.teams} == {
        "a": {"default": "a", "default-elastic": "a-elastic"},
        "b": {"default": "b-elastic", "default-elastic": "b-elastic"},
        "c": {"default": "c"},
    }


def test_nodes_of_an_autoscaled_pool_are_not_those_of_a_fixed_one() -> None:
    queues = queues_of({"a": {"trainer": {"slices": 1}, "more": {"slices": 1}}}, ELASTIC)
    labels = {flavor.name: flavor.node_labels for flavor in queues.flavors}
    assert {key for key in labels["v6e-4x4"] if labels["v6e-4x4"][key] != labels["v6e-4x4-elastic"][key]} == {
        "tpuplane-flavor"
    }


def test_a_class_that_is_called_elastic_makes_no_flavor_autoscaled() -> None:
    pools = {"fixed": V6E, "more": {**V6E, "autoscaling": {"maxSlices": 2}}}
    classes = {"x-elastic": {"priorities": [{"nodepools": ["fixed"]}]}, "x": {"priorities": [{"nodepools": ["more"]}]}}
    queues = queues_of({"a": {"fixed": {"slices": 1}, "more": {"slices": 1}}}, pools, classes)
    assert {flavor.pools: flavor.topology for flavor in queues.flavors if flavor.slices} == {
        ("fixed",): "slices",
        ("more",): None,
    }


def test_hosts_of_a_flavor_have_the_storage_of_the_largest_pool() -> None:
    pools = {"trainer": V6E, "more": {**V6E, "diskSizeGb": 500}}
    (_, flavor) = queues_of({"a": {"more": {"slices": 1}, "trainer": {"slices": 1}}}, pools).flavors
    assert flavor.per_slice["ephemeral-storage"] == 4 * 500


def test_pools_of_a_class_are_a_flavor_of_their_own() -> None:
    """Their taints are not those of other pools of the shape."""
    pools = {"trainer": {**V6E, "slices": 3}, "more": V6E}
    classes = {"dear": {"priorities": [{"nodepools": ["trainer"]}]}}
    queues = queues_of({"a": {"trainer": {"slices": 1}, "more": {"slices": 1}}}, pools, classes)
    assert {flavor.name: (flavor.pools, flavor.tolerated_taints) for flavor in queues.flavors if flavor.slices} == {
        "v6e-4x4": (("more",), ("google.com/tpu",)),
        "v6e-4x4-class-dear": (("trainer",), ("google.com/tpu", "cloud.google.com/compute-class")),
    }


def test_a_flavor_with_a_topology_has_a_label_in_a_cluster_that_exists_too() -> None:
    """Kueue rejects one without: "at least one nodeLabel is required when topology is set"."""
    cluster = {
        "location": "us-central1-b",
        "existing": {"name": "theirs"},
        "addons": {"kueue": {}},
        "pools": {"a": V6E},
    }
    spec = {
        "name": "lab",
        "project": "tpuplane-lab",
        "teams": {"guests": {"clusters": {"main": {"pools": {"a": {"slices": 1}}}}}},
        "clusters": {"main": cluster},
    }
    queues = plan(parse_platform(spec)).clusters[0].queues
    assert queues is not None
    assert [(flavor.name, flavor.topology, bool(flavor.node_labels)) for flavor in queues.flavors] == [
        ("cpu", "slices", True),
        ("v6e-4x4", "slices", True),
    ]


def test_a_platform_without_teams_has_no_queues() -> None:
    spec = parse_platform({"name": "lab", "project": "tpuplane-lab", "clusters": {"main": {"location": "us-central1"}}})
    assert plan(spec).clusters[0].queues is None


@given(slices=st.integers(1, 6), parts=st.lists(st.integers(0, 6), min_size=1, max_size=4))
def test_teams_and_the_cohort_together_have_every_slice_once(slices: int, parts: list[int]) -> None:
    shares: list[int] = []
    for part in parts:
        shares.append(min(part, slices - sum(shares)))
    teams = {f"team-{index}": {"trainer": {"slices": share}} for index, share in enumerate(shares)}
    queues = queues_of(teams, {"trainer": {**V6E, "slices": slices}})
    own = sum(chips(queue.flavors).get("v6e-4x4", (0, None, None))[0] for queue in queues.cluster_queues)
    assert own == 16 * sum(shares)
    assert own + chips(queues.shared).get("v6e-4x4", (0, None, None))[0] == 16 * slices
