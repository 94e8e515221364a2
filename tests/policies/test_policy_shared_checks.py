"""Rules that checkov and trivy have as well judge as those do; where they do not, on purpose, it is written down."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml
from case_files import TODAY
from tpuplane_policies.core.engine import Violation, judge_resource
from tpuplane_policies.core.ledger import Ledger
from tpuplane_policies.core.registry import rules
from tpuplane_policies.core.resources import Resource

pytestmark = pytest.mark.policies

FOLDER = Path(__file__).parent / "shared"
TYPES = {
    "cluster": "gcp:container/cluster:Cluster",
    "pool": "gcp:container/nodePool:NodePool",
    "subnetwork": "gcp:compute/subnetwork:Subnetwork",
    "instance": "gcp:compute/instance:Instance",
    "project": "gcp:organizations/project:Project",
    "member": "gcp:projects/iAMMember:IAMMember",
    "binding": "gcp:projects/iAMBinding:IAMBinding",
    "folderMember": "gcp:folder/iAMMember:IAMMember",
    "orgMember": "gcp:organizations/iAMMember:IAMMember",
    "orgBinding": "gcp:organizations/iAMBinding:IAMBinding",
    "bucket": "gcp:storage/bucket:Bucket",
    "bucketMember": "gcp:storage/bucketIAMMember:BucketIAMMember",
    "bucketBinding": "gcp:storage/bucketIAMBinding:BucketIAMBinding",
    "wifProvider": "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider",
    "podObject": "kubernetes:core/v1:Pod",
    "podTemplate": "kubernetes:core/v1:PodTemplate",
    "replicationController": "kubernetes:core/v1:ReplicationController",
    "service": "kubernetes:core/v1:Service",
    "serviceAccount": "kubernetes:core/v1:ServiceAccount",
    "secret": "kubernetes:core/v1:Secret",
    "configMap": "kubernetes:core/v1:ConfigMap",
    "deployment": "kubernetes:apps/v1:Deployment",
    "statefulset": "kubernetes:apps/v1:StatefulSet",
    "daemonset": "kubernetes:apps/v1:DaemonSet",
    "replicaset": "kubernetes:apps/v1:ReplicaSet",
    "job": "kubernetes:batch/v1:Job",
    "cronjob": "kubernetes:batch/v1:CronJob",
    "role": "kubernetes:rbac.authorization.k8s.io/v1:Role",
    "roleBinding": "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding",
    "ingress": "kubernetes:networking.k8s.io/v1:Ingress",
}


def resource(written: dict[str, Any]) -> Resource:
    [(kind, props)] = written.items()
    if kind == "c":
        kind, props = "pod", {"containers": [props]}
    if kind == "pod":
        kind, props = "podObject", {"spec": props}
    return Resource(TYPES[kind], "it", f"urn:pulumi:s::p::{TYPES[kind]}::it", lambda: props)


def judged(written: dict[str, Any]) -> list[Violation]:
    return [found for rule in rules() for found in judge_resource(rule, resource(written), {}, Ledger(), TODAY)]


@cache
def verdicts() -> dict[str, dict[str, list[dict[str, Any]]]]:
    return {
        check: cases
        for path in sorted(FOLDER.glob("*.yaml"))
        for check, cases in yaml.safe_load(path.read_text()).items()
    }


@cache
def differences() -> list[dict[str, Any]]:
    return yaml.safe_load(files("tpuplane_policies").joinpath("data/differences.yaml").read_text())


CASES = [
    pytest.param(check, outcome, written, id=f"{check}-{outcome}-{number}")
    for check, cases in verdicts().items()
    for outcome in ("pass", "fail")
    for number, written in enumerate(cases[outcome])
]


@pytest.mark.parametrize(("check", "outcome", "written"), CASES)
def test_judgement_is_as_theirs(check: str, outcome: str, written: dict[str, Any]) -> None:
    found = judged(written)
    same = [it for it in found if check in it.like]
    assert bool(same) == (outcome == "fail"), [it.message for it in found]
    for violation in same:
        rule = next(it for it in rules() if it.id == violation.rule)
        assert check in violation.message
        assert check in (*rule.checkov, *rule.trivy) or rule.id == "PRJ003"


def test_every_check_that_a_rule_names_is_compared() -> None:
    named = {check for rule in rules() for check in (*rule.checkov, *rule.trivy)}
    assert named == set(verdicts())
    assert all(cases["pass"] and cases["fail"] for cases in verdicts().values())


@pytest.mark.parametrize("difference", differences(), ids=lambda it: "-".join(it["ids"]))
def test_a_difference_is_one(difference: dict[str, Any]) -> None:
    """What they pass breaks the rule that the entry names; what they fail is no finding of theirs here."""
    found = judged(difference["example"])
    if difference["theirs"] == "pass":
        assert difference["rule"] in {it.rule for it in found}
    else:
        assert not {check for it in found for check in it.like} & set(difference["ids"])
