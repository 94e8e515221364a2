"""What holds for GPU pools of every machine, in every zone, however they scale and are shared."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tpuplane.cost import cost
from tpuplane.gpu import gpu_catalogue
from tpuplane.plan import ClusterPlan, plan
from tpuplane.spec import parse_platform
from tpuplane.spec.core.locations import locations, region_of

pytestmark = pytest.mark.unit

SHARING = st.none() | st.builds(
    lambda strategy, clients: {"strategy": strategy, "maxClients": clients},
    st.sampled_from(["TIME_SHARING", "MPS"]),
    st.integers(2, 48),
)


@st.composite
def gpu_pools(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A region, and a pool of one of its machines."""
    machine = draw(st.sampled_from([candidate for candidate in gpu_catalogue().machines if set(candidate.zones)]))
    region = draw(st.sampled_from(sorted({region_of(zone) for zone in machine.zones} & set(locations().regions))))
    zones = [zone for zone in machine.zones if region_of(zone) == region]
    pool: dict[str, Any] = {
        "machineType": machine.name,
        "zones": draw(st.lists(st.sampled_from(zones), min_size=1, unique=True)),
        "capacity": draw(st.sampled_from([name for name in ("on-demand", "spot") if name in machine.capacities])),
    }
    most = draw(st.integers(1, 20))
    if draw(st.booleans()):
        pool["autoscaling"] = {"minNodes": draw(st.integers(0, most)), "maxNodes": most}
    else:
        pool["nodes"] = most
    if machine.accelerator.partitions and draw(st.booleans()):
        pool["partitionSize"] = draw(st.sampled_from(sorted(machine.accelerator.partitions)))
    if sharing := draw(SHARING):
        pool["sharing"] = sharing
    parts = machine.offers(pool.get("partitionSize"), sharing["maxClients"] if sharing else None)
    assume(parts < 256)  # a pod for each part, and some of GKE
    return region, {**pool, "maxPodsPerNode": max(32, parts + 1)}


def cluster_of(region: str, pools: dict[str, Any]) -> tuple[ClusterPlan, int]:
    """The planned cluster, and the GPUs that its cost is of."""
    clusters = {"main": {"location": region, "gpuPools": pools}}
    found = plan(parse_platform({"name": "lab", "project": "tpuplane-lab", "clusters": clusters}))
    return found.clusters[0], sum(pool.pool.units for pool in cost(found).pools)


@given(gpu_pools())
def test_gpus_nodes_and_disks_are_those_of_the_machine(described: tuple[str, dict[str, Any]]) -> None:
    region, pool = described
    cluster, units = cluster_of(region, {"serving": pool})
    (planned,) = cluster.gpu_pools
    machine = gpu_catalogue().machine(pool["machineType"])
    most = pool.get("nodes") or pool["autoscaling"]["maxNodes"]
    assert planned.gpu is not None
    assert planned.slice is None
    assert planned.max_nodes == most
    assert planned.min_nodes == (most if "nodes" in pool else pool["autoscaling"]["minNodes"])
    assert (planned.node_count is None) != (planned.autoscaling is None)
    assert units == most * len(pool["zones"]) * machine.gpus
    assert planned.disk_type in machine.boot_disks
    assert planned.gpu.per_node % machine.gpus == 0
    assert planned.gpu.per_node >= machine.gpus
    assert ("sharing" in pool) == (planned.gpu.sharing is not None)


@given(gpu_pools())
def test_every_node_has_its_address(described: tuple[str, dict[str, Any]]) -> None:
    region, pool = described
    without, _ = cluster_of(region, {})
    cluster, _ = cluster_of(region, {"serving": pool})
    (planned,) = cluster.gpu_pools
    assert cluster.node_addresses - without.node_addresses == planned.max_nodes * len(planned.zones)
    assert cluster.pod_addresses > without.pod_addresses


@given(gpu_pools(), gpu_pools())
def test_one_more_pool_changes_no_other(first: tuple[str, dict[str, Any]], second: tuple[str, dict[str, Any]]) -> None:
    region, pool = first
    alone, _ = cluster_of(region, {"first": pool})
    both, _ = cluster_of(region, {"second": second[1] if second[0] == region else pool, "first": pool})
    assert alone.gpu_pools[0] in both.gpu_pools
    assert [gpu_pool.name for gpu_pool in both.gpu_pools] == ["second", "first"]
