"""The steps to switch off GKE's slice controller, with the pools and queues that need it."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import yaml
from tpuplane.diff import diff
from tpuplane.spec import parse_platform

from tests.support import REPOSITORY

pytestmark = pytest.mark.unit

FILE = REPOSITORY / "examples/dynamic-slices/stacks/Pulumi.lab.yaml"
DESCRIBED = yaml.safe_load(FILE.read_text(encoding="utf-8"))["config"]["tpuplane:platform"]
WAYS = "These pools stay declared with acceleratorTopologyMode: PROVISION_ONLY: cubes."
QUOTA = "The queue research still has quota for tpu7x-4x4x4-reservation-ours-cubes, but no admission check"
KEPT = "Write `sliceController: false`"
END = "End the jobs of the queues research that use cubes."
DELETE = "`kubectl delete slices NAME`"


def steps(*, off: bool | None = False, pools: Any = None, quotas: Any = None) -> str:
    """The steps of the cluster, with these pools and quotas afterwards."""
    after = copy.deepcopy(DESCRIBED)
    main = after["clusters"]["main"]
    main["sliceController"] = off
    if not off:  # it needs GKE's
        del main["addons"]["kueueSliceController"]
    main["pools"] = main["pools"] if pools is None else pools
    own = after["teams"]["research"]["clusters"]["main"]
    own["pools"] = own["pools"] if quotas is None else quotas
    before = parse_platform(DESCRIBED, project="acme-lab")
    advised = diff(before, parse_platform(after, project="acme-lab")).advice
    return "".join(advice.steps for advice in advised if advice.path == ("clusters", "main", "sliceController"))


def test_the_pools_and_queues_that_need_it_are_named() -> None:
    for kept in (True, False):
        shown = steps() if kept else steps(pools={}, quotas={})
        assert END in shown
        assert DELETE in shown
        assert (WAYS in shown, QUOTA in shown, KEPT in shown) == (kept, kept, False)
    without_quota = steps(quotas={})
    assert (WAYS in without_quota, QUOTA in without_quota) == (True, False)
    another = {"cubes": {**DESCRIBED["clusters"]["main"]["pools"]["cubes"], "acceleratorTopologyMode": "AUTO_CONNECT"}}
    assert WAYS not in steps(pools=another)


def test_a_removed_field_keeps_the_controller() -> None:
    assert steps(off=None).startswith(KEPT)
    assert not steps(off=True)
