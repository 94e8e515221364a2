"""The conditions of compute classes and of their priorities, as GKE's autoscaler publishes them with its source."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest
from tpuplane_twin.clock.clock import Clock
from tpuplane_twin.elasticity.autoscaler import ClusterAutoscaler
from tpuplane_twin.elasticity.class_status import Priorities, conditions, dated
from tpuplane_twin.elasticity.decision import View
from tpuplane_twin.elasticity.failures import Failures
from tpuplane_twin.elasticity.groups import Group
from tpuplane_twin.elasticity.scaling import Actions

from tests.support.elasticity.elastic_objects import group
from tests.support.elasticity.provisioning_views import CLASS, TPU, Json, cheap, of_class, there
from tests.support.small_api import small_api

pytestmark = pytest.mark.unit

OWN = {"key": CLASS, "value": "cheap", "effect": "NO_SCHEDULE"}
ON_DEMAND = {"machineType": "n2-standard-8"}


def declared(
    name: str, machine: str = "n2-standard-8", owner: str = "cheap", taints: tuple[Json, ...] = (OWN,)
) -> Group:
    labels = {CLASS: owner} if owner else {}
    config = {"machineType": machine, "labels": labels, "taints": list(taints)}
    return group(name, machine, config=config, autoscaling={"enabled": True, "maxNodeCount": 1})


def held(accelerators: int = 256, **fields: str) -> Json:
    """A reservation of v6e chips."""
    parts = [{"accelerator": {"acceleratorType": "ct6e", "acceleratorCount": accelerators}}]
    return {"specificReservationRequired": True, "aggregateReservation": {"reservedResources": parts, **fields}}


MACHINES: Json = {"specificReservationRequired": True, "specificReservation": {"count": "4"}}


@pytest.mark.parametrize(
    ("spec", "pools", "expected", "about"),
    [
        ({"priorities": [ON_DEMAND]}, [declared("cpu")], "", ""),
        (
            {"priorities": [ON_DEMAND]},
            [declared("big", "n2-standard-16")],
            "NodepoolMisconfigured/NoRuleMatching",
            "big",
        ),
        (
            {"priorities": [{"nodepools": ["cpu"]}]},
            [declared("cpu", owner="")],
            "NodepoolMisconfigured/CrdLabelNotMatching",
            "cpu",
        ),
        ({"priorities": [ON_DEMAND]}, [declared("cpu", taints=())], "NodepoolMisconfigured/TaintMissing", "cpu"),
        (
            {"priorities": [ON_DEMAND]},
            [declared("cpu", taints=({**OWN, "value": "dear"},))],
            "NodepoolMisconfigured/TaintValueNotMatching",
            "cpu",
        ),
        ({"priorities": [{"nodepools": ["gone"]}]}, [], "CrdMisconfigured/NodePoolNotExist", "gone"),
        (
            {"priorities": [ON_DEMAND], "nodePoolAutoCreation": {"enabled": False}},
            [],
            "CrdMisconfigured/NapDisabledAndNoMatchingNodegroups",
            "at least one matching nodepool",
        ),
        (
            {"priorities": [{"tpu": TPU, "reservations": {"specific": [{"name": "none", "project": "acme"}]}}]},
            [],
            "CrdMisconfigured/ReservationNotFound",
            '"acme/none"',
        ),
        ({"priorities": [{"tpu": TPU, "reservations": {"specific": [{"name": "ours"}]}}]}, [], "", ""),
    ],
)
def test_a_misconfigured_class_says_what_is_wrong_and_is_not_healthy(
    spec: Json, pools: list[Group], expected: str, about: str
) -> None:
    at = replace(of_class(**spec), reservations={("acme", "ours"): held()})
    *found, health = conditions(cheap(**spec), pools, at)
    assert [f"{condition['type']}/{condition['reason']}" for condition in found] == ([expected] if expected else [])
    assert all(condition["status"] == "True" and about in condition["message"] for condition in found)
    healthy = not expected or expected.endswith("NoRuleMatching")
    says = "Crd is healthy." if healthy else "Crd is not healthy."
    assert health == {"type": "Health", "reason": "Health", "status": str(healthy), "message": says}


@pytest.mark.parametrize(
    ("held_now", "tpu", "cause"),
    [
        (held(accelerators=16), TPU, ""),
        (held(workloadType="BATCH"), TPU, ""),
        (held(workloadType="SERVING"), {**TPU, "topology": "2x2"}, ""),
        ({"specificReservation": {}}, TPU, "any affinity reservation cannot be consumed"),
        (MACHINES, TPU, "tpu requested for non aggregate reservation"),
        (MACHINES, None, ""),
        (held(), None, "no TPU request while targeting aggregate reservation"),
        (held(workloadType="SERVING"), TPU, "requested multihost TPU, reservation has singlehost"),
        (held(workloadType="BATCH"), {**TPU, "topology": "2x2"}, "requested singlehost TPU, reservation has multihost"),
        (held(), {"type": "tpu-v6e-slice"}, "requested TPU topology is malformed: )"),
        (held(accelerators=8), TPU, "requested TPU accelerator {tpu-v6e-slice, 4x4, 4}, but it's missing"),
        (held(), {**TPU, "type": "tpu-v5p-slice", "topology": "2x2x1"}, "{tpu-v5p-slice, 2x2x1, 4}, but it's missing"),
    ],
)
def test_a_class_whose_reservation_cannot_serve_a_priority_says_why(
    held_now: Json, tpu: Json | None, cause: str
) -> None:
    hardware = ON_DEMAND if tpu is None else {"tpu": tpu}
    spec: Json = {"priorities": [{**hardware, "reservations": {"specific": [{"name": "ours"}]}}]}
    at = replace(of_class(**spec), reservations={("acme", "ours"): held_now})
    *found, _ = conditions(cheap(**spec), [], at)
    assert [condition["reason"] for condition in found] == (["ReservationUnusable"] if cause else [])
    assert all(
        condition["message"].startswith('Reservation "ours" is incompatible with priority rule configuration (')
        and cause in condition["message"]
        for condition in found
    )


def test_only_the_first_problem_of_a_type_is_written_and_the_default_class_needs_no_taint() -> None:
    spec: Json = {"priorities": [ON_DEMAND, {"nodepools": ["gone", "lost"]}]}
    pools = [declared("big", "n2-standard-16", taints=())]
    found = conditions(cheap(**spec), pools, of_class(**spec))
    assert [condition["reason"] for condition in found] == ["NoRuleMatching", "NodePoolNotExist", "Health"]
    default = replace(cheap(priorities=[ON_DEMAND]), name="default")
    at = replace(of_class(), cluster={"autoscaling": {"defaultComputeClassConfig": {"enabled": True}}})
    (health,) = conditions(default, [declared("cpu", owner="default", taints=())], at)
    assert health["status"] == "True"


@pytest.mark.parametrize(
    ("cause", "kind", "reason"),
    [
        ("[GCE_QUOTA_EXCEEDED]: Quota 'TPUS' exceeded.", "ProvisioningSuspended", "QuotaExceeded"),
        ("[QUOTA_UNKNOWN_ERROR]", "ProvisioningSuspended", "InternalError"),
        ("[ZONE_RESOURCE_POOL_EXHAUSTED]", "ProvisioningConstrained", "OutOfResources"),
        ("[IP_SPACE_EXHAUSTED]", "ProvisioningConstrained", "IpSpaceExhausted"),
        ("[RESERVATION_CAPACITY_EXCEEDED]", "ProvisioningConstrained", "ReservationCapacityExceeded"),
        ("[INVALID_RESERVATION]", "ProvisioningConstrained", "InvalidReservation"),
    ],
)
def test_a_back_off_of_a_priority_has_its_condition_until_it_ends(cause: str, kind: str, reason: str) -> None:
    own, pool, priorities = cheap(), there("fails", "spot", 0), Priorities()
    ends = Failures().failed(pool, pool.zones, 0, cause, rule=own.rule(pool))
    priorities.failed(own, pool, cause, ends, 1_700_000_000)
    ((identifier, (condition,)),) = priorities.of_class(own, 299).items()
    assert (identifier, condition["type"], condition["reason"]) == ("0", kind, reason)
    assert condition["message"].endswith("until 2023-11-14 22:18:20 UTC."), "300 seconds later"
    assert priorities.of_class(own, 300) == {"0": []}
    assert not list(priorities.dues(300))


def test_a_longer_back_off_of_a_pool_does_not_replace_the_condition_of_the_whole_priority() -> None:
    own, pool, priorities, failures = cheap(), there("fails", "spot", 0), Priorities(), Failures()
    for now, cause in enumerate(("quota", "[GCE_STOCKOUT]")):
        priorities.failed(own, pool, cause, {"cheap/0/us-east5": 300} if not now else {"pool": 600}, 0)
    assert [condition["type"] for condition in priorities.of_class(own, 1)["0"]] == ["ProvisioningSuspended"]
    last = there("last", "flex-start", 0)
    ends = failures.failed(last, last.zones, 0, "quota", rule=own.rule(last), waits=False)
    priorities.failed(own, last, "quota", ends, 0)
    assert [condition["type"] for condition in priorities.of_class(own, 1)["1"]] == ["ProvisioningConstrained"]


def test_a_priority_waits_for_capacity_until_its_pool_has_it_or_no_pod_needs_it() -> None:
    own, pool, priorities = cheap(), there("flex", "flex-start", 0), Priorities()
    for end in (lambda: priorities.succeeded(own, pool), priorities.unneeded):
        priorities.asked(own, pool, pool.zones, 4)
        ((condition,),) = priorities.of_class(own, 1e9).values()
        assert (condition["type"], condition["reason"]) == ("NodeProvisioningInProgress", "PodPending")
        config = "{NodePool: flex, MachineType: ct6e-standard-4t, TPU: type: tpu-v6e-slice, topology: 4x4, Zones: "
        assert condition["message"].endswith(f" 4 new nodes will be added with config: {config}us-east5-b}}")
        end()
        assert priorities.of_class(own, 0) == {"1": []}


def test_a_condition_keeps_its_time_while_it_is_the_same() -> None:
    first, other = (
        conditions(cheap(), [], of_class()),
        conditions(cheap(priorities=[{"nodepools": ["gone"]}]), [], of_class()),
    )
    known = dated(first, {"0": first}, {}, "1")
    assert dated(first, {"0": first}, known, "2") == known
    assert [condition["lastTransitionTime"] for condition in dated(other, {}, known, "2")["conditions"]] == ["2", "2"]


async def test_a_class_that_was_just_deleted_has_no_status() -> None:
    async with small_api() as api:
        api.answer = lambda method, path: (404, {"message": "not found"})
        actions = Actions(**dict.fromkeys(("resize", "create", "delete", "replace", "repair"), cast(Any, None)))
        autoscaler = ClusterAutoscaler(
            api.client,
            cast(Any, None),
            dict,
            actions,
            scale_down_after=60,
            repair_after=float,
            now=Clock(),
            failures=Failures,
        )
        await autoscaler._report(View([], [], [], where=of_class()), 0)
        assert [(method, path.rpartition("/")[2]) for method, path, _ in api.asked] == [("PATCH", "status")]
