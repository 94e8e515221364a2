"""What a preview cannot know: judged property by property, reported by resource, and never taken for a pass."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pulumi_policy import (
    PolicyCustomTimeouts,
    PolicyResource,
    PolicyResourceOptions,
    ResourceValidationArgs,
    StackValidationArgs,
)
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE, unknown_checking_proxy
from tpuplane_policies.core.registry import rules
from tpuplane_policies.core.resources import Stack
from tpuplane_policies.core.values import UNKNOWN, Truth, UndecidedError, Value
from tpuplane_policies.pack import policies
from tpuplane_policies.shown import plain, shown, written

from tests.support.policies.case_files import a_run, bases, merged, resource

pytestmark = pytest.mark.policies

TENANT = "kueue.x-k8s.io/managed-namespace"
KLEENE = {None: 0.5, True: 1.0, False: 0.0}
A, B = Value(UNKNOWN, "a"), Value(UNKNOWN, "b")
truths = st.sampled_from([Truth(True), Truth(False), Truth(None, (A,)), Truth(None, (B,))])


@given(truths, truths)
def test_truths_follow_kleene(one: Truth, other: Truth) -> None:
    assert KLEENE[(one & other).holds] == min(KLEENE[one.holds], KLEENE[other.holds])
    assert KLEENE[(one | other).holds] == max(KLEENE[one.holds], KLEENE[other.holds])
    assert KLEENE[(~one).holds] == 1 - KLEENE[one.holds]
    for truth in (one & other, one | other):
        assert bool(truth.unknown) == (truth.holds is None)
    if one.holds is None:
        with pytest.raises(UndecidedError):
            bool(one)
    else:
        assert bool(one) is one.holds


def test_what_is_below_an_unknown_value_is_unknown() -> None:
    value = Value({"a": UNKNOWN, "b": [{"c": UNKNOWN}, {"c": 1}], "d": {"e": UNKNOWN}})
    assert [value_.path for value_ in value["a.x.y"].one_of(1).unknown] == ["a"]
    assert [part["c"].one_of(2).holds for part in value["b"].each()] == [None, False]
    assert [value_.path for value_ in value["b"].test(bool).unknown] == ["b[0].c"]
    for there in ("a", "d"):
        assert value[there].is_set.holds is None
    for needed in (value["a"].names, value["a"].get, value["d"].get):
        with pytest.raises(UndecidedError):
            needed()


def test_an_unknown_property_leaves_the_others_standing() -> None:
    rule = next(candidate for candidate in rules() if candidate.id == "TPU003")
    pool = resource({"of": "scaled", "with": {"autoscaling": {"minNodeCount": "UNKNOWN", "maxNodeCount": 8}}})
    run = a_run()
    assert ["maxNodeCount is 8" in finding.message for finding in run.resource(rule, pool)] == [True]
    assert run.undecided == {("TPU003", pool.urn): (pool, ("autoscaling.minNodeCount",))}


def test_a_message_shows_the_known_elements_of_a_list() -> None:
    rule = next(candidate for candidate in rules() if candidate.id == "PRJ009")
    [found] = a_run().resource(rule, resource({"of": "firewall", "with": {"sourceRanges": ["0.0.0.0/0", "UNKNOWN"]}}))
    assert "sourceRanges is '0.0.0.0/0', (known after the update): the whole internet has access" in found.message


def test_a_value_of_the_wrong_type_is_not_passed() -> None:
    rule = next(candidate for candidate in rules() if candidate.id == "GKE026")
    run = a_run()
    assert run.resource(rule, resource({"of": "pool", "with": {"nodeCount": "four"}})) == []
    [(_, (path,))] = run.undecided.values()
    assert path.startswith("a value of the wrong type")


@pytest.mark.parametrize("wrong", [[False], [True], {"x": False}, ["default"], ["CT6E-STANDARD-4T"], []])
@pytest.mark.parametrize(
    ("rule_id", "of", "path"),
    [
        ("GKE001", "pool", "networkConfig.enablePrivateNodes"),  # not false
        ("GKE008", "cluster", "enableLegacyAbac"),  # not true
        ("PRJ001", "cluster", "network"),  # matches not
        ("GKE003", "cluster", "masterAuthorizedNetworksConfig.gcpPublicCidrsAccessEnabled"),
        ("GKE018", "pool", "nodeConfig.bootDiskKmsKey"),  # named
        ("GKE017", "cluster", "databaseEncryption.keyName"),
        ("TPU002", "pool", "nodeConfig.machineType"),
        ("TPU006", "pool", "nodeConfig.flexStart"),
    ],
)
def test_a_list_or_mapping_in_place_of_a_single_value_is_not_passed(
    rule_id: str, of: str, path: str, wrong: Any
) -> None:
    rule = next(candidate for candidate in rules() if candidate.id == rule_id)
    change = wrong
    for key in reversed(path.split(".")):
        change = {key: change}
    run = a_run()
    assert run.resource(rule, resource({"of": of, "with": change})) == []
    assert [paths for _, paths in run.undecided.values()] == [(f"{path}, a value of the wrong type",)]


def test_the_budget_of_gpus_is_not_passed_for_a_list_of_machine_types() -> None:
    rule = next(candidate for candidate in rules() if candidate.id == "TPU012")
    pool = resource({"of": "pool", "with": {"placementPolicy": None, "nodeConfig": {"machineType": ["a3-highgpu-8g"]}}})
    run = a_run({"TPU012": {"gpus": 1}})
    assert run.whole(rule, Stack((pool,))) == []
    assert [paths for _, paths in run.undecided.values()] == [("nodeConfig.machineType, a value of the wrong type",)]


def test_the_sdks_proxies_become_plain() -> None:
    props = {"known": [1.0, {"a": True}], "open": [UNKNOWN_STRING_VALUE], "deep": {"x": UNKNOWN_STRING_VALUE}}
    assert plain(unknown_checking_proxy(props)) == {
        "known": [1.0, {"a": True}],
        "open": [UNKNOWN],
        "deep": {"x": UNKNOWN},
    }


def test_what_a_provider_will_choose_was_not_written() -> None:
    props = {
        "version": UNKNOWN_STRING_VALUE,
        "network": UNKNOWN_STRING_VALUE,
        "nodeConfig": {"labels": UNKNOWN_STRING_VALUE, "machineType": "e2-medium"},
        "zones": ["a", UNKNOWN_STRING_VALUE],
    }
    network, before = (PolicyResource("t", {}, name, name, OPTIONS, None, None, [], {}) for name in ("net", "before"))
    judged_resource = PolicyResource(
        "t", unknown_checking_proxy(props), "urn", "it", OPTIONS, None, None, [network, before], {"network": [network]}
    )
    assert shown(judged_resource).sources == {"net"}  # without `dependsOn`
    assert written(judged_resource) == {"network": UNKNOWN, "nodeConfig": {"machineType": "e2-medium"}, "zones": ["a"]}


OPTIONS = PolicyResourceOptions(False, [], True, [], PolicyCustomTimeouts(0, 0, 0), [])


def judge_all(*all_props: dict[str, Any], config: dict[str, Any] | None = None) -> dict[str, list[str]]:
    """What a pack says, through the SDK's own classes, of node pools and then of their stack."""
    said: dict[str, list[str]] = {}
    type_ = "gcp:container/nodePool:NodePool"
    made = policies()
    made[0].gate.configure(config or {}, "test.json")
    for policy in made:
        if hasattr(policy, "has_validation"):
            for number, props in enumerate(all_props):
                urn, name = f"urn:pulumi:s::p::{type_}::pool{number}", f"pool{number}"
                args = ResourceValidationArgs(type_, unknown_checking_proxy(props), urn, name, OPTIONS, None, None)
                policy.validate(args, lambda text, _urn=None, name=policy.name: said.setdefault(name, []).append(text))
    for policy in made:
        if not hasattr(policy, "has_validation") and policy.name in policy.gate.run.rules:
            args = StackValidationArgs([], None)
            policy.validate(
                args, lambda text, urn=None, name=policy.name: said.setdefault(name, []).append(f"{urn} {text}")
            )
    return said


def pool(**changes: Any) -> dict[str, Any]:
    return merged(bases()["pool"]["props"], changes)


def test_what_mandatory_rules_cannot_decide_fails_the_gate_by_resource() -> None:
    said = judge_all(pool(placementPolicy=UNKNOWN_STRING_VALUE), pool())
    assert "TPU001" not in said
    [only] = said["REP006"]
    assert only.startswith("urn:pulumi:s::p::gcp:container/nodePool:NodePool::pool0 ")
    assert "TPU001 (placementPolicy)" in only
    assert "REP008" not in said


def test_undecided_advisory_rules_are_reported() -> None:
    late = pool(nodeConfig={"bootDiskKmsKey": UNKNOWN_STRING_VALUE})
    said = judge_all(late)
    assert ["GKE018 of pool0" in text for text in said["REP008"]] == [True]
    assert "REP006" not in said
    assert "REP006" in judge_all(late, config={"GKE018": "mandatory"})
    assert "REP006" not in judge_all(pool(placementPolicy=UNKNOWN_STRING_VALUE), config={"all": "advisory"})


def test_a_known_mistake_is_found_next_to_unknown_values() -> None:
    said = judge_all(pool(nodeCount=3, nodeConfig={"serviceAccount": UNKNOWN_STRING_VALUE}))
    assert "nodeCount is 3: a v6e 4x4 slice has 4 hosts" in said["TPU003"][0]


def test_what_was_decided_elsewhere_is_exempted_by_resource() -> None:
    exemption = {"resource": "pool0", "reason": "decided on the twin, run 4711", "until": "2999-01-01"}
    config = {"REP006": {"exemptions": [exemption]}}
    assert "REP006" not in judge_all(pool(placementPolicy=UNKNOWN_STRING_VALUE), config=config)
    others = judge_all(pool(), pool(placementPolicy=UNKNOWN_STRING_VALUE), config=config)
    assert len(others["REP006"]) == 1


def test_every_pack_has_a_run_of_its_own() -> None:
    judge_all(pool(placementPolicy=UNKNOWN_STRING_VALUE))
    assert judge_all(pool()) == {}


def test_a_stack_is_judged_as_it_is_written_where_a_provider_says_nothing_yet() -> None:
    """The outputs of what an unconfigured provider would make are empty, and a rule must not pass them unread."""
    made = {policy.name: policy for policy in policies()}
    made["KQ007"].gate.configure({}, "test.json")
    queue = bases()["queue"]
    urn, type_ = f"urn:pulumi:s::p::{queue['type']}::queue", queue["type"]
    props = merged(queue["props"], {"metadata": {"namespace": None}})
    namespace = ("kubernetes:core/v1:Namespace", {"metadata": {"name": "a", "labels": {TENANT: "true"}}})
    said: list[str] = []
    outputs = []
    for kind, inputs, at in ((type_, props, urn), (*namespace, "urn:pulumi:s::p::ns::a")):
        args = ResourceValidationArgs(kind, unknown_checking_proxy(inputs), at, "it", OPTIONS, None, None)
        made["KQ007"].validate(args, lambda text, _urn=None: said.append(text))
        outputs.append(PolicyResource(kind, unknown_checking_proxy({}), at, "it", OPTIONS, None, None, [], {}))
    made["KQ009"].validate(StackValidationArgs(outputs, None), lambda text, _urn=None: said.append(text))
    assert ["no LocalQueue in this namespace" in text for text in said] == [True]
