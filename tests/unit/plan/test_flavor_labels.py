"""A job that names its capacity, machine or class finds the one flavor that is so, as Kueue reads selectors."""

from __future__ import annotations

from typing import Any

import pytest
from tpuplane.plan import plan
from tpuplane.spec import PlatformSpec
from tpuplane.workloads.pods import pod_spec
from tpuplane.workloads.slices import SliceGroupSpec

pytestmark = pytest.mark.unit

V6E = {"generation": "v6e", "topology": "2x4"}
LONG = "a-reservation-with-a-name-that-is-as-long-as-google-allows-it"
POOLS: dict[str, Any] = {
    "plain": V6E,
    "large": {**V6E, "machineType": "ct6e-standard-8t"},
    "spot": {**V6E, "capacity": "spot"},
    "flex": {**V6E, "capacity": "flex-start", "flexStart": {"queued": True}, "autoscaling": {"maxSlices": 1}},
    "ours": {**V6E, "capacity": "reservation", "reservation": {"name": "ours"}},
    "theirs": {**V6E, "capacity": "reservation", "reservation": {"name": LONG}},
    "classed": V6E,
}
GPUS = {"l4s": {"machineType": "g2-standard-12", "zones": ["asia-northeast1-b"], "nodes": 1}}


def flavors() -> dict[str, tuple[str, dict[str, str]]]:
    """Name and labels of the flavor of each pool."""
    quotas = {name: {"slices": 1} for name in POOLS}
    reserved = {"generation": "v6e", "zone": "asia-northeast1-b", "chips": 8}
    spec = PlatformSpec.parse(
        {
            "name": "lab",
            "project": "tpuplane-lab",
            "reservations": {"ours": reserved, LONG: {**reserved, "project": "other-project"}},
            "classes": {"dear": {"priorities": [{"nodepools": ["classed"]}]}},
            "teams": {"a": {"clusters": {"main": {"pools": quotas, "gpuPools": {"l4s": {"nodes": 1}}}}}},
            "clusters": {
                "main": {"location": "asia-northeast1-b", "addons": {"kueue": {}}, "pools": POOLS, "gpuPools": GPUS}
            },
        }
    )
    queues = plan(spec).clusters[0].queues
    assert queues is not None
    return {pool: (it.name, it.node_labels) for it in queues.flavors for pool in it.pools}


def taken(**group: Any) -> set[str]:
    """The pools whose flavors Kueue gives pods of such a group.

    It looks at those selectors and expressions whose key is a label of any flavor in the queue, and holds them against
    each flavor's labels alone (pkg/scheduler/flavorassigner, v0.16.1).
    """
    found = {pool: labels for pool, (_, labels) in flavors().items()}
    known = {key for labels in found.values() for key in labels}
    pod = pod_spec(SliceGroupSpec.model_validate({**V6E, "image": "i", **group}), "c")
    selector = {key: value for key, value in pod["nodeSelector"].items() if key in known}
    affinity = pod.get("affinity", {}).get("nodeAffinity", {}).get("requiredDuringSchedulingIgnoredDuringExecution", {})
    absent = {it["key"] for term in affinity.get("nodeSelectorTerms", ()) for it in term["matchExpressions"]} & known
    return {pool for pool, labels in found.items() if selector.items() <= labels.items() and absent.isdisjoint(labels)}


@pytest.mark.parametrize(
    ("group", "pools"),
    [
        ({}, {"plain", "spot", "flex", "ours", "theirs", "classed"}),
        ({"machineType": "ct6e-standard-4t"}, {"plain", "spot", "flex", "ours", "theirs", "classed"}),
        ({"machineType": "ct6e-standard-8t"}, {"large"}),
        ({"capacity": "on-demand"}, {"plain", "classed"}),
        ({"capacity": "spot"}, {"spot"}),
        ({"capacity": "flex-start"}, {"flex"}),
        ({"capacity": "reservation", "reservation": "ours"}, {"ours"}),
        ({"capacity": "reservation", "reservation": LONG}, {"theirs"}),
        ({"computeClass": "dear"}, {"classed"}),
    ],
)
def test_a_job_is_given_a_flavor_that_is_as_it_says(group: dict[str, Any], pools: set[str]) -> None:
    assert taken(**group) == pools


def test_each_way_of_having_hosts_is_a_flavor_whose_name_is_a_label_too() -> None:
    names = [name for name, _ in flavors().values()]
    assert len(set(names)) == len(names)
    assert flavors()["ours"][0] == "v6e-2x4-reservation-ours"
    for _, labels in flavors().values():
        assert all(len(value) <= 63 for value in labels.values())
