"""Cases that GKE's own autoscaler publishes with its source: docs/fidelity.md lists all of them."""

from __future__ import annotations

import pytest
from tpuplane_twin.elasticity.decision import View, decide
from tpuplane_twin.elasticity.objects import Node

from tests.support.elasticity.elastic_objects import cpu_group, group, nodes, pod, slice_group, tpu_pod

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("machine", "chips", "topology"), [("ct6e-standard-1t", 1, "1x1"), ("ct6e-standard-8t", 8, "2x4")]
)
def test_a_flex_start_pool_grows_from_nothing(machine: str, chips: int, topology: str) -> None:
    autoscaling = {"enabled": True, "maxNodeCount": 4, "locationPolicy": "ANY"}
    pool = group("flex", machine, config={"machineType": machine, "flexStart": True}, autoscaling=autoscaling)
    flex = {"cloud.google.com/gke-tpu-topology": topology, "cloud.google.com/gke-flex-start": "true"}
    spec = {"nodeSelector": flex, "tolerations": [{"operator": "Exists"}]}
    waiting = pod("p", requests={"google.com/tpu": chips}, spec=spec)
    (growth,) = decide(View([], [waiting], [pool]), {}, 0, 60).up.growths
    assert (growth.before.size, growth.after.size) == (0, 1)


def test_one_decision_serves_tpus_and_cpus() -> None:
    pending = [tpu_pod("train"), pod("web")]
    growths = decide(View([], pending, [slice_group("slice"), cpu_group()]), {}, 0, 60).up.growths
    assert {growth.before.name: growth.after.size for growth in growths} == {"slice": 4, "cpu": 1}


def test_a_foreign_node_keeps_no_pool_from_growing() -> None:
    (foreign,) = nodes(cpu_group(nodes=1))
    stranger = Node.parse({"metadata": {"name": "rack-7"}, "spec": {}, "status": {}})
    pool = slice_group()
    (growth,) = decide(View([stranger, foreign], [tpu_pod("train")], [pool, cpu_group(nodes=1)]), {}, 0, 60).up.growths
    assert growth.after.size == 4
