"""Operators that tpuplane does not ship: the pack judges their objects, and the gate needs their definitions."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tpuplane_policies.core.config import read
from tpuplane_policies.core.resources import Resource

from tests.support import REPOSITORY, TESTS
from tests.support.components.deployment import shipped
from tests.support.last_update import DEFINITION, STACK, configuration, updated_example
from tests.support.policies.case_files import merged, preview
from tests.support.policies.judging import judged
from tests.support.policies.plan_gate import gate

pytestmark = pytest.mark.policies

EXAMPLE = REPOSITORY / "examples" / "kubeflow-trainer"
CHART = TESTS / "policies/recorded/trainer.yaml"
Objects = dict[str, dict[str, Any]]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return updated_example(tmp_path, monkeypatch)


def chart() -> Objects:
    """The objects of the operator's chart by their kinds."""
    return {item["kind"]: item for item in yaml.safe_load_all(CHART.read_text())}


def registered(item: dict[str, Any]) -> Resource:
    """An object as the provider registers it for a chart."""
    group, meta = item["apiVersion"], item["metadata"]
    kind = f"kubernetes:{group}:{item['kind']}"
    name = f"platform-main-addons-trainer:{'/'.join(filter(None, (meta.get('namespace'), meta['name'])))}"
    urn = f"urn:pulumi:lab::kubeflow-trainer::{kind}::{name}"
    return Resource(kind, name, urn, lambda: item, delete_before_replace=True)


def broken(objects: Objects) -> set[str]:
    """The mandatory rules that the platform of the example breaks, with these objects of its operator's chart."""
    config = read(EXAMPLE / "policies.json")
    return {finding.rule.id for finding in judged(config, shipped(Path(STACK)), map(registered, objects.values()))}


def test_the_recorded_chart_is_that_of_the_example(project: Path) -> None:
    definition = yaml.safe_load(DEFINITION.read_text())
    deployment = chart()["Deployment"]["spec"]["template"]["spec"]["containers"][0]
    assert deployment["image"] == "ghcr.io/{repository}:{tag}".format(**definition["image"])
    assert deployment["resources"] == {"limits": definition["limits"], "requests": definition["requests"]}
    assert deployment["securityContext"]["runAsUser"] == definition["user"]


def test_the_example_passes(project: Path) -> None:
    assert broken(chart()) == set()


@pytest.mark.parametrize(
    ("kind", "change", "rule"),
    [
        ("Deployment", {"spec": {"template": {"spec": {"hostNetwork": True}}}}, "K8S012"),
        ("Deployment", {"spec": {"template": {"spec": {"volumes": [{"hostPath": {"path": "/"}}]}}}}, "K8S013"),
        (
            "Deployment",
            {"spec": {"template": {"spec": {"containers": [{"securityContext": {"privileged": True}}]}}}},
            "K8S001",
        ),
        ("Deployment", {"metadata": {"namespace": "default"}}, "K8S006"),
        ("ClusterRole", {"rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]}, "K8S014"),
        ("ClusterRoleBinding", {"roleRef": {"name": "cluster-admin"}}, "K8S015"),
        ("ClusterRoleBinding", {"subjects": [{"kind": "Group", "name": "system:authenticated"}]}, "K8S015"),
    ],
)
def test_an_operator_that_breaks_a_rule_fails(kind: str, change: dict[str, Any], rule: str, project: Path) -> None:
    objects = chart()
    assert broken(objects | {kind: merged(objects[kind], change)}) == {rule}


def test_its_version_is_judged_if_the_configuration_has_its_chart(project: Path) -> None:
    platform, config = shipped(Path(STACK)), {"all": "disabled", "VER001": "mandatory"}
    own = {"enforcementLevel": "mandatory", "versions": {"kubeflow-trainer": ["2.2.0"], "kueue": ["0.18.3"]}}
    assert judged(config, platform) == []
    (finding,) = judged(config | {"VER001": own}, platform)
    assert "platform-main-addons-trainer" in finding.message
    assert "this version of kubeflow-trainer was not tested with the other operators; tested: 2.2.0" in finding.message


def judged_plan() -> tuple[int, str]:
    """The gate on a plan that changes nothing, in the current folder."""
    cluster = {"type": "gcp:container/cluster:Cluster", "urn": "urn:pulumi:lab::kubeflow-trainer::t::lab", "inputs": {}}
    step = {"op": "same", "newState": cluster, "oldState": cluster}
    plan = json.dumps(preview([step]) | {"config": configuration()})
    Path("gate.json").write_text('{"all": "disabled", "REP006": "mandatory", "REP009": "mandatory"}')
    done = gate(plan, "--config", "gate.json", folder=Path.cwd())
    return done.returncode, done.stdout + done.stderr


def test_the_gate_passes_without_a_change(project: Path) -> None:
    assert judged_plan() == (0, "plan of lab, 1 step: 0 mandatory, 0 advisory\n")


def missing() -> None:
    DEFINITION.unlink()


def misspelt() -> None:
    DEFINITION.write_text(DEFINITION.read_text().replace("title:", "titel:"))


def of_another_kind() -> None:
    DEFINITION.write_text("[jobset]\n")


def with_a_wrong_kind() -> None:
    DEFINITION.write_text(DEFINITION.read_text().replace("kind: ClusterTrainingRuntime", "kind: cluster runtime"))


def of_no_package() -> None:
    Path(STACK).write_text(Path(STACK).read_text().replace("addons/trainer.yaml", "trainer"))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (missing, "'addons/trainer.yaml' cannot be read: "),
        (misspelt, "definition.titel: unknown field"),
        (of_another_kind, "is not a mapping of fields"),
        (with_a_wrong_kind, "'cluster runtime' is not the name of a kind"),
        (of_no_package, "'trainer' is not an add-on of an installed package"),
    ],
)
def test_the_gate_fails_if_the_definition_is_not_readable(
    change: Callable[[], None], reason: str, project: Path
) -> None:
    change()
    status, said = judged_plan()
    assert status == 1
    undecided = "REP006 these rules cannot be decided, because values are unknown: REP009"
    assert f"{undecided} (the changes to the description are not known: " in said
    assert reason in said
    assert "Remedy: correct the description, or the file that the message names" in said


def test_the_gate_finds_an_operator_that_is_removed_or_moved(project: Path) -> None:
    named = Path(STACK).read_text()
    Path(STACK).write_text(
        named.replace("          custom:\n            trainer: {definition: addons/trainer.yaml}\n", "")
    )
    status, said = judged_plan()
    assert (status, "REP009 clusters.main.addons.custom.trainer: deletes-work" in said) == (1, True), said
    Path(STACK).write_text(named)
    DEFINITION.write_text(DEFINITION.read_text().replace("namespace: kubeflow-system", "namespace: other"))
    status, said = judged_plan()
    assert (status, "trainer.definition.namespace: deletes-work" in said) == (1, True), said
