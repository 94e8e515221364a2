"""Pods in custom resources of any kind: found by their shape, undecided where an unknown value can hold them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tpuplane_policies.core.registry import rules
from tpuplane_policies.core.values import UNKNOWN

from tests.support.policies.case_files import a_run, resource

pytestmark = pytest.mark.policies

FLEET = "kubernetes:batch.acme.example/v1:Fleet"
TASK, TASK_RUN, PIPELINE_RUN = (f"kubernetes:tekton.dev/v1:{kind}" for kind in ("Task", "TaskRun", "PipelineRun"))
RAY_SERVICE = "kubernetes:ray.io/v1:RayService"
CLASS = "kubernetes:cloud.google.com/v1:ComputeClass"
CERTIFICATE = "kubernetes:cert-manager.io/v1:Certificate"
RIGHTS = {"securityContext": {"privileged": True}}
POD = {"containers": [{"image": "a"}]}


def verdict(type_: str, spec: Any, rule_id: str = "K8S001") -> str:
    """What a rule says of a custom resource: the place of its first finding, "undecided" or "passes"."""
    rule = next(candidate for candidate in rules() if candidate.id == rule_id)
    props = {"metadata": {"namespace": "research"}, "spec": spec}
    run = a_run({}, [rule])
    found = run.resource(rule, replace(resource({"of": "torch", "type": type_}), load=lambda: props))
    return found[0].message.split()[2] if found else "undecided" if run.undecided else "passes"


@pytest.mark.parametrize(
    ("type_", "spec"),
    [
        (FLEET, {"pools": UNKNOWN}),
        (FLEET, {"pools": [UNKNOWN]}),
        (FLEET, {"pools": [{"name": "a", "template": UNKNOWN}]}),
        (FLEET, {"pools": {"east-1": UNKNOWN}}),
        (FLEET, {"runtimes": [{"name": "a", "flavour": UNKNOWN}]}),
        (FLEET, {"versions": [{"name": "a", "machinery": UNKNOWN}]}),
        (FLEET, {"a": {"b": {"steps": [{"image": "a"}, UNKNOWN]}}}),
        (FLEET, {"pools": [POD, {"template": UNKNOWN}]}),
        (TASK, {"steps": UNKNOWN}),
        (TASK, {"steps": [{"image": "a"}], "sidecars": UNKNOWN}),
        (TASK, {"steps": [{"image": "a"}], "stepTemplate": UNKNOWN}),
        (TASK_RUN, {"taskSpec": UNKNOWN}),
        (PIPELINE_RUN, {"pipelineSpec": {"tasks": [{"taskSpec": {"steps": [UNKNOWN]}}]}}),
    ],
)
def test_an_unknown_value_that_can_hold_pods_is_undecided(type_: str, spec: dict[str, Any]) -> None:
    assert verdict(type_, spec) == "undecided"


@pytest.mark.parametrize(
    ("type_", "spec"),
    [
        (FLEET, {"pools": [{"name": UNKNOWN, "serviceAccountName": UNKNOWN, "size": UNKNOWN, **POD}]}),
        (FLEET, {"storageUri": UNKNOWN, "secretRef": {"name": UNKNOWN}, "numWorkers": UNKNOWN, "image": UNKNOWN}),
        (FLEET, {"commonLabels": {"owner": UNKNOWN}, "nodeSelector": {"pool": UNKNOWN}, "parameters": [UNKNOWN]}),
        (FLEET, {"disks": ["a", UNKNOWN], "flags": [UNKNOWN, "--x"]}),
        (RAY_SERVICE, {"serveConfigV2": UNKNOWN, "rayClusterConfig": {"rayVersion": UNKNOWN}}),
        (CLASS, {"priorities": [{"gpu": UNKNOWN, "storage": UNKNOWN}]}),
        (CERTIFICATE, {"issuer": UNKNOWN}),
    ],
)
def test_an_unknown_value_that_cannot_hold_pods_is_no_alarm(type_: str, spec: dict[str, Any]) -> None:
    assert verdict(type_, spec) == "passes"


@pytest.mark.parametrize(
    ("type_", "spec", "at"),
    [
        (FLEET, {"pools": [{"kit": {"containers": [RIGHTS]}}]}, "spec.pools[0].kit.containers[0]"),
        (FLEET, {"pools": [{"kit": {"steps": [{"image": "a", **RIGHTS}]}}]}, "spec.pools[0].kit.steps[0]"),
        (TASK, {"steps": [{"image": "a"}, {"image": "b", **RIGHTS}]}, "spec.steps[1]"),
        (TASK, {"steps": [{"image": "a"}], "stepTemplate": RIGHTS}, "spec.stepTemplate"),
        (TASK, {"steps": [{"image": "a"}], "sidecars": [{"image": "b", **RIGHTS}]}, "spec.sidecars[0]"),
        (
            PIPELINE_RUN,
            {"pipelineSpec": {"tasks": [{"taskSpec": {"steps": [{"image": "a", **RIGHTS}]}}]}},
            "spec.pipelineSpec.tasks[0].taskSpec.steps[0]",
        ),
    ],
)
def test_pods_are_found_by_their_shape(type_: str, spec: dict[str, Any], at: str) -> None:
    assert verdict(type_, spec) == f"{at}.securityContext.privileged"


@pytest.mark.parametrize(
    ("type_", "spec", "at"),
    [
        (TASK_RUN, {"podTemplate": {"hostNetwork": True}, "taskSpec": {"steps": [{"image": "a"}]}}, "spec.podTemplate"),
        (
            PIPELINE_RUN,
            {
                "taskRunTemplate": {"podTemplate": {"hostNetwork": True}},
                "pipelineSpec": {"tasks": [{"taskSpec": {"steps": [{"image": "a"}]}}]},
            },
            "spec.taskRunTemplate.podTemplate",
        ),
    ],
)
def test_a_task_has_the_settings_of_the_pod_template_around_it(type_: str, spec: dict[str, Any], at: str) -> None:
    assert verdict(type_, spec, "K8S012") == f"{at}.hostNetwork"


def test_a_step_has_what_the_template_of_the_steps_sets() -> None:
    safe = {"securityContext": {"readOnlyRootFilesystem": True}}
    assert verdict(TASK, {"steps": [{"image": "a"}], "stepTemplate": safe}, "K8S007") == "passes"
    assert verdict(TASK, {"steps": [{"image": "a"}]}, "K8S007").startswith("spec.steps[0]")
