"""Node pools: one per multi-host slice, limits per zone, and sizes that only their owner changes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tpuplane.gke.arguments import ClusterRef
from tpuplane.gke.node_pool import PlannedTpuPool
from tpuplane.plan import NodePoolPlan
from tpuplane.plan.pools import AutoscalingPlan
from tpuplane.spec import ExtraNetworkSpec, FlexStartSpec
from tpuplane.spec.pools.hosts import NodeSettingsSpec, SecondaryBootDiskSpec
from tpuplane.tpu import Slice

from tests.support.components.deployment import Deployment, Inputs, deploy, deploy_platform, known

pytestmark = pytest.mark.components


def pool(deployed: Deployment, name: str) -> Inputs:
    return deployed.one(":NodePool", f"platform-central1-{name}").inputs


@pytest.mark.parametrize("protected", [True, False])
def test_an_adopted_pool_is_protected_as_its_cluster_is(lab: Inputs, protected: bool) -> None:
    central = lab["clusters"]["central1"]
    central["deletionProtection"] = protected
    central["pools"]["trainer"]["adopted"] = {"names": ["theirs"]}
    deployed = deploy_platform(lab)
    protection = {resource.inputs["name"]: resource.request.protect for resource in deployed.all(":NodePool")}
    assert protection["theirs"] is protected
    assert not protection["trainer-1"], "a further slice is tpuplane's own"


@pytest.mark.parametrize("index", [0, 1])
def test_a_multi_host_slice_is_a_pool_of_its_own(deployed: Deployment, index: int) -> None:
    made = pool(deployed, f"trainer-{index}")
    assert made["name"] == f"trainer-{index}"
    assert made["nodeCount"] == 4
    assert made["placementPolicy"] == {"type": "COMPACT", "tpuTopology": "4x4"}
    assert made["nodeLocations"] == ["us-central1-b"]
    assert made["upgradeSettings"] == {"strategy": "SURGE", "maxSurge": 0, "maxUnavailable": 1}
    assert "autoscaling" not in made
    assert "initialNodeCount" not in made


def test_single_host_slices_are_nodes_of_one_unplaced_pool(deployed: Deployment) -> None:
    made = pool(deployed, "notebooks")
    assert made["nodeCount"] == 3
    assert "placementPolicy" not in made


def test_autoscaling_has_limits_per_zone_and_never_totals(deployed: Deployment) -> None:
    assert pool(deployed, "burst-0")["autoscaling"] == {"minNodeCount": 4, "maxNodeCount": 4, "locationPolicy": "ANY"}
    assert pool(deployed, "burst-1")["autoscaling"] == {"minNodeCount": 0, "maxNodeCount": 4, "locationPolicy": "ANY"}
    assert pool(deployed, "serving")["autoscaling"] == {"minNodeCount": 0, "maxNodeCount": 5, "locationPolicy": "ANY"}


def test_the_size_belongs_to_the_autoscaler_or_to_the_program_never_to_both(deployed: Deployment) -> None:
    for made in deployed.all(":NodePool"):
        autoscaled = "autoscaling" in made.inputs
        assert ("nodeCount" in made.inputs) is not autoscaled, made.name
        assert ("initialNodeCount" in made.inputs) is autoscaled, made.name
        assert set(made.request.ignoreChanges) == ({"initialNodeCount", "nodeCount"} if autoscaled else set())


def test_an_autoscaled_pool_starts_at_its_minimum(deployed: Deployment) -> None:
    assert pool(deployed, "burst-0")["initialNodeCount"] == 4
    assert pool(deployed, "burst-1")["initialNodeCount"] == 0


def test_spot_is_bought_only_where_it_was_asked_for(deployed: Deployment) -> None:
    spot = {resource.name for resource in deployed.all(":NodePool") if resource.inputs["nodeConfig"]["spot"]}
    assert spot == {"platform-central1-burst-0", "platform-central1-burst-1"}


def test_on_demand_and_spot_pools_say_nothing_of_reservations(deployed: Deployment) -> None:
    for made in deployed.all(":NodePool"):
        assert "queuedProvisioning" not in made.inputs
        for field in ("reservationAffinity", "flexStart", "maxRunDuration", "hostMaintenancePolicy"):
            assert field not in made.inputs["nodeConfig"], made.name


def test_every_node_is_hardened(deployed: Deployment) -> None:
    expected = {
        "imageType": "COS_CONTAINERD",
        "workloadMetadataConfig": {"mode": "GKE_METADATA"},
        "shieldedInstanceConfig": {"enableSecureBoot": True, "enableIntegrityMonitoring": True},
        "metadata": {"disable-legacy-endpoints": "true"},
        "gvnic": {"enabled": True},
    }
    for made in deployed.all(":NodePool"):
        node = made.inputs["nodeConfig"]
        assert {key: node[key] for key in expected} == expected
        assert made.inputs["management"] == {"autoRepair": True, "autoUpgrade": True}
        assert made.inputs["networkConfig"] == {"enablePrivateNodes": True}


def test_gke_s_own_taint_and_labels_are_left_to_gke(deployed: Deployment) -> None:
    """Declaring them too would show a difference at every update."""
    for made in deployed.all(":NodePool"):
        node = made.inputs["nodeConfig"]
        assert "taints" not in node
        assert [key for key in node["labels"] if "cloud.google.com" in key] == []


def test_tpu7x_slices_are_placed_by_the_workload_policy_of_their_pool(deployed: Deployment) -> None:
    for name in ("ironwood", "ironwood-eval"):
        policy = deployed.one(":ResourcePolicy", f"platform-central1-{name}-2x2x2")
        assert policy.inputs["workloadPolicy"] == {"type": "HIGH_THROUGHPUT", "acceleratorTopology": "2x2x2"}
        assert policy.inputs["region"] == "us-central1"
        assert list(policy.request.replaceOnChanges) == ["name"], (
            "the provider would update it, and Google rejects that"
        )
        made = deployed.one(":NodePool", f"platform-central1-{name}-0")
        assert made.inputs["placementPolicy"] == {
            "type": "",
            "policyName": policy.inputs["name"],
            "tpuTopology": "2x2x2",
        }
        assert list(made.request.propertyDependencies["placementPolicy"].urns) == [policy.urn]


@pytest.fixture
def slice_plan() -> NodePoolPlan:
    return NodePoolPlan(
        name="mine-0",
        pool="mine",
        index=0,
        zones=("us-east5-b",),
        machine_type="ct6e-standard-4t",
        disk_type="hyperdisk-balanced",
        node=NodeSettingsSpec(),
        capacity="on-demand",
        slice=Slice.of("v6e", "4x4"),
        node_count=4,
        placement_topology="4x4",
    )


@pytest.fixture
def elsewhere() -> ClusterRef:
    """A cluster of another stack: its identities are known only as outputs."""
    return {
        "project": known("p"),
        "name": known("theirs"),
        "location": "us-east5",
        "service_account": known("nodes@p.iam.gserviceaccount.com"),
    }


def planned(cluster: ClusterRef, *plans: NodePoolPlan) -> PlannedTpuPool:
    return PlannedTpuPool("mine", {plan.name: plan for plan in plans}, cluster, None)


def test_a_tpu_pool_can_join_a_cluster_of_another_stack(slice_plan: NodePoolPlan, elsewhere: ClusterRef) -> None:
    second = replace(slice_plan, name="mine-1", index=1, node_count=None, autoscaling=AutoscalingPlan(0, 4))
    made = deploy(lambda: planned(elsewhere, slice_plan, second))
    assert [resource.inputs["cluster"] for resource in made.all(":NodePool")] == ["theirs", "theirs"]
    assert made.outputs(made.one(":TpuNodePool")) == {
        "shape": "v6e 4x4",
        "poolNames": ["mine-0", "mine-1"],
        "slices": 2,
        "hosts": 8,
        "chips": 32,
    }


def test_a_reserved_pool_draws_on_its_reservation_alone(slice_plan: NodePoolPlan, elsewhere: ClusterRef) -> None:
    path = "projects/tpu-bank/reservations/nightly/reservationBlocks/b1"
    plan = replace(slice_plan, capacity="reservation", reservation=path, host_maintenance="PERIODIC")
    made = deploy(lambda: planned(elsewhere, plan))
    node = made.one(":NodePool").inputs["nodeConfig"]
    assert node["reservationAffinity"] == {
        "consumeReservationType": "SPECIFIC_RESERVATION",
        "key": "compute.googleapis.com/reservation-name",
        "values": [path],
    }
    assert node["hostMaintenancePolicy"] == {"maintenanceInterval": "PERIODIC"}
    assert node["spot"] is False


@pytest.mark.parametrize("queued", [False, True])
def test_a_flex_start_pool_asks_for_hosts_that_come_and_go(
    slice_plan: NodePoolPlan, elsewhere: ClusterRef, queued: bool
) -> None:
    plan = replace(
        slice_plan,
        capacity="flex-start",
        node_count=None,
        autoscaling=AutoscalingPlan(0, 4),
        flex_start=FlexStartSpec(max_run_duration="1h", queued=queued),
        auto_repair=False,
    )
    made = deploy(lambda: planned(elsewhere, plan)).one(":NodePool").inputs
    assert made["nodeConfig"]["flexStart"] is True
    assert made["nodeConfig"]["maxRunDuration"] == "3600s"
    assert made["nodeConfig"]["reservationAffinity"] == {"consumeReservationType": "NO_RESERVATION"}
    assert made["autoscaling"] == {"minNodeCount": 0, "maxNodeCount": 4, "locationPolicy": "ANY"}
    assert made["management"]["autoRepair"] is False
    assert made.get("queuedProvisioning") == ({"enabled": True} if queued else None)


def test_images_and_networks_of_hosts(slice_plan: NodePoolPlan, elsewhere: ClusterRef) -> None:
    image = "projects/lab-images/global/images/jax"
    node = NodeSettingsSpec(
        image_streaming=True,
        secondary_boot_disks=(
            SecondaryBootDiskSpec(disk_image=image),
            SecondaryBootDiskSpec(disk_image=image, mode="DATA"),
        ),
        extra_networks=(ExtraNetworkSpec(network="dcn", subnetwork="dcn-sub"),),
    )
    plan = replace(slice_plan, node=node)
    made = deploy(lambda: planned(elsewhere, plan)).one(":NodePool").inputs
    assert made["nodeConfig"]["gcfsConfig"] == {"enabled": True}
    assert made["nodeConfig"]["secondaryBootDisks"] == [
        {"diskImage": image, "mode": "CONTAINER_IMAGE_CACHE"},
        {"diskImage": image},
    ]
    assert made["networkConfig"] == {
        "enablePrivateNodes": True,
        "additionalNodeNetworkConfigs": [{"network": "dcn", "subnetwork": "dcn-sub"}],
    }


def test_a_pool_with_more_networks_switches_multi_networking_on(deployed: Deployment, lab: dict[str, Any]) -> None:
    assert "enableMultiNetworking" not in deployed.one("container/cluster:Cluster", "platform-central1").inputs
    lab["clusters"]["central1"]["pools"]["trainer"]["extraNetworks"] = [{"network": "dcn", "subnetwork": "dcn-sub"}]
    made = deploy_platform(lab)
    assert made.one("container/cluster:Cluster", "platform-central1").inputs["enableMultiNetworking"] is True
