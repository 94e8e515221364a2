"""Plans written down by hand: what each kind of pool becomes, and what a change of the file does to the plan."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tpuplane.plan import ClusterPlan, NodePoolPlan, plan
from tpuplane.plan.pools import AutoscalingPlan, UpgradePlan
from tpuplane.spec import FlexStartSpec, SpecError, parse_platform

pytestmark = pytest.mark.unit


def cluster_of(location: str = "us-central1", pools: dict[str, Any] | None = None, **fields: object) -> ClusterPlan:
    description = {
        "name": "lab",
        "project": "tpuplane-lab",
        "labels": {"environment": "test"},
        "clusters": {"main": {"location": location, "pools": pools or {}, **fields}},
    }
    return plan(parse_platform(description)).clusters[0]


def pools_of(location: str = "us-central1", **pool: object) -> tuple[NodePoolPlan, ...]:
    return cluster_of(location, {"trainer": pool}).tpu_pools


def test_a_multi_host_pool_is_one_node_pool_for_each_slice() -> None:
    first, second = pools_of(generation="v6e", topology="4x4", slices=2)
    assert (first.name, second.name) == ("trainer-0", "trainer-1")
    assert first.node_count == 4
    assert first.zones == ("us-central1-b",)
    assert first.machine_type == "ct6e-standard-4t"
    assert first.disk_type == "hyperdisk-balanced"
    assert first.placement_topology == "4x4"
    assert first.workload_policy is None
    assert first.autoscaling is None
    assert first.upgrade == UpgradePlan(max_surge=0, max_unavailable=1)
    assert second == replace(first, name="trainer-1", index=1)


def test_a_single_host_pool_is_one_node_pool_without_placement() -> None:
    (pool,) = pools_of(generation="v6e", topology="2x2", slices=3)
    assert pool.name == "trainer"
    assert pool.node_count == 3
    assert pool.placement_topology is None
    assert pool.workload_policy is None


def test_one_topology_is_one_host_or_two_by_its_machine() -> None:
    """v6e 2x4 is two hosts of four chips, or one of eight."""
    (two,) = pools_of(generation="v6e", topology="2x4")
    (one,) = pools_of(generation="v6e", topology="2x4", machineType="ct6e-standard-8t")
    assert (two.name, two.node_count, two.placement_topology) == ("trainer-0", 2, "2x4")
    assert (one.name, one.node_count, one.placement_topology) == ("trainer", 1, None)


def test_autoscaled_slices_come_whole_and_the_first_stay_warm() -> None:
    pools = pools_of(generation="v6e", topology="4x4", autoscaling={"minSlices": 1, "maxSlices": 3})
    assert [pool.autoscaling for pool in pools] == [AutoscalingPlan(4, 4), AutoscalingPlan(0, 4), AutoscalingPlan(0, 4)]
    assert all(pool.node_count is None for pool in pools)
    assert all(pool.autoscaling and pool.autoscaling.location_policy == "ANY" for pool in pools)


def test_an_autoscaled_single_host_pool_counts_hosts() -> None:
    (pool,) = pools_of(generation="v6e", topology="2x2", autoscaling={"maxSlices": 5})
    assert pool.autoscaling == AutoscalingPlan(0, 5)


def test_tpu7x_is_placed_by_a_policy_of_its_topology() -> None:
    (multi,) = pools_of(generation="tpu7x", topology="2x2x2", zone="us-central1-c")
    assert (multi.workload_policy, multi.placement_topology) == ("lab-main-trainer-2x2x2", "2x2x2")
    (single,) = pools_of(generation="tpu7x", topology="2x2x1", zone="us-central1-c")
    assert (single.workload_policy, single.placement_topology) == (None, None)


def test_a_changed_topology_replaces_because_the_provider_would_do_nothing() -> None:
    (before,) = pools_of(generation="v6e", topology="4x4")
    (after,) = pools_of(generation="v6e", topology="2x4")
    assert before.name == after.name
    assert before.placement_topology != after.placement_topology
    assert "placementPolicy" in before.replace_on


def test_a_changed_machine_replaces_a_single_host_pool() -> None:
    (before,) = pools_of(generation="v6e", topology="2x2")
    (after,) = pools_of(generation="v6e", topology="1x1")
    assert before.machine_type != after.machine_type
    assert "nodeConfig.machineType" in before.replace_on


def test_spot_and_disks_as_asked() -> None:
    (pool,) = pools_of(generation="v5e", topology="4x4", capacity="spot", diskType="pd-ssd", diskSizeGb=250)
    assert (pool.capacity, pool.disk_type, pool.node.disk_size_gb) == ("spot", "pd-ssd", 250)
    (default,) = pools_of(generation="v5e", topology="4x4")
    assert (default.capacity, default.disk_type, default.node.disk_size_gb) == ("on-demand", "pd-balanced", 100)


def reserved(owner: str | None = None, **use: str) -> NodePoolPlan:
    granted = {"generation": "v6e", "zone": "us-central1-b", "chips": 64, "maintenanceInterval": "PERIODIC"}
    pool = {
        "generation": "v6e",
        "topology": "4x4",
        "capacity": "reservation",
        "reservation": {"name": "nightly", **use},
    }
    description = {
        "name": "lab",
        "project": "tpuplane-lab",
        "reservations": {"nightly": granted if owner is None else {**granted, "project": owner}},
        "clusters": {"main": {"location": "us-central1", "pools": {"trainer": pool}}},
    }
    return plan(parse_platform(description)).clusters[0].tpu_pools[0]


def test_a_reservation_is_named_as_google_names_it() -> None:
    shared = "projects/tpu-bank/reservations/nightly"
    assert reserved().reservation == "nightly"
    assert reserved("tpuplane-lab").reservation == "nightly"
    assert reserved("tpu-bank").reservation == shared
    assert reserved("tpu-bank", block="b1").reservation == f"{shared}/reservationBlocks/b1"
    assert reserved(block="b1", subBlock="s2").reservation == (
        "projects/tpuplane-lab/reservations/nightly/reservationBlocks/b1/reservationSubBlocks/s2"
    )


def test_reserved_hosts_are_maintained_as_the_reservation_says() -> None:
    """Compute Engine gives no reserved host that differs from its reservation (AI-Hypercomputer/xpk#476)."""
    assert (reserved().capacity, reserved().host_maintenance) == ("reservation", "PERIODIC")
    (own,) = pools_of(generation="v6e", topology="4x4")
    assert (own.reservation, own.flex_start, own.host_maintenance) == (None, None, None)


def test_flex_start_pools_wait_at_zero_and_are_not_repaired() -> None:
    pools = pools_of(
        "us-east5",
        generation="v6e",
        topology="4x4",
        zone="us-east5-a",
        capacity="flex-start",
        autoscaling={"maxSlices": 2},
        flexStart={"maxRunDuration": "36h", "queued": True},
    )
    assert [pool.name for pool in pools] == ["trainer-0", "trainer-1"]
    for pool in pools:
        assert pool.flex_start == FlexStartSpec(max_run_duration="36h", queued=True)
        assert pool.autoscaling == AutoscalingPlan(0, 4, location_policy="ANY")
        assert (pool.capacity, pool.node_count, pool.auto_repair) == ("flex-start", None, False)


def test_flex_start_hosts_run_for_seven_days_unless_less_is_asked() -> None:
    (pool,) = pools_of(
        generation="tpu7x", topology="2x2x1", zone="us-central1-c", capacity="flex-start", autoscaling={"maxSlices": 2}
    )
    assert pool.flex_start == FlexStartSpec()


def test_v4_gets_a_system_pool_of_machines_that_its_zone_has() -> None:
    """us-central2-b has no e2 machines (keras-team/kinetic#305)."""
    cluster = cluster_of("us-central2-b", {"cubes": {"generation": "v4", "topology": "2x2x2"}})
    assert cluster.system_pool.machine_type == "n2-standard-4"
    assert cluster.node_zones == ("us-central2-b",)
    assert cluster.tpu_pools[0].zones == ("us-central2-b",)
    assert cluster_of("us-central1").system_pool.machine_type == "e2-standard-4"


def test_a_regional_cluster_spreads_its_system_pool() -> None:
    system = cluster_of("us-east1", systemPool={"minNodes": 2, "maxNodes": 5}).system_pool
    assert system.zones == ("us-east1-b", "us-east1-c", "us-east1-d")
    assert system.autoscaling == AutoscalingPlan(2, 5, location_policy="BALANCED")
    assert (system.slice, system.node_count, system.name) == (None, None, "system")


def test_a_system_pool_is_in_the_zones_of_its_machine_family() -> None:
    system = cluster_of("us-south1", systemPool={"machineType": "n4-standard-4"}).system_pool
    assert system.zones == ("us-south1-a", "us-south1-b")


def test_names_of_everything_begin_with_the_platform() -> None:
    cluster = cluster_of()
    assert cluster.name == cluster.subnet.name == cluster.service_account.account_id == "lab-main"
    platform = plan(
        parse_platform(
            {
                "name": "lab",
                "project": "tpuplane-lab",
                "clusters": {
                    "one": {"location": "us-central1"},
                    "two": {
                        "location": "us-central1-a",
                        "network": {
                            "nodesCidr": "10.1.0.0/20",
                            "podsCidr": "10.8.0.0/14",
                            "servicesCidr": "10.2.0.0/20",
                        },
                    },
                },
            }
        )
    )
    assert platform.network.name == "lab"
    assert [subnet.name for subnet in platform.network.subnets] == ["lab-one", "lab-two"]
    # Two clusters of one region share its NAT.
    assert platform.network.nats == {"us-central1": "lab-us-central1"}


@pytest.mark.parametrize("named", [{"formerly": "old"}, {"adopted": {"names": ["old"]}}], ids=["formerly", "adopted"])
def test_a_class_names_gpu_nodes_as_gke_does(named: dict[str, Any]) -> None:
    pool = {"accelerator": "nvidia-l4", "zones": ["us-central1-a"], **named}
    description = {
        "name": "lab",
        "project": "tpuplane-lab",
        "clusters": {"main": {"location": "us-central1", "gpuPools": {"serving": pool}}},
        "classes": {"serve": {"priorities": [{"nodepools": ["serving"]}]}},
    }
    (cluster,) = plan(parse_platform(description)).clusters
    assert [pool.name for pool in cluster.gpu_pools] == ["old"]
    assert cluster.compute_classes[0].spec["priorities"] == [{"nodepools": ["old"]}]


def test_labels_add_up_and_ours_cannot_be_lost() -> None:
    cluster = cluster_of(
        labels={"tier": "gold", "environment": "override"},
        pools={
            "trainer": {
                "generation": "v6e",
                "topology": "2x2",
                "labels": {"tier": "silver"},
                "nodeLabels": {"a/b": "C"},
            }
        },
    )
    assert cluster.resource_labels == {"environment": "override", "tier": "gold", "tpuplane-platform": "lab"}
    (pool,) = cluster.tpu_pools
    assert pool.resource_labels == {
        "environment": "override",
        "tier": "silver",
        "tpuplane-platform": "lab",
        "tpuplane-pool": "trainer",
    }
    assert pool.node_labels == {"a/b": "C", "tpuplane-pool": "trainer", "tpuplane-capacity": "on-demand"}


def test_nodes_get_the_least_roles() -> None:
    assert cluster_of().service_account.roles == (
        "roles/container.defaultNodeServiceAccount",
        "roles/artifactregistry.reader",
    )


def test_a_description_that_was_never_checked_is_rejected_here() -> None:
    """Models can be built in Python without `PlatformSpec.parse`; the plan must not come out wrong then."""
    right = parse_platform(
        {
            "name": "lab",
            "project": "tpuplane-lab",
            "clusters": {
                "main": {"location": "us-central1", "pools": {"trainer": {"generation": "v6e", "topology": "4x4"}}}
            },
        }
    )
    cluster = right.clusters["main"]
    pool = cluster.pools["trainer"].model_copy(update={"topology": "4x5"})
    wrong = right.model_copy(update={"clusters": {"main": cluster.model_copy(update={"pools": {"trainer": pool}})}})
    with pytest.raises(SpecError, match="'4x5' is not a v6e topology"):
        plan(wrong)
