"""A job that names its capacity, machine or class finds the one flavor that is so, as Kueue reads selectors."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from tpuplane.plan import plan
from tpuplane.spec import parse_platform
from tpuplane.spec.core.locations import region_of
from tpuplane.workloads.accelerators import SliceGroupSpec
from tpuplane.workloads.pods import pod_spec

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
    spec = parse_platform(
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
    return {pool: (flavor.name, flavor.node_labels) for flavor in queues.flavors for pool in flavor.pools}


def taken(**group: Any) -> set[str]:
    """The pools whose flavors Kueue gives pods of such a group.

    It looks at those selectors and expressions whose key is a label of any flavor in the queue, and holds them against
    each flavor's labels alone (pkg/scheduler/flavorassigner, v0.18.3).
    """
    found = {pool: labels for pool, (_, labels) in flavors().items()}
    known = {key for labels in found.values() for key in labels}
    pod = pod_spec(SliceGroupSpec.model_validate({**V6E, "image": "i", **group}), "c")
    selector = {key: value for key, value in pod["nodeSelector"].items() if key in known}
    affinity = pod.get("affinity", {}).get("nodeAffinity", {}).get("requiredDuringSchedulingIgnoredDuringExecution", {})
    absent = {
        expression["key"] for term in affinity.get("nodeSelectorTerms", ()) for expression in term["matchExpressions"]
    } & known
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


def test_reservations_and_classes_whose_names_run_together_have_flavors_of_their_own() -> None:
    """Jobs on a pool of a class, and jobs on another reservation, have the same words in the names of their flavors."""
    classes = {"own": "b-class-c", "first": "c", "second": "b-class-d", "third": "d"}
    reserved = {"own": "r", "first": "r-class-b", "second": "r-class-x-class-y", "third": "r-class-x-class-y-class-b"}
    pools = {pool: {**V6E, "capacity": "reservation", "reservation": {"name": name}} for pool, name in reserved.items()}
    spec = parse_platform(
        {
            "name": "lab",
            "project": "tpuplane-lab",
            "reservations": {
                name: {"generation": "v6e", "zone": "us-central1-b", "chips": 8} for name in reserved.values()
            },
            "classes": {name: {"priorities": [{"nodepools": [pool]}]} for pool, name in classes.items()},
            "teams": {"a": {"clusters": {"main": {"pools": {name: {"slices": 1} for name in pools}}}}},
            "clusters": {"main": {"location": "us-central1-b", "addons": {"kueue": {}}, "pools": pools}},
        }
    )
    queues = plan(spec).clusters[0].queues
    assert queues is not None
    names = {flavor.pools: flavor.name for flavor in queues.flavors if flavor.slices}
    assert len(set(names.values())) == len(pools)
    assert names["own",] == "v6e-2x4-reservation-r-class-b-class-c", "only the other name can be read in two ways"


HOW: list[dict[str, Any]] = [
    {},
    {"capacity": "spot"},
    {"capacity": "flex-start"},
    {"capacity": "flex-start", "flexStart": {"queued": True}},
    {"capacity": "reservation", "reservation": {"name": "ours"}},
]
SHARED: list[dict[str, Any]] = [{}, {"sharing": {"strategy": "MPS", "maxClients": 4}}]
DIVIDED: list[dict[str, Any]] = [{}, {"partitionSize": "1g.5gb"}]
SLICES = {"generation": "v6e", "topology": "4x4", "zone": "us-east5-b"}
CUBES = {"generation": "tpu7x", "topology": "4x4x4", "zone": "us-central1-c", "slices": 2}
CUBES |= {
    "capacity": "reservation",
    "acceleratorTopologyMode": "PROVISION_ONLY",
    "reservation": {"name": "ours", "block": "one"},
}
A100 = {"machineType": "a2-highgpu-1g", "zones": ["us-central1-a"]}


def labels_of(kind: str, pool: dict[str, Any], reserved: dict[str, Any], *, classed: bool) -> dict[str, str]:
    """Labels of the flavor of one such pool of `pools` or `gpuPools`."""
    most = "maxSlices" if kind == "pools" else "maxNodes"
    zone = pool.get("zone") or pool["zones"][0]
    pool = {**pool, "autoscaling": {most: 1}} if pool.get("capacity") == "flex-start" else pool
    spec = parse_platform(
        {
            "name": "lab",
            "project": "tpuplane-lab",
            "reservations": {"ours": reserved} if "reservation" in pool else {},
            "classes": {"dear": {"priorities": [{"nodepools": ["it"]}]}} if classed else {},
            "teams": {"a": {"clusters": {"main": {kind: {"it": {"nodes" if most == "maxNodes" else "slices": 1}}}}}},
            "clusters": {"main": {"location": region_of(zone), "addons": {"kueue": {}}, kind: {"it": pool}}},
        }
    )
    queues = plan(spec).clusters[0].queues
    assert queues is not None
    return queues.flavors[-1].node_labels


@pytest.mark.parametrize("classed", [False, True])
def test_no_flavor_has_more_labels_than_kueues_crd_takes_and_all_keep_what_jobs_select_by(classed: bool) -> None:
    of_v6e = {"generation": "v6e", "zone": "us-east5-b", "chips": 16}
    of_tpu7x = {"generation": "tpu7x", "zone": "us-central1-c", "chips": 256}
    of_gpus = {"accelerator": "nvidia-tesla-a100", "zone": "us-central1-a", "gpus": 1}
    found = [labels_of("pools", {**SLICES, **how}, of_v6e, classed=classed) for how in HOW]
    found.append(labels_of("pools", CUBES, of_tpu7x, classed=classed))
    for how, shared, divided in product(HOW, SHARED, DIVIDED):
        labels = labels_of("gpuPools", {**A100, **how, **shared, **divided}, of_gpus, classed=classed)
        assert ("cloud.google.com/gke-gpu-sharing-strategy" in labels) == bool(shared)
        assert ("cloud.google.com/gke-gpu-partition-size" in labels) == bool(divided)
        found.append(labels)
    assert max(len(labels) for labels in found) == 8
    for labels in found:
        assert len(labels) <= 8, labels
        assert {"tpuplane-flavor", "node.kubernetes.io/instance-type"} <= labels.keys()
        assert ("cloud.google.com/compute-class" in labels) == classed
