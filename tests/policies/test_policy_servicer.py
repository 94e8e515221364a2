"""What the engine asks of the pack: each resource is judged by the policies about its type, and by those of others."""

from __future__ import annotations

from typing import Any

import pytest
from pulumi.runtime.proto import analyzer_pb2
from pulumi_policy import EnforcementLevel, ResourceValidationArgs, ResourceValidationPolicy, StackValidationPolicy
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE
from tpuplane_policies.pack import Servicer, policies

from tests.support.imported import imported
from tests.support.policies.case_files import bases, merged

pytestmark = pytest.mark.policies

POOL = "gcp:container/nodePool:NodePool"


def shown(kind: Any, type_: str, props: dict[str, Any]) -> Any:
    """A resource as the engine shows it."""
    request = kind(type=type_, name="it", urn=f"urn:pulumi:s::p::{type_}::it")
    request.properties.update(props)
    return request


def test_others_see_every_resource_and_its_properties() -> None:
    seen: list[Any] = []
    one = ResourceValidationPolicy("one", "One", lambda args, report: seen.append((args.resource_type, {**args.props})))
    whole = StackValidationPolicy("whole", "Whole", lambda args, report: seen.append({**args.resources[0].props}))
    servicer = Servicer("ours", "0.0.1", [*policies(), one, whole], EnforcementLevel.ADVISORY)
    servicer.gates[0].configure({}, "test.json", servicer.others)
    servicer.Analyze(shown(analyzer_pb2.AnalyzeRequest, "random:index/randomPet:RandomPet", {"length": 2}), None)
    resource = shown(analyzer_pb2.AnalyzerResource, "random:index/randomPet:RandomPet", {"length": 2})
    servicer.AnalyzeStack(analyzer_pb2.AnalyzeStackRequest(resources=[resource]), None)
    assert seen == [("random:index/randomPet:RandomPet", {"length": 2}), {"length": 2}]


def test_policies_of_others_repair_resources() -> None:
    def longer(args: ResourceValidationArgs) -> dict[str, Any]:
        return {**args.props, "length": 3}

    level = EnforcementLevel.REMEDIATE
    one = ResourceValidationPolicy("one", "One", remediate=longer, enforcement_level=level)
    pet = shown(analyzer_pb2.AnalyzeRequest, "random:index/randomPet:RandomPet", {"length": 2})
    servicer = Servicer("ours", "0.0.1", [*policies(), one], EnforcementLevel.ADVISORY)
    [repaired] = servicer.Remediate(pet, None).remediations
    assert dict(repaired.properties) == {"length": 3}
    alone = Servicer("ours", "0.0.1", policies(), EnforcementLevel.ADVISORY)
    assert not alone.Remediate(pet, None).remediations


def test_a_stack_is_judged_by_the_inputs_that_were_shown_also_of_types_without_a_rule() -> None:
    servicer = Servicer("ours", "0.0.1", policies(), EnforcementLevel.ADVISORY)
    servicer.gates[0].configure({}, "test.json")
    pool = merged(bases()["pool"]["props"], {"nodeCount": 3})
    for type_, props in ((POOL, pool), ("random:index/randomPet:RandomPet", {"length": 2})):
        request = shown(analyzer_pb2.AnalyzeRequest, type_, props)
        response = servicer.Analyze(request, None)
        assert not request.properties  # the SDK has nothing to read again
        said = [diagnostic.policyName for diagnostic in response.diagnostics if "nodeCount is 3" in diagnostic.message]
        assert said == (["TPU003"] if type_ == POOL else [])


def test_the_pools_of_a_cluster_are_judged_with_it() -> None:
    servicer = Servicer("ours", "0.0.1", policies(), EnforcementLevel.ADVISORY)
    servicer.gates[0].configure({}, "test.json")
    base, pool = bases()["cluster"], merged(bases()["pool"]["props"], {"nodeCount": 3})
    default = {"removeDefaultNodePool": False, "nodeConfig": {"machineType": "ct6e-standard-4t"}}
    for change, text in (({"nodePools": [pool]}, "nodePools[0].nodeCount is 3"), (default, "initialNodeCount is 1")):
        request = shown(analyzer_pb2.AnalyzeRequest, base["type"], merged(base["props"], change))
        assert any(text in diagnostic.message for diagnostic in servicer.Analyze(request, None).diagnostics)


def test_the_items_of_a_list_are_judged() -> None:
    servicer = Servicer("ours", "0.0.1", policies(), EnforcementLevel.ADVISORY)
    servicer.gates[0].configure({}, "test.json")
    bindings = {"items": [merged(bases()["role-binding"]["props"], {"roleRef": {"name": "cluster-admin"}})]}
    request = shown(analyzer_pb2.AnalyzeRequest, bases()["role-bindings"]["type"], bindings)
    [said] = servicer.Analyze(request, None).diagnostics
    assert "items[0].roleRef.name is 'cluster-admin'" in said.message


NAMESPACE = "kubernetes:core/v1:Namespace"


@pytest.mark.parametrize("all_shown_before", [True, False])
def test_the_rules_of_a_stack_judge_the_inputs_that_were_shown(all_shown_before: bool) -> None:
    servicer = Servicer("ours", "0.0.1", policies(), EnforcementLevel.ADVISORY)
    servicer.gates[0].configure({}, "test.json")
    tenant = {"metadata": {"name": "a", "labels": {"kueue.x-k8s.io/managed-namespace": "true"}}}
    queue = bases()["queue"]
    for type_, props in ((NAMESPACE, tenant), (queue["type"], queue["props"])):
        servicer.Analyze(shown(analyzer_pb2.AnalyzeRequest, type_, props), None)
    types = (NAMESPACE, queue["type"]) if all_shown_before else (NAMESPACE, queue["type"], POOL)
    resources = [shown(analyzer_pb2.AnalyzerResource, type_, {}) for type_ in types]
    for _ in range(2):  # a preview, then the update of one `pulumi up`
        request = analyzer_pb2.AnalyzeStackRequest(resources=resources)
        diagnostics = servicer.AnalyzeStack(request, None).diagnostics
        [said] = [diagnostic.message for diagnostic in diagnostics if diagnostic.policyName == "KQ009"]
        assert "no LocalQueue in this namespace" in said
        assert len(request.resources) == (0 if all_shown_before else 3)  # what the SDK reads for each policy


@pytest.mark.parametrize("rendered", [True, False])
def test_a_chart_is_judged_by_its_objects(rendered: bool) -> None:
    servicer = Servicer("ours", "0.0.1", policies(), EnforcementLevel.ADVISORY)
    servicer.gates[0].configure({"RAY002": "mandatory"}, "test.json")
    chart = shown(analyzer_pb2.AnalyzeRequest, bases()["chart"]["type"], {})
    old = merged(bases()["of-chart"]["props"], {"metadata": {"labels": {"helm.sh/chart": "kuberay-operator-1.0.0"}}})
    inside = shown(analyzer_pb2.AnalyzeRequest, bases()["of-chart"]["type"], old)
    inside.options.parent = chart.urn
    requests = [chart, inside] if rendered else [chart]
    for request in requests:
        servicer.Analyze(request, None)
    resources = [shown(analyzer_pb2.AnalyzerResource, request.type, {}) for request in requests]
    diagnostics = servicer.AnalyzeStack(analyzer_pb2.AnalyzeStackRequest(resources=resources), None).diagnostics
    said = {diagnostic.policyName: diagnostic.message for diagnostic in diagnostics}
    if rendered:
        assert "the version in metadata.labels.helm.sh/chart is '1.0.0'" in said["RAY002"]
        assert "REP006" not in said
    else:
        assert "RAY002 (chart and version); K8S001 (its objects); " in said["REP006"]
        assert "Remedy: use helm.v3.Release, which shows its chart and version but not its objects" in said["REP006"]


@pytest.mark.parametrize(
    ("given", "said"), [("team", "passes"), ("default", "fails"), (UNKNOWN_STRING_VALUE, "undecided"), (None, "fails")]
)
def test_an_object_without_a_namespace_is_in_that_of_its_provider(given: str | None, said: str) -> None:
    """A provider that is not configured yet, as in the preview of a new cluster, does not set it in the object."""
    servicer = Servicer("ours", "0.0.1", policies(), EnforcementLevel.ADVISORY)
    servicer.gates[0].configure({}, "test.json")
    pod = merged(bases()["pod"]["props"], {"metadata": {"namespace": None}})
    request = shown(analyzer_pb2.AnalyzeRequest, bases()["pod"]["type"], pod)
    request.provider.type = "pulumi:providers:kubernetes"
    request.provider.properties.update({"namespace": given} if given else {})
    diagnostics = servicer.Analyze(request, None).diagnostics
    assert any(diagnostic.policyName == "K8S006" for diagnostic in diagnostics) == (said == "fails")
    assert any(rule == "K8S006" for rule, _ in servicer.gates[0].run.undecided) == (said == "undecided")


RENDERED = (
    "kubernetes:helm.sh/v3:Chart",
    "kubernetes:helm.sh/v4:Chart",
    "kubernetes:kustomize/v2:Directory",
    "kubernetes:yaml:ConfigFile",
    "kubernetes:yaml/v2:ConfigGroup",
)


@pytest.mark.parametrize("type_", RENDERED)
def test_objects_that_no_rule_has_seen_do_not_pass(type_: str) -> None:
    """The preview of a new cluster shows none. Then the update shows them to the same pack."""
    servicer = Servicer("ours", "0.0.1", policies(), EnforcementLevel.ADVISORY)
    servicer.gates[0].configure({"RAY002": "disabled", "K8S015": "disabled"}, "test.json")
    component = shown(analyzer_pb2.AnalyzeRequest, type_, {})
    of_another = shown(
        analyzer_pb2.AnalyzeRequest, NAMESPACE, {"metadata": {"name": "a", "annotations": UNKNOWN_STRING_VALUE}}
    )
    inside = shown(analyzer_pb2.AnalyzeRequest, bases()["of-chart"]["type"], bases()["of-chart"]["props"])
    inside.options.parent = component.urn
    assert "K8S001 (its objects); " in (said := undecided(servicer, component, of_another))
    assert "K8S015" not in said
    assert undecided(servicer, component, of_another, inside) == ""


def test_the_charts_of_this_project_pass_a_preview_that_does_not_show_their_objects() -> None:
    servicer = Servicer("ours", "0.0.1", policies(), EnforcementLevel.ADVISORY)
    servicer.gates[0].configure({}, "test.json")
    chart, marker = (
        shown(analyzer_pb2.AnalyzeRequest, bases()[name]["type"], bases()[name]["props"])
        for name in ("chart", "marker")
    )
    assert "K8S001 (its objects)" in undecided(servicer, chart)
    chart.options.parent = marker.options.parent = "urn:pulumi:s::p::tpuplane:index:Operator::ray"
    assert undecided(servicer, chart, marker) == ""


def undecided(servicer: Servicer, *requests: Any) -> str:
    """What REP006 says of a stack of these resources."""
    for request in requests:
        servicer.Analyze(request, None)
    resources = [shown(analyzer_pb2.AnalyzerResource, request.type, {}) for request in requests]
    diagnostics = servicer.AnalyzeStack(analyzer_pb2.AnalyzeStackRequest(resources=resources), None).diagnostics
    return "".join(diagnostic.message for diagnostic in diagnostics if diagnostic.policyName == "REP006")


@pytest.mark.parametrize("has_provider", [True, False])
def test_the_provider_of_an_object_names_its_cluster(has_provider: bool) -> None:
    servicer = Servicer("ours", "0.0.1", policies(), EnforcementLevel.ADVISORY)
    servicer.gates[0].configure({}, "test.json")
    changes: dict[str, dict[str, str]] = {
        "pool": {"cluster": "first"},
        "single": {"cluster": "second"},
        "k8s-provider": {"clusterIdentifier": "second"},
        "flavor": {},
    }
    resources = []
    for name, change in changes.items():
        props = merged(bases()[name]["props"], change)
        for kind in (analyzer_pb2.AnalyzeRequest, analyzer_pb2.AnalyzerResource):
            message = shown(kind, bases()[name]["type"], props)
            message.urn += name
            if name == "flavor" and has_provider:
                message.provider.urn = f"urn:pulumi:s::p::{bases()['k8s-provider']['type']}::itk8s-provider"
            if kind is analyzer_pb2.AnalyzeRequest:
                servicer.Analyze(message, None)
        resources.append(message)
    diagnostics = servicer.AnalyzeStack(analyzer_pb2.AnalyzeStackRequest(resources=resources), None).diagnostics
    said = {name: [own.message for own in diagnostics if own.policyName == name] for name in ("KQ001", "REP006")}
    if has_provider:
        assert "no pool of second has the labels" in said["KQ001"][0]
    else:
        assert said["KQ001"] == []
        assert any("KQ001 (the cluster of its provider)" in message for message in said["REP006"])


def test_the_pack_starts_without_the_models_of_a_description() -> None:
    """They need half a second of each preview, and only the plan gate reads descriptions."""
    program = "from tpuplane_policies.pack import policies; assert policies()"
    assert imported(program, "pydantic.", "tpuplane.plan", "tpuplane.diff") == []
