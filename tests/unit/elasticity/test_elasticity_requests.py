"""Decisions about ProvisioningRequests: one zone of one pool, all or nothing, and the reasons."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tpuplane_twin.elasticity.decision import View, decide
from tpuplane_twin.elasticity.groups import Group
from tpuplane_twin.elasticity.queued import Queue
from tpuplane_twin.elasticity.requests import Request, out_of_capacity, pods_of

from tests.support.elasticity.elastic_objects import nodes, pod, slice_group
from tests.support.elasticity.queue_views import (
    answered,
    asks,
    made_for,
    queued_hosts,
    queued_slice,
    request,
    said,
    served,
)

pytestmark = pytest.mark.unit

ACCEPTED = [("Accepted", True, "SuccessfullyQueued"), ("Provisioned", False, "NotProvisioned")]


def test_a_new_request_is_accepted_by_the_pool_that_it_fits() -> None:
    asked_for = request("train-1")
    decision = answered([asked_for], queued_slice(), queued_hosts(1), slice_group("plain"))
    assert said(decision) == {"train-1": ACCEPTED}
    (answer,) = decision.answers.said
    assert answer.details["NodePoolName"] == "later"
    assert answer.details["SelectedZone"] == "us-east5-b"
    assert answer.details["AcceleratorType"] == "tpu-v6e-slice"
    assert answer.details["ResizeRequestName"] == asked_for.resize_request
    assert decision.answers.provisions == []


def test_an_accepted_request_gets_its_nodes_whole() -> None:
    decision = answered([served("train-1", pods=3)], queued_slice())
    (provision,) = decision.answers.provisions
    assert (provision.group.name, provision.zone, provision.nodes) == ("later", "us-east5-b", 4)


def test_single_hosts_come_as_many_as_the_pods_need() -> None:
    asked_for = served("serve-1", pool="small", pods=3)
    pods = {asked_for.uid: asks(asked_for, chips=8, topology="2x4")}
    decision = answered([asked_for], queued_hosts(8), pods=pods)
    assert [provision.nodes for provision in decision.answers.provisions] == [3]


def test_missing_capacity_is_requested_again_after_a_pause() -> None:
    asked_for = served("train-1")
    assert answered([asked_for], queued_slice(), resting=frozenset({asked_for.uid})).answers.provisions == []


def test_a_pool_grows_for_one_request_at_a_time() -> None:
    both = [served(name, pool="small", pods=1) for name in ("a", "b")]
    pods = {asked_for.uid: asks(asked_for, chips=8, topology="2x4") for asked_for in both}
    pool = queued_hosts(8)
    assert [answer.request.name for answer in answered(both, pool, pods=pods).answers.provisions] == ["a"]
    rested = answered(both, pool, pods=pods, resting=frozenset({"a"}))
    assert [answer.request.name for answer in rested.answers.provisions] == ["b"]


def test_a_request_is_answered_where_no_pool_scales() -> None:
    asked_for = request("train-1")
    queue = Queue([asked_for], {asked_for.uid: asks(asked_for)}, {(asked_for.uid, asked_for.state): 0.0})
    view = View([], [], [], queue=queue)
    assert not view.settled
    assert not view.idle
    assert said(decide(view, {}, 120, 60)) == {"train-1": [("Failed", True, "NoQueuedNodepoolAvailable")]}


def test_pods_without_a_request_bring_no_queued_nodes() -> None:
    waiting = [
        pod(f"p{host}", requests={"google.com/tpu": 4}, spec={"tolerations": [{"operator": "Exists"}]})
        for host in range(4)
    ]
    decision = answered([], queued_slice(), running=waiting)
    assert decision.up.growths == []
    assert decision.answers.provisions == []


def test_a_slice_serves_one_request_and_the_oldest_first() -> None:
    young, old = request("young", at="2"), request("old", at="1")
    decision = answered([young, old], queued_slice())
    assert said(decision) == {"old": ACCEPTED, "young": [("Accepted", False, "NotAccepted")]}
    both = answered([young, old], queued_slice("a"), queued_slice("b"))
    assert {answer.request.name: answer.details["NodePoolName"] for answer in both.answers.said} == {
        "old": "a",
        "young": "b",
    }


def test_an_accepted_request_keeps_its_slice_from_older_ones() -> None:
    decision = answered([request("old", at="1"), served("mine", at="2")], queued_slice())
    assert [answer.request.name for answer in decision.answers.provisions] == ["mine"]
    assert said(decision) == {"old": [("Accepted", False, "NotAccepted")]}


@pytest.mark.parametrize(
    ("pods", "groups", "reason", "message"),
    [
        (8, [queued_slice("a"), queued_slice("b")], "ProvisioningRequestSingleZoneInfeasible", "nodepools: a, b"),
        (4, [queued_slice("a", size=4)], "NodepoolSizeReached", "Max nodepool size reached, affected nodepools: a"),
        (4, [slice_group("plain")], "NoQueuedNodepoolAvailable", "No nodepool with QueuedProvisioning enabled"),
        (4, [queued_hosts(1)], "ProvisioningRequestNotSchedulableInNodepool", "node affinity/selector"),
    ],
)  # fmt: skip
def test_a_request_that_no_pool_can_serve_fails_after_two_minutes(
    pods: int, groups: list[Group], reason: str, message: str
) -> None:
    asked_for = request("train-1", pods=pods)
    assert said(answered([asked_for], *groups, now=119)) == {"train-1": [("Accepted", False, "NotAccepted")]}
    late = answered([asked_for], *groups, now=120)
    assert said(late) == {"train-1": [("Failed", True, reason)]}
    assert message in late.answers.said[0].conditions[0].message


def test_templates_that_are_missing_are_waited_for_as_long() -> None:
    asked_for = request("train-1")
    assert said(answered([asked_for], queued_slice(), pods={asked_for.uid: None})) == {
        "train-1": [("Accepted", False, "NotAccepted")]
    }
    late = answered([asked_for], queued_slice(), pods={asked_for.uid: None}, now=120)
    assert said(late) == {"train-1": [("Failed", True, "MissingPodTemplates")]}
    assert pods_of(asked_for, {}) is None


def test_a_deleted_pool_fails_its_request_after_the_grace_time() -> None:
    assert said(answered([served("train-1")], queued_slice("other"), now=119)) == {}
    late = answered([served("train-1")], queued_slice("other"), now=120)
    assert said(late) == {"train-1": [("Failed", True, "MissingResizeRequest")]}


@pytest.mark.parametrize(
    "asked_for",
    [request("r", parameters={"ValidUntilSeconds": "30"}), served("r", parameters={"ValidUntilSeconds": "30"})],
)
def test_a_request_that_does_not_want_to_wait_longer_fails(asked_for: Request) -> None:
    assert said(answered([asked_for], queued_slice(), now=29)).get("r") in (None, ACCEPTED)
    assert said(answered([asked_for], queued_slice(), now=30)) == {"r": [("Failed", True, "WaitTimeExceeded")]}


@pytest.mark.parametrize("text", ["soon", "-1", "0", "\N{SUPERSCRIPT TWO}"])
def test_a_parameter_that_is_not_a_number_of_seconds_is_ignored(text: str) -> None:
    found = request("r", parameters={"ValidUntilSeconds": text, "maxRunDurationSeconds": text})
    assert (found.patience, found.lifetime) == (None, 604_800)


def test_nodes_are_kept_for_the_pods_of_a_request_and_then_go_when_idle() -> None:
    group = queued_slice(size=4)
    asked_for = served("train-1", "Provisioned")
    idle = {node.name: 0.0 for node in made_for(asked_for, group)}
    kept = answered([asked_for], group, there=made_for(asked_for, group), since=idle, now=59, delay=10)
    assert kept.down == []
    assert kept.since == {}
    expired = answered([asked_for], group, there=made_for(asked_for, group), now=60)
    assert said(expired) == {"train-1": [("BookingExpired", True, "BookingExpired")]}
    over = served("train-1", "Provisioned", "BookingExpired")
    gone = answered([over], group, there=made_for(over, group), since=idle, now=70, delay=10)
    assert [len(removal.nodes) for removal in gone.down] == [4]


def test_nodes_that_come_for_a_request_are_not_taken_away_before_they_bear_its_name() -> None:
    group = queued_slice(size=4)
    idle = {node.name: 0.0 for node in nodes(group)}
    assert answered([served("train-1")], group, since=idle, now=999).down == []
    assert answered([served("train-1")], group, since=idle, now=999, resting=frozenset({"train-1"})).down == []
    assert len(answered([], group, since=idle, now=999).down) == 1


def test_after_its_time_a_request_loses_its_nodes_and_no_others() -> None:
    mine, other = queued_slice("mine", size=4), queued_slice("other", size=4)
    asked_for = served(
        "train-1", "Provisioned", "BookingExpired", pool="mine", parameters={"maxRunDurationSeconds": "600"}
    )
    there = [*made_for(asked_for, mine), *nodes(other)]
    assert answered([asked_for], mine, other, there=there, now=599).answers.revoked == []
    late = answered([asked_for], mine, other, there=there, now=600)
    assert said(late) == {"train-1": [("CapacityRevoked", True, "CapacityRevoked")]}
    assert [(gone.before.name, len(gone.nodes)) for gone in late.answers.revoked] == [("mine", 4)]


@pytest.mark.parametrize("end", ["Failed", "CapacityRevoked"])
def test_nothing_more_happens_to_a_request_that_is_over(end: str) -> None:
    asked_for = request("train-1", end)
    assert answered([asked_for], queued_slice(), now=9e9).answers.said == []


def test_requests_of_other_classes_are_ignored() -> None:
    item = {
        "metadata": {"name": "r", "namespace": "n", "uid": "u"},
        "spec": {"provisioningClassName": "check-capacity.autoscaling.x-k8s.io", "podSets": []},
    }
    assert Request.parse(item) is None


def test_lack_of_capacity_and_lack_of_quota_have_different_reasons() -> None:
    assert out_of_capacity("[GCE_STOCKOUT] no resources").reason == "ResourcePoolExhausted"
    assert out_of_capacity("Quota 'TPUS' exceeded").reason == "QuotaExceeded"
    assert not out_of_capacity("[GCE_STOCKOUT] no resources").status


@given(
    names=st.lists(
        st.tuples(st.text("ab-", min_size=1, max_size=63), st.text("ab-", min_size=1)), min_size=2, unique=True
    )
)
def test_resize_requests_have_names_of_their_own_that_fit_a_label(names: list[tuple[str, str]]) -> None:
    found = [request(name, at="1").resize_request for _, name in names]
    assert all(len(name) <= 63 and name[-1].isalnum() for name in found)
    assert len(set(found)) == len({name for _, name in names})


@given(waiting=st.lists(st.integers(1, 9), max_size=6), slices=st.integers(0, 3), singles=st.integers(0, 6))
def test_no_pool_promises_more_than_it_has(waiting: list[int], slices: int, singles: int) -> None:
    groups = [queued_slice(f"slice-{number}") for number in range(slices)]
    groups += [queued_hosts(singles)] if singles else []
    requests = [request(f"r{number}", pods=pods, at=f"{number}") for number, pods in enumerate(waiting)]
    either = {
        each_request.uid: asks(each_request, topology="4x4" if number % 2 else "2x4")
        for number, each_request in enumerate(requests)
    }
    decision = answered(requests, *groups, pods=either)
    pools = [answer.details["NodePoolName"] for answer in decision.answers.said if answer.details]
    assert all(pools.count(f"slice-{number}") <= 1 for number in range(slices))
    # Two pods of four chips share a host of eight.
    hosts = sum(
        -(-pods // 2)
        for pods, answer in zip(waiting, decision.answers.said, strict=True)
        if answer.details.get("NodePoolName") == "small"
    )
    assert hosts <= singles
