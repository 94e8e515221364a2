"""Kueue's objects as they are registered: each after what it refers to, and all of them bound to their cluster."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.support import REPOSITORY
from tests.support.components.deployment import Deployment, Inputs, deploy_platform
from tests.support.components.queue_objects import KUEUE, objects

pytestmark = pytest.mark.components


@pytest.fixture
def shared(lab: Inputs) -> Deployment:
    """The lab, shared by two teams."""
    lab["clusters"]["central1"]["addons"] = {"kueue": {}}
    lab["clusters"]["central1"]["security"] = {"securityGroup": "gke-security-groups@example.com"}
    lab["queues"] = {"preemption": {"withinClusterQueue": "LowerOrNewerEqualPriority"}}
    lab["teams"] = {
        "research": {
            "members": ["group:research@example.com", "serviceAccount:ci@lab.iam.gserviceaccount.com"],
            "clusters": {"central1": {"pools": {"trainer": {"slices": 1}, "notebooks": {"slices": 3}}}},
        },
        "product": {
            "namespaces": ["product", "canary"],
            "podSecurity": "privileged",
            "clusters": {"central1": {"pools": {"trainer": {"slices": 0, "borrowingLimit": 1}}}},
        },
    }
    return deploy_platform(lab)


def test_everything_that_is_referred_to_exists_and_comes_first(shared: Deployment) -> None:
    topologies, flavors = objects(shared, "Topology"), objects(shared, "ResourceFlavor")
    (cohort,) = objects(shared, "Cohort").values()
    queues = objects(shared, "ClusterQueue")
    for flavor in flavors.values():
        assert topologies[flavor.inputs["spec"]["topologyName"]].urn in flavor.request.dependencies
    for queue in queues.values():
        (group,) = queue.inputs["spec"]["resourceGroups"]
        assert {flavor_quota["name"] for flavor_quota in group["flavors"]} <= flavors.keys()
        assert {resource.urn for resource in flavors.values()} | {cohort.urn} <= set(queue.request.dependencies)
        assert queue.inputs["spec"]["cohortName"] == cohort.inputs["metadata"]["name"]


def test_a_team_has_a_queue_in_each_of_its_namespaces_and_only_it_may_use_it(shared: Deployment) -> None:
    queues = objects(shared, "ClusterQueue")
    locals_ = [resource for resource in shared.custom() if resource.type == f"kubernetes:{KUEUE}:LocalQueue"]
    places = {resource.inputs["metadata"]["namespace"]: resource.inputs["spec"]["clusterQueue"] for resource in locals_}
    assert places == {"research": "research", "product": "product", "canary": "product"}
    (selector,) = queues["product"].inputs["spec"]["namespaceSelector"]["matchExpressions"]
    assert selector["values"] == ["product", "canary"]
    for local in locals_:
        namespace = shared.one(":Namespace", f"platform-central1-{local.inputs['metadata']['namespace']}")
        queue = queues[local.inputs["spec"]["clusterQueue"]]
        # The namespace and all work in it goes before the queue, which Kueue keeps as long as there is work.
        assert queue.urn in namespace.request.dependencies
        assert {namespace.urn, queue.urn} <= set(local.request.dependencies)


def test_a_team_keeps_to_the_pod_security_that_it_asks_for(shared: Deployment) -> None:
    enforced = {
        namespace.inputs["metadata"]["name"]: namespace.inputs["metadata"]["labels"][
            "pod-security.kubernetes.io/enforce"
        ]
        for namespace in shared.all(":Namespace")
        if "pod-security.kubernetes.io/warn" in namespace.inputs["metadata"]["labels"]
    }
    assert enforced == {"research": "baseline", "product": "privileged", "canary": "privileged"}


def test_a_namespace_keeps_its_urn_when_a_team_takes_it_over(lab: Inputs, shared: Deployment) -> None:
    research = "platform-central1-research"
    before = deploy_platform(lab | {"teams": {}}).one(":Namespace", research)
    assert before.urn == shared.one(":Namespace", research).urn


def test_a_namespace_that_goes_to_another_team_gets_a_new_local_queue(lab: Inputs, shared: Deployment) -> None:
    """Kueue rejects an update: spec.clusterQueue is immutable (apis/kueue/v1beta2/localqueue_types.go)."""
    renamed = {("science" if name == "research" else name): team for name, team in lab["teams"].items()}
    renamed["science"] = {**renamed["science"], "namespaces": ["research"]}
    called = "platform-central1-queues-research-default"
    before, after = (
        deployment.one(":LocalQueue", called) for deployment in (shared, deploy_platform(lab | {"teams": renamed}))
    )
    assert (before.urn, before.inputs["metadata"]) == (after.urn, after.inputs["metadata"])
    assert {"clusterQueue": "science"} == after.inputs["spec"] != before.inputs["spec"]
    assert list(after.request.replaceOnChanges) == ["spec.clusterQueue"]
    assert after.request.deleteBeforeReplace


def test_preemption_is_always_said_and_every_resource_covered(shared: Deployment) -> None:
    for queue in objects(shared, "ClusterQueue").values():
        assert queue.inputs["spec"]["preemption"] == {
            "withinClusterQueue": "LowerOrNewerEqualPriority",
            "reclaimWithinCohort": "Any",
            "borrowWithinCohort": {"policy": "Never"},
        }
        (group,) = queue.inputs["spec"]["resourceGroups"]
        assert group["coveredResources"] == ["google.com/tpu", "cpu", "memory", "ephemeral-storage"]
        for flavor in group["flavors"]:
            assert [resource["name"] for resource in flavor["resources"]] == group["coveredResources"]


@pytest.mark.parametrize(
    ("weight", "written"),
    [(1, "1"), (3.0, "3"), (10, "10"), (0.5, "500m"), (2.25, "2250m"), (1000, "1k"), (0.0001, "1m"), (1e-9, "1m")],
)
def test_a_weight_is_written_as_kueue_writes_it_back(lab: Inputs, weight: float, written: str) -> None:
    lab["clusters"]["central1"]["addons"] = {"kueue": {}}
    lab["queues"] = {"fairSharing": True}
    lab["teams"] = {"research": {"weight": weight, "clusters": {"central1": {}}}}
    (queue,) = objects(deploy_platform(lab), "ClusterQueue").values()
    assert queue.inputs["spec"]["fairSharing"] == {"weight": written}


def test_members_work_in_their_namespaces_and_nowhere_else(shared: Deployment) -> None:
    bindings = [resource for resource in shared.custom() if resource.type.endswith(":RoleBinding")]
    assert {resource.inputs["metadata"]["namespace"] for resource in bindings} == {"research"}
    assert not [resource for resource in shared.custom() if resource.type.endswith(":ClusterRoleBinding")]
    for binding in bindings:
        assert [(subject["kind"], subject["name"]) for subject in binding.inputs["subjects"]] == [
            ("Group", "research@example.com"),
            ("User", "ci@lab.iam.gserviceaccount.com"),
        ]


@pytest.mark.parametrize(
    ("kueue", "kinds"),
    [
        ({}, {("trainer.kubeflow.org", "trainjobs")}),
        ({"integrations": ["batch/job"]}, set()),
        (
            {
                "integrations": [
                    "pod",
                    "ray.io/rayservice",
                    "kubeflow.org/pytorchjob",
                    "workload.codeflare.dev/appwrapper",
                ]
            },
            {("kubeflow.org", "pytorchjobs"), ("workload.codeflare.dev", "appwrappers")},
        ),
        (
            {
                "integrations": ["sparkoperator.k8s.io/sparkapplication"],
                "featureGates": {"SparkApplicationIntegration": True},
            },
            {("sparkoperator.k8s.io", "sparkapplications")},
        ),
    ],
)
def test_members_create_the_managed_kinds_of_own_operators(
    kueue: dict[str, Any], kinds: set[tuple[str, str]], lab: Inputs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TPUPLANE_CHART_MIRROR", raising=False)
    example = REPOSITORY / "examples" / "kubeflow-trainer"
    stack = yaml.safe_load((example / "stacks" / "Pulumi.lab.yaml").read_text())["config"]["tpuplane:platform"]
    stack["project"] = lab["project"]
    stack["teams"]["research"]["members"] = ["user:one@example.com"]
    addons = stack["clusters"]["main"]["addons"]
    addons["kueue"] = kueue
    addons["custom"]["trainer"]["definition"] = yaml.safe_load((example / "addons" / "trainer.yaml").read_text())
    (role,) = [role.inputs for role in deploy_platform(stack).all("v1:Role") if "research-role" in role.name]
    shipped = {"batch", "jobset.x-k8s.io", "leaderworkerset.x-k8s.io", "ray.io", "kueue.x-k8s.io"}
    others = [rule for rule in role["rules"] if shipped.isdisjoint(rule["apiGroups"])]
    assert {(group, plural) for rule in others for group in rule["apiGroups"] for plural in rule["resources"]} == kinds
    for rule in others:
        assert rule["verbs"] == role["rules"][0]["verbs"]
        assert "*" not in rule["verbs"]


def test_queues_go_and_come_with_their_cluster(shared: Deployment) -> None:
    cluster = shared.one("container/cluster:Cluster").urn
    found = [resource for resource in shared.custom() if resource.type.startswith("kubernetes:kueue")]
    assert found
    assert {resource.request.deletedWith for resource in found} == {cluster}


def test_a_queue_waits_for_requests_by_checks_that_exist_and_come_first(lab: Inputs) -> None:
    lab["clusters"]["central1"] = {
        "location": "us-east5-a",
        "addons": {"kueue": {}},
        "pools": {
            "later": {
                "generation": "v6e",
                "topology": "4x4",
                "capacity": "flex-start",
                "flexStart": {"queued": True, "maxRunDuration": "12h"},
                "autoscaling": {"maxSlices": 2},
            }
        },
    }
    lab["teams"] = {"research": {"clusters": {"central1": {"pools": {"later": {"slices": 1}}}}}}
    shared = deploy_platform(lab)
    (queue,) = objects(shared, "ClusterQueue").values()
    (use,) = queue.inputs["spec"]["admissionChecksStrategy"]["admissionChecks"]
    check = objects(shared, "AdmissionCheck")[use["name"]]
    parameters = check.inputs["spec"]["parameters"]
    config = objects(shared, parameters["kind"])[parameters["name"]]
    assert check.urn in queue.request.dependencies
    assert config.urn in check.request.dependencies
    assert set(use["onFlavors"]) <= objects(shared, "ResourceFlavor").keys()
    assert config.inputs["spec"]["provisioningClassName"] == "queued-provisioning.gke.io"
    assert config.inputs["spec"]["parameters"] == {"maxRunDurationSeconds": "43200"}
    # As docs/queues.md has it: up to 10 times, after 1 minute first and 30 at most.
    assert config.inputs["spec"]["retryStrategy"] == {
        "backoffLimitCount": 10,
        "backoffBaseSeconds": 60,
        "backoffMaxSeconds": 1800,
    }


def test_jobs_on_cubes_alone_wait_for_their_slice(lab: Inputs) -> None:
    cube = {"generation": "tpu7x", "topology": "4x4x4", "capacity": "reservation", "slices": 2}
    cube |= {"reservation": {"name": "ours", "block": "one"}, "acceleratorTopologyMode": "PROVISION_ONLY"}
    cluster = {"releaseChannel": "RAPID", "version": "1.36", "sliceController": True, "addons": {"kueue": {}}}
    lab["clusters"] = {"central1": {**cluster, "location": "us-central1-c", "pools": {"cubes": cube}}}
    lab["reservations"] = {"ours": {"generation": "tpu7x", "zone": "us-central1-c", "chips": 128}}
    lab["teams"] = {"research": {"clusters": {"central1": {"pools": {"cubes": {"chips": 64}}}}}}
    shared = deploy_platform(lab)
    (queue,) = objects(shared, "ClusterQueue").values()
    (use,) = queue.inputs["spec"]["admissionChecksStrategy"]["admissionChecks"]
    assert use == {"name": "dynamic-slices", "onFlavors": ["tpu7x-4x4x4-reservation-ours-cubes"]}
    check = objects(shared, "AdmissionCheck")["dynamic-slices"]
    assert check.inputs["spec"] == {"controllerName": "accelerator.gke.io/slice"}
    assert check.urn in queue.request.dependencies
    (group,) = queue.inputs["spec"]["resourceGroups"]
    assert [quota["name"] for quota in group["flavors"]] == ["cpu", *use["onFlavors"]]
    assert group["flavors"][1]["resources"][0]["nominalQuota"] == "64"
