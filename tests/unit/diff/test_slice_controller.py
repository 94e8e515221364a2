"""The steps to switch off GKE's slice controller, with the pools and queues that need it."""

from __future__ import annotations

import copy
from collections.abc import Callable
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


def advised(change: Callable[[Any], Any], teams: Any = None) -> dict[str, str]:
    """The advice for a change of the cluster, by its path in the cluster, with these teams afterwards."""
    after = copy.deepcopy(DESCRIBED)
    after["teams"] = teams or {}
    change(after["clusters"]["main"])
    found = diff(parse_platform(DESCRIBED, project="acme-lab"), parse_platform(after, project="acme-lab"))
    return {".".join(map(str, advice.path[2:])): advice.steps for advice in found.advice}


def test_jobs_end_before_kueues_controller_is_removed() -> None:
    steps = advised(lambda main: main["addons"].pop("kueueSliceController"))["addons.kueueSliceController"]
    assert steps.startswith(f"Before `pulumi up`: {END}")
    assert "the finalizer `accelerator.gke.io/slice`" in steps
    assert "new jobs stay Pending" not in steps  # the queue has no quota of cubes any more
    with_quota = advised(lambda main: main["addons"].pop("kueueSliceController"), teams=DESCRIBED["teams"])
    assert with_quota["addons.kueueSliceController"].startswith(steps)
    assert "without it, new jobs stay Pending" in with_quota["addons.kueueSliceController"]
    both = advised(lambda main: (main["addons"].pop("kueueSliceController"), main.update(sliceController=False)))
    assert list(both) == ["sliceController"]
    assert not advised(lambda main: main["addons"]["kueueSliceController"].update(image="mirror/controller:v1"))


@pytest.mark.parametrize(
    "change",
    [
        lambda main: main["pools"]["cubes"].update(slices=1),
        lambda main: main["pools"].clear(),
        lambda main: main["pools"]["cubes"]["reservation"].update(block="other"),
    ],
    ids=["fewer", "removed", "replaced"],
)
def test_slices_end_before_their_node_pools_are_deleted(change: Callable[[Any], Any]) -> None:
    assert "GKE rejects the deletion of a node pool of cubes while a Slice uses it." in advised(change)["pools.cubes"]


def test_a_sub_block_has_no_room_for_a_second_pool() -> None:
    before = copy.deepcopy(DESCRIBED)
    before["teams"] = {}
    (cubes,) = before["clusters"]["main"]["pools"].values()
    cubes.update(slices=1, reservation={**cubes["reservation"], "subBlock": "one"})
    after = copy.deepcopy(before)
    after["clusters"]["main"]["pools"]["cubes"]["acceleratorTopologyMode"] = "AUTO_CONNECT"
    (advised,) = diff(parse_platform(before, project="acme-lab"), parse_platform(after, project="acme-lab")).advice
    assert "no room for both the former and the new node pools: clusters.main.pools.cubes-next" in advised.steps
    assert "sub-block 'one' has 64 chips" in advised.steps
