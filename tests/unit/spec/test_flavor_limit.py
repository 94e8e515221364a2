"""How many flavors the pools of a cluster are: the check counts what the plan makes."""

from __future__ import annotations

from typing import Any

import pytest
from tpuplane.plan import plan
from tpuplane.spec import SpecError, parse_platform

pytestmark = pytest.mark.unit

NODE = {"generation": "v6e", "topology": "2x4", "capacity": "reservation"}


def described(fixed: int, autoscaled: int) -> dict[str, Any]:
    """Pools of one shape; each fixed one shares its reservation with an autoscaled one, as long as there are both."""
    pools = {f"f{at}": NODE | {"reservation": {"name": f"r{at}"}} for at in range(fixed)}
    pools |= {
        f"a{at}": NODE | {"reservation": {"name": f"r{at}"}, "autoscaling": {"maxSlices": 1}}
        for at in range(autoscaled)
    }
    held = {"generation": "v6e", "zone": "us-central1-b", "chips": 16}
    return {
        "name": "lab",
        "project": "tpuplane-lab",
        "reservations": {f"r{at}": held for at in range(max(fixed, autoscaled))},
        "teams": {"research": {"clusters": {"main": {"pools": {name: {"slices": 1} for name in pools}}}}},
        "clusters": {"main": {"location": "us-central1", "addons": {"kueue": {}}, "pools": pools}},
    }


@pytest.mark.parametrize(("fixed", "autoscaled"), [(63, 0), (31, 31)])
def test_as_many_flavors_as_kueue_takes(fixed: int, autoscaled: int) -> None:
    (cluster,) = plan(parse_platform(described(fixed, autoscaled))).clusters
    assert cluster.queues is not None
    assert len(cluster.queues.flavors) == 64


@pytest.mark.parametrize(("fixed", "autoscaled"), [(64, 0), (32, 31)])
def test_one_more_is_rejected(fixed: int, autoscaled: int) -> None:
    with pytest.raises(SpecError) as rejected:
        parse_platform(described(fixed, autoscaled))
    assert [mistake.rule for mistake in rejected.value.mistakes] == ["team-flavors"]
