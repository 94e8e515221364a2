"""From Google's answers to a stack file, and from previews to import files and differences."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml
from tpuplane.adopt import Adopted, Facts, NotAdopted, describe
from tpuplane.adopt.inside import Inside, cluster_at, left_inside, teams
from tpuplane.adopt.resources import Change, changes, import_file, property_of
from tpuplane.plan import plan
from tpuplane.spec import PlatformSpec, SpecError, parse_platform

pytestmark = pytest.mark.unit

Json = dict[str, Any]
CLUSTERS: list[Json] = yaml.safe_load(Path(__file__).with_name("clusters.yaml").read_text())


def cluster(name: str) -> Json:
    return copy.deepcopy(next(it for it in CLUSTERS if it["name"] == name))


def adopted(*clusters: Json, **facts: Any) -> Adopted:
    found = describe(Facts("acme-ml", clusters, **facts), clusters[0]["name"])
    assert found.places, left(found)
    return found


def spec(found: Adopted) -> PlatformSpec:
    return parse_platform(found.config)


def in_file(*clusters: Json, **facts: Any) -> Json:
    """The first cluster in the stack file."""
    found: Json = adopted(*clusters, **facts).config["clusters"]
    return next(iter(found.values()))


def left(found: Adopted) -> list[str]:
    return [str(it) for it in found.left]


def test_the_slices_of_xpk_are_one_pool() -> None:
    found = adopted(cluster("xpk-test"))
    pools = found.config["clusters"]["xpk-test"]
    np = pools["pools"]["xpk-test-np"]
    expected = {"generation": "v6e", "topology": "4x4", "zone": "us-central1-b", "slices": 2}
    assert expected.items() <= np.items()
    assert (np["maxPodsPerNode"], np["hostMaintenance"]) == (15, "AS_NEEDED")
    assert np["adopted"] == {"names": ["xpk-test-np-0", "xpk-test-np-1"]}
    assert [it.name for it in plan(spec(found)).clusters[0].pools] == ["xpk-test-np-0", "xpk-test-np-1"]
    assert pools["systemPool"]["adopted"]["names"] == ["default-pool"]
    assert pools["adopted"] == {"name": "xpk-test"}
    why = "a stack file describes one CPU pool, and default-pool is that pool"
    assert left(found) == [f"cluster xpk-test, node pool cpu-np: {why}"]


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
    pools = {it["name"]: it for it in found["nodePools"]}
    elsewhere, flex = pools["xpk-test-np-0"], pools["xpk-test-np-1"]
    elsewhere["locations"] = ["us-central1-f"]
    flex["locations"], flex["initialNodeCount"] = ["us-central1-c"], 0
    flex["autoscaling"] = {"enabled": True, "maxNodeCount": 4}
    flex["management"] = {"autoUpgrade": True}
    flex["config"] |= {"flexStart": True, "maxRunDuration": "3600s", "diskType": "hyperdisk-next"}
    pools["default-pool"]["config"] |= {"machineType": "c9-standard-8", "diskType": "hyperdisk-next"}
    result = adopted(found)
    assert {it.partition(":")[0] for it in left(result)} == {"cluster xpk-test, node pool cpu-np"}
    made = result.config["clusters"]["xpk-test"]
    assert {it["zone"] for it in made["pools"].values()} == {"us-central1-f", "us-central1-c"}
    assert made["systemPool"]["machineType"] == "c9-standard-8"
    said = {(str(it.path[2]), str(it.path[-1])) for it in result.warnings}
    assert {("systemPool", "machineType"), ("pools", "zone"), ("pools", "diskType")} <= said
    plan(spec(result))
    (own,) = (it for it in made["pools"].values() if it["zone"] == "us-central1-f")
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


def test_a_workload_policy_stays_that_of_others() -> None:
    found = adopted(cluster("ironwood"))
    made = found.config["clusters"]["ironwood"]
    assert made["pools"]["iw"]["topology"] == "2x2x2"
    assert made["pools"]["iw"]["adopted"] == {"names": ["iw-0"], "ignoreChanges": ["placementPolicy"]}
    assert plan(spec(found)).clusters[0].tpu_pools[0].workload_policy is None
    assert left(found) == ["cluster ironwood, node pool win: its nodes run Windows"]


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
    found = adopted(*(cluster(it["name"]) for it in CLUSTERS))
    assert len(spec(found).clusters) == len(CLUSTERS)
    assert len(found.places) == len(CLUSTERS) + sum(len(it["nodePools"]) for it in CLUSTERS) - len(found.left)


def test_two_clusters_of_one_name_have_their_locations_in_their_keys() -> None:
    other = {**cluster("z"), "location": "us-east5-b", "nodePools": []}
    assert set(adopted(cluster("z"), other).config["clusters"]) == {"z-us-west4-a", "z-us-east5-b"}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"autopilot": {"enabled": True}}, "it is an Autopilot cluster, whose nodes Google manages"),
        ({"status": "PROVISIONING"}, "its status is PROVISIONING; adopt it when it is RUNNING"),
        ({"ipAllocationPolicy": {}}, "it is routes-based, and tpuplane's clusters are VPC-native"),
        ({"location": "mars-north1"}, "'mars-north1' is not"),
    ],
)
def test_a_cluster_that_cannot_be_adopted(change: Json, why: str) -> None:
    found = describe(Facts("acme-ml", ({**cluster("svc"), **change},)), "svc")
    assert (found.places, found.config["clusters"]) == ({}, {})
    assert any(why in it for it in left(found)), left(found)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"status": "RUNNING_WITH_ERROR"}, "its status is RUNNING_WITH_ERROR; adopt it when it is RUNNING"),
        ({"autoscaling": {"autoprovisioned": True}}, "GKE created it by node auto-provisioning"),
        ({"locations": ["us-east5-a", "us-east5-b"]}, "a TPU pool of tpuplane is in one zone"),
        ({"placementPolicy": {"tpuTopology": "4x5"}}, "'4x5' is not a v6e topology"),
        ({"config": {"machineType": "ct9x-standard-4t"}}, "'ct9x-standard-4t' is not"),
        ({"placementPolicy": {"policyName": "gone"}}, "its resource policy gone names no topology"),
    ],
)
def test_a_node_pool_that_cannot_be_adopted(change: Json, why: str) -> None:
    found = cluster("svc")
    (pool,) = (it for it in found["nodePools"] if it["name"] == "t")
    pool |= change
    result = adopted(found)
    assert "pools" not in result.config["clusters"]["svc"]
    (line,) = left(result)
    assert line.startswith(("cluster svc, node pool t: ", "clusters.svc.pools.t: "))
    assert why in line
    assert not any(it.endswith("/t") for it in result.places)


def test_a_field_that_the_rules_reject_is_left_out() -> None:
    found = {**cluster("svc"), "securityPostureConfig": {"mode": "ENTERPRISE"}}
    result = adopted(found)
    assert spec(result).clusters["svc"].security.posture == "BASIC"
    (line,) = left(result)
    assert line.startswith("clusters.svc.security.posture: 'ENTERPRISE' is not")


def test_a_pool_that_is_left_out_says_enough_of_its_fields() -> None:
    found = cluster("xpk-test")
    found["nodePools"] = found["nodePools"][:2]
    found["nodePools"][1]["config"]["flexStart"] = True
    found["nodePools"][1]["autoscaling"] = {"enabled": True, "minNodeCount": 4, "maxNodeCount": 4}
    (line,) = left(adopted(found))
    assert line.startswith("clusters.xpk-test.pools.xpk-test-np")


def test_a_value_that_google_does_not_specify_is_left_out() -> None:
    found = {**cluster("svc"), "binaryAuthorization": {"evaluationMode": "EVALUATION_MODE_UNSPECIFIED"}}
    assert left(adopted(found)) == []


def test_open_networks_of_the_control_plane_stay_out_of_the_file() -> None:
    everyone = {"enabled": True, "cidrBlocks": [{"cidrBlock": "0.0.0.0/0", "displayName": "all"}]}
    result = adopted({**cluster("gke-tpu-v6e"), "masterAuthorizedNetworksConfig": everyone})
    assert not spec(result).clusters["gke-tpu-v6e"].control_plane.authorized_networks
    assert "0.0.0.0/0" in left(result)[0]


def test_silent_zones_and_current_sizes() -> None:
    found = cluster("z")
    (pool,) = (it for it in found["nodePools"] if it["name"] == "v5e")
    pool["nodeCount"] = 5
    result = adopted(found, missing_zones=("us-east1-b",))
    assert spec(result).clusters["z"].pools["v5e"].slices == 5
    assert left(result)[0] == "zone us-east1-b: it did not answer, so its clusters are not known"


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
        {**template, "name": f"xpk-test-np-{it}", "placementPolicy": {"tpuTopology": "2x4"}} for it in (2, 3)
    ]
    pools = in_file(found)["pools"]
    assert {key: (pool["topology"], pool["slices"]) for key, pool in pools.items()} == {
        "xpk-test-np": ("4x4", 2),
        "xpk-test-np-2": ("2x4", 2),
    }


def test_adopted_names_that_run_together_in_pulumi_are_rejected() -> None:
    network = {"existing": {"network": "n", "subnetwork": "s"}}
    one, other = ({"location": "us-west4-a", "network": network, "adopted": {}} for _ in range(2))
    shape = {"generation": "v5e", "topology": "2x2"}
    pools = ({"p": {**shape, "adopted": {"names": ["b-q"]}}}, {"q": shape})
    clusters = {key: {**it, "pools": own} for key, it, own in zip(("a", "a-b"), (one, other), pools, strict=True)}
    with pytest.raises(SpecError, match="runs together with its cluster to 'a-b-q'"):
        parse_platform({"name": "lab", "project": "acme-ml", "clusters": clusters})


def test_a_pool_with_an_impossible_reservation_is_left() -> None:
    found = cluster("gke-tpu-v6e")
    found["nodePools"][1]["locations"] = ["us-west4-a"]  # has no v6e
    result = adopted(found)
    assert [it.rpartition("/")[2] for it in result.places] == ["gke-tpu-v6e", "system"]
    assert all(
        it.startswith(("clusters.gke-tpu-v6e.pools.gke-tpu-v6e-pool: ", "reservations.v6e-res: "))
        for it in left(result)
    )


def test_a_cluster_without_any_valid_part_ends() -> None:
    found = {**cluster("svc"), "networkConfig": {"network": "???", "subnetwork": "???"}, "location": "nowhere"}
    result = describe(Facts("acme-ml", (cluster("z"), found)), "two")
    assert set(spec(result).clusters) == {"z"}


def test_an_adopted_name_cannot_be_used_twice() -> None:
    config = adopted(cluster("svc")).config
    config["clusters"]["svc"]["pools"]["t"] |= {"slices": 2, "adopted": {"names": ["t", "t"]}}
    with pytest.raises(SpecError, match="is in the list twice"):
        parse_platform(config)


def test_the_import_file_has_what_exists_and_the_components() -> None:
    cluster_type, pool_type = "gcp:container/cluster:Cluster", "gcp:container/nodePool:NodePool"
    place = {"project": "acme-ml", "location": "us-east5"}
    identity = "projects/acme-ml/locations/us-east5/clusters/svc"
    above: Json = {"parent": "platform-svc", "component": True}
    components: list[Json] = [
        {"type": "tpuplane:index:Cluster", "name": "platform-svc", "component": True},
        {**above, "type": "tpuplane:index:SystemNodePool", "name": "platform-svc-system"},
        {**above, "type": "tpuplane:index:TpuNodePool", "name": "platform-svc-t"},
    ]
    # Pulumi numbers what has the same type and name.
    single: list[Json] = [
        {"type": cluster_type, "name": "platform-svcCluster", "logicalName": "platform-svc", "parent": "platform-svc"},
        {"type": pool_type, "name": "p", "logicalName": "platform-svc-system", "parent": "platform-svc-system"},
        {"type": pool_type, "name": "p2", "logicalName": "platform-svc-system", "parent": "platform-svc-t"},
    ]
    account = {"type": "gcp:serviceaccount/account:Account", "name": "platform-svc-nodes", "parent": "platform-svc"}
    steps = [
        {
            "op": "create",
            "newState": {"type": kind, "urn": f"urn:pulumi:s::p::{types}${kind}::{name}", "inputs": inputs},
        }
        for kind, types, name, inputs in (
            (cluster_type, "tpuplane:index:Cluster", "platform-svc", {**place, "name": "svc"}),
            *(
                (
                    pool_type,
                    f"tpuplane:index:Cluster${it}",
                    "platform-svc-system",
                    {**place, "cluster": "svc", "name": own},
                )
                for it, own in (("tpuplane:index:TpuNodePool", "system"), ("tpuplane:index:SystemNodePool", "cpu"))
            ),
        )
    ]
    made = {"resources": [*components, *({**it, "id": "<PLACEHOLDER>"} for it in (*single, account))]}
    ids = [identity, f"{identity}/nodePools/cpu", f"{identity}/nodePools/system"]
    exist = [{**it, "id": own} for it, own in zip(single, ids, strict=True)]
    assert import_file(made, steps, set(ids))["resources"] == [*components, *exist]
    assert import_file(made, steps, {identity})["resources"] == [*components, exist[0]]
    assert import_file(made, [], set())["resources"] == components


def test_a_change_is_a_property_once() -> None:
    old = {"id": "it", "inputs": {"nodeConfig": {"labels": {"a": "1"}, "__defaults": []}, "name": "t"}}
    new = {"inputs": {"nodeConfig": {"labels": {"a": "2"}}, "name": "t"}}
    diffs = {
        'nodeConfig.labels["a/b"]': {"kind": "update"},
        "nodeConfig.labels.c": {"kind": "add-replace"},
        "resourceVersion": {"kind": "update"},  # no input
    }
    steps = [
        {"op": "replace", "urn": "u::t", "oldState": old, "newState": new, "detailedDiff": diffs},
        {"op": "create-replacement", "urn": "u::t", "oldState": old, "newState": new, "detailedDiff": diffs},
        {"op": "same", "urn": "u::s", "newState": new},
        {"op": "create", "urn": "u$gcp:x:Policy::p", "newState": {"type": "gcp:x:Policy"}},
        {"op": "update", "urn": "u::v", "oldState": {"id": "v"}, "detailedDiff": {"pulumiLabels": {"kind": "update"}}},
        {"op": "update", "urn": "u::w", "oldState": {"id": "w"}},
    ]
    assert list(changes(steps)) == [
        Change("it", "replaces", "nodeConfig.labels", {"a": "1"}, {"a": "2"}),
        Change("gcp:x:Policy p", "creates"),
        Change("v", "in place", "pulumiLabels"),
        Change("w", "updates"),
    ]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("nodeConfig.oauthScopes[0]", "nodeConfig.oauthScopes"),
        ('resourceLabels["a-b"]', "resourceLabels"),
        ("addonsConfig.rayOperatorConfigs[0].enabled", "addonsConfig.rayOperatorConfigs"),
        ("privateClusterConfig.masterGlobalAccessConfig.enabled", "privateClusterConfig.masterGlobalAccessConfig"),
    ],
)
def test_a_property_has_no_index_and_two_levels_at_most(path: str, name: str) -> None:
    assert property_of(path) == name


def test_kept_properties_are_in_the_file() -> None:
    found = adopted(cluster("svc"))
    pool = next(it for it in found.places if it.endswith("/t"))
    kept = found.kept([(pool, "nodeConfig.oauthScopes"), (pool, "nodeConfig.labels")])
    assert spec(kept).clusters["svc"].pools["t"].adopted is not None
    assert spec(kept).clusters["svc"].pools["t"].adopted.ignore_changes == (
        "nodeConfig.labels",
        "nodeConfig.oauthScopes",
    )
    assert str(NotAdopted("a", "b")) == "a: b"


def deployment(name: str, **metadata: Any) -> Json:
    containers = [{"image": f"registry.example/{name}:v0.17.1@sha256:00"}]
    return {"metadata": {"name": name, **metadata}, "spec": {"template": {"spec": {"containers": containers}}}}


def test_operators_and_queues_stay_as_they_are() -> None:
    inside: Inside = {
        "operators": [
            deployment("kueue-controller-manager", namespace="kueue-system"),
            deployment("kuberay-operator", namespace="gke-managed-ray-operator"),
        ],
        "queues": [{"metadata": {"name": "cluster-queue"}}],
    }
    assert [it.what for it in left_inside("xpk-test", inside)] == [
        "cluster xpk-test, Kueue v0.17.1 in kueue-system",
        "cluster xpk-test, KubeRay v0.17.1 in gke-managed-ray-operator",
        "cluster xpk-test, cluster queues cluster-queue",
    ]


def queues_of_xpk(quota: str, namespace: str) -> Inside:
    """The objects of src/xpk/templates/kueue_config.yaml.j2."""
    labels = {"cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice", "cloud.google.com/gke-tpu-topology": "4x4"}
    flavor = {"name": "2xv6e-16", "resources": [{"name": "google.com/tpu", "nominalQuota": quota}]}
    return {
        "queues": [{"metadata": {"name": "cluster-queue"}, "spec": {"resourceGroups": [{"flavors": [flavor]}]}}],
        "local_queues": [
            {
                "metadata": {"namespace": namespace, "name": "multislice-queue"},
                "spec": {"clusterQueue": "cluster-queue"},
            }
        ],
        "flavors": [{"metadata": {"name": "2xv6e-16"}, "spec": {"nodeLabels": labels}}],
    }


def test_queues_are_described_as_teams() -> None:
    found = teams(adopted(cluster("xpk-test")), "xpk-test", queues_of_xpk("32", "ml"))
    quota = {"xpk-test": {"pools": {"xpk-test-np": {"chips": 32}}}}
    assert found == {"cluster-queue": {"namespaces": ["ml"], "queue": "multislice-queue", "clusters": quota}}


def test_a_flavor_without_labels_of_gke_selects_no_pool() -> None:
    inside = queues_of_xpk("32", "ml")
    inside["flavors"][0]["spec"]["nodeLabels"] = {"team": "ml"}
    found = teams(adopted(cluster("xpk-test")), "xpk-test", inside)
    assert found["cluster-queue"]["clusters"] == {"xpk-test": {}}


def test_a_cluster_is_found_by_the_address_of_its_control_plane() -> None:
    found = {**cluster("xpk-test"), "endpoint": "203.0.113.9"}
    assert cluster_at(adopted(found), [found], "https://203.0.113.9") == "xpk-test"
    assert cluster_at(adopted(found), [found], "https://203.0.113.99") is None
