"""Placements that are taken back leave no trace."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tpuplane_twin.elasticity.objects import Pod
from tpuplane_twin.elasticity.simulation import Simulation

from tests.support.elasticity.elastic_objects import cpu_group, nodes, pod, replica, slice_group, tpu_pod

pytestmark = pytest.mark.unit

GROUPS = (slice_group("a", nodes=4), slice_group("b", nodes=4), cpu_group(nodes=2))
PORT = {"containers": [{"name": "c", "ports": [{"hostPort": 8471}], "resources": {"requests": {"cpu": "1"}}}]}
PODS: list[Pod] = [
    *replica("blue", 3),
    *replica("green", 2),
    *(tpu_pod(f"t{n}") for n in range(3)),
    *(pod(f"c{n}", requests={"cpu": n + 1}) for n in range(3)),
    *(pod(f"port{n}", spec=PORT) for n in range(2)),
]


def _key(pod: Pod) -> str:
    return pod.key


def obstacles(simulation: Simulation) -> list[list[str | None]]:
    return [[simulation.obstacle(pod, at) for at in range(10)] for pod in PODS]


@given(kept=st.lists(st.sampled_from(PODS), unique_by=_key), tried=st.lists(st.sampled_from(PODS), unique_by=_key))
def test_after_a_rewind_everything_is_as_before(kept: list[Pod], tried: list[Pod]) -> None:
    simulation = Simulation(nodes(*GROUPS), [])
    for one in kept:
        simulation.place(one, range(10))
    before, mark = obstacles(simulation), simulation.mark()
    extra = simulation.add(GROUPS[2].future("us-east5-b", 7))
    for one in tried:
        if one not in kept:
            simulation.place(one, [*range(10), extra])
    simulation.rewind(mark)
    assert obstacles(simulation) == before
    assert len(simulation.nodes) == 10


@given(placed=st.lists(st.sampled_from(PODS), unique_by=_key))
def test_pods_placed_are_as_good_as_pods_that_run(placed: list[Pod]) -> None:
    simulation = Simulation(nodes(*GROUPS), [])
    where = [(one, simulation.place(one, range(10))) for one in placed]
    running = [replace(one, node=simulation.nodes[at].name, unschedulable=False) for one, at in where if at is not None]
    assert obstacles(Simulation(nodes(*GROUPS), running)) == obstacles(simulation)


def test_a_gang_is_placed_whole_or_not_at_all() -> None:
    simulation = Simulation(nodes(slice_group("a", nodes=4)), [])
    assert not simulation.place_together(replica("big", 5), range(4))
    assert simulation.placed == []
    assert simulation.place_together(replica("right", 4), range(4))
