"""GKE's rules for TPU pools: accepted pools, rejected requests, and operations that fail later."""

from __future__ import annotations

import re
from string import Formatter
from typing import Any

import pytest
from tpuplane_twin.elasticity.classes import ComputeClass
from tpuplane_twin.gcp.container.pool_context import PoolContext
from tpuplane_twin.gcp.container.pool_defaults import complete_pool
from tpuplane_twin.gcp.container.pool_rules import check, rejection, value_at
from tpuplane_twin.gcp.data_files import data
from tpuplane_twin.gcp.errors import ApiError

from tests.support.gcp.twin_api import CLUSTERS, COMPUTE, LOCATION, Api, slice_pool

pytestmark = pytest.mark.twin

POOLS = f"{CLUSTERS}/c1/nodePools"
POLICIES = f"{COMPUTE}/regions/{LOCATION}/resourcePolicies"


def pool(machine: str, zone: str, topology: str | None = None, **fields: Any) -> dict[str, Any]:
    """A fixed TPU pool; `config` is laid over the node config."""
    body: dict[str, Any] = {
        "name": "tpu",
        "initialNodeCount": 1,
        "locations": [zone],
        **fields,
        "config": {"machineType": machine, **fields.get("config", {})},
    }
    if topology is not None:
        body.setdefault("placementPolicy", {"type": "COMPACT", "tpuTopology": topology})
    return body


def v6e(topology: str | None = "4x4", **fields: Any) -> dict[str, Any]:
    return pool("ct6e-standard-4t", "us-central1-b", topology, **fields)


def flex(**fields: Any) -> dict[str, Any]:
    """A tpu7x host that GKE takes as flex-start; `config` and the rest are laid over it."""
    config = {
        "flexStart": True,
        "reservationAffinity": {"consumeReservationType": "NO_RESERVATION"},
        **fields.pop("config", {}),
    }
    return {
        "name": "tpu",
        "locations": ["us-central1-c"],
        "autoscaling": {"enabled": True, "maxNodeCount": 8, "locationPolicy": "ANY"},
        "management": {"autoUpgrade": True},
        **fields,
        "config": {"machineType": "tpu7x-standard-4t", **config},
    }


async def add_policy(api: Api, topology: str = "2x2x2", **fields: str) -> None:
    workload = {"type": "HIGH_THROUGHPUT", "acceleratorTopology": topology, **fields}
    await api.call("POST", POLICIES, {"name": "wp", "workloadPolicy": workload})


@pytest.mark.parametrize(
    ("body", "nodes"),
    [
        (v6e(initialNodeCount=4), 4),
        (v6e("2x4", initialNodeCount=2), 2),
        (v6e(None, initialNodeCount=3), 3),
        (pool("ct6e-standard-8t", "us-central1-b"), 1),
        (pool("ct6e-standard-1t", "us-central1-b", initialNodeCount=5), 5),
        (pool("ct5lp-hightpu-4t", "us-central1-a", "16x16", initialNodeCount=64), 64),
        (pool("ct5p-hightpu-4t", "us-central1-a", "4x4x12", initialNodeCount=48), 48),
        # as Google's command-line client sends `--tpu-topology`: no type, and by hand no number of nodes either
        (v6e(None, placementPolicy={"tpuTopology": "4x4"}, initialNodeCount=4), 4),
        (v6e(None, placementPolicy={"tpuTopology": "4x4"}, initialNodeCount=0), 4),
        (v6e("4x4", initialNodeCount=0), 4),
        (pool("ct5lp-hightpu-4t", "us-central1-a", placementPolicy={"tpuTopology": "2x4"}, initialNodeCount=0), 2),
        (pool("ct5p-hightpu-4t", "us-central1-a", placementPolicy={"tpuTopology": "2x2x4"}, initialNodeCount=0), 4),
        # public runbooks name the topology of one v6e host
        (v6e(None, placementPolicy={"tpuTopology": "2x2"}), 1),
        (v6e("2x2", initialNodeCount=3), 3),
        (slice_pool("tpu"), 0),
        (slice_pool("tpu", autoscaling={"enabled": True, "minNodeCount": 4, "maxNodeCount": 4}), 4),
        (flex(), 0),
        (flex(config={"maxRunDuration": "604800s"}), 0),
        (flex(queuedProvisioning={"enabled": True}), 0),
        # the official provider's acceptance tests: no location policy, and repair is left to its default
        (flex(autoscaling={"enabled": True, "totalMaxNodeCount": 1}), 0),
        # Google's autoscaler makes flex-start pools with repair
        (flex(management={"autoUpgrade": True, "autoRepair": True}), 0),
        (flex(locations=["us-central1-b"], config={"machineType": "ct6e-standard-4t"}), 0),
        ({"name": "tpu", "initialNodeCount": 1, "placementPolicy": {"tpuTopology": "4x4"}}, 3),
        (v6e(initialNodeCount=4, config={"spot": True}), 4),
        (v6e(initialNodeCount=4, upgradeSettings={"strategy": "SURGE", "maxUnavailable": 1}), 4),
    ],
)
async def test_taken(cluster: Api, body: dict[str, Any], nodes: int) -> None:
    await cluster.done("POST", POOLS, {"nodePool": body})
    assert sum(cluster.backend.clusters["c1"].pools["tpu"].values()) == nodes


SIZE = "is not a valid size of TPU pod slice with topology"
SINGLE = "TPU topology can't be specified with single-host TPU slice pool"
RESERVED = {"consumeReservationType": "SPECIFIC_RESERVATION"}
NO_RESERVATION = {"consumeReservationType": "NO_RESERVATION"}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        # vllm-project/ci-infra#545: the totals do not count
        (slice_pool(autoscaling={"enabled": True, "totalMaxNodeCount": 4}), f"Maximum node count 0 {SIZE} 4x4"),
        (slice_pool(autoscaling={"enabled": True, "maxNodeCount": 8}), f"Maximum node count 8 {SIZE} 4x4"),
        (
            slice_pool(autoscaling={"enabled": True, "minNodeCount": 2, "maxNodeCount": 4}),
            f"Minimum node count 2 {SIZE} 4x4",
        ),
        (v6e(initialNodeCount=3), f"Node count 3 {SIZE} 4x4"),
        (v6e("banana"), 'Invalid TPU topology "banana" for machine type "ct6e-standard-4t": '),
        (v6e("4x5"), 'Invalid TPU topology "4x5" for machine type "ct6e-standard-4t": '),
        (
            pool("ct6e-standard-8t", "us-central1-b", "4x4"),
            'Invalid TPU topology "4x4" for machine type "ct6e-standard-8t": ',
        ),
        (pool("ct3p-hightpu-4t", "us-central1-a"), 'Machine type "ct3p-hightpu-4t" needs placement_policy.tpu'),
        # AI-Hypercomputer/xpk#825
        (pool("ct6e-standard-1t", "us-central1-b", "1x1"), f"{SINGLE}; please remove the tpu_topology from the node"),
        (pool("ct6e-standard-8t", "us-central1-b", "2x4"), SINGLE),
        (pool("tpu7x-standard-4t", "us-central1-c", "2x2x1"), SINGLE),
        (
            v6e("4x4", initialNodeCount=4, locations=["us-central1-b", "us-central1-a"]),
            'Invalid machine type "ct6e-standard-4t" in zone "us-central1-a": GCE_NOT_FOUND',
        ),
        (
            pool("ct5p-hightpu-1t", "us-central1-a"),
            'Invalid machine type "ct5p-hightpu-1t" in zone "us-central1-a": GCE_NOT_FOUND',
        ),
        (
            v6e(initialNodeCount=4, config={"diskType": "pd-balanced"}),
            "[pd-balanced] disk type cannot be used by ct6e-standard-4t machine type",
        ),
        (
            v6e(initialNodeCount=4, upgradeSettings={"strategy": "BLUE_GREEN"}),
            "Blue-green upgrades are not supported with compact placement",
        ),
        (
            v6e(initialNodeCount=4, placementPolicy={"policyName": "nope", "tpuTopology": "4x4"}),
            "Resource policy nope not found",
        ),
        (
            v6e(None, management={"autoRepair": True}),
            "Auto_upgrade cannot be false when release_channel REGULAR is set.",
        ),
        (v6e(None, config={"spot": True, "reservationAffinity": RESERVED}), "Spot and preemptible nodes cannot use"),
        (v6e(None, config={"reservationAffinity": RESERVED}), "SPECIFIC_RESERVATION needs reservation_affinity.key"),
        (
            v6e(None, autoscaling={"enabled": True, "minNodeCount": 3, "maxNodeCount": 2}),
            "Autoscaling minimum node count 3 must not be greater than maximum node count 2.",
        ),
        (
            v6e(None, autoscaling={"enabled": True, "maxNodeCount": 3, "totalMaxNodeCount": 3}),
            "Autoscaling per-zone node counts and total node counts cannot both be set.",
        ),
        (v6e(None, config={"linuxNodeConfig": {"cgroupMode": "CGROUP_MODE_V1"}}), "Node pools with cgroupv1 is not"),
        (flex(config={"spot": True}), "Flex-start node pools cannot be spot or preemptible."),
        (flex(config={"reservationAffinity": {}}), "Flex start node pools don't support reservations"),
        (flex(initialNodeCount=1), "Flex start node pools require initial node count to be set to 0."),
        (flex(autoscaling={}), "Flex start node pools require autoscaling enabled."),
        (flex(config={"maxRunDuration": "604801s"}), "Max_run_duration 604801s of a flex-start node pool"),
        (
            flex(locations=["us-central1-a"], config={"machineType": "ct5l-hightpu-1t"}),
            "Flex-start is not supported for machine type ct5l-hightpu-1t.",
        ),
        (
            v6e(initialNodeCount=4, networkConfig={"additionalNodeNetworkConfigs": [{"network": "dcn"}]}),
            "Additional node networks need a cluster with multi-networking enabled.",
        ),
        (
            flex(
                queuedProvisioning={"enabled": True}, config={"reservationAffinity": NO_RESERVATION, "flexStart": False}
            )
            | {"initialNodeCount": 2},
            "Queued provisioning node pools need autoscaling",
        ),
        (
            flex(
                queuedProvisioning={"enabled": True},
                config={"flexStart": False},
                autoscaling={"enabled": True, "minNodeCount": 1, "maxNodeCount": 8, "locationPolicy": "ANY"},
            ),
            "Queued provisioning node pools need autoscaling and an initial and minimum node count of 0.",
        ),
        (
            v6e(
                None, queuedProvisioning={"enabled": True}, config={"spot": True, "reservationAffinity": NO_RESERVATION}
            )
            | {"initialNodeCount": 0, "autoscaling": {"enabled": True, "maxNodeCount": 2, "locationPolicy": "ANY"}},
            "Queued provisioning node pools cannot be spot or preemptible.",
        ),
    ],
)
async def test_rejected_at_once(cluster: Api, body: dict[str, Any], message: str) -> None:
    rejection = await cluster.rejected("POST", POOLS, {"nodePool": body}, 400)
    assert rejection.startswith(message)
    assert (await cluster.call("GET", POOLS))["nodePools"] == []


async def test_preemptible_nodes_may_use_any_reservation(cluster: Api) -> None:
    """An acceptance test of the official provider creates such a pool; its management is that of GKE."""
    fields = {"preemptible": True, "reservationAffinity": {"consumeReservationType": "ANY_RESERVATION"}}
    await cluster.done("POST", POOLS, {"nodePool": {"name": "any", "initialNodeCount": 1, "config": fields}})
    pool = await cluster.call("GET", f"{POOLS}/any")
    assert pool["management"] == {"autoRepair": True, "autoUpgrade": True}


async def test_some_generations_support_queued_flex_start(cluster: Api) -> None:
    """No zone of this region has flex-start for a generation without queueing, so the rule is asked alone."""
    stored = await cluster.call("GET", f"{CLUSTERS}/c1")
    body = flex(queuedProvisioning={"enabled": True}, config={"machineType": "ct5lp-hightpu-4t"})
    whole = complete_pool({**body, "locations": ["us-central1-a"]}, stored, "us-central1-a")
    context = PoolContext.of(cluster.store, "projects/acme/locations/us-central1/clusters/c1", whole, stored)
    (rule,) = (candidate for candidate in data("pool_rules")["rules"] if candidate["id"] == "queued-generations")
    assert rejection(rule, context) == "Flex start node pools don't support TPUs with queued provisioning."


async def test_a_slice_lies_in_one_zone(cluster: Api) -> None:
    body = pool("ct5lp-hightpu-4t", "us-south1-a", "4x4")
    body["locations"] = ["us-central1-a", "us-central1-a"]
    rejection = await cluster.rejected("POST", POOLS, {"nodePool": body}, 400)
    assert rejection.startswith("A multi-host TPU node pool must be in exactly one zone")


async def test_tpu7x_is_placed_by_a_workload_policy(cluster: Api) -> None:
    await add_policy(cluster)
    body = pool("tpu7x-standard-4t", "us-central1-c", initialNodeCount=2)
    body["placementPolicy"] = {"type": "COMPACT", "policyName": "wp", "tpuTopology": "2x2x2"}
    await cluster.done("POST", POOLS, {"nodePool": body})
    # vllm-project/ci-infra#547: GKE stores a named policy without a type
    found = await cluster.call("GET", f"{POOLS}/tpu")
    assert found["placementPolicy"] == {"policyName": "wp", "tpuTopology": "2x2x2"}
    message = await cluster.rejected("DELETE", f"{POLICIES}/wp", None, 400)
    assert "is already being used by 'projects/acme/zones/us-central1-c/instanceGroupManagers/" in message


async def test_tpu7x_with_compact_placement_ends_in_error(cluster: Api) -> None:
    body = pool("tpu7x-standard-4t", "us-central1-c", "2x2x2", initialNodeCount=2)
    operation = await cluster.wait(await cluster.call("POST", POOLS, {"nodePool": body}))
    assert operation["statusMessage"] == (
        "Creation of a managed instance group with tpu7x-standard-4t machine type with placement policy is not"
        " supported. Use workload policy instead."
    )
    assert (await cluster.call("GET", f"{POOLS}/tpu"))["status"] == "ERROR"


async def test_a_gang_of_the_wrong_size_ends_in_error(cluster: Api) -> None:
    await add_policy(cluster)
    body = pool("tpu7x-standard-4t", "us-central1-c", initialNodeCount=4)
    body["placementPolicy"] = {"policyName": "wp"}
    operation = await cluster.wait(await cluster.call("POST", POOLS, {"nodePool": body}))
    assert "in the gang mode of size '2'. Should be equal to the gang size." in operation["statusMessage"]


async def test_a_compact_slice_is_shown_as_gke_places_it(cluster: Api) -> None:
    body = v6e(None, placementPolicy={"tpuTopology": "4x4"}, initialNodeCount=4)
    await cluster.done("POST", POOLS, {"nodePool": body})
    found = await cluster.call("GET", f"{POOLS}/tpu")
    assert found["placementPolicy"] == {"type": "COMPACT", "tpuTopology": "4x4"}


async def test_a_workload_policy_alone_gives_the_topology_and_the_hosts(cluster: Api) -> None:
    """As xpk makes its pools: `--placement-policy` and nothing else."""
    await add_policy(cluster, "2x2x4")
    body = pool("tpu7x-standard-4t", "us-central1-c", initialNodeCount=0, placementPolicy={"policyName": "wp"})
    await cluster.done("POST", POOLS, {"nodePool": body})
    found = await cluster.call("GET", f"{POOLS}/tpu")
    assert found["placementPolicy"] == {"policyName": "wp", "tpuTopology": "2x2x4"}
    assert cluster.backend.clusters["c1"].pools["tpu"] == {"us-central1-c": 4}


async def test_a_workload_policy_of_gpus_is_stored_without_a_type(cluster: Api) -> None:
    """GoogleCloudPlatform/cluster-toolkit#5691: a type in a Terraform configuration shows a diff in each plan."""
    await cluster.call("POST", POLICIES, {"name": "wp", "workloadPolicy": {"type": "HIGH_THROUGHPUT"}})
    body = pool("a3-ultragpu-8g", "us-central1-b", placementPolicy={"type": "COMPACT", "policyName": "wp"})
    await cluster.done("POST", POOLS, {"nodePool": body})
    found = await cluster.call("GET", f"{POOLS}/tpu")
    assert found["placementPolicy"] == {"policyName": "wp"}


async def test_a_group_placement_policy_keeps_its_type(cluster: Api) -> None:
    """The official provider's acceptance tests read the type back."""
    policy = {"name": "near", "groupPlacementPolicy": {"collocation": "COLLOCATED"}}
    await cluster.call("POST", POLICIES, policy)
    body = pool("c2-standard-4", "us-central1-a", placementPolicy={"type": "COMPACT", "policyName": "near"})
    await cluster.done("POST", POOLS, {"nodePool": body})
    found = await cluster.call("GET", f"{POOLS}/tpu")
    assert found["placementPolicy"] == {"type": "COMPACT", "policyName": "near"}


async def test_a_compute_class_cannot_name_a_policy_that_is_missing(cluster: Api) -> None:
    """GKE looks for it in the project and region when the autoscaler creates a pool for a priority of the class.

    https://docs.cloud.google.com/kubernetes-engine/docs/reference/rest/v1/projects.locations.clusters.nodePools#PlacementPolicy
    """
    tpu = {"type": "tpu7x", "count": 4, "topology": "2x2x2"}
    priority = {"tpu": tpu, "spot": True, "placement": {"policyName": "wp"}}
    parsed = ComputeClass.parse({"metadata": {"name": "train"}, "spec": {"priorities": [priority]}})
    (offer,) = parsed.priorities[0].offers("train", ("us-central1-c",))
    body = {"nodePool": offer.body("nap-train", {})}
    assert await cluster.rejected("POST", POOLS, body, 400) == (
        "Resource policy wp not found in project acme in the region of the cluster."
    )
    await add_policy(cluster)
    await cluster.done("POST", POOLS, body)


async def test_dynamic_slicing_comes_out_of_a_reservation(cluster: Api) -> None:
    await add_policy(cluster, acceleratorTopologyMode="PROVISION_ONLY")
    body = pool("tpu7x-standard-4t", "us-central1-c", initialNodeCount=2)
    body["placementPolicy"] = {"policyName": "wp"}
    reserved = await cluster.rejected("POST", POOLS, {"nodePool": body}, 400)
    assert reserved.startswith("Accelerator topology mode PROVISION_ONLY needs")


async def test_a_slice_cannot_be_resized_nor_reshaped(cluster: Api) -> None:
    await cluster.done("POST", POOLS, {"nodePool": v6e(initialNodeCount=4)})
    resized = await cluster.rejected("POST", f"{POOLS}/tpu:setSize", {"nodeCount": 8}, 400)
    assert "multi-host TPU slice with topology 4x4: it cannot be resized" in resized
    unknown = await cluster.rejected("PUT", f"{POOLS}/tpu", {"placementPolicy": {"tpuTopology": "4x8"}}, 400)
    assert unknown == 'Invalid JSON payload received. Unknown name "placementPolicy": Cannot find field.'
    machine = await cluster.rejected("PUT", f"{POOLS}/tpu", {"machineType": "ct6e-standard-8t"}, 400)
    assert machine.startswith('Invalid TPU topology "4x4" for machine type "ct6e-standard-8t"')
    cpus = await cluster.rejected("PUT", f"{POOLS}/tpu", {"machineType": "n2-standard-8"}, 400)
    assert cpus == 'Invalid TPU topology "4x4" for machine type "n2-standard-8": the machine type has no TPUs.'
    limits = {"autoscaling": {"enabled": True, "maxNodeCount": 8}}
    scaled = await cluster.rejected("POST", f"{POOLS}/tpu:setAutoscaling", limits, 400)
    assert scaled == f"Maximum node count 8 {SIZE} 4x4"
    assert cluster.backend.clusters["c1"].pools["tpu"] == {"us-central1-b": 4}


@pytest.mark.parametrize(
    ("body", "version", "needed"),
    [
        (v6e(initialNodeCount=4), "1.31.1-gke.2000000", "1.31.2-gke.1115000"),
        (pool("tpu7x-standard-4t", "us-central1-c"), "1.33.9-gke.1000000", "1.34.0-gke.2201000"),
        (
            flex(config={"machineType": "ct5p-hightpu-4t"}) | {"locations": ["us-east5-a"]},
            "1.32.0",
            "1.33.0-gke.1712000",
        ),
    ],
)
async def test_versions_older_than_any_that_the_twin_offers(
    cluster: Api, body: dict[str, Any], version: str, needed: str
) -> None:
    stored = await cluster.call("GET", f"{CLUSTERS}/c1")
    whole = {**complete_pool(body, stored, body["locations"][0]), "version": version}
    with pytest.raises(ApiError, match=f"GKE version {re.escape(needed)} or later; the node pool has"):
        check(PoolContext.of(cluster.store, "projects/acme/locations/us-central1/clusters/c1", whole, stored))


async def test_every_rule_reads_what_pools_have(cluster: Api) -> None:
    stored = await cluster.call("GET", f"{CLUSTERS}/c1")
    gpus = {"name": "gpu", "locations": [f"{LOCATION}-a"], "config": {"machineType": "a3-highgpu-8g"}}
    contexts = [
        PoolContext.of(cluster.store, "projects/acme/locations/us-central1/clusters/c1", whole, stored)
        for whole in (
            complete_pool(v6e(placementPolicy={"policyName": "wp"}), stored, f"{LOCATION}-b"),
            complete_pool({**gpus, "placementPolicy": {"policyName": "wp"}}, stored, f"{LOCATION}-a"),
        )
    ]
    for context in contexts:
        context.raw["config"]["maxRunDuration"] = "600s"
    for rule in (*data("pool_rules")["rules"], *data("pool_rules")["late_rules"]):
        for case in rule.get("cases", [rule]):
            for path in {path for conditions in case["when"] for path in conditions}:
                for context in contexts:
                    value_at(context, path)
            fields = [name for _, name, _, _ in Formatter().parse(case["message"]) if name]
            assert any(all(_is_found(name, context) for name in fields) for context in contexts), rule["id"]


def _is_found(name: str, context: PoolContext) -> bool:
    try:
        Formatter().get_field(name, [], {"pool": context})
    except (AttributeError, TypeError):  # of None: a pool without TPUs or without GPUs
        return False
    return True
