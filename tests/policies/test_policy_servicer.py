"""What the engine asks of the pack: each resource is judged by the policies about its type, and by those of others."""

from __future__ import annotations

from typing import Any

import pytest
from pulumi.runtime.proto import analyzer_pb2
from pulumi_policy import EnforcementLevel, ResourceValidationPolicy, StackValidationPolicy
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
    known = servicer.gates[0]
    resources = [shown(analyzer_pb2.AnalyzerResource, POOL, {})]
    servicer.AnalyzeStack(analyzer_pb2.AnalyzeStackRequest(resources=resources), None)
    assert known.knows(resources[0].urn)
    assert known.knows("urn:pulumi:s::p::random:index/randomPet:RandomPet::it")


def test_the_pack_starts_without_the_models_of_a_description() -> None:
    """They need half a second of each preview, and only the plan gate reads descriptions."""
    program = "from tpuplane_policies.pack import policies; assert policies()"
    assert imported(program, "pydantic.", "tpuplane.plan", "tpuplane.diff") == []
