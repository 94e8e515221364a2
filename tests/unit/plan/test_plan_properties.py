"""What holds for every plan: names, chips, limits, and how a plan moves when the description does."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tpuplane.plan import PlatformPlan, plan
from tpuplane.spec import parse_platform
from tpuplane.tpu import Slice, catalogue
from tpuplane.tpu.catalogue import region_of

pytestmark = pytest.mark.unit

TPU_ZONES = sorted({zone for gen in catalogue().generations for zone in catalogue().zones(gen.name)})
# Large slices fill the address ranges; that rejection has tests of its own.
MAX_CHIPS = 256


def offered(zone: str) -> list[tuple[str, str]]:
    """Generation and topology of every slice that fits the test and that the zone offers."""
    return [
        (gen.name, topology)
        for gen in catalogue().generations
        if zone in catalogue().zones(gen.name)
        for topology in gen.topologies
        if Slice.of(gen.name, topology).chips <= MAX_CHIPS
    ]


@st.composite
def pools(draw: st.DrawFn, zone: str) -> dict[str, Any]:
    generation, topology = draw(st.sampled_from(offered(zone)))
    machines = catalogue().generation(generation).machines_for(topology)
    pool: dict[str, Any] = {
        "generation": generation,
        "topology": topology,
        "zone": zone,
        "machineType": draw(st.sampled_from([None, *(machine.name for machine in machines)])),
        "capacity": draw(st.sampled_from(["on-demand", "spot"])),
        "maxPodsPerNode": draw(st.integers(8, 64)),
    }
    if pool["machineType"] is None:
        del pool["machineType"]
    shape = Slice.of(generation, topology, pool.get("machineType"))
    joined = shape.generation.multislice or not shape.multi_host
    count = draw(st.integers(0, 4 if joined else 1))
    if draw(st.booleans()):
        pool["autoscaling"] = {"minSlices": draw(st.integers(0, count)), "maxSlices": max(count, 1)}
    else:
        pool["slices"] = count
    return pool


@st.composite
def descriptions(draw: st.DrawFn) -> dict[str, Any]:
    """Right descriptions of one to three clusters, zonal and regional, with up to three pools each."""
    clusters: dict[str, Any] = {}
    keys = draw(st.lists(st.from_regex(r"[a-z][a-z0-9]{0,9}", fullmatch=True), min_size=1, max_size=3, unique=True))
    for index, key in enumerate(keys):
        zone = draw(st.sampled_from(TPU_ZONES))
        names = st.from_regex(r"[a-z]{1,12}", fullmatch=True).filter(lambda name: name != "system")
        clusters[key] = {
            "location": draw(st.sampled_from([zone, region_of(zone)])),
            "pools": {name: draw(pools(zone)) for name in draw(st.lists(names, max_size=3, unique=True))},
            "network": {
                "nodesCidr": f"10.0.{16 * index}.0/20",
                "podsCidr": f"10.{64 + 4 * index}.0.0/14",
                "servicesCidr": f"10.32.{16 * index}.0/20",
            },
        }
    return {"name": "platform", "project": "some-project", "clusters": clusters}


def planned(description: dict[str, Any]) -> PlatformPlan:
    return plan(parse_platform(description))


unhurried = settings(max_examples=60)


@unhurried
@given(descriptions())
def test_chips_add_up(description: dict[str, Any]) -> None:
    """Counted from the description alone: slices at full scale, each of as many chips as its topology's product."""
    wanted = 0
    for cluster in description["clusters"].values():
        for pool in cluster["pools"].values():
            slices = pool["autoscaling"]["maxSlices"] if "autoscaling" in pool else pool["slices"]
            chips = 1
            for side in pool["topology"].split("x"):
                chips *= int(side)
            wanted += slices * chips
    assert planned(description).chips == wanted


@unhurried
@given(descriptions())
def test_names_are_unique_and_google_takes_them(description: dict[str, Any]) -> None:
    platform = planned(description)
    name = re.compile(r"[a-z]([a-z0-9-]{0,38}[a-z0-9])?")
    assert len({cluster.name for cluster in platform.clusters}) == len(platform.clusters)
    for cluster in platform.clusters:
        assert name.fullmatch(cluster.name)
        assert 6 <= len(cluster.service_account.account_id) <= 30
        names = [pool.name for pool in (cluster.system_pool, *cluster.tpu_pools)]
        assert len(set(names)) == len(names)
        assert all(name.fullmatch(own) for own in names)


@unhurried
@given(descriptions())
def test_gke_s_rules_for_slices_hold(description: dict[str, Any]) -> None:
    """From GKE's own autoscaler and Google's toolkit: one zone, whole slices, placement for several hosts only."""
    for cluster in planned(description).clusters:
        for pool in cluster.tpu_pools:
            assert pool.slice is not None
            assert (pool.node_count is None) != (pool.autoscaling is None)
            assert (pool.placement_topology is not None) == pool.slice.multi_host
            assert len(pool.zones) == 1
            assert region_of(pool.zones[0]) == cluster.region
            assert pool.upgrade.max_surge == 0
            if pool.slice.multi_host:
                assert pool.max_nodes == pool.slice.hosts
                assert pool.autoscaling is None or pool.autoscaling.min_nodes in (0, pool.slice.hosts)


@unhurried
@given(descriptions(), st.integers(0, 5))
def test_one_more_slice_adds_one_node_pool_and_touches_nothing(description: dict[str, Any], slices: int) -> None:
    """And one fewer takes the last away: 3 to 4 to 3 slices is a plan that returns to itself."""
    cluster = next(iter(description["clusters"].values()))
    pool = {"generation": "v5p", "topology": "2x2x2", "zone": "us-east5-a", "slices": slices}
    cluster["location"], cluster["pools"] = "us-east5", {"grows": pool}
    before = planned(description)
    pool["slices"] += 1
    after = planned(description)
    *kept, _ = after.clusters[0].tpu_pools
    assert before.clusters[0].tpu_pools == tuple(kept)
    assert after.clusters[0].tpu_pools[-1].name == f"grows-{slices}"
    assert after.clusters[1:] == before.clusters[1:]
    assert after.network == before.network


@unhurried
@given(descriptions(), st.randoms(use_true_random=False))
def test_the_order_of_the_file_does_not_matter(description: dict[str, Any], random: Any) -> None:
    def shuffled(mapping: dict[str, Any]) -> dict[str, Any]:
        keys = list(mapping)
        random.shuffle(keys)
        return {key: mapping[key] for key in keys}

    other = shuffled(description)
    other["clusters"] = shuffled(
        {key: {**cluster, "pools": shuffled(cluster["pools"])} for key, cluster in description["clusters"].items()}
    )

    def contents(platform: PlatformPlan) -> dict[str, Any]:
        return {
            cluster.name: (cluster.subnet, cluster.system_pool, sorted(cluster.tpu_pools, key=lambda pool: pool.name))
            for cluster in platform.clusters
        }

    assert contents(planned(other)) == contents(planned(description))


@unhurried
@given(descriptions())
def test_what_scales_is_what_was_asked(description: dict[str, Any]) -> None:
    """Warm hosts in the plan are `minSlices` of the description, for one host a slice and for many."""
    for key, cluster in zip(description["clusters"], planned(description).clusters, strict=True):
        for name, pool in description["clusters"][key]["pools"].items():
            members = [node_pool for node_pool in cluster.tpu_pools if node_pool.pool == name]
            if "autoscaling" not in pool:
                continue
            shape = Slice.of(pool["generation"], pool["topology"], pool.get("machineType"))
            warm = sum(member.autoscaling.min_nodes for member in members if member.autoscaling)
            assert warm == pool["autoscaling"]["minSlices"] * shape.hosts
