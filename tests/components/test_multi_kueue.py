"""The way from a manager to its workers: who may do what there, and where the credential goes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pulumi.runtime import rpc

from tests.support.components.deployment import Deployment, Inputs, Registration, deploy_platform
from tests.support.components.queue_objects import objects

pytestmark = pytest.mark.components

WORKERS = ("lab-central1", "lab-east5")


@pytest.fixture
def spanning(lab: Inputs) -> Inputs:
    """The lab and a cluster in another region as workers, and a manager without any TPU."""
    lab["clusters"]["central1"] |= {"addons": {"kueue": {}}}
    lab["clusters"]["east5"] = {
        "location": "us-east5",
        "addons": {"kueue": {}},
        "network": {"nodesCidr": "10.0.16.0/20", "podsCidr": "10.68.0.0/14", "servicesCidr": "10.32.16.0/20"},
        "pools": {"trainer": {"generation": "v6e", "topology": "4x4", "zone": "us-east5-b"}},
    }
    hub = {
        "location": "us-central1",
        "addons": {"kueue": {"integrations": ["batch/job", "pod"]}},
        "network": {"nodesCidr": "10.0.32.0/20", "podsCidr": "10.72.0.0/14", "servicesCidr": "10.32.32.0/20"},
    }
    lab["clusters"] = {"hub": hub, **lab["clusters"]}
    lab["queues"] = {"multiKueue": {"manager": "hub", "workers": ["central1", "east5"]}}
    lab["teams"] = {
        "research": {
            "clusters": {
                "central1": {"pools": {"trainer": {"slices": 1}}},
                "east5": {"pools": {"trainer": {"slices": 1}}},
            }
        },
        "product": {"clusters": {"east5": {"pools": {"trainer": {"slices": 0}}}}},
    }
    return lab


@pytest.fixture
def deployed_spanning(spanning: Inputs) -> Deployment:
    return deploy_platform(spanning)


def within(deployment: Deployment, cluster: str, kind: str) -> list[Registration]:
    """The registered objects of a kind whose names begin as those of one cluster do."""
    return [resource for resource in deployment.all(f":{kind}") if resource.name.startswith(f"platform-{cluster}-")]


def test_the_manager_knows_each_worker_by_a_secret(deployed_spanning: Deployment) -> None:
    clusters = objects(deployed_spanning, "MultiKueueCluster")
    assert set(clusters) == set(WORKERS)
    secrets = {
        resource.inputs["metadata"]["name"]: resource
        for resource in within(deployed_spanning, "hub", "Secret")
        if "-credential-" in resource.name
    }
    for worker, made in clusters.items():
        source = made.inputs["spec"]["clusterSource"]["kubeConfig"]
        assert source == {"locationType": "Secret", "location": f"multikueue-{worker}"}
        secret = secrets[source["location"]]
        assert secret.urn in made.request.dependencies
        assert secret.inputs["metadata"]["namespace"] == "kueue-system"
        config = json.loads(rpc.unwrap_rpc_secret(secret.inputs["stringData"])["kubeconfig"])
        (entry,) = config["clusters"]
        assert entry["cluster"]["server"] == f"https://private.{worker}.example"
        assert entry["cluster"]["certificate-authority-data"] == "Q0E="
        key = worker.removeprefix("lab-")
        assert config["users"][0]["user"] == {"token": f"token of platform-{key}-multikueue-token"}


def test_the_token_is_a_secret_wherever_it_goes(deployed_spanning: Deployment) -> None:
    """In the clear it would stand in the state and in every preview."""
    found = [resource for resource in deployed_spanning.custom() if "token of" in str(resource.inputs)]
    assert {resource.name for resource in found} == {
        f"platform-hub-multikueue-credential-{worker}" for worker in WORKERS
    }
    for resource in found:
        assert rpc.is_rpc_secret(resource.inputs["stringData"])
    for made in within(deployed_spanning, "central1", "Secret"):
        if made.name.endswith("-multikueue-token"):
            assert {"data", "stringData"} <= set(made.request.additionalSecretOutputs)


def test_each_team_goes_to_its_own_workers(deployed_spanning: Deployment) -> None:
    configs = objects(deployed_spanning, "MultiKueueConfig")
    assert {name: config.inputs["spec"]["clusters"] for name, config in configs.items()} == {
        "research": ["lab-central1", "lab-east5"],
        "product": ["lab-east5"],
    }
    checks = objects(deployed_spanning, "AdmissionCheck")
    queues = within(deployed_spanning, "hub", "ClusterQueue")
    assert {resource.inputs["metadata"]["name"] for resource in queues} == {"research", "product"}
    for queue in queues:
        team = queue.inputs["metadata"]["name"]
        ((named,),) = queue.inputs["spec"]["admissionChecksStrategy"].values()
        check = checks[named["name"]]
        assert check.inputs["spec"] == {
            "controllerName": "kueue.x-k8s.io/multikueue",
            "parameters": {"apiGroup": "kueue.x-k8s.io", "kind": "MultiKueueConfig", "name": team},
        }
        assert configs[team].urn in check.request.dependencies
        assert check.urn in queue.request.dependencies
    for key in ("central1", "east5"):
        for queue in within(deployed_spanning, key, "ClusterQueue"):
            assert "admissionChecksStrategy" not in queue.inputs["spec"]


def rules(roles: list[Registration], suffix: str) -> dict[str, set[str]]:
    """What the role of this name allows: verbs by group and resource."""
    (role,) = [resource for resource in roles if resource.inputs["metadata"]["name"] == f"multikueue-{suffix}"]
    return {
        f"{group}/{resource}": set(rule["verbs"])
        for rule in role.inputs["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }


def test_the_manager_watches_everywhere_and_makes_jobs_in_the_teams_namespaces_alone(
    deployed_spanning: Deployment,
) -> None:
    roles = [
        resource for resource in within(deployed_spanning, "east5", "ClusterRole") if "-multikueue-" in resource.name
    ]
    kinds = {"kueue.x-k8s.io/workloads", "batch/jobs", "/pods"}
    watched = rules(roles, "watch")
    assert set(watched) == kinds
    assert set.union(*watched.values()) == {"list", "watch"}
    assert set(rules(roles, "make")) == {*kinds, "kueue.x-k8s.io/workloads/status"}
    (everywhere,) = [
        resource
        for resource in within(deployed_spanning, "east5", "ClusterRoleBinding")
        if "-multikueue-" in resource.name
    ]
    assert everywhere.inputs["roleRef"]["name"] == "multikueue-watch"
    bindings = [
        resource for resource in within(deployed_spanning, "east5", "RoleBinding") if "-multikueue-" in resource.name
    ]
    assert {binding.inputs["metadata"]["namespace"] for binding in bindings} == {"research", "product"}
    for resource in (everywhere, *bindings):
        assert resource.inputs["subjects"] == [
            {"kind": "ServiceAccount", "name": "multikueue", "namespace": "kueue-system"}
        ]


def test_nothing_of_it_is_in_the_outputs_or_in_a_platform_without_it(
    lab: Inputs, deployed_spanning: Deployment
) -> None:
    (platform,) = [
        registration
        for registration in deployed_spanning.registrations.values()
        if registration.type == "tpuplane:index:Platform"
    ]
    assert "token of" not in str(deployed_spanning.outputs(platform))
    plain: dict[str, Any] = {**lab, "queues": {}, "teams": {}}
    assert not [
        registration
        for registration in deploy_platform(plain).registrations.values()
        if "multikueue" in registration.name.lower()
    ]
