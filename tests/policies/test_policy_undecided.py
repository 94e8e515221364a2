"""No rule takes what is not known yet for a pass: each property that decides, of each good resource, one at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from tpuplane_policies.core.plans import Plan
from tpuplane_policies.core.registry import Rule, rules
from tpuplane_policies.core.resources import Resource, Stack, matches
from tpuplane_policies.core.values import SENTINELS, UNKNOWN
from tpuplane_policies.rules.kinds import OWN_WORKLOAD, WORKLOAD

from tests.support.policies.case_files import Case, a_run, cases, preview, resource

pytestmark = pytest.mark.policies

Path = tuple[str | int, ...]
GONE = object()
OTHERS: tuple[Any, ...] = (
    GONE,
    "",
    "none",
    "*",
    "true",
    True,
    False,
    0,
    3,
    10**6,
    [],
    {},
    "1.20",
    "allUsers",
    "0.0.0.0/0",
)
"""What a property is changed to, to see whether it decides."""
WRONG_TYPES: tuple[Any, ...] = ([{"x": True}], "x", 5, True)
"""What no provider accepts in place of a mapping."""
LISTED = [*OTHERS[1:4], "roles/owner", "us-central1-a", "other", "memory"]
RULES = [rule for rule in rules() if rule.checks or rule.stack_checks]


def paths(value: Any, here: Path = ()) -> Iterator[Path]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in items:
        yield (*here, key)
        yield from paths(below, (*here, key))


def is_mapping(written: Resource, path: Path) -> bool:
    """Whether a property is a mapping. What holds the pods of a custom resource can have any type."""
    value = written.props.raw
    for key in path:
        value = value[key]
    custom = matches(WORKLOAD, written.type) and not matches(OWN_WORKLOAD, written.type)
    return isinstance(value, dict) and isinstance(path[-1], str) and not custom


def put(value: Any, path: Path, new: Any) -> Any:
    """A copy with another value at a path; without it where that is GONE."""
    if not path:
        return new
    key, *rest = path
    items = dict(value.items() if isinstance(value, dict) else enumerate(value))
    items[key] = put(items.get(key, {}), tuple(rest), new)
    if items[key] is GONE:
        del items[key]
    return items if isinstance(value, dict) else list(items.values())


def verdict(rule: Rule, case: Case, resources: tuple[Resource, ...]) -> str:
    """What a rule comes to: "passes", "undecided" or "fails"."""
    run = a_run({rule.id: case.written.get("config", {})}, [rule])
    found = run.whole(rule, Stack(resources)) if rule.stack_checks else run.resource(rule, resources[0])
    return "fails" if found else "undecided" if run.undecided else "passes"


def resources(case: Case) -> tuple[Resource, ...]:
    return case.stack().resources if "stack" in case.written else (resource(case.written),)


def with_(all_: tuple[Resource, ...], index: int, path: Path, new: Any) -> tuple[Resource, ...]:
    props = put(all_[index].props.raw, path, new)
    return (*all_[:index], replace(all_[index], load=lambda: props), *all_[index + 1 :])


def silent(rule: Rule) -> tuple[int, list[str]]:
    """How many properties decide, and those whose unknown value, or value of the wrong type, the rule passes."""
    decisive, passed = 0, []
    for case in (
        mistake
        for mistake in cases()
        if mistake.rule == rule.id
        and not mistake.fails
        and "plan" not in mistake.written
        and not mistake.written.get("config", {}).get("exemptions")
    ):
        good = resources(case)
        for index, written in enumerate(good):
            for path in paths(written.props.raw):
                others = LISTED if isinstance(path[-1], int) else OTHERS
                unknown = verdict(rule, case, with_(good, index, path, UNKNOWN))
                if unknown != "passes":
                    decisive += 1
                    if is_mapping(written, path) and any(
                        verdict(rule, case, with_(good, index, path, other)) == "passes" for other in WRONG_TYPES
                    ):
                        passed.append(f"{case.id} {written.name}: {'.'.join(map(str, path))} of the wrong type")
                elif any(verdict(rule, case, with_(good, index, path, other)) == "fails" for other in others):
                    passed.append(f"{case.id} {written.name}: {'.'.join(map(str, path))}")
    return decisive, passed


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_an_unknown_property_that_decides_leaves_its_rule_undecided(rule: Rule) -> None:
    decisive, passed = silent(rule)
    assert passed == []
    assert decisive or rule.id in {"KQ007", "PRJ011"}, "no property decides"  # they judge by the type alone


@pytest.mark.parametrize(
    "case",
    [candidate for candidate in cases() if candidate.fails and "plan" not in candidate.written],
    ids=lambda case: case.id,
)
def test_a_mistake_that_is_not_known_yet_is_not_passed(case: Case) -> None:
    """The values of every failing case, with what is wrong not known yet."""
    rule = next(candidate for candidate in rules() if candidate.id == case.rule)
    written = case.written.get("stack", [case.written])
    for index, one in enumerate(written):
        for path in paths(one.get("with", {})):
            value = one["with"]
            for key in path:
                value = value[key]
            if value is None:
                continue
            changed = put(one, ("with", *path), "UNKNOWN")
            hidden = replace(
                case, written=put(case.written, ("stack", index), changed) if "stack" in case.written else changed
            )
            assert verdict(rule, hidden, resources(hidden)) != "passes", path


@pytest.mark.parametrize("malformed", ["lots", "", "16x", "nan", [], {}])
def test_a_malformed_quantity_is_undecided(malformed: Any) -> None:
    rule = next(candidate for candidate in rules() if candidate.id == "KQ002")
    case = next(candidate for candidate in cases() if candidate.rule == rule.id and not candidate.fails)
    good = resources(case)
    queue = next(index for index, written in enumerate(good) if written.type.endswith(":ClusterQueue"))
    path = ("spec", "resourceGroups", 0, "flavors", 0, "resources", 0, "nominalQuota")
    assert verdict(rule, case, good) == "passes"
    assert verdict(rule, case, with_(good, queue, path, malformed)) == "undecided"


FAILING = [
    candidate
    for candidate in cases()
    if candidate.fails and "plan" not in candidate.written and "'count': " not in str(candidate.written)
]
PODS = [candidate for candidate in cases() if candidate.rule == "K8S001"]
HOLDING = ("containers", "initContainers", "ephemeralContainers", "container", "script", "sidecars")


def above_containers(value: Any, here: Path = ()) -> Iterator[Path]:
    """The paths of everything that contains a list of containers, and of the lists."""
    for path in paths(value, here):
        if path[-1] in HOLDING:
            yield from (path[:length] for length in range(1, len(path) + 1))


@pytest.mark.parametrize("case", PODS, ids=lambda case: case.id)
def test_what_can_contain_a_container_is_undecided_while_it_is_unknown(case: Case) -> None:
    rule = next(candidate for candidate in rules() if candidate.id == "K8S001")
    [whole] = resources(case)
    hidden = sorted({*above_containers(whole.props.raw)}, key=str)
    assert hidden
    for path in hidden:
        assert verdict(rule, case, with_((whole,), 0, path, UNKNOWN)) != "passes", path


ADDED: tuple[Any, ...] = (
    *LISTED,
    "cpu",
    "ALL",
    "SYSTEM_COMPONENTS",
    "training",
    "trainer-0",
    {"coveredResources": ["cpu", "memory"]},
)


@pytest.mark.parametrize(
    "case", [candidate for candidate in FAILING if "stack" not in candidate.written], ids=lambda case: case.id
)
def test_a_known_mistake_is_found_next_to_an_unknown_element(case: Case) -> None:
    """Unless an element of the list, which is known later, can correct the mistake."""
    rule = next(candidate for candidate in rules() if candidate.id == case.rule)
    bad = resources(case)
    for index, written in enumerate(bad):
        for path in paths(written.props.raw):
            elements: Any = written.props.raw
            for key in path:
                elements = elements[key]
            if isinstance(elements, list) and elements and verdict(rule, case, bad) == "fails":
                longer = verdict(rule, case, with_(bad, index, path, [UNKNOWN, *elements]))
                known = [verdict(rule, case, with_(bad, index, path, [other, *elements])) for other in ADDED]
                assert longer == "fails" or {*known} != {"fails"}, path


STACKS = [candidate for candidate in FAILING if "stack" in candidate.written]


@pytest.mark.parametrize("case", STACKS, ids=lambda case: case.id)
def test_a_mistake_of_a_stack_is_not_passed_next_to_an_unknown_resource(case: Case) -> None:
    rule = next(candidate for candidate in rules() if candidate.id == case.rule)
    bad = resources(case)
    for one in bad:
        hidden = dict.fromkeys(one.props.raw, UNKNOWN)
        late = replace(one, name="late", urn=f"{one.urn}-late", load=lambda hidden=hidden: hidden)
        assert verdict(rule, case, (late, *bad)) != "passes", one.name


def test_a_plan_that_leaves_resources_out_is_not_decided() -> None:
    steps = next(case.written["plan"] for case in cases() if case.rule == "REP004" and not case.fails)
    whole = {"steps": steps, "changeSummary": {"same": 2, "create": 1}}
    part = {"steps": steps, "changeSummary": {"same": 150, "create": 1}}
    for rule_id in ("REP004", "REP005"):
        rule = next(candidate for candidate in rules() if candidate.id == rule_id)
        for plan, left in ((whole, []), (part, ["the plan omits 148 resources: use --show-sames"])):
            run = a_run()
            assert run.whole(rule, Plan.parse(json.dumps(plan))) == []
            assert [path for _, found in run.undecided.values() for path in found] == left


def test_a_default_pool_that_may_be_removed_is_not_decided() -> None:
    urn = "urn:pulumi:prod::acme::gcp:container/cluster:Cluster::central"
    old = {"type": "gcp:container/cluster:Cluster", "urn": urn, "inputs": {}}
    new = {**old, "inputs": {"removeDefaultNodePool": min(SENTINELS)}}
    rule, run = next(candidate for candidate in rules() if candidate.id == "REP009"), a_run()
    assert run.whole(rule, Plan.parse(json.dumps(preview([{"op": "update", "oldState": old, "newState": new}])))) == []
    assert [paths for _, paths in run.undecided.values()] == [("removeDefaultNodePool",)]


@pytest.mark.parametrize(
    ("written", "path"),
    [
        ({"of": "tpu-vm"}, "acceleratorType, the chips of the default type"),
        ({"of": "tpu-vm", "with": {"acceleratorType": "v2-8"}}, "acceleratorType, the chips of v2-8"),
        ({"of": "cluster", "with": {"removeDefaultNodePool": "UNKNOWN"}}, "removeDefaultNodePool"),
    ],
)
def test_chips_that_are_not_known_leave_a_budget_undecided(written: dict[str, Any], path: str) -> None:
    rule = next(candidate for candidate in rules() if candidate.id == "TPU012")
    run = a_run({"TPU012": {"chips": 1}}, [rule])
    assert run.whole(rule, Stack((resource(written),))) == []
    assert [paths for _, paths in run.undecided.values()] == [(path,)]


def test_sentinels_of_a_plan_are_unknown() -> None:
    old = {
        "type": "gcp:container/nodePool:NodePool",
        "urn": "urn:pulumi:p::a::t::pool",
        "inputs": {"name": min(SENTINELS)},
    }
    plan = Plan.parse(json.dumps(preview([{"op": "replace", "oldState": old, "newState": old}])))
    assert plan.steps[0].resource["name"].is_unknown


@pytest.mark.parametrize("machine", ["a3-highgpu-8gg", "a4x-highgpu-4g", "G4-standard-48"])
def test_gpus_that_the_catalogue_does_not_describe_are_within_no_budget(machine: str) -> None:
    pool = resource({"of": "gpus", "with": {"nodeConfig": {"machineType": machine, "guestAccelerators": None}}})
    for id_, config in (("TPU012", {"gpus": 0}), ("TPU013", {"usdPerMonth": 0})):
        rule = next(candidate for candidate in rules() if candidate.id == id_)
        run = a_run({id_: config}, [rule])
        assert run.whole(rule, Stack((pool,))) == []
        said = [f"nodeConfig.guestAccelerators, the GPUs of {machine}"]
        assert [list(unknown) for _, unknown in run.undecided.values()] == [said]


@pytest.mark.parametrize("label", ["cloud.google.com/gke-boot-disk", "topology.gke.io/zone", "kubernetes.io/hostname"])
def test_a_flavor_with_a_label_that_only_gke_knows_is_undecided(label: str) -> None:
    flavor = resource({"of": "flavor", "with": {"spec": {"nodeLabels": {label: "any"}}}})
    run = a_run()
    for id_ in ("KQ001", "KQ002"):
        rule = next(candidate for candidate in rules() if candidate.id == id_)
        assert run.whole(rule, Stack((resource({"of": "pool"}), flavor, resource({"of": "queue"})))) == []
    assert [list(unknown) for _, unknown in run.undecided.values()] == [[f"nodes' {label}"]] * 2


def test_quotas_of_gpus_that_the_catalogue_does_not_describe_are_undecided() -> None:
    config = {"machineType": "a9-ultra-8g", "guestAccelerators": None}
    labels = {"cloud.google.com/gke-tpu-accelerator": None, "cloud.google.com/gke-tpu-topology": None}
    flavor = {"spec": {"nodeLabels": {**labels, "cloud.google.com/gke-nodepool": "gpus"}}}
    groups = [{"flavors": [{"name": "v6e-4x4", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": 4}]}]}]
    queue = {"spec": {"resourceGroups": groups}}
    written = [("gpus", {"nodeConfig": config}), ("flavor", flavor), ("queue", queue)]
    run, rule = a_run(), next(candidate for candidate in rules() if candidate.id == "KQ002")
    assert run.whole(rule, Stack(tuple(resource({"of": of, "with": change}) for of, change in written))) == []
    said = ["nodeConfig.guestAccelerators, the GPUs of a9-ultra-8g"]
    assert [list(unknown) for _, unknown in run.undecided.values()] == [said]
