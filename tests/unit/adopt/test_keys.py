"""Keys of a stack file: each cluster, pool and reservation that is imported has its own."""

from __future__ import annotations

import pytest

from tests.support.existing import adopted, cluster, left

pytestmark = pytest.mark.unit


def test_two_clusters_of_one_name_have_their_locations_in_their_keys() -> None:
    other = {**cluster("z"), "location": "us-east5-b", "nodePools": []}
    assert set(adopted(cluster("z"), other).config["clusters"]) == {"z-us-west4-a", "z-us-east5-b"}
    third = {**cluster("z"), "name": "z-us-east5-b", "nodePools": []}
    assert set(adopted(third, other, cluster("z")).config["clusters"]) == {
        "z-us-east5-b",
        "z-us-east5-b-us-east5-b",
        "z-us-west4-a",
    }


def test_numbered_pools_of_other_shapes_stay_apart() -> None:
    found = cluster("xpk-test")
    found["nodePools"][2]["placementPolicy"]["tpuTopology"] = "2x4"
    pools = adopted(found).config["clusters"]["xpk-test"]["pools"]
    assert {key: pool["topology"] for key, pool in pools.items()} == {"xpk-test-np": "4x4", "xpk-test-np-1": "2x4"}
    assert pools["xpk-test-np-1"]["adopted"]["names"] == ["xpk-test-np-1"]


def test_numbered_pools_of_a_second_shape_are_one_pool_too() -> None:
    found = cluster("xpk-test")
    template = found["nodePools"][2]
    found["nodePools"] += [
        {**template, "name": f"xpk-test-np-{number}", "placementPolicy": {"tpuTopology": "2x4"}} for number in (2, 3)
    ]
    pools = adopted(found).config["clusters"]["xpk-test"]["pools"]
    assert {key: (pool["topology"], pool["slices"]) for key, pool in pools.items()} == {
        "xpk-test-np": ("4x4", 2),
        "xpk-test-np-2": ("2x4", 2),
    }


def test_no_pool_has_the_key_of_another() -> None:
    found = cluster("xpk-test")
    default, template = found["nodePools"][0], found["nodePools"][2]
    shapes = {"a-0": "4x4", "a-1-0": "4x4", "a-1-1": "4x4", "a-1": "2x4", "system": "2x2", "system-pool": "2x2"}
    machines = {"2x2": {**template["config"], "machineType": "ct6e-standard-4t"}}
    found["nodePools"] = [
        default,
        *(
            {**template, "name": name, "placementPolicy": {"tpuTopology": topology}}
            | ({"config": machines[topology]} if topology in machines else {})
            for name, topology in shapes.items()
        ),
    ]
    pools = adopted(found).config["clusters"]["xpk-test"]["pools"]
    names = {key: pool["adopted"]["names"] for key, pool in pools.items()}
    assert names == {
        "a": ["a-0"],
        "a-1": ["a-1-0", "a-1-1"],
        "a-1-pool": ["a-1"],
        "system-pool": ["system"],
        "system-pool-pool": ["system-pool"],
    }


@pytest.mark.parametrize(
    ("zone", "project", "why"),
    [
        ("us-central1-b", "projects/bank/reservations/", "(zone us-central1-b, project bank, generation v6e)"),
        ("us-central1-c", "", "(zone us-central1-c, generation v6e)"),
    ],
)
def test_a_second_reservation_of_a_name_is_left(zone: str, project: str, why: str) -> None:
    found = cluster("gke-tpu-v6e")
    other = {**found["nodePools"][1], "name": "other", "locations": [zone]}
    affinity = {"consumeReservationType": "SPECIFIC_RESERVATION", "values": [f"{project}v6e-res"]}
    other["config"] = {**other["config"], "reservationAffinity": affinity}
    found["nodePools"].append(other)
    result = adopted(found)
    assert set(result.config["clusters"]["gke-tpu-v6e"]["pools"]) == {"gke-tpu-v6e-pool"}
    assert result.config["reservations"] == {"v6e-res": {"zone": "us-central1-b", "generation": "v6e", "chips": 16}}
    (line,) = left(result)
    assert line.startswith("cluster gke-tpu-v6e, node pool other: its reservation is v6e-res " + why)
    assert "(zone us-central1-b, generation v6e)" in line
