"""Waiting for objects to do what they are for; the test is the node that runs the pods."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from google.protobuf import empty_pb2
from kubernetes import watch
from kubernetes.client import ApiClient, AppsV1Api, BatchV1Api, CoreV1Api

from tests.support.providers.kubernetes_driver import Diff, Driver, Rejected, Resource

pytestmark = pytest.mark.twin

DEPLOYMENT = "kubernetes:apps/v1:Deployment"
JOB = "kubernetes:batch/v1:Job"
POD = "kubernetes:core/v1:Pod"
SERVICE = "kubernetes:core/v1:Service"
CONFIG_MAP = "kubernetes:core/v1:ConfigMap"

CONTAINER = {"name": "main", "image": "example.com/main:1", "resources": {"limits": {"cpu": "1000m"}}}


def deployment(namespace: str, *, image: str = "example.com/main:1", **metadata: Any) -> dict[str, Any]:
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"hostNetwork": False, "containers": [CONTAINER | {"image": image}]},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": namespace, **metadata},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": template},
    }


def job(namespace: str) -> dict[str, Any]:
    template = {"spec": {"restartPolicy": "Never", "containers": [CONTAINER]}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "train", "namespace": namespace},
        "spec": {"backoffLimit": 0, "template": template},
    }


@contextmanager
def node(api: ApiClient, namespace: str, **status: Any) -> Iterator[None]:
    """Gives every pod of the namespace this status as soon as it appears."""
    core, done = CoreV1Api(api), threading.Event()

    def run() -> None:
        while not done.is_set():
            # Ends with ERROR events or after a second; every round starts with the pods that are there.
            for event in watch.Watch().stream(core.list_namespaced_pod, namespace, timeout_seconds=1):
                if event["type"] == "ADDED" and event["object"].status.phase == "Pending":
                    core.patch_namespaced_pod_status(event["object"].metadata.name, namespace, {"status": status})

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


RUNNING = {
    "phase": "Running",
    "conditions": [{"type": kind, "status": "True"} for kind in ("PodScheduled", "Initialized", "Ready")],
}
BROKEN = {
    "phase": "Pending",
    "conditions": [
        {"type": "PodScheduled", "status": "True"},
        {"type": "Ready", "status": "False", "reason": "ContainersNotReady", "message": "containers not ready: [main]"},
    ],
    "containerStatuses": [
        {
            "name": "main",
            "image": "i",
            "imageID": "",
            "ready": False,
            "restartCount": 0,
            "state": {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}},
        }
    ],
}


def test_deployment_rolls_out_and_rolls_forward(provider: Driver, namespace: str, api: ApiClient) -> None:
    with node(api, namespace, **RUNNING):
        made = provider.make(DEPLOYMENT, deployment(namespace), timeout=60)
        assert made.state["status"]["readyReplicas"] == 2
        assert not provider.diff(made, provider.recheck(made, deployment(namespace))).detailedDiff

        refreshed = provider.read(made)
        assert refreshed.inputs == made.inputs, "the server's own spelling is no drift"
        assert not provider.diff(refreshed, provider.recheck(refreshed, deployment(namespace))).detailedDiff

        wanted = provider.recheck(made, deployment(namespace, image="example.com/main:2"))
        changes = provider.diff(made, wanted).detailedDiff
        assert {path: change.kind for path, change in changes.items()} == {
            "spec.template.spec.containers[0].image": Diff.UPDATE
        }
        updated = provider.update(made, wanted, timeout=60)
    assert updated.state["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "2"
    provider.log.wait_for("Deployment initialization complete")
    provider.delete(updated, timeout=60)
    assert AppsV1Api(api).list_namespaced_replica_set(namespace).items == [], "dependents go first"


def test_deployment_that_never_gets_ready_stays_in_the_state(provider: Driver, namespace: str, api: ApiClient) -> None:
    with (
        node(api, namespace, **BROKEN),
        pytest.raises(
            Rejected, match=r"was successfully created, but .* 'web' timed out waiting to be Ready"
        ) as rejected,
    ):
        provider.make(DEPLOYMENT, deployment(namespace), timeout=20)
    failure = rejected.value.failure
    assert failure is not None
    assert failure.id == f"{namespace}/web"
    assert "Minimum number of live Pods was not attained" in failure.reasons
    assert any("[ImagePullBackOff] no such image" in reason for reason in failure.reasons)

    known = Resource(provider.check(DEPLOYMENT, deployment(namespace)).urn, {}, rejected.value.state, failure.id)
    with pytest.raises(Rejected, match="Resource 'web' was created but failed to initialize") as refreshed:
        provider.read(known)
    assert refreshed.value.failure is not None


def test_deployment_is_not_awaited_on_request(provider: Driver, namespace: str) -> None:
    annotations = {"pulumi.com/skipAwait": "true"}
    made = provider.make(DEPLOYMENT, deployment(namespace, annotations=annotations))
    assert made.id == f"{namespace}/web"
    assert provider.read(made).id == made.id
    provider.delete(made)


def test_selector_of_a_deployment_replaces_it(provider: Driver, namespace: str) -> None:
    inputs = deployment(namespace, annotations={"pulumi.com/skipAwait": "true"})
    made = provider.make(DEPLOYMENT, inputs)
    inputs["spec"]["selector"] = {"matchLabels": {"app": "web", "tier": "front"}}
    diff = provider.diff(made, provider.recheck(made, inputs))
    assert list(diff.replaces) == ["spec.selector.matchLabels.tier"]
    assert diff.deleteBeforeReplace


def test_timeout_annotation_counts_where_the_program_sets_none(provider: Driver, namespace: str) -> None:
    with pytest.raises(Rejected, match="timed out waiting to be Ready"):
        provider.make(DEPLOYMENT, deployment(namespace, annotations={"pulumi.com/timeoutSeconds": "1"}))


def test_pod_is_ready_when_it_runs(provider: Driver, namespace: str, api: ApiClient) -> None:
    inputs = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "one", "namespace": namespace},
        "spec": {"containers": [CONTAINER]},
    }
    with node(api, namespace, **RUNNING):
        made = provider.make(POD, inputs, timeout=60)
    assert made.state["status"]["phase"] == "Running"
    moved = provider.recheck(made, inputs | {"spec": {"containers": [CONTAINER], "nodeName": "other"}})
    assert list(provider.diff(made, moved).replaces) == ["spec.nodeName"]


def test_job_ends_well_or_fails_at_once(provider: Driver, namespace: str, api: ApiClient) -> None:
    with node(api, namespace, phase="Succeeded"):
        made = provider.make(JOB, job(namespace), timeout=60)
    assert made.state["status"]["succeeded"] == 1
    rerun = provider.recheck(made, job(namespace) | {"spec": job(namespace)["spec"] | {"parallelism": 2}})
    assert list(provider.diff(made, rerun).replaces) == ["spec.parallelism"]
    provider.delete(made, timeout=60)

    failed = pytest.raises(Rejected, match="'train' was created but failed to initialize")
    with node(api, namespace, phase="Failed"), failed as rejected:
        provider.make(JOB, job(namespace), timeout=60)
    assert rejected.value.failure is not None
    assert any(reason.startswith("[BackoffLimitExceeded]") for reason in rejected.value.failure.reasons)
    assert BatchV1Api(api).read_namespaced_job("train", namespace).metadata.name == "train"


def test_service_waits_for_its_pods(provider: Driver, namespace: str, api: ApiClient) -> None:
    inputs = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web", "namespace": namespace},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]},
    }
    made = provider.make(SERVICE, inputs, timeout=60)
    assert made.state["spec"]["clusterIP"].startswith("10.96.")
    assert not provider.diff(made, provider.recheck(made, inputs)).detailedDiff
    balanced = inputs | {
        "metadata": {"name": "public", "namespace": namespace},
        "spec": inputs["spec"] | {"type": "LoadBalancer"},
    }
    with pytest.raises(Rejected) as rejected:
        provider.make(SERVICE, balanced, timeout=3)
    assert rejected.value.failure is not None
    assert any("was not allocated an IP address" in reason for reason in rejected.value.failure.reasons)


@pytest.mark.parametrize(
    ("expression", "data"),
    [
        ("jsonpath={.data.state}=done", {"state": "done"}),
        ("jsonpath={.data.state}", {"state": "anything"}),
        ('["jsonpath={.data.state}", "jsonpath={.metadata.labels[\'ready\']}=yes"]', {"state": "x"}),
    ],
)
def test_program_says_what_to_wait_for(
    provider: Driver, namespace: str, api: ApiClient, expression: str, data: dict[str, str]
) -> None:
    inputs = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "awaited", "namespace": namespace, "annotations": {"pulumi.com/waitFor": expression}},
    }
    made: list[Resource] = []
    creating = threading.Thread(
        target=lambda: made.append(provider.make(CONFIG_MAP, inputs, name=namespace, timeout=60))
    )
    creating.start()
    provider.log.wait_for("selected nothing", about=namespace)
    patch = {"data": data, "metadata": {"labels": {"ready": "yes"}}}
    CoreV1Api(api).patch_namespaced_config_map("awaited", namespace, patch)
    creating.join(timeout=60)
    assert made[0].state["data"] == data


def test_expression_that_cannot_be_waited_for(provider: Driver, namespace: str) -> None:
    inputs = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a", "namespace": namespace, "annotations": {"pulumi.com/waitFor": "ready"}},
    }
    with pytest.raises(Rejected, match='expected a "jsonpath=" or "condition=" prefix, got "ready"'):
        provider.make(CONFIG_MAP, inputs)


def test_cancel_ends_a_wait(fresh: Driver, control_plane: Any, namespace: str) -> None:
    fresh.configure(kubeconfig=control_plane.kubeconfig())
    outcome: list[Rejected] = []

    def create() -> None:
        try:
            fresh.make(DEPLOYMENT, deployment(namespace))
        except Rejected as rejected:
            outcome.append(rejected)

    creating = threading.Thread(target=create)
    creating.start()
    fresh.log.wait_for("Waiting for")
    fresh.call("Cancel", empty_pb2.Empty())
    creating.join(timeout=30)
    assert "Resource operation was cancelled" in str(outcome[0])
    assert outcome[0].failure is not None
