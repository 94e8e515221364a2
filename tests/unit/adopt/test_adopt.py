"""From Google's answers to a stack file."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from googleapiclient.discovery_cache import get_static_doc
from tpuplane.plan import plan
from tpuplane.plan.summary import system_nodes
from tpuplane.spec import SpecError, parse_platform

from tests.support.existing import CLUSTERS, Json, adopted, cluster, left, spec

pytestmark = pytest.mark.unit


def in_file(*clusters: Json, **facts: Any) -> Json:
    """The first cluster in the stack file."""
    found: Json = adopted(*clusters, **facts).config["clusters"]
    return next(iter(found.values()))


def test_the_slices_of_xpk_are_one_pool() -> None:
    found = adopted(cluster("xpk-test"))
    pools = found.config["clusters"]["xpk-test"]
    np = pools["pools"]["xpk-test-np"]
    expected = {"generation": "v6e", "topology": "4x4", "zone": "us-central1-b", "slices": 2}
    assert expected.items() <= np.items()
    assert (np["maxPodsPerNode"], np["hostMaintenance"]) == (15, "AS_NEEDED")
    assert np["adopted"] == {"names": ["xpk-test-np-0", "xpk-test-np-1"]}
    assert [pool.name for pool in plan(spec(found)).clusters[0].pools] == ["xpk-test-np-0", "xpk-test-np-1"]
    assert pools["systemPool"]["adopted"]["names"] == ["default-pool"]
    assert pools["adopted"] == {"name": "xpk-test"}
    why = "a stack file describes only one CPU pool, which is default-pool"
    assert left(found) == [f"cluster xpk-test, node pool cpu-np: {why}"]


def test_a_pool_of_a_compute_class_has_the_taint_of_its_class() -> None:
    found = cluster("svc")
    taint = {"key": "cloud.google.com/compute-class", "value": "research", "effect": "NO_SCHEDULE"}
    found["nodePools"][1]["config"] |= {"labels": {taint["key"]: taint["value"]}, "taints": [taint]}
    result = adopted(found)
    assert left(result) == []
    (pool,) = plan(spec(result)).clusters[0].tpu_pools
    assert pool.compute_class == "research"
    found["nodePools"][1]["config"]["taints"][0]["value"] = "serving"
    (line,) = left(adopted(found))
    assert line.startswith("cluster svc, node pool t, taint cloud.google.com/compute-class=serving:NoSchedule: ")
    new = result.config
    del new["clusters"]["svc"]["pools"]["t"]["adopted"]
    with pytest.raises(SpecError, match="'research' is not a compute class of this cluster"):
        parse_platform(new)


def test_a_cluster_of_cluster_toolkit() -> None:
    found = adopted(cluster("gke-tpu-v6e"))
    config = found.config
    made = config["clusters"]["gke-tpu-v6e"]
    assert made["network"]["existing"] == {"network": "gke-tpu-v6e-net-0", "subnetwork": "gke-tpu-v6e-sub-0"}
    assert made["controlPlane"]["masterCidr"] == "172.16.0.32/28"
    assert made["controlPlane"]["authorizedNetworks"] == [{"cidr": "203.0.113.7/32", "name": "kubectl-access-network"}]
    assert made["nodeServiceAccount"] == "gke-tpu-v6e-gke-np-sa@acme-ml.iam.gserviceaccount.com"
    assert made["storage"] == {"gcsFuse": True, "filestore": True, "lustre": True}
    pool = made["pools"]["gke-tpu-v6e-pool"]
    assert pool["adopted"] == {"names": ["gke-tpu-v6e-pool"]}
    assert pool["reservation"] == {"name": "v6e-res"}
    assert pool["extraNetworks"] == [{"network": "gke-tpu-v6e-net-1", "subnetwork": "gke-tpu-v6e-sub-1"}]
    assert config["reservations"] == {"v6e-res": {"zone": "us-central1-b", "generation": "v6e", "chips": 16}}
    assert left(found) == []


def test_the_catalogues_do_not_judge_what_exists() -> None:
    found = cluster("xpk-test")
    found["location"] = "us-central1-b"
    pools = {node_pool["name"]: node_pool for node_pool in found["nodePools"]}
    elsewhere, flex = pools["xpk-test-np-0"], pools["xpk-test-np-1"]
    elsewhere["locations"] = ["us-central1-f"]
    flex["locations"], flex["initialNodeCount"] = ["us-central1-c"], 0
    flex["autoscaling"] = {"enabled": True, "maxNodeCount": 4}
    flex["management"] = {"autoUpgrade": True}
    flex["config"] |= {"flexStart": True, "maxRunDuration": "3600s", "diskType": "hyperdisk-next"}
    pools["default-pool"]["config"] |= {"machineType": "c9-standard-8", "diskType": "hyperdisk-next"}
    result = adopted(found)
    assert {text.partition(":")[0] for text in left(result)} == {"cluster xpk-test, node pool cpu-np"}
    made = result.config["clusters"]["xpk-test"]
    assert {pool["zone"] for pool in made["pools"].values()} == {"us-central1-f", "us-central1-c"}
    assert made["systemPool"]["machineType"] == "c9-standard-8"
    said = {(str(warning.path[2]), str(warning.path[-1])) for warning in result.warnings}
    assert {("systemPool", "machineType"), ("pools", "zone"), ("pools", "diskType")} <= said
    plan(spec(result))
    (own,) = (pool for pool in made["pools"].values() if pool["zone"] == "us-central1-f")
    own["zone"] = "us-east5-b"
    with pytest.raises(SpecError, match="'us-east5-b' is not in the cluster's region"):
        spec(result)
    own |= {"zone": "us-central1-f", "slices": 2}
    with pytest.raises(SpecError, match="us-central1-f"):
        spec(result)  # the second slice does not exist


def test_a_zonal_cluster_without_a_channel() -> None:
    made = in_file(cluster("z"))
    assert (made["location"], made["releaseChannel"]) == ("us-west4-a", "UNSPECIFIED")
    assert made["pools"]["v5e"]["capacity"] == "spot"
    assert (made["pools"]["v5e"]["topology"], made["pools"]["v5e"]["slices"]) == ("2x2", 3)
    assert made["pools"]["v5e"]["autoUpgrade"] is False
    flexible = made["pools"]["auto"]
    assert flexible["flexStart"] == {"maxRunDuration": "86400s"}
    assert flexible["autoscaling"] == {"maxSlices": 1}
    assert flexible["topology"] == "4x4"


def test_a_zone_of_a_reservation_that_the_catalogues_lack_is_adopted() -> None:
    found = cluster("gke-tpu-v6e")
    (own,) = (pool for pool in found["nodePools"] if "reservationAffinity" in pool["config"])
    own["locations"] = ["us-central1-f"]
    result = adopted(found)
    assert left(result) == []
    assert result.config["reservations"] == {"v6e-res": {"zone": "us-central1-f", "generation": "v6e", "chips": 16}}
    result.config["clusters"]["gke-tpu-v6e"]["pools"]["gke-tpu-v6e-pool"]["slices"] = 2
    with pytest.raises(SpecError, match="'us-central1-f' is not known to offer v6e"):
        spec(result)


def test_a_workload_policy_stays_that_of_others() -> None:
    found = adopted(cluster("ironwood"))
    made = found.config["clusters"]["ironwood"]
    assert made["pools"]["iw"]["topology"] == "2x2x2"
    assert made["pools"]["iw"]["adopted"] == {"names": ["iw-0"], "ignoreChanges": ["placementPolicy"]}
    assert plan(spec(found)).clusters[0].tpu_pools[0].workload_policy is None
    assert left(found) == ["cluster ironwood, node pool win: its nodes run Windows"]


def test_cubes_for_dynamic_slicing_stay_cubes() -> None:
    found = cluster("ironwood")
    first = next(pool for pool in found["nodePools"] if pool["name"] == "iw-0")
    first["initialNodeCount"] = 16
    first["placementPolicy"] |= {"tpuTopology": "4x4x4", "acceleratorTopologyMode": "PROVISION_ONLY"}
    part = "projects/acme-ml/reservations/cubes/reservationBlocks/b1/reservationSubBlocks"
    used = first["config"]["reservationAffinity"] = {"consumeReservationType": "SPECIFIC_RESERVATION"}
    used["values"] = [f"{part}/s1"]
    second = copy.deepcopy(first)
    second["name"], second["config"]["reservationAffinity"]["values"] = "iw-1", [f"{part}/s2"]
    found["nodePools"] = [found["nodePools"][0], first, second]
    result = adopted(found)
    assert left(result) == []
    pools = plan(spec(result)).clusters[0].tpu_pools
    assert [(pool.name, pool.dynamic_slicing, pool.workload_policy) for pool in pools] == [
        ("iw-0", True, None),
        ("iw-1", True, None),
    ]


def test_a_shared_reservation_of_gpus() -> None:
    config = adopted(cluster("ironwood")).config
    pool = config["clusters"]["ironwood"]["gpuPools"]["h100"]
    assert (pool["accelerator"], pool["gpus"], pool["driver"]) == ("nvidia-h100-80gb", 8, "LATEST")
    assert pool["reservation"] == {"name": "h100s", "block": "b1"}
    held = {"zone": "us-central1-a", "accelerator": "nvidia-h100-80gb", "gpus": 8, "project": "shared-bank"}
    assert config["reservations"] == {"h100s": held}


def test_a_shared_vpc_is_named_by_its_path() -> None:
    existing = in_file(cluster("svc"))["network"]["existing"]
    assert existing["network"] == "projects/host-net-prj/global/networks/host-net-0"
    assert existing["subnetwork"] == "projects/host-net-prj/regions/us-east5/subnetworks/host-sub-0"
    assert (existing["podsRange"], existing["servicesRange"]) == ("p", "s")


def test_all_clusters_of_a_project_are_one_platform() -> None:
    found = adopted(*(cluster(described["name"]) for described in CLUSTERS))
    assert len(spec(found).clusters) == len(CLUSTERS)
    assert len(found.places) == len(CLUSTERS) + sum(len(described["nodePools"]) for described in CLUSTERS) - len(
        found.left
    )


def test_every_kind_of_logs_of_google_is_kept() -> None:
    part = json.loads(get_static_doc("container", "v1beta1"))["schemas"]["LoggingComponentConfig"]
    known = part["properties"]["enableComponents"]["items"]["enum"][1:]  # the first is the unspecified one
    found = {**cluster("svc"), "loggingConfig": {"componentConfig": {"enableComponents": known}}}
    result = adopted(found)
    assert left(result) == []
    assert list(spec(result).clusters["svc"].monitoring.logs) == known


def test_the_plan_has_the_nodes_of_the_cpu_pool() -> None:
    found = adopted(cluster("xpk-test"))
    (planned,) = plan(spec(found)).clusters
    assert planned.system_pool is not None
    assert planned.system_pool.zones == ("us-central1-b",)
    assert system_nodes(planned) == (1, 1000)


def test_silent_zones_and_current_sizes() -> None:
    found = cluster("z")
    (pool,) = (node_pool for node_pool in found["nodePools"] if node_pool["name"] == "v5e")
    pool["nodeCount"] = 5
    result = adopted(found, missing_zones=("us-east1-b",))
    assert spec(result).clusters["z"].pools["v5e"].slices == 5
    assert left(result)[0] == "zone us-east1-b: it did not answer, so its clusters are unknown"


def test_adopted_names_that_run_together_in_pulumi_are_rejected() -> None:
    network = {"existing": {"network": "n", "subnetwork": "s"}}
    one, other = ({"location": "us-west4-a", "network": network, "adopted": {}} for _ in range(2))
    shape = {"generation": "v5e", "topology": "2x2"}
    pools = ({"p": {**shape, "adopted": {"names": ["b-q"]}}}, {"q": shape})
    clusters = {
        key: {**described, "pools": own} for key, described, own in zip(("a", "a-b"), (one, other), pools, strict=True)
    }
    with pytest.raises(SpecError, match="has the name 'a-b-q' together with its cluster"):
        parse_platform({"name": "lab", "project": "acme-ml", "clusters": clusters})


def test_an_adopted_name_cannot_be_used_twice() -> None:
    config = adopted(cluster("svc")).config
    config["clusters"]["svc"]["pools"]["t"] |= {"slices": 2, "adopted": {"names": ["t", "t"]}}
    with pytest.raises(SpecError, match="is in the list twice"):
        parse_platform(config)
