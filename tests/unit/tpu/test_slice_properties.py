"""What holds for every slice, and for every rejection."""

from __future__ import annotations

import copy
import itertools
import math
import pickle
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tpuplane.tpu import Generation, GkeVersion, Slice, SliceError, catalogue

pytestmark = pytest.mark.unit

GENERATIONS = catalogue().generations
# The largest slices that Google documents (v3, v5e, v6e: the pod; tpu7x: the pod, as Google's tools allow).
LARGEST = {"v4": 12 * 16 * 16, "v5p": 16 * 16 * 24, "tpu7x": 9216}


def shapes_of(generation: Generation) -> list[str]:
    """Every accepted topology, found by trying: not the catalogue's own list."""
    sides = [1, 2, *range(4, 37, 4)] if generation.dimensions == 3 else [2**n for n in range(6)]
    shapes = ("x".join(map(str, dims)) for dims in itertools.product(sides, repeat=generation.dimensions))
    return [shape for shape in shapes if generation.accepts(shape)]


SLICES = [
    Slice.of(generation.name, shape, machine.name)
    for generation in GENERATIONS
    for shape in shapes_of(generation)
    for machine in generation.machines_for(shape)
]
slices = st.sampled_from(SLICES)
generations = st.sampled_from(GENERATIONS)
side = st.one_of(st.integers(1, 40), st.sampled_from([1, 2, 4, 8, 12, 16, 24, 32, 64, 256]))
grids = st.lists(side, min_size=1, max_size=4)


def numbers(topology: str) -> list[int]:
    return [int(part) for part in topology.split("x")]


@given(slices)
def test_chips_are_the_product_and_hosts_share_them(found: Slice) -> None:
    assert found.chips == math.prod(numbers(found.topology)) == found.hosts * found.machine.chips
    assert found.multi_host is (found.hosts > 1)
    assert (found.placement != "none") is found.multi_host
    if not found.multi_host:
        assert found.topology == found.machine.single_host_topology
    if found.machine.single_host_only:
        assert found.hosts == 1


@given(slices)
def test_hosts_tile_the_slice(found: Slice) -> None:
    host = [int(part) for part in found.chips_per_host_bounds.split(",")]
    hosts = [int(part) for part in found.host_bounds.split(",")]
    grid = numbers(found.topology)
    assert [a * b for a, b in zip(host, hosts, strict=True)] == grid + [1] * (3 - len(grid))
    assert math.prod(host) == found.machine.chips
    assert math.prod(hosts) == found.hosts


@given(slices)
def test_node_labels_lead_back_to_the_slice(found: Slice) -> None:
    accelerator, topology, count = found.node_labels.values()
    assert Slice.for_nodes(accelerator, topology, found.machine.name) == found
    assert Slice.for_nodes(accelerator, topology, chips_per_node=int(count)) == found


@given(slices)
def test_slices_are_values(found: Slice) -> None:
    for twin in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert twin == found
        assert hash(twin) == hash(found)


@given(st.sampled_from([gen for gen in GENERATIONS if gen.dimensions == 3]), st.tuples(side, side, side))
def test_from_one_cube_on_the_documented_rule_decides(generation: Generation, grid: tuple[int, int, int]) -> None:
    a, b, c = grid
    if a * b * c < 64:
        return
    by_the_rule = a <= b <= c and all(n % 4 == 0 for n in grid) and a * b * c <= LARGEST[generation.name]
    assert generation.accepts(f"{a}x{b}x{c}") is by_the_rule


@given(generations, grids)
def test_a_rejected_topology_names_what_is_allowed_and_what_is_nearest(generation: Generation, grid: list[int]) -> None:
    topology = "x".join(map(str, grid))
    try:
        found = Slice.of(generation.name, topology)
    except SliceError as error:
        assert (error.field, error.value) == ("topology", topology)
        assert error.allowed
        assert error.nearest
        for suggestion in (*error.allowed, *error.nearest):
            assert Slice.of(generation.name, suggestion).topology == suggestion
        assert str(error).startswith(f"'{topology}' is not a {generation.name} topology")
        assert str(error).endswith(f"; nearest: {', '.join(error.nearest)}")
    else:
        assert found.topology == topology


@given(generations, grids)
def test_the_nearest_topologies_leave_none_nearer(generation: Generation, grid: list[int]) -> None:
    topology = "x".join(map(str, grid))
    if generation.accepts(topology) or len(grid) != generation.dimensions:
        return
    with pytest.raises(SliceError) as caught:
        Slice.of(generation.name, topology)
    chips = math.prod(grid)
    nearest = [math.prod(numbers(shape)) for shape in caught.value.nearest]
    if nearest == [chips]:
        return
    wanted = sorted(grid)
    for shape in shapes_of(generation):
        size = math.prod(numbers(shape))
        assert size != chips
        pairs = list(zip(sorted(numbers(shape)), wanted, strict=True))
        if all(have <= want for have, want in pairs):
            assert any(size <= near < chips for near in nearest)
        if all(have >= want for have, want in pairs):
            assert any(chips < near <= size for near in nearest)


@given(slices, st.randoms())
def test_the_right_numbers_in_the_wrong_order_are_put_right(found: Slice, random: Random) -> None:
    grid = numbers(found.topology)
    random.shuffle(grid)
    topology = "x".join(map(str, grid))
    if found.generation.accepts(topology):
        return
    with pytest.raises(SliceError) as caught:
        Slice.of(found.generation.name, topology)
    assert caught.value.nearest == (found.topology,)


@given(slices, st.sampled_from([machine.name for gen in GENERATIONS for machine in gen.machines]))
def test_a_rejected_machine_type_names_those_that_fit(found: Slice, machine_type: str) -> None:
    try:
        made = Slice.of(found.generation.name, found.topology, machine_type)
    except SliceError as error:
        assert (error.field, error.value) == ("machine_type", machine_type)
        assert set(error.nearest) <= set(error.allowed)
        assert error.nearest
        for allowed in error.allowed:
            assert Slice.of(found.generation.name, found.topology, allowed).machine.name == allowed
    else:
        assert made.machine.name == machine_type
        assert made.chips == found.chips


@given(st.text(max_size=30), st.text(max_size=30), st.none() | st.text(max_size=30))
def test_no_text_whatever_fails_in_another_way(generation: str, topology: str, machine_type: str | None) -> None:
    for attempt in (
        lambda: Slice.of(generation, topology, machine_type),
        lambda: Slice.of("v6e", topology, machine_type),
        lambda: Slice.of("v5p", "4x4x4", generation),
        lambda: catalogue().check_zone(topology, "v6e"),
        lambda: GkeVersion.parse(topology),
    ):
        with pytest.raises(SliceError):
            attempt()


versions = st.tuples(st.integers(1, 3), st.integers(20, 40), st.integers(0, 20), st.integers(0, 9_999_999))


@given(versions, versions)
def test_gke_versions_are_ordered_by_their_numbers(one: tuple[int, ...], other: tuple[int, ...]) -> None:
    text, other_text = ("{}.{}.{}-gke.{}".format(*parts) for parts in (one, other))
    assert (GkeVersion.parse(text) < GkeVersion.parse(other_text)) is (one < other)
    assert str(GkeVersion.parse(text)) == text
    assert GkeVersion.minimum(text) == GkeVersion.parse(text)
