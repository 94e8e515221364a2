"""What a preview cannot know: judged property by property, said, and never taken for a pass."""

from __future__ import annotations

from typing import Any

import pytest
from case_files import TODAY, bases, merged, resource
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
from tpuplane_policies.core.engine import judge_resource
from tpuplane_policies.core.ledger import Ledger
from tpuplane_policies.core.registry import rules
from tpuplane_policies.core.values import UNKNOWN, Truth, Value
from tpuplane_policies.pack import plain, policies, written

pytestmark = pytest.mark.policies

TENANT = "kueue.x-k8s.io/managed-namespace"
KLEENE = {None: 0.5, True: 1.0, False: 0.0}
truths = st.sampled_from([Truth(True), Truth(False), Truth(None, ("a",)), Truth(None, ("b",))])


@given(truths, truths)
def test_truths_follow_kleene(one: Truth, other: Truth) -> None:
    assert KLEENE[(one & other).holds] == min(KLEENE[one.holds], KLEENE[other.holds])
    assert KLEENE[(one | other).holds] == max(KLEENE[one.holds], KLEENE[other.holds])
    assert KLEENE[(~one).holds] == 1 - KLEENE[one.holds]
    for it in (one & other, one | other):
        assert bool(it.unknown) == (it.holds is None)
    with pytest.raises(TypeError):
        bool(one)


def test_what_is_below_an_unknown_value_is_unknown() -> None:
    value = Value({"a": UNKNOWN, "b": [{"c": UNKNOWN}, {"c": 1}]})
    assert value["a.x.y"].one_of(1) == Truth(None, ("a",))
    assert [it["c"].one_of(2).holds for it in value["b"].each()] == [None, False]
    assert value["b"].test(bool) == Truth(None, ("b[0].c",))


def test_an_unknown_property_leaves_the_others_standing() -> None:
    rule = next(it for it in rules() if it.id == "TPU003")
    pool = resource({"of": "scaled", "with": {"autoscaling": {"minNodeCount": "UNKNOWN", "maxNodeCount": 8}}})
    ledger = Ledger()
    found = judge_resource(rule, pool, {}, ledger, TODAY)
    assert ["maxNodeCount is 8" in it.message for it in found] == [True]
    assert list(ledger.records["TPU003"].undecided) == ["scaled: autoscaling.minNodeCount"]


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
    of = PolicyResource("t", {}, "urn", "net", OPTIONS, None, None, [], {})
    it = PolicyResource("t", unknown_checking_proxy(props), "urn", "it", OPTIONS, None, None, [of], {"network": [of]})
    assert written(it) == {"network": UNKNOWN, "nodeConfig": {"machineType": "e2-medium"}, "zones": ["a"]}


OPTIONS = PolicyResourceOptions(False, [], True, [], PolicyCustomTimeouts(0, 0, 0), [])


def judge_all(*all_props: dict[str, Any], config: dict[str, Any] | None = None) -> dict[str, list[str]]:
    """What a pack says, through the SDK's own classes, of node pools and then of their stack."""
    said: dict[str, list[str]] = {}
    type_ = "gcp:container/nodePool:NodePool"
    made = policies()
    for policy in made:
        if hasattr(policy, "has_validation"):
            for number, props in enumerate(all_props):
                urn = f"urn:pulumi:s::p::{type_}::pool{number}"
                args = ResourceValidationArgs(
                    type_,
                    unknown_checking_proxy(props),
                    urn,
                    f"pool{number}",
                    OPTIONS,
                    None,
                    (config or {}).get(policy.name),
                )
                policy.validate(args, lambda text, _urn=None, name=policy.name: said.setdefault(name, []).append(text))
    for policy in made:
        if not hasattr(policy, "has_validation"):
            args = StackValidationArgs([], (config or {}).get(policy.name))
            policy.validate(args, lambda text, _urn=None, name=policy.name: said.setdefault(name, []).append(text))
    return said


def pool(**changes: Any) -> dict[str, Any]:
    return merged(bases()["pool"]["props"], changes)


def test_a_rule_that_never_decided_fails_the_gate() -> None:
    said = judge_all(pool(placementPolicy=UNKNOWN_STRING_VALUE))
    assert "TPU001" not in said
    assert any("TPU001 could not decide anything" in text for text in said["REP006"])
    assert any("placementPolicy" in text for text in said["REP008"])


def test_a_rule_that_decided_elsewhere_does_not() -> None:
    said = judge_all(pool(placementPolicy=UNKNOWN_STRING_VALUE), pool())
    assert "REP006" not in said
    assert any(text.startswith("REP008 TPU001 cannot decide yet on pool0: placementPolicy") for text in said["REP008"])


def test_a_known_mistake_is_found_beside_what_is_unknown() -> None:
    said = judge_all(pool(nodeCount=3, nodeConfig={"serviceAccount": UNKNOWN_STRING_VALUE}))
    assert "nodeCount is 3: a v6e 4x4 slice has 4 hosts" in said["TPU003"][0]


def test_only_the_rules_named_mandatory_must_decide() -> None:
    said = judge_all(pool(placementPolicy=UNKNOWN_STRING_VALUE), config={"REP006": {"mandatory": ["TPU005"]}})
    assert "REP006" not in said


def test_every_pack_has_a_ledger_of_its_own() -> None:
    judge_all(pool(placementPolicy=UNKNOWN_STRING_VALUE))
    assert judge_all(pool()) == {}


def test_a_stack_is_judged_as_it_is_written_where_a_provider_says_nothing_yet() -> None:
    """The outputs of what an unconfigured provider would make are empty, and a rule must not pass them unread."""
    made = {policy.name: policy for policy in policies()}
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
    made["KQ006-stack"].validate(StackValidationArgs(outputs, None), lambda text, _urn=None: said.append(text))
    assert ["no LocalQueue in this namespace" in text for text in said] == [True]
