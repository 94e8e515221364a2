"""Rules that checkov and trivy have as well judge as those do; where they do not, on purpose, it is written down."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml
from tpuplane_policies.core.registry import rules
from tpuplane_policies.core.resources import Resource
from tpuplane_policies.core.run import Violation

from tests.support.policies.case_files import a_run

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
    "folderBinding": "gcp:folder/iAMBinding:IAMBinding",
    "orgMember": "gcp:organizations/iAMMember:IAMMember",
    "orgBinding": "gcp:organizations/iAMBinding:IAMBinding",
    "bucket": "gcp:storage/bucket:Bucket",
    "bucketMember": "gcp:storage/bucketIAMMember:BucketIAMMember",
    "bucketBinding": "gcp:storage/bucketIAMBinding:BucketIAMBinding",
    "registryMember": "gcp:artifactregistry/repositoryIamMember:RepositoryIamMember",
    "registryBinding": "gcp:artifactregistry/repositoryIamBinding:RepositoryIamBinding",
    "keyMember": "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember",
    "keyBinding": "gcp:kms/cryptoKeyIAMBinding:CryptoKeyIAMBinding",
    "keyPolicy": "gcp:kms/cryptoKeyIAMPolicy:CryptoKeyIAMPolicy",
    "ringMember": "gcp:kms/keyRingIAMMember:KeyRingIAMMember",
    "ringBinding": "gcp:kms/keyRingIAMBinding:KeyRingIAMBinding",
    "cryptoKey": "gcp:kms/cryptoKey:CryptoKey",
    "accountKey": "gcp:serviceaccount/key:Key",
    "firewall": "gcp:compute/firewall:Firewall",
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
    "clusterRole": "kubernetes:rbac.authorization.k8s.io/v1:ClusterRole",
    "clusterRoleBinding": "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding",
    "roleBinding": "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding",
    "ingress": "kubernetes:networking.k8s.io/v1:Ingress",
}


def resource(written: dict[str, Any]) -> Resource:
    [(kind, props)] = ((kind, props) for kind, props in written.items() if kind != "protect")
    if kind == "c":
        kind, props = "pod", {"containers": [props]}
    if kind == "pod":
        kind, props = "podObject", {"spec": props}
    urn = f"urn:pulumi:s::p::{TYPES[kind]}::it"
    return Resource(TYPES[kind], "it", urn, lambda: props, protect=written.get("protect", False))


def judged(written: dict[str, Any]) -> list[Violation]:
    run, judged_resource = a_run(), resource(written)
    return [found for rule in rules() for found in run.resource(rule, judged_resource)]


def like(violations: list[Violation]) -> set[str]:
    """The checks of others that find it too."""
    return {check for violation in violations for finding in violation.findings for check in finding.like}


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
    same = [finding for finding in found if check in like([finding])]
    assert bool(same) == (outcome == "fail"), [finding.message for finding in found]
    for violation in same:
        assert check in violation.message
        assert check in (*violation.rule.checkov, *violation.rule.trivy)


def test_every_check_that_a_rule_names_is_compared() -> None:
    named = {check for rule in rules() for check in (*rule.checkov, *rule.trivy)}
    assert named == set(verdicts())
    assert all(cases["pass"] and cases["fail"] for cases in verdicts().values())


@pytest.mark.parametrize("difference", differences(), ids=lambda difference_: "-".join(difference_["ids"]))
def test_a_difference_is_one(difference: dict[str, Any]) -> None:
    """What they pass breaks the rule that the entry names; what they fail is no finding of theirs here."""
    found = judged(difference["example"])
    if difference["theirs"] == "pass":
        assert difference["rule"] in {finding.rule.id for finding in found}
    if difference["rule"] != "K8S009":  # fields outside of a pod's spec are not judged
        assert not like(found) & set(difference["ids"])
